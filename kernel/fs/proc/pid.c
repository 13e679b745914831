/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID and /proc/PID/task/TID: one table of names (pid_entries) serves both.
 *
 * An inode here names a task by id and start time and does not keep it alive: each operation looks
 * the task up again. When it has gone, names are not found any more, and open files answer ESRCH.
 * /proc/PID/x describes the process (sums over its threads) where the two differ, task/TID/x the
 * thread; pnode.thread says which.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <stdio.h>
#include <string.h>

bool parse_number(const char *s, size_t len, u32 *out)
{
	u64 v = 0;

	if (!len || len > 10 || (s[0] == '0' && len > 1))
		return false;
	for (size_t k = 0; k < len; k++) {
		if (s[k] < '0' || s[k] > '9')
			return false;
		v = v * 10 + (u64)(s[k] - '0');
	}
	*out = (u32)v;
	return v <= INT32_MAX;
}

/* --- inodes --------------------------------------------------------------------------------- */

struct task *pnode_task(const struct inode *i)
{
	const struct pnode *n = i->priv;
	struct task *t = task_find_get(n->pid);

	if (t && t->start_time != n->start) {
		task_put(t);
		t = NULL;
	}
	return t;
}

static bool task_dumpable(struct task *t)
{
	bool yes;

	spin_lock(&t->alloc_lock);
	yes = t->mm && t->mm->dumpable == 1;
	spin_unlock(&t->alloc_lock);
	return yes;
}

/* Files of a process that may not be dumped belong to root, so that its own user cannot look
 * inside. Directories everybody may list always show the owner. */
static void set_owner(struct inode *i, struct task *t)
{
	bool open_dir = i->mode == (S_IFDIR | 0555);
	bool own = open_dir || task_dumpable(t);

	i->uid = own ? t->cred.euid : 0;
	i->gid = own ? t->cred.egid : 0;
}

/* Any number will do that differs for the names of one task. */
static u64 pid_ino(u32 pid, bool thread, const struct pid_entry *e, int fd)
{
	u64 base = ((u64)pid << 32) | (thread ? 1ULL << 31 : 0);

	return base + (e ? ((u64)e >> 4 & 0xffff) << 14 : 0) + (u64)(fd + 1) % 16384 + 3;
}

struct inode *pid_inode(struct super *sb, struct task *t, bool thread, const struct pid_entry *e,
			int fd, u32 mode)
{
	struct pnode *n = kzalloc(sizeof(*n));
	struct inode *i = n ? inode_alloc(sb, mode) : NULL;

	if (!i) {
		kfree(n);
		return NULL;
	}
	*n = (struct pnode){
		.pid = t->pid, .start = t->start_time, .thread = thread, .fd = fd, .e = e,
	};
	i->priv = n;
	i->ino = pid_ino(t->pid, thread, e, fd);
	set_owner(i, t);
	return i;
}

void pid_evict(struct inode *i)
{
	kfree(i->priv);
}

bool pid_revalidate(struct dentry *d)
{
	struct task *t = pnode_task(d->inode);

	if (!t)
		return false;
	set_owner(d->inode, t);
	task_put(t);
	return true;
}

int pid_setattr(struct inode *i, const struct iattr *a)
{
	if (a->valid & ATTR_MODE)
		return -EPERM;
	if (a->valid & ATTR_UID)
		i->uid = a->uid;
	if (a->valid & ATTR_GID)
		i->gid = a->gid;
	return 0;
}

/* --- files ---------------------------------------------------------------------------------- */

static int pid_show(struct file *f, struct textbuf *b)
{
	const struct pnode *n = f->inode->priv;
	struct task *t = pnode_task(f->inode);
	int err = 0;

	if (!t)
		return -ESRCH;
	/* again at each read: the task may have become somebody else by exec */
	if (n->e->check != CHECK_NONE && !ptrace_may_access(t))
		err = n->e->check == CHECK_READ_EPERM ? -EPERM : -EACCES;
	if (!err)
		err = n->e->show(b, t, n->thread);
	task_put(t);
	return err;
}

static int pid_open(struct inode *i, struct file *f)
{
	const struct pnode *n = i->priv;
	struct task *t = pnode_task(i);
	bool ok;

	if (!t)
		return -ESRCH;
	ok = n->e->check != CHECK_OPEN || ptrace_may_access(t);
	task_put(t);
	return ok ? text_open(f, pid_show) : -EACCES;
}

static ssize_t pid_read(struct file *f, struct uio *u, loff *pos)
{
	const struct pnode *n = f->inode->priv;

	return n->e->show ? text_read(f, u, pos) : -EINVAL;
}

static ssize_t pid_write(struct file *f, struct uio *u, loff *pos)
{
	const struct pnode *n = f->inode->priv;
	struct task *t;
	size_t len;
	ssize_t ret;
	char *s;

	if (!n->e->store)
		return -EINVAL;
	s = text_write_copy(u, &len);
	if (IS_ERR(s))
		return PTR_ERR(s);
	t = pnode_task(f->inode);
	ret = t ? n->e->store(t, s, len) : -ESRCH;
	if (t)
		task_put(t);
	kfree(s);
	if (ret > 0)
		*pos += ret;
	return ret;
}

static const struct file_ops pid_file_fops = {
	.open = pid_open,
	.read = pid_read,
	.write = pid_write,
	.llseek = text_llseek,
	.release = text_release,
};

