/* SPDX-License-Identifier: MIT */
/*
 * Signals about files: who owns a file (F_SETOWN) and how it is told that something can be done
 * (O_ASYNC, F_SETSIG). Objects that can announce keep a struct fasync: the files that want to hear.
 */
#include "internal.h"

#include <perch/signal.h>

/* May the owner, with the ids it had at F_SETOWN, signal t? */
static bool may_signal(u32 uid, u32 euid, const struct task *t)
{
	return !euid || euid == t->cred.suid || euid == t->cred.uid || uid == t->cred.suid ||
	       uid == t->cred.uid;
}

static int signal_one(struct task *t, bool thread, int sig, const struct siginfo_abi *info)
{
	return thread ? send_signal_task(t, sig, info) : send_signal_process(t->proc, sig, info);
}

static void signal_target(struct task *t, bool thread, int sig, const struct siginfo_abi *info)
{
	/* A full queue of real-time signals: at least the plain one arrives. */
	if (signal_one(t, thread, sig, info) == -EAGAIN && sig != SIGIO)
		signal_one(t, thread, SIGIO, NULL);
}

void file_send_sigio(struct file *f, int fd, int code, long band)
{
	struct siginfo_abi info = { 0 };
	u64 flags = spin_lock_irqsave(&f->owner.lock);
	int type = f->owner.type, sig = f->owner.sig;
	u32 pid = f->owner.pid, uid = f->owner.uid, euid = f->owner.euid;
	const struct siginfo_abi *ip = sig ? &info : NULL;
	struct task *t;

	spin_unlock_irqrestore(&f->owner.lock, flags);
	if (!pid)
		return;
	info.signo = sig;
	info.code = code;
	info.poll.band = band;
	info.poll.fd = fd;
	sig = sig ? sig : SIGIO;
	if (type == F_OWNER_PGRP) {
		send_signal_pgrp(pid, sig, ip);
		return;
	}
	t = task_find_get(pid);
	if (!t)
		return;
	if (may_signal(uid, euid, t))
		signal_target(t, type == F_OWNER_TID, sig, ip);
	task_put(t);
}

/* --- lists of listeners -------------------------------------------------------------------- */

struct fasync_entry { struct list node; struct file *f; };

void fasync_init(struct fasync *l)
{
	spin_init(&l->lock);
	list_init(&l->list);
}

static struct fasync_entry *find(struct fasync *l, struct file *f)
{
	struct fasync_entry *e;

	list_for_each(e, &l->list, node)
		if (e->f == f)
			return e;
	return NULL;
}

int fasync_set(struct fasync *l, struct file *f, bool on)
{
	struct fasync_entry *fresh = on ? kmalloc(sizeof(*fresh)) : NULL, *e;
	u64 flags;

	if (on && !fresh)
		return -ENOMEM;
	flags = spin_lock_irqsave(&l->lock);
	e = find(l, f);
	if (on && !e) {
		fresh->f = f;
		list_add_tail(&fresh->node, &l->list);
		fresh = NULL;
	} else if (!on && e) {
		list_del(&e->node);
		fresh = e;
	}
	spin_unlock_irqrestore(&l->lock, flags);
	kfree(fresh);
	return 0;
}

void fasync_send(struct fasync *l, int code, long band)
{
	struct fasync_entry *e;
	u64 flags;

	flags = spin_lock_irqsave(&l->lock);
	list_for_each(e, &l->list, node)
		file_send_sigio(e->f, e->f->async_fd, code, band);
	spin_unlock_irqrestore(&l->lock, flags);
}
