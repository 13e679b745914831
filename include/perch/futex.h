/* SPDX-License-Identifier: MIT */
/* Futexes: what the rest of the kernel asks of them. */
#ifndef PERCH_FUTEX_H
#define PERCH_FUTEX_H
#include <perch/types.h>
struct task;
void futex_init(void);		/* at boot, before user programs */
void futex_exit(struct task *t);	/* robust list and clear_child_tid; own task, before mm goes */
int futex_wake_user(u32 __user *p, int nr);	/* private=false; for clear_child_tid */
#endif
