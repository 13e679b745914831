/* SPDX-License-Identifier: MIT */
/*
 * perf's file descriptors on Perch's VFS: the files part of kernel/perf/host.h. A struct host_file is a
 * struct file whose priv is the core's object; a ring's mapping is an area whose pages the core hands
 * over at mmap and takes back when the area has gone.
 */
#include "fs/fdtable.h"

#include <kernel/perf/host.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/task.h>

struct perf_map {
	struct file *file;		/* the area's reference keeps it */
	u32 areas;			/* two while mremap moves the mapping; mm->lock */
	struct host_map_req req;
	void *const *pages;
};

struct host_poll {
	struct file *file;
	struct poll_table *table;
};

static const struct file_ops perf_fops;

/* The core has one kind of file; f->priv is its object. */
static const struct host_file_ops *core_ops;

/* Each buffer of a vector is a read of its own, until one is not filled. (A read of one buffer goes the way below.) */
static ssize_t perf_fop_read(struct file *f, struct uio *u, loff *pos)
{
	ssize_t total = 0;
	long n;

	if (!u->user)
		return -EINVAL;
	do {
		uio_next(u);
		n = core_ops->read(f->priv, u->base, u->here);
		if (n < 0)
			return total ? total : n;
		total += n;
	} while ((size_t)n == u->here && u->nr_next);
	return total;
}

static ssize_t perf_fop_read_user(struct file *f, uaddr buf, size_t n)
{
	return core_ops->read(f->priv, buf, n);
}

static u32 perf_fop_poll(struct file *f, struct poll_table *pt)
{
	struct host_poll p = { f, pt };
	u32 mask = core_ops->poll(f->priv, &p);

	return mask & HOST_POLLIN ? mask | POLLRDNORM : mask;
}

static long perf_fop_ioctl(struct file *f, u32 cmd, u64 arg)
{
	return core_ops->ioctl(f->priv, cmd, arg);
}

static void map_open(struct vma *v)
{
	struct perf_map *m = v->priv;

	m->areas++;
}

static void map_close(struct vma *v)
{
	struct perf_map *m = v->priv;

	ASSERT(m->areas);
	if (--m->areas)
		return;
	core_ops->munmap(m->file->priv, &m->req);
	kfree(m);
}

static struct page *map_fault(struct vma *v, u64 pgoff, bool write)
{
	struct perf_map *m = v->priv;
	u64 i = pgoff - m->req.pgoff;
	struct page *p;

	if (i >= m->req.npages || (write && i))	/* only the control page is the program's, too */
		return ERR_PTR(-EFAULT);
	p = virt_to_page(m->pages[i]);
	page_get(p);
	return p;
}

static const struct vma_ops perf_vma_ops = {
	.open = map_open,
	.close = map_close,
	.fault = map_fault,
};

static int perf_fop_mmap(struct file *f, struct vma *v)
{
	struct perf_map *m = kzalloc(sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->file = f;
	m->areas = 1;
	m->req = (struct host_map_req){
		.pgoff = v->pgoff,
		.npages = (v->end - v->start) >> PAGE_SHIFT,
		.shared = v->flags & VM_SHARED,
		.writable = v->flags & VM_WRITE,
	};
	err = core_ops->mmap(f->priv, &m->req, &m->pages);
	if (err) {
		kfree(m);
		return err;
	}
	v->flags |= VM_DONTCOPY | VM_DONTEXPAND | VM_PFNMAP;
	v->ops = &perf_vma_ops;
	v->priv = m;
	return 0;
}

static void perf_fop_release(struct file *f)
{
	core_ops->release(f->priv);
}

static int perf_fop_fasync(struct file *f, bool on)
{
	return 0;	/* O_ASYNC in f->flags is what host_file_sigio looks at */
}

static const struct file_ops perf_fops = {
	.read = perf_fop_read,
	.read_user = perf_fop_read_user,
	.poll = perf_fop_poll,
	.ioctl = perf_fop_ioctl,
	.mmap = perf_fop_mmap,
	.release = perf_fop_release,
	.fasync = perf_fop_fasync,
};

/* --- host.h */

int host_fd_reserve(bool cloexec)
{
	return fd_alloc(cloexec ? O_CLOEXEC : 0);
}

void host_fd_unreserve(int fd)
{
	fd_release(fd);
}

/* All files have one name, made for the first. NULL: no memory. */
static struct dentry *file_name(void)
{
	static struct dentry *shared;	/* atomic */
	struct dentry *d = load_acquire(&shared);
	char name[48];

	if (likely(d))
		return d;
	host_snprintf(name, sizeof(name), "anon_inode:%s", core_ops->name);
	d = anon_dentry(name);
	if (d && !atomic_cas(&shared, NULL, d)) {
		dentry_put(d);
		d = load_acquire(&shared);
	}
	return d;
}

struct host_file *host_file_new(const struct host_file_ops *ops, void *priv)
{
	struct dentry *name;
	struct file *f;

	ASSERT(!core_ops || core_ops == ops);
	core_ops = ops;
	name = file_name();
	f = name ? anon_file_at(name, &perf_fops, priv, O_RDWR) : NULL;
	return IS_ERR_OR_NULL(f) ? NULL : (struct host_file *)f;
}

void host_fd_install(int fd, struct host_file *f)
{
	fd_install(fd, (struct file *)f);
}

struct host_fd host_fd_get(int fd, const struct host_file_ops *ops, void **priv)
{
	struct fd_use u = fd_use(fd);

	if (!u.f || u.f->ops != &perf_fops || core_ops != ops) {
		fd_unuse(u);
		return (struct host_fd){ NULL, false };
	}
	*priv = u.f->priv;
	return (struct host_fd){ (struct host_file *)u.f, u.counted };
}

void host_fd_put(struct host_fd f)
{
	fd_unuse((struct fd_use){ (struct file *)f.file, f.counted });
}

bool host_fd_open(int fd)
{
	struct file *f = fd_get_io(fd);

	if (f)
		file_put(f);
	return f != NULL;
}

void host_poll_wait(struct host_poll *p, host_waitq *q)
{
	poll_wait(p->file, q, p->table);
}

void host_waitq_wake(host_waitq *q, u32 mask)
{
	wake_up_poll(q, mask & HOST_POLLIN ? mask | POLLRDNORM : mask);
}

void host_file_sigio(struct host_file *hf, bool hup)
{
	struct file *f = (struct file *)hf;

	if (f->flags & O_ASYNC)
		file_send_sigio(f, f->async_fd, hup ? POLL_HUP : POLL_IN,
				hup ? POLLHUP | POLLERR : POLLIN | POLLRDNORM);
}
