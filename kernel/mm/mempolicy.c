/* SPDX-License-Identifier: MIT */
/*
 * NUMA policies on a machine with one node: everything is accepted that Linux would accept there,
 * remembered for the task, and changes nothing. libnuma and perf ask at start.
 *
 * A user's node mask is maxnode-1 bits in 64-bit words (man 2 set_mempolicy); only bit 0 exists.
 */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/signal.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include "internal.h"

enum { MPOL_DEFAULT, MPOL_PREFERRED, MPOL_BIND, MPOL_INTERLEAVE, MPOL_LOCAL, MPOL_PREFERRED_MANY,
       MPOL_WEIGHTED_INTERLEAVE, MPOL_MAX };
#define MPOL_F_STATIC_NODES	(1 << 15)
#define MPOL_F_RELATIVE_NODES	(1 << 14)
#define MPOL_F_NUMA_BALANCING	(1 << 13)
#define MPOL_MODE_FLAGS (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES | MPOL_F_NUMA_BALANCING)

#define MPOL_F_NODE		1
#define MPOL_F_ADDR		2
#define MPOL_F_MEMS_ALLOWED	4

#define MPOL_MF_STRICT		1
#define MPOL_MF_MOVE		2
#define MPOL_MF_MOVE_ALL	4

#define MAX_NODES	16	/* nodes a kernel with Debian's configuration could have; one exists */

/* Bits of a user's mask: *nodes gets bit 0, bits beyond it are EINVAL when they must exist. */
static int get_nodes(u64 *nodes, const u64 __user *mask, u64 maxnode)
{
	u64 bits = maxnode - 1, words = DIV_ROUND_UP(bits, 64), w;

	*nodes = 0;
	if (!bits || !mask)
		return 0;
	if (bits > PAGE_SIZE * 8)
		return -EINVAL;
	for (u64 i = 0; i < words; i++) {
		if (get_user(w, mask + i))
			return -EFAULT;
		if (i == words - 1 && bits % 64)
			w &= BIT(bits % 64) - 1;
		if (i == 0)
			*nodes = w;
		if (i ? w : w >> MAX_NODES)
			return -EINVAL;
	}
	return 0;
}

/* Is (mode, nodes) a policy? Fills in the mode without its flags. */
static int check_policy(int *mode, u64 *nodes, int *mode_flags)
{
	*mode_flags = *mode & MPOL_MODE_FLAGS;
	*mode &= ~MPOL_MODE_FLAGS;
	if (*mode < 0 || *mode >= MPOL_MAX)
		return -EINVAL;
	if ((*mode_flags & MPOL_F_STATIC_NODES) && (*mode_flags & MPOL_F_RELATIVE_NODES))
		return -EINVAL;
	if ((*mode_flags & MPOL_F_NUMA_BALANCING) && *mode != MPOL_BIND)
		return -EINVAL;
	if (*mode == MPOL_DEFAULT)
		return *nodes ? -EINVAL : 0;
	if (*mode == MPOL_LOCAL)
		return *nodes || (*mode_flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES)) ?
		       -EINVAL : 0;
	if (*mode == MPOL_PREFERRED && !*nodes) {
		if (*mode_flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES))
			return -EINVAL;
		*mode = MPOL_LOCAL;
		return 0;
	}
	if (!*nodes)
		return -EINVAL;
	*nodes &= 1;
	return *nodes ? 0 : -EINVAL;	/* only nodes that do not exist */
}

long sys_set_mempolicy(int mode, const u64 __user *mask, u64 maxnode)
{
	u64 nodes;
	int flags, err = get_nodes(&nodes, mask, maxnode);

	if (!err)
		err = check_policy(&mode, &nodes, &flags);
	if (err)
		return err;
	current->mempolicy = mode | flags;
	current->mempolicy_nodes = nodes;
	return 0;
}

static long put_nodes(u64 __user *mask, u64 maxnode, u64 nodes)
{
	u64 bytes = ALIGN_UP(maxnode - 1, 64) / 8;

	if (!mask || !bytes)
		return 0;
	if (bytes > PAGE_SIZE)
		return -EINVAL;
	if (clear_user((char __user *)mask + 8, bytes - 8) || put_user(nodes, mask))
		return -EFAULT;
	return 0;
}

/* The policy at an address is the task's: mbind keeps none. -EFAULT if nothing is mapped there. */
static int check_address(uaddr addr, bool need_page)
{
	struct page *p;
	bool mapped;

	mutex_lock(&current->mm->lock);
	mapped = vma_at(current->mm, addr);
	mm_unlock(current->mm);
	if (!mapped)
		return -EFAULT;
	if (!need_page)
		return 0;
	p = mm_get_user_page(current->mm, addr, false);
	if (IS_ERR(p))
		return PTR_ERR(p);
	page_put(p);
	return 0;
}

