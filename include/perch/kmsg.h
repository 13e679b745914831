/* SPDX-License-Identifier: MIT */
/* Reading the kernel log: /dev/kmsg, /proc/kmsg and syslog(2). */
#ifndef PERCH_KMSG_H
#define PERCH_KMSG_H

#include <perch/types.h>
#include <perch/wait.h>

/*
 * Copy the first record with sequence number >= *seq into buf as /dev/kmsg shows it
 * ("level,seq,microseconds,-;text\n") and set *seq to the one after. Records that were overwritten
 * are skipped. Returns its length, 0 if there is none yet. buf should hold KMSG_MAX. Any context.
 */
#define KMSG_MAX 512
size_t kmsg_read(u64 *seq, char *buf, size_t size);
/* The same as "<level>[seconds.micros] text\n", the form of syslog(2). */
size_t kmsg_read_syslog(u64 *seq, char *buf, size_t size);
u64 kmsg_first(void);		/* the oldest kept record */
u64 kmsg_next(void);		/* the number the next record will get */
extern struct waitq kmsg_wq;	/* woken (from irq work) when a record arrives */

#endif
