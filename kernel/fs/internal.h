/* SPDX-License-Identifier: MIT */
/*
 * What the files of kernel/fs share among themselves. See README.md for the objects and the lock
 * order. "Reference" below means: the caller gets one, and has to put it.
 */
#ifndef KERNEL_FS_INTERNAL_H
#define KERNEL_FS_INTERNAL_H

#include <perch/cred.h>
#include <perch/fs.h>
#include <perch/printk.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#define MAX_RW_COUNT	(0x7fffffffUL & PAGE_MASK)	/* one read or write moves at most this */
#define IOV_MAX		1024
#define MAX_FILE_SIZE	INT64_MAX
#define MAX_SYMLINKS	40

/* --- inode.c ------------------------------------------------------------------------------- */
s64 fs_now(void);			/* CLOCK_REALTIME, ns */
/* Owner and group of a new object in dir (set-gid directories hand their group down). */
void inode_init_owner(struct inode *i, const struct inode *dir);
bool inode_owner_or_capable(const struct inode *i);
/* Check and apply a change of attributes as chmod, chown, utimes and truncate do. i->lock held. */
int inode_setattr(struct inode *i, const struct iattr *a);
/* A write by somebody who may not keep set-id bits clears them. i->lock held. */
void inode_strip_suid(struct inode *i);
int inode_get_write(struct inode *i);	/* count a writer: 0 or -ETXTBSY */
void inode_put_write(struct inode *i);

/* --- dentry.c ------------------------------------------------------------------------------ */
extern spinlock dcache_lock;
struct name { const char *s; u32 len, hash; };
void name_set(struct name *n, const char *s, u32 len);
/* A negative dentry that nobody can find yet, refs 1; holds parent. NULL on OOM. */
struct dentry *dentry_alloc(struct dentry *parent, const struct name *n);
/* A dentry outside any tree (pipes, anonymous files); name NULL: made up when printed. */
struct dentry *dentry_alloc_pseudo(struct super *sb, const char *name, struct inode *i);
/* The nameless file of O_TMPFILE: shows as DIR/#INO (deleted). Takes over i; NULL on OOM. */
struct dentry *dentry_alloc_tmpfile(struct dentry *dir, struct inode *i);
/* The cached child with a reference, or NULL. Never negative. */
struct dentry *dentry_find(struct dentry *parent, const struct name *n);
/* The child by cache or by the file system: reference, NULL if there is none, ERR_PTR. locked:
 * the caller holds the directory's lock. */
struct dentry *dentry_lookup(struct dentry *parent, const struct name *n, bool locked);
void dentry_drop(struct dentry *d);	/* no longer found; drops the tree's own reference */
/* Give d a new place; name comes from dentry_move_prepare (a copy, NULL on OOM) and is taken
 * over. */
char *dentry_move_prepare(const struct name *n);
void dentry_move(struct dentry *d, struct dentry *parent, char *name, const struct name *n);
int dentry_exchange(struct dentry *a, struct dentry *b);
bool dentry_is_ancestor(const struct dentry *a, const struct dentry *d);	/* or equal */
struct dentry *dentry_parent(struct dentry *d);		/* reference */

/* --- namei.c ------------------------------------------------------------------------------- */
enum last_type { LAST_NORM, LAST_DOT, LAST_DOTDOT, LAST_ROOT };
#define RESOLVE_NO_XDEV		1	/* openat2's; also kept in struct walk */
#define RESOLVE_NO_MAGICLINKS	2
#define RESOLVE_NO_SYMLINKS	4
#define RESOLVE_BENEATH		8
#define RESOLVE_IN_ROOT		16
#define RESOLVE_CACHED		32
struct walk_link { char *buf; const char *rest; };
/* A path walk in progress. After walk_parent: path is the directory, last the final component. */
struct walk {
	struct path path, root;
	const char *rest;		/* what is left of the innermost string */
	struct name last;
	enum last_type type;
	bool trailing;			/* slashes followed the last component */
	u32 resolve;
	u32 nlinks, depth;
	char *buf;			/* owned text that rest points into, or NULL */
	struct walk_link stack[MAX_SYMLINKS];
};
int walk_start(struct walk *w, int dirfd, const char *name, u32 resolve);
int walk_parent(struct walk *w);
/* The last component itself into out (reference); follow: symbolic links at the end are followed,
 * then w goes on and *again says so: call walk_parent and this once more. */
