# SPDX-License-Identifier: MIT
# The real perf, sampling. What is compared with Linux is what does not depend on time: the messages, the kinds of
# records, the attributes, the hottest user symbol, the absence of errors and of losses (numbers are not compared).
# A line "exact NAME NUMBER" is compared within 0.1 %, "near NAME NUMBER" within 1, "about NAME NUMBER" within 2.

# Nothing lowers the rate on the way.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# What perf itself says, without the numbers of wake-ups.
rec() {
	timeout -s INT 60 perf record -o p "$@" >out 2>&1 </dev/null
	echo "status $?"
	sed '/^Warning:$/{N;/out of order/d}' out | grep -v -e '^done' -e 'Woken up' | sed 's/Captured and wrote .* MB \([^ ]*\)\( ([0-9]* samples)\)*/Captured \1\2/'
}
# The kinds of records: how often they occur is a matter of time; THROTTLE and the reader's rounds are, too.
kinds() {
	perf report -i p --stdio --stats 2>&1 | awk '/ events:/ && !/THROTTLE|TOTAL|FINISHED_ROUND|KSYMBOL|BPF/ { print $1 }' | sort
}
attrs() { perf evlist -i p -v 2>&1 | grep -v '^#'; }
# The user symbol on top; and what the reader complains about.
hot() {
	perf report -i p --stdio --no-children -g none -F overhead,sym,dso 2>err | awk '$2 == "[.]" { print $2, $3, $4; exit }'
	grep -v -e kptr -e vmlinux -e '^ *$' -e Warning: -e 'out of order' err | head -3
}
clean() { perf script -i p 2>&1 >/dev/null | grep -v -e Warning: -e 'out of order' | head -3; }
all() { kinds; attrs; hot; clean; }
# perf pads some of these lines with whatever its buffer holds.
callers() { awk '/\[\.\] main/ { print "main" } /\[\.\] _start/ { print "_start" }' | sort -u; }
spinner() { loop 100000 >/dev/null 2>&1 & p=$!; }

