/* SPDX-License-Identifier: MIT */
/*
 * fork, vfork, clone: a new task from current.
 *
 * The child is built step by step while nobody else can see it; each step is undone by fork_abort(),
 * which looks at what is there. Linking under task_lock is the point after which nothing fails.
 *
 * Two races are decided there. A signal for the whole process or group that came while the child was
 * built has not reached it: so if anything is pending the fork is given up and repeated after the
 * signal (ERESTARTNOINTR). And a process that is being killed gets no new thread: its
 * members have SIGKILL pending, which is the same test.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/uaccess.h>
#include <asm/ptrace.h>
#include <string.h>

#include "internal.h"

struct fork {
	const struct clone_args_k *a;
	struct task *t;
	struct process *p;
	struct file *pidfd_file;
	int pidfd;
	bool perf_done;
};

/* --- steps that copy */

static int copy_cred_and_ids(struct fork *f)
{
	struct task *t = f->t, *me = current;

	memcpy(t->comm, me->comm, sizeof(t->comm));
	t->cred = me->cred;
	t->slack_ns = me->slack_ns;
	t->personality = me->personality;
	t->mempolicy = me->mempolicy;
	t->mempolicy_nodes = me->mempolicy_nodes;
	t->start_time = ktime_now();
	t->flags = TF_FORKNOEXEC;
	return task_set_user(t, me->cred.uid);
}

static int check_limits(struct fork *f)
{
	struct user *u = f->t->user;

	if (READ_ONCE(nr_tasks) >= max_threads)
		return -EAGAIN;
	if (READ_ONCE(u->nproc) >= rlimit(RLIMIT_NPROC) && u->uid != 0 &&
	    !capable(CAP_SYS_RESOURCE) && !capable(CAP_SYS_ADMIN))
		return -EAGAIN;
	return 0;
}

static int copy_files(struct fork *f)
{
	struct task *t = f->t, *me = current;

	if (f->a->flags & CLONE_FILES) {
		files_get(me->files);
		t->files = me->files;
	} else {
		t->files = files_fork(me->files);
	}
	if (!t->files)
		return -ENOMEM;
	if (f->a->flags & CLONE_FS) {
		fs_get(me->fs);
		t->fs = me->fs;
	} else {
		t->fs = fs_fork(me->fs);
	}
	return t->fs ? 0 : -ENOMEM;
}

static int copy_sighand(struct fork *f)
{
	struct task *t = f->t, *me = current;

	t->blocked = me->blocked;
	if (f->a->flags & CLONE_SIGHAND) {
		ref_get(&me->sighand->refs);
		t->sighand = me->sighand;
		return 0;
	}
	t->sighand = sighand_copy(me->sighand);
	if (!t->sighand)
		return -ENOMEM;
	if (f->a->flags & CLONE_CLEAR_SIGHAND)
		signals_exec(t);
	return 0;
}

static void inherit_process(struct process *p, struct process *from)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	memcpy(p->rlim, from->rlim, sizeof(p->rlim));
	p->pgid = from->pgid;
	p->sid = from->sid;
	p->tty = from->tty;
	p->oom_score_adj = from->oom_score_adj;
	p->exec_id = from->exec_id;
	spin_unlock_irqrestore(&task_lock, flags);
}

static int copy_process(struct fork *f)
{
	struct task *t = f->t;

	if (f->a->flags & CLONE_THREAD) {
		f->p = current->proc;
		ref_get(&f->p->refs);
		t->proc = f->p;
		t->exit_signal = -1;
		return 0;
	}
	f->p = process_alloc();
	if (!f->p)
		return -ENOMEM;
	t->proc = f->p;
	inherit_process(f->p, current->proc);
	if (f->a->flags & CLONE_PARENT)
		t->exit_signal = current->proc->leader->exit_signal;
	else
		t->exit_signal = f->a->exit_signal;
	return 0;
}

static int copy_mm(struct fork *f)
{
	struct task *t = f->t, *me = current;

	if (f->a->flags & CLONE_VM) {
		mm_get(me->mm);
		t->mm = me->mm;
		/* The alternate stack belongs to one thread; vfork's child has the parent's. */
		if (f->a->flags & CLONE_VFORK)
			t->altstack = me->altstack;
	} else {
		struct mm *mm = mm_fork(me->mm);

		if (IS_ERR_OR_NULL(mm))
			return mm ? (int)PTR_ERR(mm) : -ENOMEM;
		t->mm = mm;
		t->altstack = me->altstack;
	}
	return 0;
}

static int take_pid(struct fork *f)
{
	int pid = pid_alloc();

	if (pid < 0)
		return pid;
	f->t->pid = (u32)pid;
	f->t->tgid = f->a->flags & CLONE_THREAD ? current->tgid : (u32)pid;
	return 0;
}

static int make_pidfd(struct fork *f)
{
	if (!(f->a->flags & CLONE_PIDFD))
		return 0;
	f->pidfd = pidfd_prepare(f->p, 0, &f->pidfd_file);
	if (f->pidfd < 0)
		return f->pidfd;
	return put_user(f->pidfd, f->a->pidfd);
}

static int copy_thread(struct fork *f, struct pt_regs *regs)
{
	const struct clone_args_k *a = f->a;
	struct task *t = f->t;

	sched_fork(t);
	arch_fork_thread(t, regs, a->stack, a->tls, a->flags & CLONE_SETTLS);
	if (a->flags & CLONE_CHILD_SETTID)
		t->set_child_tid = a->child_tid;
	if (a->flags & CLONE_CHILD_CLEARTID)
		t->clear_child_tid = a->child_tid;
	return 0;
}

