# SPDX-License-Identifier: MIT
# The real perf, counting: what it prints here is compared with what it prints on Linux (numbers are not).
# A name that ends in _uniq: repeated lines count once (how often an interval is printed is a matter of time).
# A line "exact NAME NUMBER" is compared within 0.1 %.

check_prog() { perf stat loop 20 2>&1 >/dev/null; }
check_d_d() { perf stat -d -d loop 20 2>&1 >/dev/null; }
check_event_list() { perf stat -e cycles,instructions,task-clock,cs,migrations,faults loop 20 2>&1 >/dev/null; }
check_software_events() {
	perf stat -e cpu-clock,task-clock,page-faults,minor-faults,major-faults,cs,migrations,alignment-faults,emulation-faults,dummy,bpf-output,cgroup-switches \
		loop 10 2>&1 >/dev/null
}
check_software_common() { perf stat -e cpu-clock,task-clock,page-faults,minor-faults,major-faults,cs,migrations,alignment-faults,emulation-faults loop 10 2>&1 >/dev/null; }
check_software_odd() { perf stat -e dummy,bpf-output loop 5 2>&1 >/dev/null; perf stat -e cgroup-switches loop 5 2>&1 >/dev/null; }
check_cache_events() { perf stat -e L1-dcache-loads,L1-dcache-load-misses,L1-icache-loads,LLC-loads,dTLB-loads,branch-loads,node-loads loop 5 2>&1 >/dev/null; }
check_pmu_event() { p=$(basename /sys/bus/event_source/devices/armv8_*); perf stat -e $p/cpu_cycles/,$p/event=0x11/,r11,r08,r3ff loop 10 2>&1 >/dev/null; }
check_cycles_modifiers() { perf stat -e cycles,cycles:u,cycles:k,cycles:uk,cycles:h loop 10 2>&1 >/dev/null; }
check_csv() { perf stat -x, loop 10 2>&1 >/dev/null; }
check_json() { perf stat -j loop 10 2>&1 >/dev/null; }
check_repeat() { perf stat -r 5 loop 3 2>&1 >/dev/null; }
check_interval_uniq() { perf stat -I 100 -e cycles,task-clock sleep 1 2>&1; }
check_all_cpus() { perf stat -a sleep 1 2>&1; }
check_each_cpu() { perf stat -A -a -e cycles,task-clock,cs sleep 1 2>&1; }
check_one_cpu() { perf stat -C 1 sleep 1 2>&1; }
check_per_core() { perf stat --per-core -a -e cycles,cs sleep 1 2>&1; }
check_per_socket() { perf stat --per-socket -a -e cycles sleep 1 2>&1; }
check_target_pid() {
	loop 100000 >/dev/null & p=$!
	perf stat -p $p sleep 2 2>&1 | sed "s/'$p'/'PID'/"; kill $p
}
check_target_tid() {
	loop 100000 >/dev/null & p=$!
	perf stat -t $p -e cycles,task-clock,cs sleep 2 2>&1 | sed "s/'$p'/'TID'/"; kill $p
}
check_per_thread_uniq() {
	loop 100000 >/dev/null & p=$!
	perf stat --per-thread -p $p -e cycles,task-clock sleep 2 2>&1 | sed "s/\([-']\)$p\>/\1PID/g"; kill $p
}
check_group() { perf stat -e '{cycles,cycles:u,cycles:k}' loop 20 2>&1 >/dev/null; }
check_more_than_counters() {
	e=cycles; for i in 1 2 3 4 5 6 7 8 9; do e=$e,r11; done
	perf stat -e $e loop 200 2>&1 >/dev/null
}
check_no_inherit() { perf stat --no-inherit -e cycles,task-clock loop 20 x 2>&1 >/dev/null; }
check_timeout() { perf stat --timeout 300 -e cycles,task-clock sleep 30 2>&1; }
check_delay() { perf stat -D 200 -e cycles,task-clock sleep 1 2>&1; }
check_output_file() { perf stat -o out loop 10 >/dev/null 2>&1; cat out | sed 's/^# started on.*/# started on DATE/'; perf stat -o out --append true; grep -c 'Performance counter' out; }
check_forked_child() { perf stat -e cycles,task-clock,cs loop 20 x 2>&1 >/dev/null; }
check_shell_pipeline() { perf stat sh -c 'seq 1 3000 | sort | wc -l' 2>&1 >/dev/null; }
check_bad_event() { perf stat -e nosuchevent true 2>&1 | head -3; }
check_missing_program() { perf stat nosuchprogram 2>&1 | tail -3; }
check_no_target() { perf stat -p 99999 sleep 1 2>&1 | head -4; }
check_failing_program() { perf stat -e task-clock sh -c 'exit 3' 2>&1 | head -1; perf stat -e task-clock sh -c 'exit 3' >/dev/null 2>&1; echo "status $?"; }
check_paranoid_user() {
	mkdir -p u; chmod 777 u; cd u
	for p in 3 2 1 -1; do
		echo $p >/proc/sys/kernel/perf_event_paranoid
		echo "paranoid $p"
		su user -c 'perf stat -e cycles true 2>&1; perf stat -e task-clock -a true 2>&1' | head -60
	done
	echo 1 >/proc/sys/kernel/perf_event_paranoid
}
check_list_hw() { perf list hw 2>&1; }
check_list_sw() { perf list sw 2>&1; }
check_list_tool() { perf list tool 2>&1; }
check_list_pmu() { perf list pmu 2>&1; }
check_list_cache() { perf list cache 2>&1; }
check_bench_pipe() { perf bench sched pipe -l 2000 2>&1; }
check_bench_messaging() { perf bench sched messaging -g 2 -l 20 2>&1; }
check_bench_syscall() { perf bench syscall basic -l 10000 2>&1; }
check_bench_futex() { perf bench futex hash -r 1 2>&1 | grep -v '^\[thread' | head -5; }
check_bench_memcpy() { perf bench mem memcpy -s 1MB 2>&1; }
check_tool_events() { perf stat -e duration_time,user_time,system_time sh -c "loop 10; seq 1 20000" 2>&1 >/dev/null; }
check_version() { perf version 2>&1; perf stat --version >/dev/null 2>&1; echo $?; }

