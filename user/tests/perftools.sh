# SPDX-License-Identifier: MIT
# perf's other commands: perf bench, perf list, perf stat's refusals and so on. check_: what they print is compared with Linux
# (numbers are not). refused_: what needs something that Perch has not (tracepoints, breakpoints, probes, KVM, ftrace, seccomp's listeners):
# the refusal, recorded on Perch, must be clear, quick and always the same.

# Nothing lowers the rate on the way.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

hex() { sed 's/0x[0-9a-f]*/X/g'; }

# The benchmarks, short.
check_bench_messaging() { perf bench sched messaging -g 1 -l 10 2>&1; perf bench sched messaging -t -p -g 1 -l 10 2>&1; }
check_bench_pipe() { perf bench sched pipe -l 50 2>&1; perf bench sched pipe -T -l 50 2>&1; }
check_bench_syscall() { for b in basic getpgid; do perf bench syscall $b -l 1000 2>&1; done; }
check_bench_fork_exec() { perf bench syscall fork -l 5 2>&1; perf bench syscall execve -l 5 2>&1; }
check_bench_mem() { perf bench mem memcpy -s 256KB -l 2 2>&1; perf bench mem memset -s 256KB -l 2 2>&1; perf bench mem find_bit -i 1 -j 5 2>&1 | head -9; }
check_bench_futex_hash() { perf bench futex hash -t 2 -r 1 -f 64 2>&1 | hex; }
check_bench_futex_wake() { perf bench futex wake -t 4 2>&1 | hex | grep -v '^\[Run'; }
check_bench_futex_requeue() { perf bench futex requeue -t 4 2>&1 | hex | grep -v '^\[Run'; }
check_bench_futex_requeue_pi() { perf bench futex requeue -p -t 4 2>&1 | hex | grep -v '^\[Run'; }
check_bench_futex_lock_pi() { perf bench futex lock-pi -t 4 -r 1 2>&1 | hex; }
check_bench_epoll() { perf bench epoll wait -t 2 -r 1 2>&1 | hex; perf bench epoll ctl -t 2 -r 1 2>&1 | hex; }
check_bench_evlist() { perf bench internals evlist-open-close -i 3 -w 1 -e cycles,cs 2>&1; }
check_bench_synthesize() { perf bench internals synthesize -i 2 -I 1 2>&1; }
check_bench_kallsyms() { perf bench internals kallsyms-parse -i 1 2>&1; }
check_bench_pmu_scan() { perf bench internals pmu-scan -i 2 2>&1; }
# It takes the programs below /usr/lib.
check_bench_inject() { mkdir -p /usr/lib/inject; cp /bin/busybox /usr/lib/inject/a; cp /bin/perf /usr/lib/inject/b; perf bench internals inject-build-id -i 1 -m 2 -n 10 2>&1; }
check_bench_breakpoint() { perf bench breakpoint thread -i 2 -b 1 -p 2 2>&1; }
check_bench_uprobe() { perf bench uprobe baseline -l 10 2>&1; perf bench uprobe empty -l 10 2>&1; }
check_bench_collections() { perf bench 2>&1; perf bench sched 2>&1; perf bench nosuch 2>&1; }

# list_: the numbers are compared, too.
check_list_hw() { perf list --no-desc hw 2>&1; }
check_list_sw() { perf list --no-desc sw 2>&1; }
check_list_cache() { perf list --no-desc cache 2>&1; }
check_list_pmu() { perf list --no-desc pmu 2>&1; }
check_list_json() { perf list -j hw 2>&1; perf list -j sw 2>&1; }
check_list_metric() { perf list metric 2>&1; perf list metricgroup 2>&1; }
check_list_none() { perf list sdt 2>&1; perf list nosuchevent 2>&1; }

check_stat_metric() { perf stat -M nosuchmetric true 2>&1; perf stat -M insn_per_cycle true 2>&1; }
check_stat_topdown() { perf stat --topdown true 2>&1; perf stat -T true 2>&1; perf stat --smi-cost true 2>&1; }
check_stat_cgroup() { perf stat -e cycles -G nosuch -a true 2>&1; perf stat -e cycles --for-each-cgroup x -a true 2>&1; }
check_stat_record() { perf stat record -o p -e task-clock loop 5 2>&1 >/dev/null; perf stat report -i p 2>&1; }

check_branches() { perf record -o p -b true 2>&1; perf record -o p -e arm_spe// true 2>&1; perf record -o p -e cs_etm// true 2>&1; }
check_bpf() { perf record -o p -e x.bpf.c true 2>&1; perf stat -b 1 true 2>&1 | head -3; }
check_scripts() { perf script -s x.py 2>&1; perf script -i p -g python 2>&1; }
check_version() { perf version --build-options 2>&1; }
check_config() { perf config -l 2>&1; perf config --user x.y=1 2>&1; perf config x.y 2>&1; }
check_buildid() { perf buildid-cache -a /bin/loop 2>&1; perf buildid-cache -l 2>&1 | grep -o '/bin/loop'; perf buildid-list -k 2>&1 | sed 's/[0-9a-f]/x/g'; }
check_inject() { perf record -o p loop 100 >/dev/null 2>&1; perf inject -b -i p -o q 2>&1; perf evlist -i q 2>&1; }
check_evlist() { perf record -F 500 -o p loop 5 >/dev/null 2>&1; perf evlist -i p 2>&1; perf evlist -F -i p 2>&1; }
check_daemon() { perf daemon status 2>&1; perf daemon stop 2>&1; }
check_usage() { perf 2>&1; perf nosuch 2>&1; perf record -o p nosuch 2>&1; perf report -i nosuch 2>&1; }

refused_trace() { perf trace true 2>&1; perf trace -s true 2>&1; }
refused_sched() { perf sched record -o p true 2>&1; }
refused_lock() { perf lock record -o p true 2>&1; perf lock contention true 2>&1; }
refused_kvm() { perf kvm stat record -o p true 2>&1; perf kvm stat live 2>&1; }
refused_kmem() { perf kmem record -o p true 2>&1; perf kwork record -o p true 2>&1; perf timechart record true 2>&1; }
refused_probe() { perf probe --add schedule 2>&1; perf probe -l 2>&1; perf probe -x /bin/loop main 2>&1; }
refused_ftrace() { perf ftrace trace true 2>&1; perf ftrace latency -T schedule true 2>&1; }
refused_tracepoint() { perf stat -e sched:sched_switch true 2>&1; perf record -o p -e 'syscalls:*' true 2>&1; perf list tracepoint 2>&1; }
refused_breakpoint() { perf stat -e mem:0x1000:rw true 2>&1; perf record -o p -e mem:0x1000:x true 2>&1; perf bench breakpoint enable -p 1 -a 1 2>&1; }
refused_probe_event() { perf stat -e probe:x true 2>&1; perf stat -e kprobe/x/ true 2>&1; perf stat -e uprobe//bin/loop// true 2>&1; }
refused_seccomp() { perf bench sched seccomp-notify -l 10 2>&1; }
