/* SPDX-License-Identifier: MIT */
/* User and group ids (credentials(7)): get and set. An argument of -1 leaves an id as it is where Linux says so. */
#include <perch/errno.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "creds.h"
#include "internal.h"

#define KEEP ((u32)-1)

long sys_getuid(void)
{
	return current->cred.uid;
}

long sys_geteuid(void)
{
	return current->cred.euid;
}

long sys_getgid(void)
{
	return current->cred.gid;
}

long sys_getegid(void)
{
	return current->cred.egid;
}

static long put3(u32 __user *r, u32 __user *e, u32 __user *s, u32 a, u32 b, u32 c)
{
	return put_user(a, r) || put_user(b, e) || put_user(c, s) ? -EFAULT : 0;
}

long sys_getresuid(u32 __user *r, u32 __user *e, u32 __user *s)
{
	const struct cred *c = &current->cred;

	return put3(r, e, s, c->uid, c->euid, c->suid);
}

long sys_getresgid(u32 __user *r, u32 __user *e, u32 __user *s)
{
	const struct cred *c = &current->cred;

	return put3(r, e, s, c->gid, c->egid, c->sgid);
}

/* --- user ids */

static long commit_uids(struct cred *new)
{
	new->fsuid = new->euid;
	creds_fix_caps(new, &current->cred);
	creds_fix_fs_caps(new, &current->cred);
	return creds_commit(new);
}

long sys_setuid(u32 uid)
{
	struct cred new = current->cred;

	if (uid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETUID))
		new.uid = new.suid = uid;
	else if (uid != new.uid && uid != new.suid)
		return -EPERM;
	new.euid = uid;
	return commit_uids(&new);
}

long sys_setreuid(u32 ruid, u32 euid)
{
	struct cred new = current->cred;
	const struct cred *old = &current->cred;
	bool cap = capable(CAP_SETUID);

	if (ruid != KEEP) {
		if (ruid != old->uid && ruid != old->euid && !cap)
			return -EPERM;
		new.uid = ruid;
	}
	if (euid != KEEP) {
		if (euid != old->uid && euid != old->euid && euid != old->suid && !cap)
			return -EPERM;
		new.euid = euid;
	}
	if (ruid != KEEP || (euid != KEEP && euid != old->uid))
		new.suid = new.euid;
	return commit_uids(&new);
}

static bool may_have(u32 id, u32 r, u32 e, u32 s)
{
	return id == KEEP || id == r || id == e || id == s;
}

long sys_setresuid(u32 ruid, u32 euid, u32 suid)
{
	struct cred new = current->cred;
	const struct cred *old = &current->cred;

	if (!capable(CAP_SETUID) &&
	    (!may_have(ruid, old->uid, old->euid, old->suid) ||
	     !may_have(euid, old->uid, old->euid, old->suid) ||
	     !may_have(suid, old->uid, old->euid, old->suid)))
		return -EPERM;
	if (ruid != KEEP)
		new.uid = ruid;
	if (euid != KEEP)
		new.euid = euid;
	if (suid != KEEP)
		new.suid = suid;
	return commit_uids(&new);
}

/* Returns the old one in any case. */
long sys_setfsuid(u32 uid)
{
	struct cred new = current->cred;
	u32 old = new.fsuid;

	if (uid == KEEP || uid == old)
		return old;
	if (may_have(uid, new.uid, new.euid, new.suid) || capable(CAP_SETUID)) {
		new.fsuid = uid;
		creds_fix_fs_caps(&new, &current->cred);
		(void)creds_commit(&new);	/* the real uid stays: cannot fail */
	}
	return old;
}

/* --- group ids */

static long commit_gids(struct cred *new)
{
	new->fsgid = new->egid;
	return creds_commit(new);
}

long sys_setgid(u32 gid)
{
	struct cred new = current->cred;

	if (gid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETGID))
		new.gid = new.sgid = gid;
	else if (gid != new.gid && gid != new.sgid)
		return -EPERM;
	new.egid = gid;
	return commit_gids(&new);
}

long sys_setregid(u32 rgid, u32 egid)
{
	struct cred new = current->cred;
	const struct cred *old = &current->cred;
	bool cap = capable(CAP_SETGID);

	if (rgid != KEEP) {
		if (rgid != old->gid && rgid != old->egid && !cap)
			return -EPERM;
		new.gid = rgid;
	}
	if (egid != KEEP) {
		if (egid != old->gid && egid != old->egid && egid != old->sgid && !cap)
			return -EPERM;
		new.egid = egid;
	}
	if (rgid != KEEP || (egid != KEEP && egid != old->gid))
		new.sgid = new.egid;
	return commit_gids(&new);
}

long sys_setresgid(u32 rgid, u32 egid, u32 sgid)
{
	struct cred new = current->cred;
	const struct cred *old = &current->cred;

	if (!capable(CAP_SETGID) &&
	    (!may_have(rgid, old->gid, old->egid, old->sgid) ||
	     !may_have(egid, old->gid, old->egid, old->sgid) ||
	     !may_have(sgid, old->gid, old->egid, old->sgid)))
		return -EPERM;
	if (rgid != KEEP)
		new.gid = rgid;
	if (egid != KEEP)
		new.egid = egid;
	if (sgid != KEEP)
		new.sgid = sgid;
	return commit_gids(&new);
}

long sys_setfsgid(u32 gid)
{
	struct cred new = current->cred;
	u32 old = new.fsgid;

	if (gid == KEEP || gid == old)
		return old;
	if (may_have(gid, new.gid, new.egid, new.sgid) || capable(CAP_SETGID)) {
		new.fsgid = gid;
		(void)creds_commit(&new);
	}
	return old;
}

/* --- supplementary groups */

long sys_getgroups(int size, u32 __user *list)
{
	const struct cred *c = &current->cred;

	if (size < 0)
		return -EINVAL;
	if (size) {
		if ((u32)size < c->ngroups)
			return -EINVAL;
		if (copy_to_user(list, c->groups, c->ngroups * sizeof(u32)))
			return -EFAULT;
	}
	return c->ngroups;
}

static void sort_groups(struct cred *c)
{
	for (u32 i = 1; i < c->ngroups; i++) {
		u32 g = c->groups[i], j = i;

		for (; j && c->groups[j - 1] > g; j--)
			c->groups[j] = c->groups[j - 1];
		c->groups[j] = g;
	}
}

long sys_setgroups(int size, const u32 __user *list)
{
	struct cred new = current->cred;

	if (!capable(CAP_SETGID))
		return -EPERM;
	if ((u32)size > NGROUPS_MAX)
		return -EINVAL;
	if (copy_from_user(new.groups, list, (u32)size * sizeof(u32)))
		return -EFAULT;
	for (u32 i = 0; i < (u32)size; i++)
		if (new.groups[i] == KEEP)
			return -EINVAL;
	new.ngroups = (u32)size;
	sort_groups(&new);
	return creds_commit(&new);
}
