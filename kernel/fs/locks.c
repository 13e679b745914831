/* SPDX-License-Identifier: MIT */
/*
 * Advisory locks: flock(2) on whole files, POSIX and OFD record locks on byte ranges. They differ
 * in who owns them: the open file (flock, OFD) or the process's fd table (POSIX, dropped at *any*
 * close of the file by that process).
 *
 * locks_lock guards all lists. Record locks of one owner never overlap; setting one cuts, joins and
 * replaces what the owner had there. A blocked call sleeps until any lock anywhere has changed and
 * tries again; POSIX waiters are kept in a list, along which a new waiter looks for a cycle
 * (EDEADLK).
 */
#include "internal.h"

#define LOCK_SH	1
#define LOCK_EX	2
#define LOCK_NB	4
#define LOCK_UN	8
#define LOCK_MAND 32

enum lock_kind { KIND_FLOCK, KIND_POSIX, KIND_OFD };

struct lock {
	struct list node;	/* inode->locks */
	struct list all;	/* all_locks */
	enum lock_kind kind;
	int type;		/* F_RDLCK, F_WRLCK, F_UNLCK (requests) */
	loff start, end;	/* inclusive; end INT64_MAX: to the end of the file */
	void *owner;
	struct file *file;	/* through which it was set: its last put drops the lock */
	struct inode *inode;
	u32 pid;
};

struct lock_waiter { struct list node; void *owner, *blocker; };
struct flock_abi { s16 type, whence; u32 pad; s64 start, len; s32 pid; u32 pad2; };
_Static_assert(sizeof(struct flock_abi) == 32, "struct flock of arm64");

static spinlock locks_lock = SPINLOCK_INIT;
static LIST_HEAD(all_locks);
static LIST_HEAD(waiters);
static struct waitq locks_wq = WAITQ_INIT(locks_wq);
static u32 locks_seq;		/* grows when a lock goes or shrinks */

static void changed_locked(void)
{
	WRITE_ONCE(locks_seq, locks_seq + 1);
}

static bool same_class(const struct lock *a, const struct lock *b)
{
	return (a->kind == KIND_FLOCK) == (b->kind == KIND_FLOCK);
}

static bool overlaps(const struct lock *a, const struct lock *b)
{
	return a->start <= b->end && b->start <= a->end;
}

static struct lock *conflict_locked(struct inode *i, const struct lock *req)
{
	struct lock *l;

	list_for_each(l, &i->locks, node)
		if (same_class(l, req) && l->owner != req->owner && overlaps(l, req) &&
		    (l->type == F_WRLCK || req->type == F_WRLCK))
			return l;
	return NULL;
}

static void insert_locked(struct inode *i, struct lock *l)
{
	list_add_tail(&l->node, &i->locks);
	list_add_tail(&l->all, &all_locks);
}

static void remove_locked(struct lock *l)
{
	list_del(&l->node);
	list_del(&l->all);
	kfree(l);
	changed_locked();
}

static struct lock *lock_copy(const struct lock *l)
{
	struct lock *n = kmalloc(sizeof(*n));

	if (n)
		*n = *l;
	return n;
}

/* --- record locks -------------------------------------------------------------------------- */

/* Make room for [start, end] among the owner's locks. spare: for the right half of a split. */
static bool cut_locked(struct inode *i, const struct lock *req, struct lock *spare)
{
	struct lock *l, *tmp;

	list_for_each_safe(l, tmp, &i->locks, node) {
		if (l->kind == KIND_FLOCK || l->owner != req->owner || !overlaps(l, req))
			continue;
		if (l->start < req->start && l->end > req->end) {
			*spare = *l;
			spare->start = req->end + 1;
			l->end = req->start - 1;
			insert_locked(i, spare);
			changed_locked();
			return true;
		}
		if (l->start < req->start)
			l->end = req->start - 1;
		else if (l->end > req->end)
			l->start = req->end + 1;
		else
			remove_locked(l);
		changed_locked();
	}
	return false;
}

static void join_locked(struct inode *i, struct lock *n)
{
	struct lock *l, *tmp;

	list_for_each_safe(l, tmp, &i->locks, node) {
		if (l == n || l->kind == KIND_FLOCK || l->owner != n->owner || l->type != n->type)
			continue;
		if (l->end != INT64_MAX && l->end + 1 == n->start)
			n->start = l->start;
		else if (n->end != INT64_MAX && n->end + 1 == l->start)
			n->end = l->end;
		else
			continue;
		remove_locked(l);
	}
}

