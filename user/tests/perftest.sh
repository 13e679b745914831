#!/bin/sh
# SPDX-License-Identifier: MIT
# perf test and the kernel's selftests/perf_events; scripts/run-verdicts compares their verdicts with Linux's.
. /tests/section.sh

# perf starts "sleep" and looks for the records of its libraries: Debian's is dynamic.
export PATH=/debian/bin:/bin
echo 1 >/proc/sys/kernel/perf_user_access

section 300 perf perf /tools/perf test
for t in watermark_signal remove_on_exec mmap; do
	section 30 selftest $t /tools/selftests/$t
done
# On arm64 Linux steps for ever over the watchpoint of its other tests.
section 30 selftest sigtrap_threads /tools/selftests/sigtrap_threads -t remain_disabled
exit 0
