/* SPDX-License-Identifier: MIT */
/*
 * pidfds: a file that stands for a process. It holds the process object, not the number: so it never
 * means another process that got the same number later.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#include "internal.h"

static u32 pidfd_poll(struct file *f, struct poll_table *pt)
{
	struct process *p = f->priv;
	u64 flags;
	u32 events = 0;

	poll_wait(f, &p->pidfd_wq, pt);
	flags = spin_lock_irqsave(&task_lock);
	if (p->reaped)
		events = POLLIN | POLLRDNORM | POLLHUP;
	else if (p->nr_threads == 1 && p->leader->exit_state == EXIT_ZOMBIE)
		events = POLLIN | POLLRDNORM;
	spin_unlock_irqrestore(&task_lock, flags);
	return events;
}

static void pidfd_release(struct file *f)
{
	process_put(f->priv);
}

static void pidfd_fdinfo(struct file *f, struct textbuf *b)
{
	struct process *p = f->priv;
	int pid = READ_ONCE(p->reaped) ? -1 : (int)p->pid;

	text_printf(b, "Pid:\t%d\nNSpid:\t%d\n", pid, pid);
}

static const struct file_ops pidfd_ops = {
	.poll = pidfd_poll,
	.release = pidfd_release,
	.show_fdinfo = pidfd_fdinfo,
};

int pidfd_prepare(struct process *p, u32 flags, struct file **file)
{
	struct file *f;
	int fd;

	ref_get(&p->refs);
	f = anon_file("anon_inode:[pidfd]", &pidfd_ops, p, O_RDWR | flags);
	if (IS_ERR_OR_NULL(f)) {
		process_put(p);
		return f ? (int)PTR_ERR(f) : -ENOMEM;
	}
	fd = fd_alloc(O_CLOEXEC);
	if (fd < 0)
		file_put(f);
	else
		*file = f;
	return fd;
}

struct process *pidfd_process(int fd)
{
	struct file *f = fd_get_io(fd);
	struct process *p = ERR_PTR(-EBADF);

	if (!f)
		return p;
	if (f->ops == &pidfd_ops) {
		p = f->priv;
		ref_get(&p->refs);
	}
	file_put(f);
	return p;
}

long sys_pidfd_open(int pid, u32 flags)
{
	struct process *p;
	struct task *t;
	struct file *f;
	int fd;

	if ((flags & ~O_NONBLOCK) || pid <= 0)
		return -EINVAL;
	p = process_find_get((u32)pid);
	if (!p) {
		/* A thread that is no leader exists, but has no pidfd of this kind. */
		t = task_find_get((u32)pid);
		if (t)
			task_put(t);
		return t ? -EINVAL : -ESRCH;
	}
	fd = pidfd_prepare(p, flags, &f);
	process_put(p);
	if (fd >= 0)
		fd_install(fd, f);
	return fd;
}

/* The leader, or any thread if it is gone: they mostly share the fd table. */
static struct task *process_task_get(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *t, *found = NULL;

	list_for_each(t, &p->threads, thread_node) {
		if (t->exit_state != EXIT_ALIVE)
			continue;
		found = t;
		task_get(t);
		break;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return found;
}

static long dup_from(struct task *t, int fd)
{
	struct file *f;
	int new;

	if (!ptrace_may_access(t))
		return -EPERM;
	f = task_fd_get(t, fd);
	if (!f)
		return -EBADF;
	new = fd_alloc(O_CLOEXEC);
	if (new < 0)
		file_put(f);
	else
		fd_install(new, f);
	return new;
}

long sys_pidfd_getfd(int pidfd, int fd, u32 flags)
{
	struct process *p;
	struct task *t;
	long ret;

	if (flags)
		return -EINVAL;
	p = pidfd_process(pidfd);
	if (IS_ERR(p))
		return PTR_ERR(p);
	t = process_task_get(p);
	process_put(p);
	if (!t)
		return -ESRCH;
	ret = dup_from(t, fd);
	task_put(t);
	return ret;
}