/* One attempt. *blocker: whose lock is in the way at -EAGAIN. */
static int try_record(struct inode *i, const struct lock *req, void **blocker)
{
	struct lock *fresh = lock_copy(req), *spare = lock_copy(req), *c = NULL;

	if (!fresh || !spare) {
		kfree(fresh);
		kfree(spare);
		return -ENOLCK;
	}
	spin_lock(&locks_lock);
	if (req->type != F_UNLCK)
		c = conflict_locked(i, req);
	if (c) {
		*blocker = c->owner;
	} else {
		if (cut_locked(i, req, spare))
			spare = NULL;
		if (req->type != F_UNLCK) {
			insert_locked(i, fresh);
			join_locked(i, fresh);
			fresh = NULL;
		}
	}
	spin_unlock(&locks_lock);
	kfree(fresh);
	kfree(spare);
	if (!c)
		wake_up_all(&locks_wq);
	return c ? -EAGAIN : 0;
}

/* --- waiting ------------------------------------------------------------------------------- */

static bool deadlock_locked(void *owner, void *blocker)
{
	for (int steps = 0; steps < 32; steps++) {
		struct lock_waiter *w;
		void *next = NULL;

		if (blocker == owner)
			return true;
		list_for_each(w, &waiters, node)
			if (w->owner == blocker)
				next = w->blocker;
		if (!next)
			return false;
		blocker = next;
	}
	return false;
}

static long wait_change(u32 seq, void *owner, void *blocker, bool detect)
{
	struct lock_waiter w = { .owner = owner, .blocker = blocker };
	long err = 0;

	spin_lock(&locks_lock);
	if (detect && deadlock_locked(owner, blocker))
		err = -EDEADLK;
	else
		list_add_tail(&w.node, &waiters);
	spin_unlock(&locks_lock);
	if (err)
		return err;
	err = wait_event_interruptible(&locks_wq, READ_ONCE(locks_seq) != seq);
	spin_lock(&locks_lock);
	list_del(&w.node);
	spin_unlock(&locks_lock);
	return err;
}

static long set_record(struct inode *i, const struct lock *req, bool wait)
{
	for (;;) {
		u32 seq = READ_ONCE(locks_seq);
		void *blocker = NULL;
		long err;

		smp_mb();
		err = try_record(i, req, &blocker);
		if (err != -EAGAIN || !wait)
			return err;
		err = wait_change(seq, req->owner, blocker, req->kind == KIND_POSIX);
		if (err)
			return err;
	}
}

/* --- fcntl --------------------------------------------------------------------------------- */

static int to_range(struct file *f, const struct flock_abi *u, struct lock *l)
{
	loff base = 0, end;

	switch (u->whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		base = f->inode->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, u->start, &l->start))
		return -EOVERFLOW;
	if (l->start < 0)
		return -EINVAL;
	l->end = INT64_MAX;
	if (u->len > 0) {
		if (__builtin_add_overflow(l->start, u->len - 1, &end))
			return -EOVERFLOW;
		l->end = end;
	} else if (u->len < 0) {
		if (l->start + u->len < 0)
			return -EINVAL;
		l->end = l->start - 1;
		l->start += u->len;
	}
	return 0;
}

static bool mode_allows(const struct file *f, int type)
{
	if (type == F_RDLCK)
		return f->mode & FMODE_READ;
	return type != F_WRLCK || (f->mode & FMODE_WRITE);
}

static long get_lock(struct inode *i, const struct lock *req, struct flock_abi *u)
{
	struct lock *c;

	spin_lock(&locks_lock);
	c = conflict_locked(i, req);
	if (!c) {
		u->type = F_UNLCK;
	} else {
		u->type = c->type;
		u->whence = SEEK_SET;
		u->start = c->start;
		u->len = c->end == INT64_MAX ? 0 : c->end - c->start + 1;
		u->pid = c->kind == KIND_OFD ? -1 : (int)c->pid;
	}
	spin_unlock(&locks_lock);
	return 0;
}

long locks_fcntl(struct file *f, int cmd, uaddr arg)
{
	bool ofd = cmd >= F_OFD_GETLK;
	bool get = cmd == F_GETLK || cmd == F_OFD_GETLK;
	struct lock req = { .file = f, .inode = f->inode, .pid = current->tgid };
	struct flock_abi u;
	long err;

	if (copy_from_user(&u, (void __user *)arg, sizeof(u)))
		return -EFAULT;
	if (u.type < F_RDLCK || u.type > F_UNLCK || (get && u.type == F_UNLCK && !ofd))
		return -EINVAL;
	if (ofd && u.pid)
		return -EINVAL;
	req.kind = ofd ? KIND_OFD : KIND_POSIX;
	req.owner = ofd ? (void *)f : (void *)current->files;
	req.type = u.type;
	err = to_range(f, &u, &req);
	if (err)
		return err;
	if (get) {
		get_lock(f->inode, &req, &u);
		return copy_to_user((void __user *)arg, &u, sizeof(u)) ? -EFAULT : 0;
	}
	if (!mode_allows(f, u.type))
		return -EBADF;
	return set_record(f->inode, &req, cmd == F_SETLKW || cmd == F_OFD_SETLKW);
}

