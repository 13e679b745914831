# SPDX-License-Identifier: MIT
# Pipes, jobs, signals and processes from the shell.

check_pipelines() {
	echo a | cat | cat | cat | cat; seq 1 1000 | awk '{ s += $1 } END { print s }'
	false | true; echo $?; true | false; echo $?; (exit 3) | (exit 4); echo $?
	echo hi | { read x; echo got $x; }; ! true; echo $?
	set -o pipefail 2>/dev/null && { false | true; echo $?; }
}
check_long_pipeline() {
	c='cat'; i=0; while [ $i -lt 30 ]; do c="$c | cat"; i=$((i + 1)); done; seq 1 2000 | eval "$c" | md5sum
}
check_exit_statuses() {
	true; echo $?; false; echo $?; (exit 77); echo $?; sh -c 'kill -9 $$' 2>/dev/null; echo $?
	sh -c 'kill -TERM $$' 2>/dev/null; echo $?; nosuchcommand 2>/dev/null; echo $?; /etc/passwd 2>/dev/null; echo $?
	/tmp 2>/dev/null; echo $?
}
check_subshells() {
	x=1; (x=2; echo $x); echo $x; y=$(echo sub; exit 5); echo $? $y; z=`echo back`; echo $z
	(cd /; pwd); pwd | sed 's,.*/,,'; echo $(echo a; echo b)
}
check_background_wait() {
	sleep 0.2 & p=$!; wait $p; echo $?; (exit 9) & wait $!; echo $?
	for i in 1 2 3; do (sleep 0.$((i * 3)); echo $i) & done; wait; echo done
	wait 99999 2>/dev/null; echo $?
}
check_kill_jobs() {
	sleep 100 & p=$!; kill $p; wait $p 2>/dev/null; echo $?
	sleep 100 & p=$!; kill -9 $p; wait $p 2>/dev/null; echo $?
	kill -0 $p 2>/dev/null || echo gone; kill -l 15; kill -l TERM
}
check_traps() {
	sh -c 'trap "echo term" TERM; trap "echo bye" EXIT; kill -TERM $$; echo after'
	sh -c 'trap "" TERM; kill -TERM $$; echo ignored'
	sh -c 'trap "echo usr1; exit 6" USR1; (sleep 0.1; kill -USR1 $$) & while :; do sleep 0.05; done'; echo $?
	sh -c 'trap "echo int" INT; kill -INT $$; trap - INT; kill -INT $$; echo no' ; echo $?
}
check_sigpipe() {
	(while echo y; do :; done; echo never) 2>/dev/null | head -1
	sh -c 'yes 2>/dev/null; echo $? >st' | head -1 >/dev/null; cat st
}
check_timeout_command() {
	timeout 0.2 sleep 10; echo $?; timeout 5 true; echo $?; timeout -s KILL 0.2 sleep 10; echo $?
}
check_fifo() {
	mkfifo p; cat p & echo through >p; wait; (echo a; echo b) >p & cat p | head -1; wait 2>/dev/null; echo end
}
check_here_and_proc_fd() {
	cat /proc/self/fd/0 <<END
from stdin
END
	echo x | cat /dev/stdin; echo to-err >&2; echo y >/dev/null; ls /proc/self/fd | head -3 | tr '\n' ' '; echo
}
check_environment() {
	A=1 sh -c 'echo $A'; export B=2; sh -c 'echo $B'; env -i C=3 /bin/busybox env; unset B; sh -c 'echo ${B-none}'
	env | grep -c '^PATH='; cat /proc/self/environ | tr '\0' '\n' | grep -c '^HOME='
}
check_arguments() {
	set -- a 'b c' ''; echo $#; for x in "$@"; do echo "<$x>"; done; shift 2; echo $#
	tr '\0' ' ' </proc/self/cmdline; echo
	f() { echo "$1-$#"; return 4; }; f x y; echo $?
}
check_scripts() {
	printf '#!/bin/sh\necho script "$0" "$@"\n' >s; chmod +x s; ./s 1 2; sh s 3
	printf 'echo no shebang $1\n' >n; chmod +x n; ./n 4; chmod -x s; ./s; echo $?
	printf '#!/bin/awk -f\nBEGIN { print "awk" }\n' >a; chmod +x a; ./a
}
check_shell_loops() {
	i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo $i
	for f in $(seq 1 300); do /bin/true; done; echo ok
	seq 1 50 | while read n; do echo $n | cat; done | awk '{ s += $1 } END { print s }'
}
check_fork_burst() {
	for i in $(seq 1 100); do (exit 0) & done; wait; echo waited
	for i in $(seq 1 50); do sh -c 'exit 0' & done; wait; echo $?
}
check_nested_substitution() {
	echo $(echo $(echo $(echo $(echo deep)))); x=$(seq 1 20000); echo ${#x}
}
check_process_groups() {
	setsid sh -c 'echo $(($$ == $(cut -d" " -f6 /proc/$$/stat)))'
	(setsid sh -c 'sleep 100 & kill -TERM 0' 2>/dev/null); echo survived $?
}
check_taskset() {
	taskset 1 sh -c 'grep Cpus_allowed_list /proc/self/status' | awk '{ print $2 }'
	nproc; taskset 3 nproc
}
check_su_and_ids() {
	id -u; id -un; setpriv --reuid 1000 id -u 2>/dev/null || su user -c 'id -u'; su user -c 'id -un; cat /etc/shadow 2>/dev/null || echo none; touch /etc/x 2>/dev/null || echo refused'
	su user -c 'kill -0 1 2>/dev/null || echo not permitted'
}
check_ulimits() {
	ulimit -n; ulimit -s; (ulimit -n 20; ulimit -n); (ulimit -f 1; dd if=/dev/zero of=f bs=1k count=10 2>/dev/null; echo $?; stat -c %s f)
}
check_time_and_sleep() {
	s=$(date +%s); sleep 1; e=$(date +%s); d=$((e - s)); [ $d -ge 1 ] && [ $d -le 3 ] && echo slept
	usleep 1000; echo ok; time -f %e true 2>&1 | grep -c .
}
check_stop_and_continue() {
	sleep 100 & p=$!; kill -STOP $p; sleep 0.1; awk '{ print $3 }' /proc/$p/stat; kill -CONT $p; sleep 0.1; awk '{ print $3 }' /proc/$p/stat
	kill $p; wait $p 2>/dev/null; echo $?
}
check_pidof_killall() {
	cp /bin/busybox ./sleepy 2>/dev/null; ln -s sleepy sleep; ./sleep 100 & p=$!; sleep 0.1
	[ "$(cat /proc/$p/comm)" = sleep ] && echo named; kill $p; wait $p 2>/dev/null; echo $?
}
check_coproc_read_timeout() {
	mkfifo p; exec 3<>p; read -t 1 x <&3; echo "timeout $?"; echo line >&3; read x <&3; echo "$x"
}
