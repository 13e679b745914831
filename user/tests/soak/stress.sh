#!/bin/sh
# SPDX-License-Identifier: MIT
# stress.sh SECONDS: Debian's stress-ng, one stressor after the other. Prints TAP.
secs=${1:-6}
n=0 fail=0
for s in cpu vm fork pipe futex signal timer mmap switch pthread; do
	n=$((n + 1))
	extra=
	case $s in
	vm) extra="--vm-bytes 64M" ;;
	mmap) extra="--mmap-bytes 32M" ;;
	esac
	if /debian/bin/stress-ng --$s 4 $extra --timeout "$secs" --verify >/tmp/stress.out 2>&1; then
		echo "ok $n - stress-ng $s"
	else
		echo "not ok $n - stress-ng $s (exit $?)"
		tail -8 /tmp/stress.out | sed 's/^/# /'
		fail=1
	fi
done
exit $fail