int walk_last(struct walk *w, bool follow, struct path *out, bool *again);
int walk_push_link(struct walk *w, struct path *link);	/* consumes link */
void walk_cross_mounts(struct path *p);
void walk_end(struct walk *w);

/*
 * For calls that make or remove a name: resolves the parent, checks permissions and the mount, and
 * locks the directory. d: a negative dentry (create) or the existing one (remove), reference.
 */
enum parent_kind { PARENT_CREATE, PARENT_MKDIR, PARENT_UNLINK, PARENT_RMDIR };
struct parent_op { struct walk w; struct inode *dir; struct dentry *d; };
int parent_op_begin(struct parent_op *op, int dirfd, const char *name, enum parent_kind kind);
void parent_op_end(struct parent_op *op);
int vfs_unlink(int dirfd, const char *name);
int may_create(struct inode *dir, struct dentry *parent);
int may_delete(struct inode *dir, struct dentry *victim, bool isdir);

/* --- mount.c ------------------------------------------------------------------------------- */
#define MS_RDONLY	1
#define MS_NOSUID	2
#define MS_NODEV	4
#define MS_NOEXEC	8
#define MS_SYNCHRONOUS	16
#define MS_REMOUNT	32
#define MS_MANDLOCK	64
#define MS_DIRSYNC	128
#define MS_NOSYMFOLLOW	256
#define MS_NOATIME	1024
#define MS_NODIRATIME	2048
#define MS_BIND		4096
#define MS_MOVE		8192
#define MS_REC		16384
#define MS_SILENT	32768
#define MS_UNBINDABLE	(1 << 17)
#define MS_PRIVATE	(1 << 18)
#define MS_SLAVE	(1 << 19)
#define MS_SHARED	(1 << 20)
#define MS_RELATIME	(1 << 21)
#define MS_STRICTATIME	(1 << 24)
#define MS_LAZYTIME	(1 << 25)
extern spinlock mount_lock;
extern struct mount *root_mount;
struct mount *mount_get(struct mount *m);
void mount_put(struct mount *m);
/* reference or NULL */
struct mount *mount_covering(struct mount *parent, struct dentry *point);
/* from a mount's root to its point; false at the very root */
bool mount_up(struct path *p);
static inline bool mount_readonly(const struct mount *m) { return m->flags & MS_RDONLY; }
struct super *super_alloc(struct fs_type *t);	/* with a device number; NULL on OOM */
struct mount *kern_mount(struct fs_type *t);	/* a mount outside the tree; boot, never fails */

/* --- tmpfs.c, pagecache.c ------------------------------------------------------------------ */
extern struct fs_type tmpfs_type, devtmpfs_type;
extern struct fs_type v9fs_type;		/* v9fs/super.c */
extern const struct file_ops tmpfs_file_ops;
void pagecache_truncate(struct inode *i, u64 from);	/* drop pages with index >= from */
/* Takes over p's reference. 0, -ENOSPC, -ENOMEM, -EEXIST. */
int pagecache_insert(struct inode *i, u64 index, struct page *p);
void pagecache_remove(struct inode *i, u64 first, u64 last);	/* inclusive */
/* For fallocate. Make a zeroed page where there is none: 0, -ENOSPC, -ENOMEM. Take those of them back that nobody uses. */
int pagecache_prepare(struct inode *i, u64 index);
void pagecache_unprepare(struct inode *i, u64 first, u64 last);	/* inclusive */
/* The page with a reference; create: make it (zeroed on request). NULL: absent, or *err
 * (-ENOMEM, -ENOSPC). */
struct page *pagecache_get(struct inode *i, u64 index, bool create, bool zero, int *err);
/* The next index >= from with (hole: without) a page; UINT64_MAX if there is no more data. */
u64 pagecache_next(struct inode *i, u64 from, bool hole);
struct inode *tmpfs_inode(struct super *sb, const struct inode *dir, u32 mode, u64 rdev);
int tmpfs_attach(struct inode *dir, struct dentry *d, struct inode *i);
int tmpfs_truncate(struct inode *i, loff size);
int tmpfs_fsync(struct file *f);
void shmem_init(void);
int tmpfs_add_seals(struct file *f, u32 seals);