static int copy_perf(struct fork *f)
{
	u32 flags = (f->a->flags & CLONE_THREAD ? PERF_FORK_THREAD : 0) |
		    (f->a->flags & CLONE_CLEAR_SIGHAND ? PERF_FORK_NO_HANDLERS : 0);
	int err = perf_fork(f->t, flags);

	f->perf_done = !err;
	return err;
}

/* --- undo */

static void drop_pid(struct task *t)
{
	u64 flags;

	if (!t->pid)
		return;
	flags = spin_lock_irqsave(&task_lock);
	pid_drop_locked(t->pid);
	spin_unlock_irqrestore(&task_lock, flags);
}

static void fork_abort(struct fork *f)
{
	struct task *t = f->t;

	if (!t)
		return;
	if (f->perf_done)
		perf_fork_undo(t);
	if (f->pidfd_file) {
		fd_release(f->pidfd);
		file_put(f->pidfd_file);
	}
	if (t->mm)
		mm_put(t->mm);
	files_put(t->files);
	fs_put(t->fs);
	drop_pid(t);
	task_free(t);
}

static int build_child(struct fork *f, struct pt_regs *regs)
{
	int err;

	f->t = task_alloc();
	if (!f->t)
		return -ENOMEM;
	if ((err = copy_cred_and_ids(f)) || (err = check_limits(f)) || (err = copy_files(f)) ||
	    (err = copy_sighand(f)) || (err = copy_process(f)) || (err = copy_mm(f)) ||
	    (err = take_pid(f)) || (err = make_pidfd(f)) || (err = copy_thread(f, regs)) ||
	    (err = copy_perf(f)))
		return err;
	return 0;
}

/* --- the point of no return */

void task_link_locked(struct task *t, bool thread, struct process *parent)
{
	struct process *p = t->proc;

	ASSERT(spin_is_locked(&task_lock));
	list_add_tail(&t->thread_node, &p->threads);
	p->nr_threads++;
	p->nr_live++;
	if (!thread)
		process_link_locked(p, t, parent);
	pid_hash_locked(t);
	atomic_inc(&t->user->nproc);
	nr_tasks++;
	total_forks++;
}

static void set_parent_ids(struct process *p, struct process *parent)
{
	struct process *me = current->proc;

	p->parent_exec_id = parent == me ? me->exec_id : me->parent_exec_id;
	/* Group, session and terminal may have changed since they were copied. */
	p->pgid = me->pgid;
	p->sid = me->sid;
	p->tty = me->tty;
}

static int link_child(struct fork *f)
{
	bool thread = f->a->flags & CLONE_THREAD;
	struct process *parent = current->proc;
	u64 flags = spin_lock_irqsave(&task_lock);

	spin_lock(&current->sighand->lock);
	recalc_sigpending_held(current);
	spin_unlock(&current->sighand->lock);
	if (signal_pending(current)) {
		spin_unlock_irqrestore(&task_lock, flags);
		return -ERESTARTNOINTR;
	}
	if (f->a->flags & CLONE_PARENT)
		parent = parent->parent;
	if (!thread)
		set_parent_ids(f->p, parent);
	seccomp_fork_locked(f->t);
	task_link_locked(f->t, thread, parent);
	spin_unlock_irqrestore(&task_lock, flags);
	return 0;
}

/* --- vfork: the parent sleeps until the child has execed or exited */

static void await_vfork(struct task *child, struct completion *done)
{
	u64 flags;

	/* A killed parent must not wait for a child that may never get there. */
	(void)wait_event_killable(&done->wq, READ_ONCE(done->done));
	/* The child completes it under task_lock: after this it does not touch our stack any more. */
	flags = spin_lock_irqsave(&task_lock);
	child->vfork_done = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
	task_put(child);
}

void complete_vfork_locked(struct task *t)
{
	ASSERT(spin_is_locked(&task_lock));
	if (!t->vfork_done)
		return;
	complete(t->vfork_done);
	t->vfork_done = NULL;
}

/* --- fork itself */

static int check_flags(u64 flags)
{
	int err = refuse_namespaces(flags);

	if (err)
		return err;
	if ((flags & CLONE_THREAD) && !(flags & CLONE_SIGHAND))
		return -EINVAL;
	if ((flags & CLONE_SIGHAND) && !(flags & CLONE_VM))
		return -EINVAL;
	if ((flags & CLONE_PARENT) && current->proc->unkillable)
		return -EINVAL;
	if ((flags & CLONE_PIDFD) && (flags & (CLONE_DETACHED | CLONE_THREAD)))
		return -EINVAL;
	return 0;
}

long do_fork(const struct clone_args_k *a, struct pt_regs *regs)
{
	struct fork f = { .a = a };
	struct completion vfork_done;
	bool vfork = a->flags & CLONE_VFORK;
	long pid;
	int err = check_flags(a->flags);

	if (err)
		return err;
	free_dead_tasks();
	recalc_sigpending();
	if (signal_pending(current))
		return -ERESTARTNOINTR;
	err = build_child(&f, regs);
	if (!err && vfork) {
		completion_init(&vfork_done);
		f.t->vfork_done = &vfork_done;
		task_get(f.t);
	}
	if (!err)
		err = link_child(&f);
	if (err) {
		fork_abort(&f);
		return err;
	}
	pid = f.t->pid;
	perf_forked(f.t);
	if (f.pidfd_file)
		fd_install(f.pidfd, f.pidfd_file);
	if (a->flags & CLONE_PARENT_SETTID)
		(void)put_user((u32)pid, a->parent_tid);	/* Linux does not fail either */
	wake_up_new_task(f.t);
	if (vfork)
		await_vfork(f.t, &vfork_done);
	return pid;
}
