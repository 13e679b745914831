/* SPDX-License-Identifier: MIT */
/*
 * Stack canaries: the compiler (-fstack-protector-strong) puts a word between a function's arrays and its
 * return address and compares it at the end. One word for all: it changes once, in kernel_main, which
 * never returns, before there is a second task or CPU.
 */
#include <perch/debug.h>
#include <perch/printk.h>
#include <perch/random.h>

extern u64 __stack_chk_guard;
u64 __stack_chk_guard = 0x9d57ac6e0badca9eUL;
void __stack_chk_fail(void);

void stack_canary_init(void)
{
	__stack_chk_guard = random_u64() & ~0xffUL;	/* a zero byte stops string functions */
}

void __stack_chk_fail(void)
{
	char where[128];

	/* The call itself: behind it another function may begin already. */
	panic("stack canary: a local array of %s was overrun",
	      ksym_format((u64)__builtin_return_address(0) - 4, where, sizeof(where)));
}