check_prog() { rec loop 100; all; }
check_freq() { rec -F 500 loop 100; all; }
check_period() { rec -c 100000 loop 100; all; }
check_user() { rec -e cycles:u loop 100; all; }
check_kernel() { rec -e cycles:k loop 100; kinds; attrs; clean; }
check_group() { rec -e '{cycles,r11}:S' loop 100; all; perf script -i p -F event 2>&1 | sort -u; }
check_two_events() { rec -e cycles:u,cpu-clock loop 100; all; }
check_all_cpus() { rec -a loop 100; all; }
check_all_cpus_sleep() { rec -a sleep 1; kinds; attrs; clean; }
check_one_cpu() { rec -C 1 sleep 1; kinds; attrs; clean; }
check_pid() { spinner; rec -p $p sleep 1; kill $p; all; }
check_tid() { spinner; rec -t $p sleep 1; kill $p; all; }
check_per_thread() { rec --per-thread loop 100; all; }
check_no_inherit() { rec --no-inherit loop 100; all; }
# Few samples: perf looks for the caller of each leaf with libdw, slowly.
check_graph() { rec -g -F 100 loop 100; all; perf report -i p --stdio --children -g none -F sym 2>/dev/null | callers; }
check_graph_dwarf() {
	rec --call-graph dwarf -F 200 loop 100; kinds; attrs; perf script -i p --no-inline 2>&1 >/dev/null | head -3
	perf report -i p --stdio --no-inline --children -g none -F sym 2>/dev/null | callers
}
check_addr() { rec -d loop 100; all; }
check_phys() { rec -d --phys-data loop 100; all; }
check_time_cpu_stat() { rec -T -s --sample-cpu loop 100; all; }
check_switch_events() { rec --switch-events sleep 1; kinds; attrs; clean; }
check_cpu_clock() { rec -e cpu-clock loop 100; all; }
check_task_clock() { rec -e task-clock -F 1000 loop 100; all; }
check_page_faults() { rec -e page-faults -c 1 loop 20; kinds; attrs; clean; }
check_context_switches() { rec -a -e context-switches -c 1 sleep 1; kinds; attrs; clean; }
check_overwrite() { rec --overwrite loop 100; kinds; attrs; clean; }
# Whole files by size, and one more at a signal; their names are dates.
# A machine without a clock of its own (raspi4b) writes 1970.
check_switch_output() {
	rec --switch-output=signal sh -c 'kill -USR2 $PPID; sleep 1; loop 20' | sed 's/p\.[12][0-9]*/p.DATE/'
	set -- p.[12]*; echo "$# files"; for f; do mv $f p; kinds | grep -v -e SAMPLE -e FORK -e COMM -e EXIT; attrs; clean; done
}
# What does not fit into one page when perf comes late is lost, be it a sample or another record.
check_small_ring() { rec -m 1 loop 100; kinds | grep SAMPLE; attrs; hot | head -n 1; }
check_threads() { rec --threads loop 100; ls p | sed 's/data\..*/data.N/' | sort -u; }
check_aio() { rec --aio loop 100; all; }
check_compressed() { rec -z loop 100; attrs; hot; clean; }
check_clockid() { rec --clockid mono loop 100; all; }
check_clockid_bad() { rec --clockid process_cputime_id loop 5; rec --clockid boottime -e cycles loop 5; rec --clockid boottime -e cpu-clock loop 5; }
check_buildid_all() { rec --buildid-all loop 100; all; perf buildid-list -i p 2>&1 | sed 's/^[0-9a-f]*/ID/'; }
check_namespaces() { rec --namespaces loop 100; all; }
check_weight_raw() { rec -W -R loop 20; kinds; attrs; clean; }
check_regs() { rec --user-regs=x0,sp,pc,lr loop 100; all; perf script -i p -F uregs 2>/dev/null | sed 's/0x[0-9a-f]*/X/g' | sort -u | head -3; }
check_intr_regs() { rec --intr-regs=x0,sp,pc loop 20; kinds; attrs; clean; }
check_exclude_perf() { rec -a --exclude-perf loop 20; }
check_delay() { rec -D 100 -F 500 loop 500; kinds; hot; }
check_child() { rec loop 100 x; all; perf report -i p --stdio -s pid -F sample 2>/dev/null | grep -c -v -e '^#' -e '^ *$'; }
check_pipeline() { rec sh -c 'seq 1 3000 | sort | wc -l'; kinds; perf script -i p --show-task-events 2>/dev/null | grep -o 'PERF_RECORD_[A-Z]*' | sort | uniq -c | sed 's/^ *[0-9]* //'; clean; }
check_exec_comm() { rec sh -c 'exec loop 20'; perf script -i p --show-task-events 2>/dev/null | grep -o 'PERF_RECORD_COMM.*' | sed 's/:[0-9/]*$//'; clean; }
check_mmaps() { rec loop 20; perf script -i p --show-mmap-events 2>/dev/null | grep -o 'PERF_RECORD_MMAP2.*' | grep -v kallsyms | sed 's/\[0x[^]]*\]/[]/; s/[0-9]*\/[0-9]*:/PID:/'; }
check_bad_event() { rec -e nosuchevent true; }
check_missing_program() { rec nosuchprogram; }
check_no_target() { rec -p 99999 sleep 1; }
check_failing_program() { rec sh -c 'exit 3'; }
check_mem() { perf mem record loop 5 2>&1; perf c2c record loop 5 2>&1; }
check_diff() { rec loop 100; cp p q; rec loop 100; perf diff q p 2>&1 | grep -c -E 'hot_inner|warm'; }
check_json() { rec loop 100; perf data convert -i p --to-json j 2>&1 | sed 's/[0-9.]* MB.*//'; head -c 200 j | tr -d ' \n' | cut -c1-60; }
check_report_sort() { rec loop 100; perf report -i p --stdio -s comm,dso -F overhead,comm,dso 2>/dev/null | awk '$2 == "loop" && $3 == "loop" { print $2, $3 }'; }
check_header() { rec loop 20; perf report -i p --stdio --header-only 2>&1 | grep -E '^# (arch|nrcpus|cmdline|event)' | sed 's/id = {.*/id = {}/'; }
check_script_fields() { rec -g loop 100; perf script -i p -F comm,tid,cpu,time,event,ip,sym,dso,period 2>&1 | grep -c -i -e error -e invalid; }
# What the whole report says; of functions with a share that is not a matter of chance.
report() { perf report -i p --stdio "$@" 2>&1 | sed 's/^# Samples: [0-9]*K*/# Samples: N/; s/Event count (approx.): .*/Event count/; /^# *$/d; /^$/d; /^# *[.\ ]*$/d; s/^# Overhead .*/# Overhead.../'; }
check_report() { rec -e cycles:u loop 100; report --percent-limit 5; }
check_report_children() { rec -e cycles:u -F 200 -g loop 100; report --children --percent-limit 50 -g none | grep -o '\[\.\] [a-z_]*' | sort; }
check_report_header() { rec loop 20; perf report -i p --stdio --header 2>/dev/null | grep -o '^# [a-z][a-z ]* :' | sort -u; }
check_script() { rec -e cycles:u loop 100; perf script -i p -F comm,event,ip,sym,dso 2>&1 | awk '{ print $1, $2, $4, $5 }' | sort | uniq -c | sort -rn | head -2 | awk '{ print $2, $3, $4, $5 }' | sort; }
check_script_chain() { rec -e cycles:u -F 200 -g loop 100; perf script -i p -F ip,sym 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u | grep -E '^(hot_inner|main|_start|__libc_start)'; }
check_evlist() { rec -e cycles:u,task-clock,page-faults loop 20; perf evlist -i p 2>&1; perf evlist -i p -F 2>&1; attrs; }
# q from the terminal ends it.
check_top() {
	loop 100000 >/dev/null & p=$!
	(sleep 6; echo q; sleep 60) | (timeout -s INT 60 perf top --stdio -d 1 --num-thread-synthesize 1 >out 2>&1; echo "status $?"; kill $p; grep -o PerfTop out | sort -u; grep -o hot_inner out | sort -u; grep -c -i error out)
}
check_paranoid_user() {
	mkdir -p u; chmod 777 u; cd u
	for x in 3 2 1 -1; do
		echo $x >/proc/sys/kernel/perf_event_paranoid
		echo "paranoid $x"
		su user -c 'perf record -o p loop 10 2>&1; perf record -a -o p sleep 0.2 2>&1' | grep -v -e '^done' -e Woken -e Warning -e 'out of order' | sed 's/Captured and wrote .*/Captured/' | head -24
		rm -f p
	done
	echo 1 >/proc/sys/kernel/perf_event_paranoid
}
check_kptr_restrict() {
	echo 2 >/proc/sys/kernel/kptr_restrict
	rec loop 100; hot
	echo 0 >/proc/sys/kernel/kptr_restrict
}

