/* SPDX-License-Identifier: MIT */
/*
 * Who a terminal belongs to. It controls at most one session; one process group of that session is
 * in the foreground and gets the signals of ^C and friends. Others that read (or write under
 * TOSTOP, or change it) are stopped. tty->session, tty->pgrp and process->tty are task_lock's.
 *
 * Hanging up ends the relation and kills open files: a file remembers the count of hang-ups it was
 * opened at (tty_file_dead). Files of /dev/console survive, as on Linux: the console stays the
 * system's.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/printk.h>
#include <perch/signal.h>
#include <perch/task.h>

bool tty_file_dead(struct file *f)
{
	const struct tty_file *tf = f->priv;

	return !tf->console && tf->hangups != atomic_read(&tf->tty->hangups);
}

void tty_signal_group(struct tty *t, int sig)
{
	u32 pgrp = READ_ONCE(t->pgrp);

	if (pgrp)
		send_signal_pgrp(pgrp, sig, NULL);
}

/* No member of current's group has a parent in another group of the session: nobody could continue
 * it. */
static bool own_group_orphaned(void)
{
	u32 pgid, sid;
	struct process *p;
	bool orphaned = true;
	u64 flags = spin_lock_irqsave(&task_lock);

	pgid = current->proc->pgid;
	sid = current->proc->sid;
	for (p = process_next(1); p && orphaned; p = process_next(p->pid + 1))
		if (p->pgid == pgid && p->parent && p->parent->pgid != pgid &&
		    p->parent->sid == sid)
			orphaned = false;
	spin_unlock_irqrestore(&task_lock, flags);
	return orphaned;
}

int tty_check_job(struct tty *t, int sig)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 pgid = current->proc->pgid, fg = t->pgrp;
	bool ours = current->proc->tty == t;

	spin_unlock_irqrestore(&task_lock, flags);
	if (!ours || !fg || pgid == fg)
		return 0;
	if (signal_ignored_or_blocked(current, sig))
		return sig == SIGTTIN ? -EIO : 0;
	if (own_group_orphaned())
		return -EIO;
	send_signal_pgrp(pgid, sig, NULL);
	return -ERESTARTSYS;
}

/* --- taking and leaving --------------------------------------------------------------------- */

/* task_lock held. */
static void adopt(struct tty *t)
{
	t->session = current->proc->sid;
	t->pgrp = current->proc->pgid;
	current->proc->tty = t;
}

static bool is_session_leader(const struct process *p)
{
	return p->sid == p->pid;
}

void tty_take_control(struct tty *t, struct file *f)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	if (is_session_leader(current->proc) && !current->proc->tty && !t->session &&
	    (f->mode & FMODE_READ))
		adopt(t);
	spin_unlock_irqrestore(&task_lock, flags);
}

/* All processes of a session lose terminal t. task_lock held. */
static void clear_session(struct tty *t, u32 sid)
{
	struct process *p;

	for (p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->sid == sid && p->tty == t)
			p->tty = NULL;
}

/* task_lock held. */
static long set_controlling(struct tty *t, bool readable, bool steal)
{
	struct process *p = current->proc;

	if (is_session_leader(p) && p->tty == t && t->session == p->sid)
		return 0;
	if (!is_session_leader(p) || p->tty)
		return -EPERM;
	if (t->session) {
		if (!steal)
			return -EPERM;
		clear_session(t, t->session);
	}
	if (!readable)
		return -EPERM;
	adopt(t);
	return 0;
}