static const struct inode_ops pid_file_iops = {
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

/* --- one directory of names ----------------------------------------------------------------- */

static const struct pid_entry *dir_table(const struct pnode *n)
{
	return n->e && n->e->sub ? n->e->sub : pid_entries;
}

static bool entry_visible(const struct pid_entry *e, const struct pnode *n)
{
	return e->where & (n->thread ? IN_TASK : IN_PROC);
}

static const struct pid_entry *find_entry(const struct pnode *n, const char *name)
{
	for (const struct pid_entry *e = dir_table(n); e->name; e++)
		if (e->name[0] == name[0] && entry_visible(e, n) && !strcmp(e->name, name))
			return e;
	return NULL;
}

static int dir_lookup(struct inode *dir, struct dentry *d)
{
	const struct pnode *n = dir->priv;
	const struct pid_entry *e = find_entry(n, d->name);
	struct task *t = e ? pnode_task(dir) : NULL;
	struct inode *i;

	if (!t)
		return -ENOENT;
	i = pid_inode(dir->sb, t, n->thread, e, -1, e->mode);
	task_put(t);
	if (!i)
		return -ENOMEM;
	i->ops = e->iops ? e->iops : &pid_file_iops;
	i->fops = e->fops ? e->fops : &pid_file_fops;
	if (S_ISDIR(e->mode))
		i->nlink = 2;
	dentry_attach(d, i);
	return 0;
}

static int dir_iterate(struct file *f, struct readdir_ctx *ctx)
{
	const struct pnode *n = f->inode->priv;
	const struct pid_entry *tab = dir_table(n);
	struct task *t = pnode_task(f->inode);

	if (!t)
		return -ENOENT;
	task_put(t);
	if (!emit_dots(f, ctx))
		return 0;
	for (loff k = 0; tab[k].name; k++) {
		const struct pid_entry *e = &tab[k];

		if (k < f->pos - 2)
			continue;
		if (entry_visible(e, n) &&
		    !readdir_emit(ctx, e->name, strlen(e->name), k + 3,
				  pid_ino(n->pid, n->thread, e, -1),
				  (u8)((e->mode & S_IFMT) >> 12)))
			return 0;
		f->pos = k + 3;
	}
	return 0;
}

const struct inode_ops pid_subdir_iops = {
	.lookup = dir_lookup,
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

const struct file_ops pid_subdir_fops = {
	.iterate = dir_iterate,
	.llseek = text_llseek,
};

/* --- /proc/PID and /proc/PID/task/TID ------------------------------------------------------- */

static int attach_task_dir(struct super *sb, struct dentry *d, struct task *t, bool thread)
{
	struct inode *i = pid_inode(sb, t, thread, NULL, -1, S_IFDIR | 0555);

	if (!i)
		return -ENOMEM;
	i->ops = &pid_subdir_iops;
	i->fops = &pid_subdir_fops;
	i->nlink = thread ? 7 : 9;
	dentry_attach(d, i);
	return 0;
}

int pid_lookup_root(struct inode *dir, struct dentry *d)
{
	struct task *t;
	int err;
	u32 pid;

	if (!parse_number(d->name, d->name_len, &pid))
		return -ENOENT;
	t = task_find_get(pid);
	if (!t)
		return -ENOENT;
	err = attach_task_dir(dir->sb, d, t, false);
	task_put(t);
	return err;
}

int pid_emit_root(struct file *f, struct readdir_ctx *ctx)
{
	for (;;) {
		u64 flags = spin_lock_irqsave(&task_lock);
		struct process *p = process_next((u32)(f->pos - PID_POS));
		u32 pid = p ? p->pid : 0;
		char name[12];
		int len;

		spin_unlock_irqrestore(&task_lock, flags);
		if (!p)
			return 0;
		len = snprintf(name, sizeof(name), "%u", pid);
		if (!readdir_emit(ctx, name, (size_t)len, PID_POS + (loff)pid + 1,
				  pid_ino(pid, false, NULL, -1), DT_DIR))
			return 0;
	}
}

static int task_lookup(struct inode *dir, struct dentry *d)
{
	const struct pnode *n = dir->priv;
	struct task *t;
	int err = -ENOENT;
	u32 tid;

	if (!parse_number(d->name, d->name_len, &tid))
		return -ENOENT;
	t = task_find_get(tid);
	if (!t)
		return -ENOENT;
	if (t->tgid == n->pid)
		err = attach_task_dir(dir->sb, d, t, true);
	task_put(t);
	return err;
}

/* The smallest thread id >= from of t's process, 0 if none. */
static u32 next_tid(struct task *t, u32 from)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *s;
	u32 best = 0;

	list_for_each(s, &t->proc->threads, thread_node)
		if (s->pid >= from && (!best || s->pid < best))
			best = s->pid;
	spin_unlock_irqrestore(&task_lock, flags);
	return best;
}

static int task_iterate(struct file *f, struct readdir_ctx *ctx)
{
	struct task *t = pnode_task(f->inode);
	char name[12];
	u32 tid;

	if (!t)
		return -ENOENT;
	if (!emit_dots(f, ctx))
		goto out;
	while ((tid = next_tid(t, (u32)(f->pos - 2)))) {
		int len = snprintf(name, sizeof(name), "%u", tid);

		if (!readdir_emit(ctx, name, (size_t)len, (loff)tid + 3,
				  pid_ino(tid, true, NULL, -1), DT_DIR))
			break;
	}
out:
	task_put(t);
	return 0;
}

static int task_getattr(struct inode *i, struct kstat *st)
{
	struct task *t = pnode_task(i);

	generic_getattr(i, st);
	if (t) {
		st->nlink = 2 + t->proc->nr_threads;
		task_put(t);
	}
	return 0;
}

const struct inode_ops pid_task_iops = {
	.lookup = task_lookup,
	.getattr = task_getattr,
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

const struct file_ops pid_task_fops = {
	.iterate = task_iterate,
	.llseek = text_llseek,
};
