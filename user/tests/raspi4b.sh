# SPDX-License-Identifier: MIT
# What a Raspberry Pi 4 has and QEMU's virt has not, for the lane of scripts/test-all that boots raspi4b. TAP.

n=0
check() { # check WHAT COMMAND...
	what=$1
	shift
	n=$((n + 1))
	if "$@" >/tmp/out 2>&1; then
		echo "ok $n - raspi4b $what"
	else
		echo "not ok $n - raspi4b $what"
		sed 's/^/  # /' /tmp/out
		bad=1
	fi
}

four_cpus() { [ "$(nproc)" = 4 ] && [ "$(grep -c 'CPU part.*0xd08' /proc/cpuinfo)" = 4 ]; }
each_cpu_runs() { for c in 0 1 2 3; do taskset $((1 << c)) perf stat -e cycles true || return 1; done; }
pmu_line() { dmesg | grep 'pmu: armv8_cortex_a72: 6 32-bit counters.*counting at EL1, not when.*overflow interrupt [0-9]'; }
uart_interrupts() { grep uart-pl011 /proc/interrupts; }
aliases() { perf stat -e l1d_cache,l1d_cache_refill,br_mis_pred,bus_access true; }
not_supported() { perf stat -e cycles,instructions true 2>/tmp/stat; cat /tmp/stat; grep -q '[1-9].*cycles' /tmp/stat && grep -q 'not supported.*instructions' /tmp/stat; }
samples() { # on each CPU
	for c in 0 1 2 3; do
		taskset $((1 << c)) perf record -q -e cycles -c 1000000 -o /tmp/pi.data loop 20 || return 1
		[ "$(perf script -i /tmp/pi.data -F ip | wc -l)" -gt 10 ] || return 1
	done
}

# A busy host makes interrupts slow, and then the kernel lowers the rate that tests ask for.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

check "four Cortex-A72, started by spin table" four_cpus
check "the PMU's self-test" pmu_line
check "cycles on each CPU" each_cpu_runs
check "samples on each CPU" samples
check "perf's names for A72 events are accepted" aliases
check "what the CPU lacks is not supported" not_supported
check "the UART interrupts" uart_interrupts
check "system calls" ptest attr open group
echo "1..$n"
exit ${bad:-0}
