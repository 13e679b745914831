#!/debian/bin/bash
# SPDX-License-Identifier: MIT
# Debian's dynamic programs: ld.so, bash, coreutils, busybox. Prints TAP.
n=0 fail=0
export PATH=/debian/bin:/bin
same() { # same TEXT WANT GOT
	n=$((n + 1))
	if [ "$2" = "$3" ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; echo "# want: $2"; echo "# got:  $3"; fail=1; fi
}
cd /tmp
same "ld.so" "hello" "$(/lib/ld-linux-aarch64.so.1 /debian/bin/echo hello 2>&1)"
same "bash" "3 one" "$(bash -c 'a=(one two three); echo ${#a[@]} ${a[0]}' 2>&1)"
same "bash arithmetic" "5050" "$(bash -c 's=0; for ((i = 1; i <= 100; i++)); do ((s += i)); done; echo $s' 2>&1)"
same "bash pipes" "1 0" "$(bash -c 'false | true; echo ${PIPESTATUS[*]}' 2>&1)"
same "bash process substitution" "a b" "$(bash -c 'paste -d" " <(echo a) <(echo b)' 2>&1)"
same "bash here string and read" "x-y" "$(bash -c 'read a b <<<"x y"; echo $a-$b' 2>&1)"
same "bash trap" "got term" "$(bash -c 'trap "echo got term" TERM; kill -TERM $$' 2>&1)"
same "bash jobs" "Done" "$(bash -c 'set -m; sleep 0.1 & wait; jobs; echo Done' 2>&1 | grep -o Done | head -1)"
same "coreutils sort" "1 2 10" "$(printf '10\n1\n2\n' | sort -n | paste -sd' ' 2>&1)"
same "coreutils ls" "a b" "$(mkdir -p d; touch d/a d/b; ls d | paste -sd' ')"
same "coreutils stat" "regular empty file" "$(stat -c %F d/a 2>&1)"
same "coreutils sha256sum" "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" "$(echo hello | sha256sum | cut -d' ' -f1)"
same "coreutils timeout" "124" "$(timeout 0.2 sleep 10; echo $?)"
same "coreutils nproc" "$(/bin/nproc)" "$(nproc)"
same "coreutils factor" "15: 3 5" "$(factor 15 2>&1)"
same "coreutils cp -a" "data" "$(echo data >f; cp -a f g; cat g)"
same "busybox" "busy" "$(busybox.dynamic echo busy 2>&1)"
same "threads of sort" "100000" "$(seq 1 100000 | sort --parallel=4 -n | tail -1)"
exit $fail