long tty_set_controlling(struct tty *t, struct file *f, u64 arg)
{
	bool admin = capable(CAP_SYS_ADMIN);
	u64 flags = spin_lock_irqsave(&task_lock);
	long ret = set_controlling(t, (f->mode & FMODE_READ) || admin, arg == 1 && admin);

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/* A leader's session loses its terminal, whose foreground group is told. */
static void leave_session(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct tty *t = p->tty;
	u32 pgrp = 0;

	if (t) {
		pgrp = t->pgrp;
		t->session = t->pgrp = 0;
		clear_session(t, p->sid);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	if (pgrp) {
		send_signal_pgrp(pgrp, SIGHUP, NULL);
		send_signal_pgrp(pgrp, SIGCONT, NULL);
	}
}

long tty_give_up(struct tty *t)
{
	struct process *p = current->proc;
	u64 flags;

	if (READ_ONCE(p->tty) != t)
		return -ENOTTY;
	if (is_session_leader(p)) {
		leave_session(p);
		return 0;
	}
	flags = spin_lock_irqsave(&task_lock);
	p->tty = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
	return 0;
}

/* A group exists if a process is in it; its session is that of any member. task_lock held. */
static u32 group_session(u32 pgid)
{
	struct process *p;

	for (p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->pgid == pgid)
			return p->sid;
	return 0;
}

long tty_set_pgrp(struct tty *t, int pgrp)
{
	u32 sid;
	long ret = 0;
	u64 flags;
	int err = tty_check_job(t, SIGTTOU);

	if (err == -EIO)
		return -ENOTTY;
	if (err)
		return err;
	if (pgrp < 0)
		return -EINVAL;
	flags = spin_lock_irqsave(&task_lock);
	sid = group_session((u32)pgrp);
	if (current->proc->tty != t || t->session != current->proc->sid)
		ret = -ENOTTY;
	else if (!sid)
		ret = -ESRCH;
	else if (sid != current->proc->sid)
		ret = -EPERM;
	else
		t->pgrp = (u32)pgrp;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/* --- hanging up ----------------------------------------------------------------------------- */

void tty_hangup(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 sid = t->session, pgrp = t->pgrp;
	struct process *leader;

	t->session = t->pgrp = 0;
	if (sid)
		clear_session(t, sid);
	spin_unlock_irqrestore(&task_lock, flags);

	atomic_inc(&t->hangups);
	flags = spin_lock_irqsave(&t->lock);
	tty_flush_input(t);
	t->stopped = false;
	tty_start(t);		/* what was said last is still heard */
	spin_unlock_irqrestore(&t->lock, flags);

	leader = sid ? process_find_get(sid) : NULL;
	if (leader) {
		send_signal_process(leader, SIGHUP, NULL);
		send_signal_process(leader, SIGCONT, NULL);
		process_put(leader);
	}
	if (pgrp)
		send_signal_pgrp(pgrp, SIGHUP, NULL);
	wake_up_all(&t->read_wq);
	wake_up_all(&t->write_wq);
}

void tty_disassociate(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct tty *t = p->tty;

	if (t && t->session != p->sid)
		t = NULL;
	if (t)
		pty_tty_get(t);
	p->tty = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
	if (!t)
		return;
	tty_hangup(t);
	pty_tty_put(t);
}

struct tty *current_tty_get(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct tty *t = current->proc->tty;

	if (t)
		pty_tty_get(t);
	spin_unlock_irqrestore(&task_lock, flags);
	return t;
}

/* vhangup(2): whoever logs a user in makes sure that nobody else has the terminal. */
long sys_vhangup(void)
{
	struct tty *t;

	if (!capable(CAP_SYS_TTY_CONFIG))
		return -EPERM;
	t = current_tty_get();
	if (t) {
		tty_hangup(t);
		pty_tty_put(t);
	}
	return 0;
}

/* --- for /proc/PID/stat --------------------------------------------------------------------- */

u32 tty_number(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 nr = p->tty ? (u32)dev_encode(p->tty->dev) : 0;

	spin_unlock_irqrestore(&task_lock, flags);
	return nr;
}

int tty_foreground(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int pgrp = p->tty ? (int)p->tty->pgrp : -1;

	spin_unlock_irqrestore(&task_lock, flags);
	return pgrp;
}
