# SPDX-License-Identifier: MIT
# What /proc, /sys and /dev hold, as far as programs look at it.

check_mounts() {
	grep -c . /proc/mounts >/dev/null && echo readable
	for m in /proc /sys /dev /tmp; do awk -v m=$m '$2 == m { print $2, $3 }' /proc/mounts; done
	readlink /proc/mounts; cmp /proc/mounts /proc/self/mounts && echo same; [ -r /proc/self/mountinfo ] && echo mountinfo
}
check_filesystems() {
	for f in proc sysfs tmpfs devtmpfs tracefs debugfs; do grep -qw $f /proc/filesystems && echo $f; done
}
check_cpuinfo() {
	grep -c ^processor /proc/cpuinfo; grep -m1 Features /proc/cpuinfo; grep -m1 'CPU implementer' /proc/cpuinfo
	grep -m1 'CPU part' /proc/cpuinfo; grep -m1 'CPU architecture' /proc/cpuinfo; grep -m1 BogoMIPS /proc/cpuinfo
}
check_meminfo() {
	for k in MemTotal MemFree MemAvailable Buffers Cached SwapTotal SwapFree Slab; do grep -c "^$k: *[0-9]* kB" /proc/meminfo; done
	awk '/MemTotal/ { t = $2 } /MemFree/ { f = $2 } END { print (t > f && f > 1000) ? "sane" : "odd" }' /proc/meminfo
	free | awk 'NR == 1 { print $1, $2, $3 }'
}
check_stat_file() {
	grep -c '^cpu' /proc/stat; grep -c '^ctxt' /proc/stat; grep -c ^btime /proc/stat; grep -c ^processes /proc/stat; grep -c ^procs_running /proc/stat
	awk '/^cpu / { print NF }' /proc/stat
}
check_loadavg_uptime() {
	awk '{ print NF }' /proc/loadavg; awk '{ print NF, ($1 > 0) }' /proc/uptime; uptime | grep -c 'load average'
}
check_self_links() {
	sh -c '[ "$(readlink /proc/self)" ] && echo self; cd /proc/self && readlink cwd >/dev/null && echo cwd'
	readlink /proc/self/exe; readlink /proc/self/root; readlink /proc/self/cwd | sed 's,.*/checks/,,'
	readlink /proc/self/fd/0; readlink /proc/thread-self | sed 's/[0-9][0-9]*/N/g'; readlink /proc/self/ns/mnt | sed 's/[0-9]/N/g; s/N*N/N/'
}
check_pid_directory() {
	for f in cmdline comm environ exe fd maps mem mounts ns root stat statm status task wchan io limits; do [ -e /proc/self/$f ] && echo $f; done
}
check_pid_stat() {
	awk '{ print NF, $2, ($3 == "R"), ($4 > 1), $7 }' /proc/self/stat; awk '{ print NF, ($1 >= $2) }' /proc/self/statm
}
check_pid_status() {
	for k in Name Umask State Tgid Pid PPid TracerPid Uid Gid FDSize Groups VmPeak VmSize VmRSS VmData VmStk VmExe Threads SigQ SigPnd ShdPnd SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapBnd NoNewPrivs Cpus_allowed Cpus_allowed_list voluntary_ctxt_switches nonvoluntary_ctxt_switches; do
		grep -c "^$k:" /proc/self/status | sed "s/^/$k /"; done
	grep -E '^(Name|Uid|Threads|Umask|TracerPid)' /proc/self/status
}
check_maps_format() {
	awk '{ print $2 }' /proc/self/maps | sort -u | grep -c .; grep -c '\[stack\]' /proc/self/maps; grep -c '\[heap\]' /proc/self/maps; grep -c '\[vdso\]' /proc/self/maps
	grep busybox /proc/self/maps | awk '{ print $2, $6 }' | head -1; awk '$1 !~ /^[0-9a-f]+-[0-9a-f]+$/ || $2 !~ /^[r-][w-][x-][ps]$/ { print "bad", $0 }' /proc/self/maps
}
check_task_directory() {
	ls /proc/self/task | wc -l; sh -c 'ls /proc/$$/task | grep -c "^$$\$"; cat /proc/$$/task/$$/comm'
}
check_missing_pid() {
	ls /proc/99999 2>/dev/null; echo $?; cat /proc/99999/stat 2>/dev/null; echo $?; cat /proc/nope 2>/dev/null; echo $?
	[ -d /proc/1 ] && echo init; cat /proc/1/comm
}
check_proc_readonly() {
	touch /proc/x 2>/dev/null; echo $?; mkdir /proc/d 2>/dev/null; echo $?; rm /proc/stat 2>/dev/null; echo $?; echo x 2>/dev/null >/proc/version; echo $?
}
check_sys_kernel() {
	cat /proc/sys/kernel/ostype; cat /proc/sys/kernel/hostname; cut -c1-4 /proc/sys/kernel/osrelease; cat /proc/sys/kernel/pid_max >/dev/null && echo pid_max
	[ -r /proc/sys/kernel/perf_event_paranoid ] && echo paranoid; [ -r /proc/sys/kernel/perf_event_max_sample_rate ] && echo rate
	[ -r /proc/sys/kernel/perf_event_mlock_kb ] && echo mlock; cat /proc/sys/kernel/perf_event_max_stack; cat /proc/sys/kernel/kptr_restrict
	cat /proc/sys/kernel/random/boot_id | wc -c; cat /proc/sys/vm/overcommit_memory; [ -r /proc/sys/kernel/nmi_watchdog ] || echo no nmi_watchdog
}
check_sysctl_write() {
	old=$(cat /proc/sys/kernel/perf_event_paranoid); echo 1 >/proc/sys/kernel/perf_event_paranoid; cat /proc/sys/kernel/perf_event_paranoid
	echo junk 2>/dev/null >/proc/sys/kernel/perf_event_paranoid; echo $?; echo $old >/proc/sys/kernel/perf_event_paranoid
	sysctl -n kernel.ostype; echo newname >/proc/sys/kernel/hostname; hostname; hostname perch
}
check_version_cmdline() {
	cut -d' ' -f1,2 /proc/version; cut -d' ' -f3 /proc/version | cut -c1-4; grep -c console=ttyAMA0 /proc/cmdline; uname -m; uname -s
}
check_kallsyms() {
	awk 'NR == 1 { print (NF >= 3), $2 }' /proc/kallsyms; grep -c ' [tT] ' /proc/kallsyms | awk '{ print ($1 > 500) }'; grep -cw _stext /proc/kallsyms; grep -cw _etext /proc/kallsyms
}
check_notes_and_modules() {
	[ "$(wc -c </sys/kernel/notes)" -gt 30 ] && echo notes; [ -e /proc/modules ] && echo modules; [ -e /proc/kcore ] || echo no kcore
}
check_cpu_topology() {
	cat /sys/devices/system/cpu/online; cat /sys/devices/system/cpu/possible; cat /sys/devices/system/cpu/present; ls -d /sys/devices/system/cpu/cpu[0-9] | wc -l
	cat /sys/devices/system/cpu/cpu0/topology/core_id; cat /sys/devices/system/cpu/cpu1/topology/physical_package_id; cat /sys/devices/system/cpu/cpu2/topology/core_cpus_list
	cat /sys/devices/system/cpu/cpu0/regs/identification/midr_el1
}
check_node_topology() {
	cat /sys/devices/system/node/online; cat /sys/devices/system/node/node0/cpulist; [ -r /sys/devices/system/node/node0/meminfo ] && echo meminfo; ls -d /sys/devices/system/node/node0/cpu0 | sed 's,.*/,,'
}
check_pmu_sysfs() {
	d=/sys/bus/event_source/devices; pmu=$(basename $d/armv8_*); ls $d | grep -x -e $pmu -e software | sort
	cat $d/software/type; cat $d/$pmu/cpus; cat $d/$pmu/perf_event_mux_interval_ms; ls $d/$pmu/format | tr '\n' ' '; echo; ls $d/$pmu/events | tr '\n' ' '; echo
	cat $d/$pmu/format/event; cat $d/$pmu/caps/slots 2>/dev/null; cat $d/$pmu/events/cpu_cycles
}
check_sys_readonly() {
	touch /sys/x 2>/dev/null; echo $?; echo 1 2>/dev/null >/sys/devices/system/cpu/possible; echo $?; ls /sys | grep -x -e bus -e class -e dev -e devices -e firmware -e fs -e kernel -e module | tr '\n' ' '; echo
}
check_dev_nodes() {
	for d in null zero full random urandom tty console ttyAMA0 ptmx kmsg; do [ -c /dev/$d ] && stat -c '%n %t,%T' /dev/$d; done
	[ -d /dev/pts ] && echo pts; [ -d /dev/shm ] && echo shm
}
check_dmesg() {
	dmesg | grep -c . | awk '{ print ($1 > 5) }'; echo mark >/dev/kmsg; dmesg | tail -1 | grep -c mark
}
check_ps_top() {
	ps | head -1 | awk '{ print $1 }'; ps | awk '$1 == 1 { print $1, $2 }'; ps -o pid,ppid,comm | awk '$1 == 1 { print $2 }'; top -b -n 1 | head -1 | grep -c Mem
	top -b -n 1 | grep -c 'Load average'; ps w >/dev/null; echo $?
}
check_interrupts() {
	head -1 /proc/interrupts | awk '{ print NF }'; grep -c . /proc/interrupts | awk '{ print ($1 > 2) }'; [ -r /proc/softirqs ] && echo softirqs
}
check_diskless() {
	[ -r /proc/swaps ] && echo swaps; [ -r /proc/partitions ] && echo partitions; [ -r /proc/devices ] && echo devices; [ -r /proc/diskstats ] && echo diskstats
	[ -d /proc/net ] && echo net; ls /proc/self/net >/dev/null 2>&1 && echo net
}
check_seek_and_small_reads() {
	dd if=/proc/cpuinfo bs=1 2>/dev/null | md5sum | cut -d' ' -f1 >a; md5sum </proc/cpuinfo | cut -d' ' -f1 >b; cmp a b && echo same
	dd if=/proc/mounts bs=1 skip=4 count=4 2>/dev/null | wc -c; tail -c 5 /proc/cmdline | wc -c; head -c 10 /proc/self/status; echo
}
