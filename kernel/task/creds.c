/* SPDX-License-Identifier: MIT */
/*
 * Credentials: capabilities, group membership, who may observe whom, and what execve makes of them
 * (credentials(7), capabilities(7)). There are no file capabilities: a program gains privilege only by
 * its set-id bits, or keeps what root has.
 */
#include <perch/cred.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/printk.h>

#include "creds.h"
#include "internal.h"

bool task_capable(struct task *t, int cap)
{
	return READ_ONCE(t->cred.cap_effective) & BIT(cap);
}

bool capable(int cap)
{
	return task_capable(current, cap);
}

bool in_group(u32 gid)
{
	const struct cred *c = &current->cred;

	if (gid == c->fsgid)
		return true;
	for (u32 i = 0; i < c->ngroups; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

static bool same_ids(const struct cred *me, const struct cred *it)
{
	return me->uid == it->euid && me->uid == it->suid && me->uid == it->uid &&
	       me->gid == it->egid && me->gid == it->sgid && me->gid == it->gid;
}

static bool dumpable(struct task *t)
{
	bool ret;

	spin_lock(&t->alloc_lock);
	ret = !t->mm || t->mm->dumpable == 1;
	spin_unlock(&t->alloc_lock);
	return ret;
}

bool ptrace_may_access(struct task *target)
{
	const struct cred *me = &current->cred;

	if (target->proc == current->proc || capable(CAP_SYS_PTRACE))
		return true;
	return same_ids(me, &target->cred) && dumpable(target) &&
	       !(target->cred.cap_permitted & ~me->cap_permitted);
}

/* --- capabilities follow the ids */

static bool any_root(const struct cred *c)
{
	return !c->uid || !c->euid || !c->suid;
}

void creds_fix_caps(struct cred *new, const struct cred *old)
{
	if (new->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (any_root(old) && !any_root(new)) {
		if (!(new->securebits & SECBIT_KEEP_CAPS))
			new->cap_permitted = new->cap_effective = 0;
		new->cap_ambient = 0;
	}
	if (!old->euid && new->euid)
		new->cap_effective = 0;
	if (old->euid && !new->euid)
		new->cap_effective = new->cap_permitted;
}

void creds_fix_fs_caps(struct cred *new, const struct cred *old)
{
	if (new->securebits & SECBIT_NO_SETUID_FIXUP)
		return;
	if (!old->fsuid && new->fsuid)
		new->cap_effective &= ~CAP_FS_SET;
	if (old->fsuid && !new->fsuid)
		new->cap_effective |= new->cap_permitted & CAP_FS_SET;
}

/* Whoever changes what a process may do must not leave it open to those who could observe it before. */
int creds_commit(const struct cred *new)
{
	struct task *t = current;
	const struct cred *old = &t->cred;
	bool less_open = new->euid != old->euid || new->egid != old->egid || new->fsuid != old->fsuid ||
			 new->fsgid != old->fsgid || (new->cap_permitted & ~old->cap_permitted);
	int err = task_set_user(t, new->uid);

	if (err)
		return err;
	if (less_open) {
		if (t->mm)
			t->mm->dumpable = 0;
		t->pdeath_signal = 0;
	}
	t->cred = *new;
	return 0;
}

/* --- execve */

static void apply_setid(struct cred *c, u32 mode, u32 fuid, u32 fgid)
{
	if (mode & S_ISUID)
		c->euid = fuid;
	/* Set-gid without group execute means something else (mandatory locks). */
	if ((mode & S_ISGID) && (mode & 010))
		c->egid = fgid;
}

/*
 * capabilities(7), "Transformation of capabilities during execve", with empty file sets. Root's
 * programs count as having all of them, unless SECBIT_NOROOT.
 */
static void exec_caps(struct cred *c, bool setid)
{
	bool root = !(c->securebits & SECBIT_NOROOT) && (!c->uid || !c->euid);

	if (setid)
		c->cap_ambient = 0;
	if (root) {
		c->cap_permitted = c->cap_inheritable | c->cap_bounding;
		c->cap_effective = c->euid ? c->cap_ambient : c->cap_permitted;
	} else {
		c->cap_permitted = c->cap_effective = c->cap_ambient;
	}
	c->securebits &= ~SECBIT_KEEP_CAPS;
}

void creds_exec(struct cred *c, u32 mode, u32 fuid, u32 fgid, bool nosuid, bool *secure)
{
	const struct cred old = *c;
	bool setid;

	if (!nosuid && !c->no_new_privs)
		apply_setid(c, mode, fuid, fgid);
	setid = c->euid != old.euid || c->egid != old.egid;
	c->suid = c->fsuid = c->euid;
	c->sgid = c->fsgid = c->egid;
	exec_caps(c, setid);
	/* Real and effective ids differ, or an ordinary user came to capabilities that are not ambient. */
	*secure = c->euid != c->uid || c->egid != c->gid ||
		  (c->uid && (c->cap_effective & ~c->cap_ambient));
}
