/* SPDX-License-Identifier: MIT */
/*
 * Accounts per real user id: how many tasks, queued signals and locked pages all processes of one
 * user have together. RLIMIT_NPROC and RLIMIT_SIGPENDING are limits on these sums.
 */
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/spinlock.h>

#include "internal.h"

#define NR_BUCKETS 16

static spinlock user_lock = SPINLOCK_INIT;	/* the lists; taken under any other lock */
static struct list users[NR_BUCKETS];		/* of user.node; user_lock */
static bool users_ready;			/* user_lock */

static struct list *bucket(u32 uid)
{
	if (!users_ready) {
		for (u32 i = 0; i < NR_BUCKETS; i++)
			list_init(&users[i]);
		users_ready = true;
	}
	return &users[uid % NR_BUCKETS];
}

static struct user *find(struct list *head, u32 uid)
{
	struct user *u;

	list_for_each(u, head, node) {
		if (u->uid == uid) {
			ref_get(&u->refs);
			return u;
		}
	}
	return NULL;
}

struct user *user_get(u32 uid)
{
	struct user *u, *fresh = NULL;
	u64 flags;

	for (;;) {
		flags = spin_lock_irqsave(&user_lock);
		u = find(bucket(uid), uid);
		if (!u && fresh) {
			list_add(&fresh->node, bucket(uid));
			u = fresh;
			fresh = NULL;
		}
		spin_unlock_irqrestore(&user_lock, flags);
		if (u || fresh)
			break;
		fresh = kzalloc(sizeof(*fresh));
		if (!fresh)
			return NULL;
		ref_init(&fresh->refs, 1);
		fresh->uid = uid;
	}
	kfree(fresh);
	return u;
}

/* The count falls to 0 only under user_lock, so find() never meets a dying account. */
void user_put(struct user *u)
{
	u64 flags = spin_lock_irqsave(&user_lock);
	bool last = ref_put(&u->refs);

	if (last)
		list_del(&u->node);
	spin_unlock_irqrestore(&user_lock, flags);
	if (last)
		kfree(u);
}

int task_set_user(struct task *t, u32 uid)
{
	struct user *old = t->user, *u;

	if (old && old->uid == uid)
		return 0;
	u = user_get(uid);
	if (!u)
		return -EAGAIN;
	u64 flags = spin_lock_irqsave(&task_lock);

	t->user = u;
	if (old) {
		/* A task in the making is counted when it is linked. */
		atomic_inc(&u->nproc);
		atomic_dec(&old->nproc);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	if (old)
		user_put(old);
	return 0;
}
