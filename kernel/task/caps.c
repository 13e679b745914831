/* SPDX-License-Identifier: MIT */
/* capget(2) and capset(2). Three versions of the structure: 32 bits, and twice 64 bits in two halves. */
#include <perch/errno.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "creds.h"
#include "internal.h"

#define VERSION_1 0x19980330
#define VERSION_2 0x20071026
#define VERSION_3 0x20080522

struct cap_header { u32 version; s32 pid; };
struct cap_data { u32 effective, permitted, inheritable; };

/* Number of cap_data structures of that version. An unknown one is told ours. */
static int read_header(struct cap_header *h, struct cap_header __user *uh)
{
	if (copy_from_user(h, uh, sizeof(*h)))
		return -EFAULT;
	if (h->version == VERSION_1)
		return 1;
	if (h->version == VERSION_2 || h->version == VERSION_3)
		return 2;
	return put_user((u32)VERSION_3, &uh->version) ? -EFAULT : -EINVAL;
}

static int caps_of(int pid, u64 caps[3])
{
	struct task *t = current;

	if (pid < 0)
		return -EINVAL;
	if (pid && (u32)pid != current->pid) {
		t = task_find_get((u32)pid);
		if (!t)
			return -ESRCH;
	}
	caps[0] = t->cred.cap_effective;
	caps[1] = t->cred.cap_permitted;
	caps[2] = t->cred.cap_inheritable;
	if (t != current)
		task_put(t);
	return 0;
}

long sys_capget(struct cap_header __user *uh, struct cap_data __user *ud)
{
	struct cap_data d[2];
	struct cap_header h;
	u64 caps[3];
	int n = read_header(&h, uh), err;

	if (n < 0)
		return n == -EINVAL && !ud ? 0 : n;
	err = caps_of(h.pid, caps);
	if (err || !ud)
		return err;
	for (int i = 0; i < 2; i++)
		d[i] = (struct cap_data){ (u32)(caps[0] >> 32 * i), (u32)(caps[1] >> 32 * i),
					  (u32)(caps[2] >> 32 * i) };
	return copy_to_user(ud, d, (size_t)n * sizeof(d[0])) ? -EFAULT : 0;
}

/* capabilities(7): nothing may be gained, except that permitted ones may be inherited. */
static int check_capset(const struct cred *new, const struct cred *old)
{
	if (!capable(CAP_SETPCAP) && (new->cap_inheritable & ~(old->cap_inheritable | old->cap_permitted)))
		return -EPERM;
	if (new->cap_inheritable & ~(old->cap_inheritable | old->cap_bounding))
		return -EPERM;
	if (new->cap_permitted & ~old->cap_permitted)
		return -EPERM;
	return new->cap_effective & ~new->cap_permitted ? -EPERM : 0;
}

long sys_capset(struct cap_header __user *uh, const struct cap_data __user *ud)
{
	struct cap_data d[2] = { 0 };
	struct cred new = current->cred;
	struct cap_header h;
	int n = read_header(&h, uh), err;

	if (n < 0)
		return n;
	if (h.pid && (u32)h.pid != current->pid)
		return -EPERM;
	if (copy_from_user(d, ud, (size_t)n * sizeof(d[0])))
		return -EFAULT;
	new.cap_effective = (d[0].effective | (u64)d[1].effective << 32) & CAP_FULL;
	new.cap_permitted = (d[0].permitted | (u64)d[1].permitted << 32) & CAP_FULL;
	new.cap_inheritable = (d[0].inheritable | (u64)d[1].inheritable << 32) & CAP_FULL;
	err = check_capset(&new, &current->cred);
	if (err)
		return err;
	new.cap_ambient &= new.cap_permitted & new.cap_inheritable;
	return creds_commit(&new);
}
