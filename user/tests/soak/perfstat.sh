#!/bin/sh
# SPDX-License-Identifier: MIT
# perfstat.sh N: N runs of perf stat, four at a time. Afterwards no event is left and memory is back. Prints TAP.
runs=${1:-50}
n=0 fail=0
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fail=1; fi
}
free_kb() {
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches 2>/dev/null
	awk '/^MemFree/ { print $2 }' /proc/meminfo
}
# Live perf objects (Perch only), summed over the lines "name live ..." of the file.
stats=/proc/perch/perf_stats
live() { [ -r $stats ] && awk '$1 ~ /^live/ { s += $2 } END { print s + 0 }' $stats || echo 0; }

some() { # some N
	i=0
	while [ $i -lt $1 ]; do
		case $((i % 5)) in
		0) set -- $1 perf stat -x, -e cycles,task-clock,cs loop 1 ;;
		1) set -- $1 perf stat -x, -e cycles:u,cycles:k,page-faults loop 1 fork ;;
		2) set -- $1 perf stat -x, -a -e cycles,cs true ;;
		3) set -- $1 perf stat -x, -e '{cycles,cycles:u}' -e r11,r11,r11,r11,r11,r11,r11 sh -c 'true | cat' ;;
		4) set -- $1 perf stat -x, --no-inherit -e cycles,migrations true ;;
		esac
		max=$1
		shift
		"$@" >/dev/null 2>/tmp/ps.$$.$w || { cat /tmp/ps.$$.$w; return 1; }
		grep -q '^[0-9]' /tmp/ps.$$.$w || { cat /tmp/ps.$$.$w; return 1; }
		set -- $max
		i=$((i + 1))
	done
}
w=0
some 5
objects=$(live)
before=$(free_kb)
ok=0
for w in 1 2 3 4; do some $((runs / 4 + 1)) & eval p$w=$!; done
for w in 1 2 3 4; do eval wait \$p$w || ok=1; done
result $ok "$runs runs of perf stat on $(nproc) CPUs"
after=$(free_kb)
[ "$(live)" = "$objects" ]
result $? "no perf object is left ($objects before, $(live) after)"
[ $((before - after)) -lt 2048 ]
result $? "memory is back (free $before kB before, $after kB after)"
exit $fail