/* --- file.c, fdtable.c --------------------------------------------------------------------- */
struct file *file_alloc(void);
struct file *file_new(const struct path *p, u32 flags, const struct file_ops *ops);
/* The same for a file that file_alloc made (kfree gives it back unused). */
void file_fill(struct file *f, const struct path *p, u32 flags, const struct file_ops *ops);
/* Count f as a writer of its inode (0, -ETXTBSY) and of its mount; the last put ends it. */
int file_begin_write(struct file *f);
void file_end_write(struct file *f);
void anon_init(void);
int fd_new(struct file *f, u32 flags);		/* alloc and install; puts f on error */
int fd_dup_from(struct file *f, int min, bool cloexec);
int fd_get_cloexec(int fd);			/* 0, 1, -EBADF */
int fd_set_cloexec(int fd, bool on);
u32 fd_limit(void);
void get_fs_root(struct path *p);		/* current's, referenced */
void get_fs_cwd(struct path *p);

/* --- rw.c ---------------------------------------------------------------------------------- */
ssize_t file_read(struct file *f, struct uio *u, loff *pos);
ssize_t file_write(struct file *f, struct uio *u, loff *pos);
long sys_readv(int fd, uaddr vec, u64 n);
long sys_writev(int fd, uaddr vec, u64 n);
ssize_t file_rw_pos(struct file *f, struct uio *u, bool write);	/* at the file's own position */
loff generic_llseek(struct file *f, loff off, int whence, loff size);
int do_truncate(struct file *f, struct inode *i, loff size);
/* The vector in kernel memory (kfree unless it is one); total length or -errno. */
ssize_t iov_import(uaddr uvec, u64 n, struct iovec_abi *fast, u32 nfast, struct iovec_abi **out);

/* --- pipe.c -------------------------------------------------------------------------------- */
extern const struct file_ops fifo_ops;
void pipe_init(void);

/* --- fcntl.c, sigio.c ---------------------------------------------------------------------- */
/* Files of one object that want SIGIO. Embedded in the object. */
struct fasync { spinlock lock; struct list list; };
void fasync_init(struct fasync *l);
int fasync_set(struct fasync *l, struct file *f, bool on);
void fasync_send(struct fasync *l, int code, long band);
static inline void fasync_kill(struct fasync *l, int code, long band)	/* any context */
{
	if (unlikely(!list_empty(&l->list)))
		fasync_send(l, code, band);
}
int file_set_async(struct file *f, int fd, bool on);
int file_set_flags(struct file *f, int fd, u32 flags);

/* --- locks.c ------------------------------------------------------------------------------- */
void locks_close(struct file *f, struct files *owner);		/* POSIX locks, each close */
void locks_release(struct file *f);				/* flock and OFD locks, last put */
long locks_fcntl(struct file *f, int cmd, uaddr arg);

/* --- poll.c, epoll.c ----------------------------------------------------------------------- */
struct poll_table { void (*queue)(struct poll_table *pt, struct file *f, struct waitq *q); };
#define POLL_DEFAULT	(POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)
static inline u32 file_poll(struct file *f, struct poll_table *pt)
{
	return f->ops->poll ? f->ops->poll(f, pt) : POLL_DEFAULT;
}
/* Absolute deadline of a user timespec (NULL: KTIME_MAX, never; zero: 0, do not wait). 0 or
 * -errno. */
int poll_deadline(const struct timespec64 __user *uts, ktime *deadline);
void epoll_file_gone(struct file *f);		/* last put of a file that has epitems */
/* A temporary signal mask for ppoll, pselect6, epoll_pwait: 0 or -errno. sigmask 0: none. */
int sigmask_enter(uaddr mask, size_t size);
void sigmask_leave(uaddr mask, long ret);	/* restore at once unless a signal interrupted */

/* --- chrdev.c ------------------------------------------------------------------------------ */
const struct file_ops *chrdev_find(u64 rdev);
u64 dev_decode(u64 abi);		/* from the number that mknod passes */
void devtmpfs_init(void);
void devices_init(void);
void inotify_init(void);

/* --- socket.c ------------------------------------------------------------------------------ */
void sock_init(void);

#endif
