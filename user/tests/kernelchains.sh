#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that is mostly in the kernel: perf record -g names the kernel's functions, from main through the system
# call to the leaf. TAP lines, the same on Linux (whose names of system calls begin with __arm64_).

cd /tmp || exit 1
dmesg -n 1
echo 0 >/proc/sys/kernel/kptr_restrict
perf record -q -g -e cycles -c 400000 -o chains forks 300 >/dev/null 2>&1
perf script -i chains -F comm,ip,sym,dso 2>/dev/null | awk '
	function end() {
		if (n && kernel) {
			samples++
			leaves[leaf]++
			unknown += bad
			if (call) {
				calls++
				if (user) whole++
				if (main) named++
				names[call]++
			}
		}
		n = kernel = bad = user = main = 0; call = ""
	}
	function judge(what, good) { print (good ? "ok" : "not ok"), "- kernel chains:", what }
	NF == 0 { end(); next }
	NF >= 3 && $1 ~ /^[0-9a-f]+$/ {
		if (!n++) { kernel = $3 ~ /kernel.kallsyms/; leaf = $2 }
		if ($3 ~ /kernel.kallsyms/) {
			if ($2 ~ /unknown/) bad++
			if ($2 ~ /^(__arm64_)?sys_/) call = $2
		} else if ($3 ~ /forks/) {
			user++
			if ($2 == "main") main++
		}
	}
	END {
		end()
		for (l in leaves) different++
		for (c in names) kinds++
		print "# " samples + 0 " samples in the kernel, " calls + 0 " of them in " kinds + 0 " system calls, " \
			different + 0 " leaves, " named + 0 " with main, " unknown + 0 " unknown"
		judge("many samples in the kernel", samples >= 50)
		judge("every function has a name", samples && !unknown)
		judge("many different leaves", different >= 10)
		judge("system calls are seen", calls >= samples / 4 && kinds >= 2)
		judge("each goes on in the program that called", calls && whole >= calls * 0.95)
		judge("most reach main", named >= calls / 2)
	}'
