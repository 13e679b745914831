#!/bin/sh
# SPDX-License-Identifier: MIT
# Other users of perf_event_open: examples and tests of libpfm4 and PAPI (scripts/setup --clients builds
# them all; these are the ones that end within seconds), and stress-ng's perf mode. scripts/run-verdicts compares
# their verdicts with Linux's, on a cortex-a53, whose events both libraries know. Without icount QEMU's PMU has no
# instructions: what needs them says so, on Linux as on Perch.
. /tests/section.sh
export PATH=/tools/clients/libpfm4:/tools/clients/papi:/bin
echo 1 >/proc/sys/kernel/perf_user_access
echo -1 >/proc/sys/kernel/perf_event_paranoid
cd /tmp || exit 1

pfm() { # pfm PROGRAM ARGUMENT...
	section 200 run "libpfm4: $*" "$@"
}
pfm validate
pfm check_events cycles instructions
pfm showevtinfo -L
pfm evt2raw cycles
pfm self
pfm self_basic
pfm self_pipe
pfm self_smpl_multi -t 1
pfm notify_self
pfm notify_group
pfm task -e cycles loop 20
pfm task -e cycles,instructions loop 20
pfm task -i -e cycles,cs,faults sh -c 'loop 5; loop 5'
pfm task_cpu -e cycles loop 20
pfm task_smpl -e cycles loop 20
pfm syst -c 0 -d 1 -e cycles
pfm syst_count -c 0 -d 1 -e cycles
pfm syst_smpl -c 0 -d 1 -e cycles
pfm branch_smpl loop 20

papi() { # papi PROGRAM ARGUMENT...
	section 200 run "PAPI: $*" "$@"
}
cd /tools/clients/papi || exit 1	# some start "./child_overflow"
papi papi_avail
papi papi_native_avail
papi papi_component_avail
papi papi_command_line PAPI_TOT_CYC
papi papi_command_line PAPI_TOT_INS
papi papi_event_chooser PRESET PAPI_TOT_CYC
papi papi_hardware_avail
for t in all_native_events attach2 attach3 attach_cpu case1 case2 cmpinfo code2name cycles_validation derived describe \
	destroy disable_component eventname exec exec2 exec_overflow failed_events first fork fork2 fork_overflow forkexec \
	forkexec2 forkexec3 forkexec4 get_event_component hwinfo inherit low-level max_multiplex multiattach multiplex1 \
	overflow overflow2 overflow_index overflow_one_and_read overflow_pthreads overflow_single_event overflow_twoevents \
	papi_hw_int papi_tot_cyc papi_tot_ins profile realtime remove_events reset reset_multiplex second sprofile tenth \
	thrspecific version virttime zero zero_attach zero_flip zero_fork zero_named zero_pthreads zero_shmem zero_smp; do
	papi $t TESTS_QUIET
done

# stress-ng's perf mode opens some forty events for each stressor.
cd /tmp || exit 1
for s in cpu pipe fork; do
	section 200 run "stress-ng: $s with --perf" /debian/bin/stress-ng --$s 1 --$s-ops 20 --perf
done
exit 0
