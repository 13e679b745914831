#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh PIPELINES FORKS: many pipelines and forks on every CPU; afterwards memory is back. Prints TAP.
pipelines=${1:-10000} forks=${2:-20000}
n=0 fail=0

free_kb() { # settled: what exited a moment ago may still be giving back
	sleep 1
	sync
	echo 3 >/proc/sys/vm/drop_caches 2>/dev/null
	awk '/^MemFree/ { print $2 }' /proc/meminfo
}

result() { # result STATUS TEXT
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fail=1; fi
}

pipes() { # one of four workers
	i=0
	while [ $i -lt $1 ]; do
		[ "$(echo $i | cat | sed 's/^/x/' | cat)" = "x$i" ] || { echo "lost: $i"; return 1; }
		i=$((i + 1))
	done
}

pipes 20
forks 200 8 >/dev/null
before=$(free_kb)

start=$(cut -d. -f1 /proc/uptime)
ok=0
for w in 1 2 3 4; do pipes $((pipelines / 4)) & eval p$w=$!; done
for w in 1 2 3 4; do eval wait \$p$w || ok=1; done
result $ok "$pipelines pipelines on $(nproc) CPUs"
middle=$(free_kb)
echo "# free: $before kB before, $middle kB after the pipelines, $(($(cut -d. -f1 /proc/uptime) - start)) s"

ok=0
for w in 1 2 3 4; do forks $((forks / 4)) 8 & eval p$w=$!; done
for w in 1 2 3 4; do eval wait \$p$w || ok=1; done
result $ok "$forks forks"

after=$(free_kb)
# What the kernel keeps for later use must not grow with the work: 2 MiB is far below a page a fork.
[ $((before - after)) -lt 2048 ]
result $? "memory is back (free $before kB before, $after kB after)"
[ "$(ps | grep -c 'defunct\|forks')" -le 2 ]
result $? "no process is left"
exit $fail
