#!/bin/sh
# SPDX-License-Identifier: MIT
# The guest's half of scripts/test-share: /mnt is a folder of the host. The same commands as for any file system, with
# the answers that any file system gives. TAP lines.

check() {
	what=$1
	shift
	if "$@"; then echo "ok - share: $what"; else echo "not ok - share: $what"; fi
}
says() { # text command...: its output is the text
	text=$1
	shift
	[ "$("$@" 2>&1)" = "$text" ]
}
fails() { # part of the message, command...
	text=$1
	shift
	out=$("$@" 2>&1) && return 1
	case $out in *"$text"*) ;; *) echo "# $out"; return 1 ;; esac
}
size_is() { [ "$(stat -c %s "$1")" = "$2" ]; }

cd /mnt || exit 1
check "mounted" grep -q '^share /mnt 9p rw' /proc/mounts
check "a file of the host" says 'from the host' cat hello
check "no such file" fails 'No such file' cat nothing
check "300 names" says 300 sh -c 'ls | grep -c ^name-'
mkdir sub
check "mkdir twice" fails 'File exists' mkdir sub
(umask 027; echo 'from the guest' >sub/new)
cp big sub/big
check "a large copy" cmp big sub/big
check "reading in odd pieces" says "$(md5sum <big)" sh -c 'dd if=big bs=70001 2>/dev/null | md5sum'
dd if=big bs=1000 skip=2500 count=1 of=/tmp/piece 2>/dev/null
check "reading in the middle" says "$(md5sum </tmp/piece)" sh -c 'tail -c +2500001 big | head -c 1000 | md5sum'
ln -s ../hello sub/link
check "through a symbolic link" says 'from the host' cat sub/link
rm name-1
check "unlink" fails 'No such file' rm name-1
mv name-2 sub/name-two
check "rename" [ -e sub/name-two -a ! -e name-2 ]
mv name-3 name-4
check "rename over a name" [ ! -e name-3 -a -e name-4 ]
check "rmdir of a full folder" fails 'not empty' rmdir sub
mkdir sub/empty
check "rmdir" rmdir sub/empty
echo 0123456789 >sub/cut
truncate -s 4 sub/cut
check "truncate" says 0123 cat sub/cut
truncate -s 5000 sub/cut
check "grow" size_is sub/cut 5000
chmod 604 sub/cut
check "chmod" says 604 stat -c %a sub/cut
touch -d '2001-02-03 04:05:06' sub/cut
check "times" says '2001-02-03 04:05:06' date -r sub/cut '+%Y-%m-%d %H:%M:%S'
for w in a b c d; do
	(for i in $(seq 100); do echo "line $i of $w"; done >>sub/log) &
done
wait
check "four writers append" says 400 sh -c 'wc -l <sub/log'
cp /bin/loop sub/prog
check "run a program" sh -c './sub/prog >/dev/null'
check "a removed file stays usable" sh -c 'exec 3>sub/gone; rm sub/gone; echo x >&3 && [ ! -e sub/gone ]'
check "fsync" sync sub/new
cd /
check "a busy mount stays" sh -c 'cd /mnt; ! umount /mnt 2>/dev/null'
check "umount" umount /mnt
check "no such tag" fails 'No such file' mount -t 9p -o trans=virtio nobody /mnt
check "an unknown option" fails 'Invalid' mount -t 9p -o trans=virtio,never=1 share /mnt
check "mount again" mount -t 9p -o trans=virtio,version=9p2000.L share /mnt
check "the same file again" says 'from the host' cat /mnt/hello
