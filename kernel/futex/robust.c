/* SPDX-License-Identifier: MIT */
/*
 * Death of a thread that holds robust futexes: the C library keeps a list of them in user memory;
 * the kernel walks it at exit, marks each word that still holds the thread's id with
 * FUTEX_OWNER_DIED and wakes a waiter. The list is the program's: it may be broken, endless or
 * unmapped, so the walk is bounded and stops at the first fault.
 */
#include "futex.h"
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/futex.h>
#include <perch/mm.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#define ROBUST_LIMIT	2048

struct robust_head { u64 next; s64 futex_offset; u64 pending; };
_Static_assert(sizeof(struct robust_head) == 24, "struct robust_list_head");

/* Bit 0 of a link says that the entry is a PI futex. */
static u64 link_address(u64 link)
{
	return link & ~1UL;
}

/* Set FUTEX_OWNER_DIED in a word that we own. 1: somebody waits; 0: not; -EFAULT. */
static int mark_died(u32 __user *p)
{
	u32 word, seen;

	if (get_user(word, p))
		return -EFAULT;
	while ((word & FUTEX_TID_MASK) == current->pid) {
		if (cmpxchg_user32(p, &seen, word, (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED))
			return -EFAULT;
		if (seen == word)
			return !!(word & FUTEX_WAITERS);
		word = seen;
	}
	return 0;
}

/* pending: the thread died between changing the word and the list; a word of 0 may have a waiter
 * that nobody will wake. */
static int bury(u64 addr, bool pi, bool pending)
{
	u32 __user *p = (u32 __user *)addr;
	u32 word;
	int ret;

	if (addr % sizeof(u32) || get_user(word, p))
		return -EFAULT;
	ret = mark_died(p);
	if (!pi && (ret > 0 || (pending && !word)))
		futex_wake(p, true, 1, FUTEX_BITSET_ANY);
	return ret < 0 ? ret : 0;
}

static void walk_robust(u64 head)
{
	struct robust_head h;
	u64 link, next;

	if (copy_from_user(&h, (void __user *)head, sizeof(h)))
		return;
	link = h.next;
	for (int n = 0; link_address(link) != head && n < ROBUST_LIMIT; n++, link = next) {
		/* the next link first: burying may let others free the entry */
		bool last = copy_from_user(&next, (void __user *)link_address(link), sizeof(next));

		if (link_address(link) != link_address(h.pending) &&
		    bury(link_address(link) + h.futex_offset, link & 1, false))
			return;
		if (last)
			break;
		cond_resched();
	}
	if (link_address(h.pending))
		bury(link_address(h.pending) + h.futex_offset, h.pending & 1, true);
}

/* The word is cleared only if somebody can see it: others still use the address space. */
static void clear_tid(struct task *t)
{
	u32 __user *p = t->clear_child_tid;
	u32 zero = 0;

	t->clear_child_tid = NULL;
	if (!p || ref_read(&t->mm->users) <= 1)
		return;
	if (!put_user(zero, p))
		futex_wake_user(p, 1);
}

void futex_exit(struct task *t)
{
	ASSERT(t == current);
	if (!t->mm)
		return;
	if (t->robust_list)
		walk_robust(t->robust_list);
	t->robust_list = 0;
	futex_pi_exit(t->pid);
	clear_tid(t);
}

long sys_set_robust_list(uaddr head, size_t len)
{
	if (len != sizeof(struct robust_head))
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

long sys_get_robust_list(int pid, u64 __user *head, u64 __user *len)
{
	u64 size = sizeof(struct robust_head), addr;
	struct task *t;

	if (pid < 0)
		return -ESRCH;
	t = pid ? task_find_get(pid) : current;
	if (!t)
		return -ESRCH;
	if (!ptrace_may_access(t)) {
		if (pid)
			task_put(t);
		return -EPERM;
	}
	addr = t->robust_list;
	if (pid)
		task_put(t);
	if (put_user(size, len) || put_user(addr, head))
		return -EFAULT;
	return 0;
}
