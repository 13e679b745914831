/* SPDX-License-Identifier: MIT */
/*
 * What lies in the memory of a process: its arguments and environment (which it may overwrite),
 * its auxiliary vector, and mem, all of it. An open mem file is bound to the address space it was
 * opened on: after an exec it reads as empty, so a set-id program cannot be inspected through it.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

/* More is cut off: the limit of a program's argument area is a fraction of its stack. */
#define AREA_MAX (2UL << 20)

/* Append [start, end) of mm to b. Reading stops silently where memory ends. */
static void append_area(struct textbuf *b, struct mm *mm, uaddr start, uaddr end)
{
	char *page = kmalloc(PAGE_SIZE);

	if (!page) {
		b->failed = true;
		return;
	}
	if (end > start + AREA_MAX)
		end = start + AREA_MAX;
	while (start < end) {
		long n = mm_access(mm, start, page, min(end - start, PAGE_SIZE), false, true);

		if (n <= 0)
			break;
		text_write(b, page, (size_t)n);
		start += (uaddr)n;
	}
	kfree(page);
}

/*
 * A program that wants another title writes over its arguments. If the last byte of the area is no
 * longer 0, the title runs on to the first 0, possibly into the environment.
 */
static void append_title(struct textbuf *b, struct mm *mm)
{
	char *nul;

	append_area(b, mm, mm->env_start, mm->env_end);
	nul = memchr(b->buf, 0, b->len);
	if (nul)
		b->len = (size_t)(nul - b->buf) + 1;
}

PID_SHOW(pid_cmdline_show)
{
	struct mm *mm = task_get_mm(t);

	if (!mm)
		return 0;
	append_area(b, mm, mm->arg_start, mm->arg_end);
	if (b->len && !b->failed && b->buf[b->len - 1] && mm->env_start == mm->arg_end)
		append_title(b, mm);
	mm_put(mm);
	return 0;
}

PID_SHOW(pid_environ_show)
{
	struct mm *mm = task_get_mm(t);

	if (!mm)
		return 0;
	append_area(b, mm, mm->env_start, mm->env_end);
	mm_put(mm);
	return 0;
}

PID_SHOW(pid_auxv_show)
{
	struct mm *mm = task_get_mm(t);

	if (!mm)
		return 0;
	text_write(b, mm->auxv, min_t(size_t, mm->auxv_len, ARRAY_SIZE(mm->auxv)) * sizeof(u64));
	mm_put(mm);
	return 0;
}

/* --- mem ------------------------------------------------------------------------------------ */

/* f->priv: the mm, with a reference on the structure's name only: compared, never used after its
 * task let it go. */
static int mem_open(struct inode *i, struct file *f)
{
	struct task *t = pnode_task(i);
	struct mm *mm;

	if (!t)
		return -ESRCH;
	if (!ptrace_may_access(t)) {
		task_put(t);
		return -EACCES;
	}
	mm = task_get_mm(t);
	task_put(t);
	f->priv = mm;
	if (mm)
		mm_put(mm);
	return 0;
}

/* The mm that f was opened on, referenced, if its task still has it and current may still look. */
static struct mm *mem_mm(struct file *f)
{
	struct task *t = pnode_task(f->inode);
	struct mm *mm = t ? task_get_mm(t) : NULL;

	if (mm && (mm != f->priv || !ptrace_may_access(t))) {
		mm_put(mm);
		mm = NULL;
	}
	if (t)
		task_put(t);
	return mm;
}

static ssize_t mem_move(struct mm *mm, struct uio *u, loff *pos, bool write, char *page)
{
	ssize_t done = 0;

	while (u->left) {
		size_t want = min(u->left, PAGE_SIZE - ((u64)*pos & (PAGE_SIZE - 1)));
		long n;

		if (write && uio_read(u, page, want) != want)
			return done ? done : -EFAULT;
		n = mm_access(mm, (uaddr)*pos, page, want, write, true);
		if (n <= 0)
			return done ? done : -EIO;
		if (!write && uio_write(u, page, (size_t)n) != (size_t)n)
			return done ? done : -EFAULT;
		*pos += n;
		done += n;
		if ((size_t)n < want)
			break;
	}
	return done;
}

static ssize_t mem_rw(struct file *f, struct uio *u, loff *pos, bool write)
{
	struct mm *mm = mem_mm(f);
	ssize_t ret = -ENOMEM;
	char *page;

	if (!mm)
		return 0;
	page = kmalloc(PAGE_SIZE);
	if (page)
		ret = mem_move(mm, u, pos, write, page);
	kfree(page);
	mm_put(mm);
	return ret;
}

static ssize_t mem_read(struct file *f, struct uio *u, loff *pos)
{
	return mem_rw(f, u, pos, false);
}

static ssize_t mem_write(struct file *f, struct uio *u, loff *pos)
{
	return mem_rw(f, u, pos, true);
}

/* Addresses are positions: any 64-bit value is one. */
static loff mem_llseek(struct file *f, loff off, int whence)
{
	if (whence == SEEK_CUR)
		off += f->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	f->pos = off;
	return off;
}

const struct file_ops pid_mem_fops = {
	.open = mem_open,
	.read = mem_read,
	.write = mem_write,
	.llseek = mem_llseek,
};