# Code that is in no file of the program, and files that are gone, renamed or have odd names.
maps() { perf script -i p --show-mmap-events 2>/dev/null | grep -o 'PERF_RECORD_MMAP2.*' | grep -v -e kallsyms -e busybox | sed 's/\[0x[^]]*\]/[]/; s/[0-9]*\/[0-9]*:/PID:/'; }
await() { for i in $(seq 200); do pidof "$1" >/dev/null && return; sleep 0.1; done; }
tasks() { perf script -i p --show-task-events 2>/dev/null | grep -o 'PERF_RECORD_[A-Z]*' | sort | uniq -c; }
check_jit_map() { rec -e cycles:u jit map 50; maps; perf script -i p -F ip,sym,dso 2>/dev/null | awk '$2 ~ /jitted/ { print $2, $3 }' | sed 's/[0-9]\{1,\}/N/' | sort -u; }
check_jit_dump() {
	rec -k mono -e cycles:u jit dump 50; perf inject --jit -i p -o q 2>&1; ls | sed 's/[0-9][0-9]*/N/g' | sort
	perf report -i q --stdio -F sym,dso 2>&1 | awk '/jitted_loop/ { print $1, $2, $3 }' | sed 's/[0-9][0-9]*/N/g'
}
check_vdso() { rec -e cycles:u jit vdso 100; perf report -i p --stdio -F sym,dso 2>/dev/null | awk '/__kernel.*vdso/ { print $1, $2, $3 }'; }
check_deleted() { cp /bin/loop gone; rec sh -c 'exec 3<gone; rm gone; exec /proc/self/fd/3 50'; maps; }
check_odd_name() { cp /bin/loop 'a long name, with blanks'; rec -e cycles:u './a long name, with blanks' 20; maps; perf report -i p --stdio -F comm 2>/dev/null | grep '^ *a long' | sort -u; }
# Each of 300 children is told, and so is its end.
check_forks() { rec -m 1M -F 99 forks 300; tasks | while read -r n kind; do echo exact "$kind" "$n"; done; clean; }
check_kcore() { rec --kcore -g -F 500 loop 20; ls p; ls p/kcore_dir; perf report -i p --stdio --no-children -g none -F sym 2>&1 | grep '\[k\]' | grep -q -v '\[k\] 0x' && echo named; }
check_pipe() { perf record -q -o - -e cycles:u loop 50 2>/dev/null | perf inject -b 2>/dev/null | perf report -i - --stdio -F sym,dso 2>/dev/null | awk '$2 ~ /^(hot_inner|warm)/ { print $2, $3 }' | sort; }
check_control() {
	mkfifo ctl ack
	(exec 3>ctl; await loop; echo enable >&3; sleep 1; echo disable >&3; sleep 0.2; echo stop >&3) &
	rec -D -1 --control fifo:ctl,ack loop 100000; kinds; hot
}
check_killed() { (await loop; sleep 1; kill -KILL $(pidof loop)) & rec -F 99 loop 1000000; kinds; }
check_branch_options() { rec --call-graph lbr loop 5; rec -j any loop 5; rec -j any,u loop 5; }

