/* SPDX-License-Identifier: MIT */
/* One-time set-up calls, in the order kernel/main.c makes them. Boot CPU, process context unless said. */
#ifndef KERNEL_INIT_H
#define KERNEL_INIT_H

extern const char perch_version[];

void printk_clock_ready(void);	/* IRQs off: log lines get times, readers get woken */
void task_init(void);		/* pid table; before the first kthread_create */
void proc_init(void);
void sysfs_init(void);
void devices_init(void);	/* null, zero, random, kmsg... in devtmpfs */

#endif