long sys_get_mempolicy(int __user *policy, u64 __user *mask, u64 maxnode, uaddr addr, u64 flags)
{
	int mode = current->mempolicy, err;
	u64 nodes = current->mempolicy_nodes;

	addr = untag(addr);
	if (mask && !maxnode)
		return -EINVAL;
	if (flags & ~7UL)
		return -EINVAL;
	if (flags & MPOL_F_MEMS_ALLOWED) {
		if (flags & (MPOL_F_NODE | MPOL_F_ADDR))
			return -EINVAL;
		mode = 0;
		nodes = 1;
	} else if (flags & MPOL_F_ADDR) {
		err = check_address(addr, flags & MPOL_F_NODE);
		if (err)
			return err;
		if (flags & MPOL_F_NODE)
			mode = 0;		/* the page's node */
	} else if (addr) {
		return -EINVAL;
	} else if (flags & MPOL_F_NODE) {
		if ((mode & ~MPOL_MODE_FLAGS) != MPOL_INTERLEAVE &&
		    (mode & ~MPOL_MODE_FLAGS) != MPOL_WEIGHTED_INTERLEAVE)
			return -EINVAL;
		mode = 0;			/* the next node to interleave on */
	}
	if (policy && put_user(mode, policy))
		return -EFAULT;
	return put_nodes(mask, maxnode, nodes);
}

long sys_mbind(uaddr start, u64 len, int mode, const u64 __user *mask, u64 maxnode, u32 flags)
{
	struct mm *mm = current->mm;
	u64 nodes, n = ALIGN_UP(len, PAGE_SIZE);
	int mode_flags, err;
	struct vma *v;

	start = untag(start);
	err = get_nodes(&nodes, mask, maxnode);
	if (err)
		return err;
	if (flags & ~(u32)(MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	if ((flags & MPOL_MF_MOVE_ALL) && !capable(CAP_SYS_NICE))
		return -EPERM;
	if ((start & ~PAGE_MASK) || start + n < start)
		return -EINVAL;
	err = check_policy(&mode, &nodes, &mode_flags);
	if (err || !n)
		return err;
	mutex_lock(&mm->lock);
	for (v = vma_find(mm, start); n; v = vma_next(mm, v)) {
		u64 step;

		if (!v || v->start > start) {
			err = -EFAULT;
			break;
		}
		step = min(n, v->end - start);
		start += step;
		n -= step;
	}
	mm_unlock(mm);
	return err;
}

long sys_set_mempolicy_home_node(uaddr start, u64 len, u64 node, u64 flags)
{
	u64 n = ALIGN_UP(len, PAGE_SIZE);

	if ((untag(start) & ~PAGE_MASK) || flags || node > 0 || untag(start) + n < untag(start))
		return -EINVAL;
	return n ? -ENOENT : 0;		/* no area has a policy of its own */
}

/* --- moving pages between nodes: there is nowhere to go ------------------------------------------------ */

static int may_move(int pid)
{
	struct task *t;
	int err = 0;

	if (!pid)
		return 0;
	t = task_find_get(pid);
	if (!t)
		return -ESRCH;
	if (t->proc != current->proc && !ptrace_may_access(t))
		err = -EPERM;
	task_put(t);
	return err;
}

long sys_migrate_pages(int pid, u64 maxnode, const u64 __user *from, const u64 __user *to)
{
	u64 old, new;
	int err = get_nodes(&old, from, maxnode);

	if (!err)
		err = get_nodes(&new, to, maxnode);
	if (!err)
		err = may_move(pid);
	if (err)
		return err;
	return new & 1 ? 0 : -EINVAL;
}

/* The node of the page at addr: 0, or -EFAULT without an area, -ENOENT without a page. */
static int node_of(struct mm *mm, uaddr addr)
{
	struct vma *v;
	int node = -EFAULT;
	pte *p;

	mutex_lock(&mm->lock);
	v = vma_at(mm, untag(addr));
	if (v) {
		p = pgt_entry(&mm->pgt, untag(addr), false);
		node = !p || !pte_present(*p) ? -ENOENT : pte_special(*p) ? -EFAULT : 0;
	}
	mm_unlock(mm);
	return node;
}

long sys_move_pages(int pid, u64 nr, const uaddr __user *pages, const int __user *nodes,
		    int __user *status, int flags)
{
	struct task *t;
	struct mm *mm;
	long err = 0;

	if (flags & ~(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL))
		return -EINVAL;
	if ((flags & MPOL_MF_MOVE_ALL) && !capable(CAP_SYS_NICE))
		return -EPERM;
	err = may_move(pid);
	if (err)
		return err;
	t = pid ? task_find_get(pid) : NULL;
	mm = task_get_mm(t ? t : current);
	if (t)
		task_put(t);
	if (!mm)
		return -EINVAL;
	for (u64 i = 0; i < nr && !err; i++) {
		uaddr addr;
		int want = 0, st;

		if (get_user(addr, pages + i) || (nodes && get_user(want, nodes + i))) {
			err = -EFAULT;
			break;
		}
		st = node_of(mm, addr);
		if (nodes && want != 0)
			err = -ENODEV;
		else if (put_user(st, status + i))
			err = -EFAULT;
		if (fatal_signal_pending(current))
			err = -EINTR;
	}
	mm_put(mm);
	return err;
}