# With icount: the same number of samples as on Linux, and percentages.
# Those of the two functions: how much there is before main depends on the C library.
samples() { perf script -i p -F ip,sym 2>/dev/null | grep -c -e hot_inner -e warm; }
shares() { perf report -i p --stdio --no-children -g none -F overhead,sym 2>/dev/null | awk '/\[\.\]/ && $1+0 >= 5 { print "about", $3, int($1 + 0.5) }' | sort; }
icount_period_user() { rec -c 20000 -e cycles:u loop 100; echo near samples "$(samples)"; shares; }
# QEMU notices the overflow of an event counter late, at the next exception: samples come at every tick, on Linux too.
# Exact numbers are there only with the cycle counter.
icount_period_instructions() { rec -c 50000 -e instructions:u loop 100; [ "$(samples)" -ge 50 ] && echo enough; }
# Never less than a period of user time between two samples.
icount_even() {
	rec -c 20000 -e cycles:u loop 20
	perf script -i p -F time,period 2>/dev/null | awk '{ t = $1 * 1000000 } NR > 1 && t - last < 19 { early++ }
		{ last = t; n[$2]++ } END { print "near early", early + 0; for (x in n) print "period", x }'
}
icount_freq_shares() { rec -e cycles:u loop 100; shares; }
icount_group() { rec -e '{cycles,instructions}:S' -c 20000 loop 20; attrs; clean; }
