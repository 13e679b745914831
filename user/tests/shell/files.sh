# SPDX-License-Identifier: MIT
# Files and directories with busybox.

check_create_and_list() {
	echo one >a; echo two >b; mkdir d; ln -s a l
	ls -1
	ls -l | awk '{ print $1, $2, $3, $4, $5, $NF }' | grep -v total
	cat a b l
}
check_redirections() {
	echo out; echo err >&2
	ls nope 2>&1 >/dev/null | sed 's/^.*: nope/nope/'
	{ echo a; echo b >&2; } 2>&1 >f | cat; cat f
	exec 5>five; echo to five >&5; exec 5>&-; cat five
	echo x 2>/dev/null >&7 || echo bad fd
	cat <<-END
	here $((6 * 7))
	END
	set -C; echo again >five || echo kept; echo more >>five; cat five
}
check_copy_move_remove() {
	mkdir -p d/e/f; echo deep >d/e/f/g
	cp -r d c; mv c/e x; find . | sort
	rm -r d; rm x/f/g; rmdir x/f; find . | sort
	rm nope; echo "status $?"
}
check_permissions() {
	touch f; chmod 640 f; stat -c '%a %A' f
	chmod u+x,g-r,o=w f; stat -c '%a %A' f
	chmod 4755 f; stat -c '%a %A' f
	mkdir t; chmod 1777 t; stat -c '%a %A' t
	chown 1000:1000 f; stat -c '%u %g' f
	umask 077; touch g; stat -c %a g
}
check_links() {
	echo data >a; ln a b; stat -c %h a; rm a; cat b
	ln -s b s; readlink s; ln -sf nowhere s; cat s 2>/dev/null || echo dangling
	ln -s . loop; cat loop/loop/loop/b; readlink -f loop/b | sed 's,.*/,,'
	[ -L s ] && echo link; [ -e s ] || echo no target
}
check_find_and_xargs() {
	mkdir -p x/y; touch x/1.c x/y/2.c x/y/3.h
	find . -name '*.c' | sort | xargs -n 1 echo file
	find . -type d | wc -l
	find . -name '*.h' -exec echo found {} \;
	find . -newer x/1.c -type f | wc -l >/dev/null; echo ok
	find . -size 0 -type f | sort
}
check_dd_blocks() {
	dd if=/dev/zero of=z bs=1k count=100 2>/dev/null; wc -c <z
	printf 0123456789 | dd bs=1 skip=3 count=4 2>/dev/null; echo
	printf abcdef >f; printf XY | dd of=f bs=1 seek=2 conv=notrunc 2>/dev/null; cat f; echo
	dd if=/dev/zero of=sparse bs=1 seek=1000000 count=1 2>/dev/null; stat -c %s sparse
}
check_tar_and_compress() {
	mkdir d; seq 1 1000 >d/numbers; ln -s numbers d/link; echo x >d/small
	tar cf t.tar d; tar tf t.tar | sort
	gzip -c t.tar >t.gz; rm -r d; gunzip -c t.gz | tar xf -
	md5sum d/numbers; readlink d/link; cat d/small
	bzip2 -c d/numbers | bunzip2 -c | md5sum
	xz -dc </dev/null | wc -c
}
check_cpio_roundtrip() {
	mkdir d; echo hello >d/h; mkfifo d/p; ln d/h d/h2
	find d | sort | cpio -o -H newc 2>/dev/null >a.cpio
	mkdir o; cd o; cpio -i <../a.cpio 2>/dev/null; find d | sort; cat d/h2; [ -p d/p ] && echo fifo
}
check_checksums() {
	seq 1 5000 >n; md5sum n; sha1sum n; sha256sum n; cksum n 2>/dev/null | awk '{ print $1 }' | head -0
	md5sum n >sums; md5sum -c sums
	echo x >>n; md5sum -c sums 2>/dev/null; echo "status $?"
}
check_many_files() {
	i=0; while [ $i -lt 500 ]; do echo $i >f$i; i=$((i + 1)); done
	ls | wc -l; cat f* | awk '{ s += $1 } END { print s }'
	rm f*; ls | wc -l
}
check_big_file() {
	yes 0123456789abcde | head -c 8000000 >big; wc -c <big; md5sum big | cut -c1-32
	tail -c 20 big | head -c 10; echo
	head -c 4000000 big >half; cat half half | cmp - big && echo same
	truncate -s 100 big; stat -c %s big
}
check_disk_usage() {
	dd if=/dev/zero of=f bs=4096 count=10 2>/dev/null; du -k f | awk '{ print $1 }'
	df /tmp | tail -1 | awk '{ print $6 }'
	df -P /proc 2>/dev/null | tail -1 | awk '{ print $2, $6 }'
}
check_mktemp_and_test() {
	t=$(mktemp); [ -f "$t" ] && echo made; rm "$t"
	d=$(mktemp -d); [ -d "$d" ] && echo made; rmdir "$d"
	touch -d @0 a; touch b; [ b -nt a ] && echo newer
	[ -s a ] || echo empty; [ -w a ] && echo writable; [ -c /dev/null ] && echo device; [ -p a ] || echo no fifo
}
check_touch_times() {
	touch -d '2001-02-03 04:05:06' f; stat -c %Y f; date -u -r f '+%F %T'
	touch -r f g; stat -c %Y g
}
check_odd_names() {
	touch 'a b' "c'd" 'e"f' ./-dash 'star*' "$(printf 'tab\there')" 'ünï'
	ls -1 | sort | od -c | head -4; echo
	for f in *; do echo "<$f>"; done; rm -- -dash; rm 'star*'; ls | wc -l
}
check_globbing() {
	touch a1 a2 b1 .hidden; mkdir dir; touch dir/x1
	echo a*; echo ?1; echo [ab]1; echo */x*; echo nope*; echo .h*; echo [!a]*
}
check_unlink_open_file() {
	echo content >f; exec 3<f; rm f; cat <&3; ls -l /proc/self/fd/3 | sed 's/.*-> //; s,.*/,,'
}
check_tee_and_cat() {
	echo x | tee a b | cat - a; cat -n a b 2>/dev/null; cat a - <b; echo y | tee -a a >/dev/null; cat a
}
check_realpath_dirname() {
	mkdir -p p/q; ln -s p/q s; cd s; pwd | sed 's,.*/,,'; pwd -P | sed 's,.*/p,p,'; cd ..; basename /a/b.c .c; dirname /a/b/c
	cd /usr/../etc/./; pwd
}
