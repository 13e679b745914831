# SPDX-License-Identifier: MIT
# Text tools: mostly that programs run, read, write and exit as they should.

check_sort_uniq() {
	printf 'b\na\nc\na\n' | sort; printf 'b\na\nc\na\n' | sort -ur; printf '10\n9\n100\n' | sort -n
	printf 'x\nx\ny\n' | uniq -c | awk '{ print $1, $2 }'; seq 1 20000 | sort | sort -n | md5sum
}
check_sed_grep() {
	seq 1 20 | sed -n '5,7p;$p'; echo hello | sed 's/l\(.\)/<\1>/g'; seq 1 100 | grep -c 7; echo abc | grep -o b
	grep -q x /etc/passwd; echo $?; printf 'a\nb\n' | grep -v a; seq 1 5 | sed '2d;3s/^/three /;a\
after' | head -4
}
check_awk_program() {
	seq 1 100 | awk '{ a[$1 % 3] += $1 } END { for (i = 0; i < 3; i++) print i, a[i] }'
	echo 'a:b:c' | awk -F: '{ print $3 $1, NF }'; awk 'BEGIN { printf "%.4f %x %s\n", 22/7, 255, toupper("x") }'
	awk 'BEGIN { while (i++ < 50000) s += i; print s }'; awk 'BEGIN { "echo sub" | getline x; print x; system("exit 3"); }'
}
check_cut_tr_wc() {
	echo a,b,c | cut -d, -f2; echo hello | tr a-y b-z; echo hello | tr -d l; wc </etc/group | awk '{ print $1, $2, $3 }'
	echo abc | rev; seq 1 3 | tac; seq 1 4 | paste -s -d+ | bc; echo 'a  b' | tr -s ' '
}
check_head_tail_od() {
	seq 1 10 | head -3; seq 1 10 | tail -2; seq 1 10 | tail -n +9; printf 'AB\0\n' | od -An -tx1; printf 'AB' | hexdump -C | head -1
	printf 'AB' | xxd; printf hello | base64; echo aGVsbG8= | base64 -d; echo
}
check_diff_patch() {
	seq 1 5 >a; sed 's/3/three/' a >b; diff -u a b | tail -n +3; diff -u a b >p; echo $?; patch a <p >/dev/null; cmp a b && echo same
}
check_printf_expr() {
	printf '%5d|%-5s|%05.1f|%x\n' 42 ab 3.14159 255; expr 3 \* 4; expr length hello; echo $((1 << 40)) $((7 / 2)) $((-7 % 3))
	printf '%s\n' a b c; printf '\101\x42\n'; test 3 -gt 2 && echo yes
}
check_yes_head_pipe() {
	yes | head -5; yes | head -c 100000 | wc -c
	seq 1 100000 | head -1
}
check_dc_bc_factor() {
	echo '2 100 ^ p' | dc; echo '2^64' | bc; factor 1000000007 | cat
}
check_date_cal() {
	date -u -d @1000000000 '+%F %T %a'; date -u -d '2000-01-01 00:00:00' +%s; cal 2 2024 | head -3 | sed 's/ *$//'
}
check_strings_split() {
	seq 1 100 >f; split -l 40 f 2>/dev/null && ls x* && wc -l <xac || echo no split
	printf 'abc\0defgh\0' | strings
}
check_xargs_parallel() {
	seq 1 30 | xargs -n 3 echo | wc -l; seq 1 12 | xargs -P 4 -n 1 sh -c 'echo $0' | sort -n | tr '\n' ' '; echo
	echo a b | xargs -n 1 false; echo $?
}
