/* SPDX-License-Identifier: MIT */
/* getrusage(2): what a thread, a process or its reaped children have used. */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "internal.h"
#include "rusage.h"

#define RUSAGE_SELF	0
#define RUSAGE_CHILDREN	-1
#define RUSAGE_THREAD	1

static struct timeval64 ns_to_timeval(u64 ns)
{
	return (struct timeval64){
		(s64)(ns / NSEC_PER_SEC),
		(s64)(ns % NSEC_PER_SEC / NSEC_PER_USEC),
	};
}

void rusage_to_abi(const struct rusage_counts *c, struct rusage_abi *out)
{
	memset(out, 0, sizeof(*out));
	out->utime = ns_to_timeval(c->utime_ns);
	out->stime = ns_to_timeval(c->stime_ns);
	out->maxrss = (s64)(c->maxrss * (PAGE_SIZE / 1024));
	out->minflt = (s64)c->minflt;
	out->majflt = (s64)c->majflt;
	out->nvcsw = (s64)c->nvcsw;
	out->nivcsw = (s64)c->nivcsw;
}

static int collect(int who, struct rusage_counts *c)
{
	u64 flags;

	switch (who) {
	case RUSAGE_SELF:
		process_times(current->proc, c);
		break;
	case RUSAGE_THREAD:
		task_account(current);
		*c = current->ru;
		break;
	case RUSAGE_CHILDREN:
		flags = spin_lock_irqsave(&task_lock);
		*c = current->proc->children_ru;
		spin_unlock_irqrestore(&task_lock, flags);
		return 0;
	default:
		return -EINVAL;
	}
	if (current->mm) {
		mm_note_peak(current->mm);
		c->maxrss = max(c->maxrss, READ_ONCE(current->mm->hiwater_rss));
	}
	return 0;
}

long sys_getrusage(int who, struct rusage_abi __user *out)
{
	struct rusage_counts c;
	struct rusage_abi ru;
	int err = collect(who, &c);

	if (err)
		return err;
	rusage_to_abi(&c, &ru);
	return copy_to_user(out, &ru, sizeof(ru)) ? -EFAULT : 0;
}
