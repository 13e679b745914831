#!/bin/sh
# SPDX-License-Identifier: MIT
# lowmem.sh: for a 64 MiB guest. Hogs of memory and of perf rings and a fork bomb die or get an error; the shell answers. Prints TAP.
n=0 fail=0
result() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fail=1; fi
}
answers() {
	[ "$(echo alive | cat)" = alive ]
	result $? "the shell answers after $1"
}
bomb() { bomb | bomb & }

memhog
[ $? != 0 ]
result $? "a memory hog ends badly"
answers "the hog"

memhog & a=$!
memhog & b=$!
wait $a $b
answers "two hogs at once"

ringhog
result $? "a hog of perf rings is refused memory"
answers "the ring hog"
ringhog 1 & a=$!
ringhog 512 & b=$!
memhog
wait $a $b
answers "ring hogs beside a memory hog"
perf stat -e cycles true >/dev/null 2>&1
result $? "perf still works"

# The bomb runs as a user with a limit that memory does not allow, in a session of its own.
su user -c 'ulimit -u 400; exec setsid sh -c "
	bomb() { bomb | bomb & }
	bomb
	sleep 2
"' >/dev/null 2>&1 &
sleep 6
tries=0
while [ "$(ps -o user,pid | grep -c '^user')" -gt 0 ] && [ $tries -lt 100 ]; do
	ps -o user,pid | awk '$1 == "user" { print $2 }' | xargs -r kill -9 2>/dev/null
	tries=$((tries + 1))
done
[ "$(ps -o user,pid | grep -c '^user')" = 0 ]
result $? "the bomb is gone"
answers "a fork bomb"

mkdir -p /tmp/fill
dd if=/dev/zero of=/tmp/fill/f bs=64k 2>/dev/null
[ $? != 0 ]
result $? "filling the file system gives an error"
rm -rf /tmp/fill
answers "a full file system"
exit $fail