/* --- flock --------------------------------------------------------------------------------- */

/* Drop the file's flock; true if it already is of this type and was kept. */
static bool drop_flock_locked(struct file *f, int type)
{
	struct lock *l, *tmp;

	list_for_each_safe(l, tmp, &f->inode->locks, node) {
		if (l->kind != KIND_FLOCK || l->owner != f)
			continue;
		if (l->type == type)
			return true;
		remove_locked(l);
	}
	return false;
}

static int try_flock(struct file *f, const struct lock *req)
{
	struct lock *fresh = lock_copy(req);
	int err = 0;

	if (!fresh)
		return -ENOLCK;
	spin_lock(&locks_lock);
	if (!drop_flock_locked(f, req->type) && req->type != F_UNLCK) {
		if (conflict_locked(f->inode, req)) {
			err = -EAGAIN;
		} else {
			insert_locked(f->inode, fresh);
			fresh = NULL;
		}
	}
	spin_unlock(&locks_lock);
	kfree(fresh);
	wake_up_all(&locks_wq);
	return err;
}

static long do_flock(struct file *f, int type, bool wait)
{
	struct lock req = {
		.kind = KIND_FLOCK, .type = type, .end = INT64_MAX, .owner = f, .file = f,
		.inode = f->inode, .pid = current->tgid,
	};

	for (;;) {
		u32 seq = READ_ONCE(locks_seq);
		long err;

		smp_mb();
		err = try_flock(f, &req);
		if (err != -EAGAIN || !wait)
			return err;
		err = wait_event_interruptible(&locks_wq, READ_ONCE(locks_seq) != seq);
		if (err)
			return err;
	}
}

long sys_flock(int fd, u32 cmd)
{
	static const int types[] = { [LOCK_SH] = F_RDLCK, [LOCK_EX] = F_WRLCK,
				    [LOCK_UN] = F_UNLCK };
	u32 op = cmd & ~LOCK_NB;
	struct file *f;
	long ret;

	if (cmd & LOCK_MAND)	/* mandatory locks are gone, asking for them does nothing */
		return 0;
	if (op != LOCK_SH && op != LOCK_EX && op != LOCK_UN)
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (op != LOCK_UN && !(f->mode & (FMODE_READ | FMODE_WRITE)))
		ret = -EBADF;
	else
		ret = do_flock(f, types[op], !(cmd & LOCK_NB));
	file_put(f);
	return ret;
}

/* --- ends ---------------------------------------------------------------------------------- */

static void drop_matching(struct inode *i, const struct file *f, const void *owner)
{
	struct lock *l, *tmp;

	spin_lock(&locks_lock);
	list_for_each_safe(l, tmp, &i->locks, node)
		if ((f && l->file == f) || (owner && l->owner == owner))
			remove_locked(l);
	spin_unlock(&locks_lock);
	wake_up_all(&locks_wq);
}

void locks_close(struct file *f, struct files *owner)
{
	if (!list_empty(&f->inode->locks))
		drop_matching(f->inode, NULL, owner);
}

void locks_release(struct file *f)
{
	if (!list_empty(&f->inode->locks))
		drop_matching(f->inode, f, NULL);
}

void locks_show(struct textbuf *b)
{
	static const char *const kinds[] = { "FLOCK ", "POSIX ", "OFDLCK" };
	struct lock *l;
	u32 n = 1;

	spin_lock(&locks_lock);
	list_for_each(l, &all_locks, all) {
		text_printf(b, "%u: %s ADVISORY  %s %d 00:%02lx:%lu %ld ", n++, kinds[l->kind],
			    l->type == F_WRLCK ? "WRITE" : "READ ",
			    l->kind == KIND_OFD ? -1 : (int)l->pid, l->inode->sb->dev,
			    l->inode->ino, l->start);
		if (l->end == INT64_MAX)
			text_puts(b, "EOF\n");
		else
			text_printf(b, "%ld\n", l->end);
	}
	spin_unlock(&locks_lock);
}
