#!/bin/sh
# SPDX-License-Identifier: MIT
# perf annotate of user and kernel code, build ids, and who may see kernel addresses. TAP lines, the same on Linux.

check() {
	what=$1
	shift
	if "$@"; then echo "ok - annotate: $what"; else echo "not ok - annotate: $what"; fi
}
cd /tmp || exit 1
dmesg -n 1
perf record -q -e cycles -c 500000 -o data mixed 2 >/dev/null

# "percent : address: instruction" lines
listing() { perf annotate -i data --stdio -s "$1" 2>/dev/null | grep -E '^ +[0-9.]+ : +[0-9a-f]+:'; }
adds_up() { awk '{ sum += $1 } END { exit !(sum > 99 && sum < 101) }' "$1"; }
# The line with the highest share is where most samples of this function were taken (or as many as anywhere).
hottest_is_sampled() { # listing function
	told=$(sort -rn "$1" | sed -n '1s/^[^:]*: *\([0-9a-f]*\):.*/\1/p')
	perf script -i data -F ip,sym 2>/dev/null | awk -v s="$2" -v told="$told" '
		$2 == s && ++n[$1] > max { max = n[$1] }
		END { if (!max || n[told] != max) { print "# listed: " told, n[told] + 0, "samples of at most", max + 0; exit 1 } }'
}
listing checksum >user.txt
check "user code is listed" grep -q 'ldrb' user.txt
check "its shares add up" adds_up user.txt
check "its hottest instruction" hottest_is_sampled user.txt checksum

# The hottest kernel function, and where the next symbol begins.
hot=$(perf report -i data --stdio --sort sym 2>/dev/null | sed -n 's/^ *[0-9.]*% *\[k\] *\([^ ]*\) *$/\1/p' | head -1)
listing "$hot" >kernel.txt
start=$(awk -v s="$hot" '$3 == s { print $1; exit }' /proc/kallsyms)
first_is() { [ "$(sed -n '1s/^[^:]*: *\([0-9a-f]*\):.*/\1/p' "$1")" = "$2" ]; }
check "kernel code is listed ($(wc -l <kernel.txt) instructions)" [ "$(wc -l <kernel.txt)" -ge 4 ]
check "it begins where /proc/kallsyms says" first_is kernel.txt "$start"
check "its shares add up" adds_up kernel.txt
check "its hottest instruction" hottest_is_sampled kernel.txt "$hot"
check "from the running kernel" sh -c "perf annotate -i data --stdio -s $hot 2>/dev/null | grep -q 'Disassembly of kcore'"

# Build ids: the recording's, the running kernel's, and the note itself.
id=$(perf buildid-list -k 2>/dev/null)
recorded() { perf buildid-list -i data 2>/dev/null | awk -v n="$1" '$2 == n { print $1 }'; }
check "a build id of the kernel" sh -c "echo $id | grep -Eq '^[0-9a-f]{40}\$'"
check "recorded with the samples" [ "$(recorded '[kernel.kallsyms]')" = "$id" ]
check "that of /sys/kernel/notes" sh -c "od -An -v -tx1 /sys/kernel/notes | tr -d ' \n' | grep -q $id"
check "a build id of the program" [ "$(recorded /bin/mixed)" = "$(perf buildid-list -i /bin/mixed 2>/dev/null | cut -c1-40)" ]

# Kernel addresses: kptr_restrict 0 shows them to who may profile the kernel, 1 to CAP_SYSLOG, 2 to nobody.
shown() { [ "$(awk 'NR == 1 { print ($1 ~ /^0+$/) ? "zero" : "shown" }' /proc/kallsyms)" = "$1" ]; }
user_sees() { [ "$(su -s /bin/sh user -c 'head -1 /proc/kallsyms' | awk '{ print ($1 ~ /^0+$/) ? "zero" : "shown" }')" = "$1" ]; }
matrix() { # kptr_restrict paranoid root user
	echo "$1" >/proc/sys/kernel/kptr_restrict
	echo "$2" >/proc/sys/kernel/perf_event_paranoid
	check "kptr_restrict $1, paranoid $2: root sees $3" shown "$3"
	check "kptr_restrict $1, paranoid $2: a user sees $4" user_sees "$4"
}
matrix 0 1 shown shown
matrix 0 2 shown zero
matrix 1 1 shown zero
matrix 2 1 zero zero
check "perf record says that addresses are restricted" sh -c "perf record -o other loop 1 2>&1 | grep -q 'Kernel address maps .* are restricted'"