# Under -icount shift=0 -smp 1 an instruction is a nanosecond is a cycle: these numbers are the same on every run.
exact() { # exact NAME EVENT COMMAND...
	name=$1 event=$2
	shift 2
	a=$(perf stat -x, -e $event "$@" 2>&1 >/dev/null | head -n 1 | cut -d, -f1)
	b=$(perf stat -x, -e $event "$@" 2>&1 >/dev/null | head -n 1 | cut -d, -f1)
	c=$(perf stat -x, -e $event "$@" 2>&1 >/dev/null | head -n 1 | cut -d, -f1)
	echo "exact $name $a"
	d=$((a - b)); e=$((a - c))
	# the program's own start differs by what the kernel randomizes, a few hundred instructions of millions
	[ ${d#-} -le 2000 ] && [ ${e#-} -le 2000 ] && echo "$name: the same on every run" || echo "$name: $a $b $c"
}
icount_exact() { exact instructions:u instructions:u loop 40; exact cycles:u cycles:u loop 40; exact both-instructions:u '{instructions:u,cycles:u}' loop 40; }
icount_prog() { perf stat loop 5 2>&1 >/dev/null; }
icount_d_d() { perf stat -d -d loop 5 2>&1 >/dev/null; }
icount_group() { perf stat -e '{cycles,instructions}' -e '{cycles:u,instructions:u}' loop 5 2>&1 >/dev/null; }
icount_csv() { perf stat -x, loop 5 2>&1 >/dev/null; }
icount_list() { perf list hw 2>&1; }
icount_pmu_sysfs() { d=/sys/bus/event_source/devices/armv8_*; for f in $d/events/*; do echo ${f##*/} $(cat $f); done; }
