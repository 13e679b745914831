/* SPDX-License-Identifier: MIT */
/*
 * The virtual file system.
 *
 *   fd table -> file -> dentry (name in a tree) -> inode (object) -> superblock (mount)
 *
 * Dentries of tmpfs stay in memory (the tree is the file system); procfs makes inodes on lookup.
 * Locks: inode->lock (mutex) guards a directory's entries or a file's size and contents changes;
 * rename takes fs_rename_lock, then parents by address. dentry tree pointers: dcache_lock (spin).
 * Order: rename mutex -> inode->lock -> mm->lock -> spinlocks.
 */
#ifndef PERCH_FS_H
#define PERCH_FS_H

#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/list.h>
#include <perch/page.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <perch/types.h>
#include <perch/wait.h>
#include <linux/fcntl.h>	/* ours: O_*, AT_*, F_*, S_IF*, struct stat_abi, struct statx_abi, statfs */
#include <linux/poll.h>

#define NAME_MAX 255
#define PATH_MAX 4096

struct dentry;
struct file;
struct inode;
struct super;
struct poll_table;
struct vma;
struct task;
struct path;
struct mount;
struct kstat;
struct iattr;
struct textbuf;
struct readdir_ctx;

/*
 * Where read and write put and take bytes: kernel memory or a list of user buffers. copy_* return
 * the number of bytes moved, less than asked on a fault (then .fault is set).
 */
struct iovec_abi { uaddr base; u64 len; };
struct uio {
	bool user;
	bool fault;
	uaddr base;			/* user: what is left of the buffer in use */
	size_t here;			/* user: its bytes */
	const struct iovec_abi *next;	/* user: the buffers behind it, in a kernel copy of the vector */
	u32 nr_next;
	char *kbuf;			/* kernel buffer when !user */
	size_t left;			/* bytes still to move */
};
static inline void uio_init_user(struct uio *u, uaddr base, size_t len)
{
	u->user = true;
	u->fault = false;
	u->base = base;
	u->here = u->left = len;
	u->nr_next = 0;		/* nobody looks at next and kbuf then */
}
void uio_init_vec(struct uio *u, const struct iovec_abi *iov, u32 n, size_t total);
void uio_init_kernel(struct uio *u, void *buf, size_t len);
void uio_next(struct uio *u);		/* go on to the next buffer of the vector; there is one */
size_t uio_write(struct uio *u, const void *src, size_t n);	/* kernel -> uio (for read()) */
size_t uio_read(struct uio *u, void *dst, size_t n);		/* uio -> kernel (for write()) */
size_t uio_zero(struct uio *u, size_t n);

struct file_ops {
	/* Bytes done, 0 at end of file, or -errno. *pos is the file position to use and advance. */
	ssize_t (*read)(struct file *f, struct uio *u, loff *pos);
	ssize_t (*write)(struct file *f, struct uio *u, loff *pos);
	/* Short form of read for a file without a position: read(2) into one range of user memory, which
	 * has been checked with access_ok. NULL: there is none. */
	ssize_t (*read_user)(struct file *f, uaddr buf, size_t n);
	loff (*llseek)(struct file *f, loff off, int whence);	/* NULL: ESPIPE */
	/* Current events; registers with poll_wait first if pt is not NULL. NULL op: always ready. */
	u32 (*poll)(struct file *f, struct poll_table *pt);
	long (*ioctl)(struct file *f, u32 cmd, u64 arg);	/* NULL: ENOTTY */
	int (*mmap)(struct file *f, struct vma *v);	/* sets v->ops; mm->lock held. NULL: ENODEV */
	int (*open)(struct inode *i, struct file *f);	/* may set f->ops, f->priv */
	void (*release)(struct file *f);		/* last reference; process context */
	int (*flush)(struct file *f);			/* each close(2) */
	/* Directory: emit entries from f->pos on through ctx; see readdir_emit. */
	int (*iterate)(struct file *f, struct readdir_ctx *ctx);
	int (*fsync)(struct file *f);
	int (*fasync)(struct file *f, bool on);		/* O_ASYNC changed */
	void (*show_fdinfo)(struct file *f, struct textbuf *b);
	int (*fallocate)(struct file *f, int mode, loff off, loff len);
};

struct inode_ops {
	/* Find name in a directory and attach the inode with dentry_attach(d, inode), or leave the
	 * dentry negative. inode->lock of dir held. 0 or -errno (-ENOENT: and no such name can be made). */
	int (*lookup)(struct inode *dir, struct dentry *d);
	int (*create)(struct inode *dir, struct dentry *d, u32 mode);	/* regular file */
	int (*mkdir)(struct inode *dir, struct dentry *d, u32 mode);
	int (*mknod)(struct inode *dir, struct dentry *d, u32 mode, u64 rdev);
	int (*symlink)(struct inode *dir, struct dentry *d, const char *target);
	int (*link)(struct inode *dir, struct dentry *d, struct inode *target);
	int (*unlink)(struct inode *dir, struct dentry *d);
	int (*rmdir)(struct inode *dir, struct dentry *d);
	int (*rename)(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n, u32 flags);
	/* Target text into buf (PATH_MAX), its length or -errno. */
	int (*readlink)(struct inode *i, struct dentry *d, char *buf, size_t size);
	/* Magic links (/proc/PID/exe, fd/N): the target itself, with a reference; NULL op: use readlink. */
	int (*follow)(struct inode *i, struct dentry *d, struct path *out);
	int (*getattr)(struct inode *i, struct kstat *st);	/* NULL: generic from inode */
	int (*setattr)(struct inode *i, const struct iattr *a);	/* NULL: EPERM */
	/* Still the right object? Asked of a cached dentry's own inode (procfs). false: drop and look up again. */
	bool (*revalidate)(struct dentry *d);
	/* The last reference to the inode has gone: free what priv holds. Process context, no locks. Optional. */
	void (*evict)(struct inode *i);
	int (*permission)(struct inode *i, int mask);		/* NULL: generic */
};

struct inode {
	refcount refs;
	struct super *sb;
	u64 ino;
	u32 mode;		/* type and permissions; lock */
	u32 uid, gid, nlink;	/* lock */
	u64 rdev;
	loff size;		/* lock for writing */
	u64 blocks;		/* 512-byte units */
	s64 atime, mtime, ctime, btime;	/* ns, CLOCK_REALTIME */
	struct mutex lock;
	const struct inode_ops *ops;
	const struct file_ops *fops;
	spinlock pages_lock;	/* page cache */
	void *pages;		/* tmpfs: radix tree by page index; pages_lock */
	u64 nr_pages;		/* pages_lock */
	struct list locks;	/* fcntl/flock locks (kernel/fs/locks) */
	u32 flags;		/* IF_x; set before the inode is shared */
	u32 seals;		/* memfd: F_SEAL_x; lock */
	int writers;		/* open for writing (>0) or denied because it is being executed (<0); atomic */
	void *priv;
	struct waitq wq;	/* general use of the type's owner */
};

#define IF_SHMEM	1	/* contents are the page cache of tmpfs.c */
#define IF_TMPFILE	2	/* made by O_TMPFILE: may be linked although nlink is 0 */

struct dentry {
	refcount refs;
	struct dentry *parent;	/* itself at a root; dcache_lock */
	struct inode *inode;	/* NULL: negative; dcache_lock + dir lock */
	char *name;		/* dcache_lock */
	u32 name_len, name_hash;
	u64 cookie;		/* position in the parent: grows with each addition; dcache_lock */
	struct list child_node;	/* parent's children, by cookie; dcache_lock */
	struct list children;	/* dcache_lock */
	struct list hash_node;	/* dcache_lock */
	struct super *sb;
	struct mount *mounted;	/* a mount covers this (the latest one); mount_lock */
	bool pinned;		/* the tree holds a reference: tmpfs, /proc/self */
	bool unhashed;		/* not (or no longer) found by name; dcache_lock */
};

struct super {
	refcount refs;		/* mounts */
	struct fs_type *type;
	u64 dev;		/* st_dev */
	u64 magic;		/* statfs f_type */
	struct dentry *root;
	u64 next_ino;		/* atomic; 1 is the root's */
	bool pseudo;		/* no tree: paths print as "name:[ino]" or as the bare name */
	void *priv;
	u64 max_pages, used_pages;	/* tmpfs limit; atomic */
	char source[32];
	char options[64];	/* for /proc/mounts, e.g. "rw,relatime" */
};

struct mount {
	struct super *sb;
	struct dentry *root;		/* of this mount */
	struct mount *parent;		/* NULL: the root */
	struct dentry *point;		/* in parent */
	u32 flags;			/* MS_RDONLY, MS_NOEXEC... */
	u32 writers;			/* regular files open for writing; atomic */
	u32 id;
	char *source;
	struct list node;		/* all mounts, order of mounting; mount_lock */
	refcount refs;
};

struct path { struct mount *mnt; struct dentry *dentry; };	/* both referenced */

struct fs_type {
	const char *name;
	bool nodev;
	/* Fill a new super: set root. data: mount options, may be NULL. 0 or -errno. */
	int (*mount)(struct super *sb, const char *source, const char *data);
	void (*kill)(struct super *sb);	/* the last mount has gone; optional */
	bool single;		/* one super for all mounts (proc, sysfs, devtmpfs): mount is called once */
	struct super *the_super;	/* of a single type, once made; mount_mutex */
	struct fs_type *next;
};
void register_fs(struct fs_type *t);	/* a name that is taken already is ignored */
void fs_types_show(struct textbuf *b);	/* /proc/filesystems */
enum mounts_format { MOUNTS_MOUNTS, MOUNTS_MOUNTINFO, MOUNTS_MOUNTSTATS };
void mounts_show(struct textbuf *b, enum mounts_format format);	/* as seen from current's root */
void locks_show(struct textbuf *b);	/* /proc/locks */

struct file {
	refcount refs;
	u32 flags;		/* O_* status flags; F_SETFL */
	u32 mode;		/* FMODE_* */
	struct path path;
	struct inode *inode;	/* = path.dentry->inode, never NULL */
	const struct file_ops *ops;
	loff pos;		/* pos_lock */
	struct mutex pos_lock;
	void *priv;
	/* F_SETOWN and F_SETSIG: who gets SIGIO (spin lock inside kernel/fs/fcntl) */
	struct { int type; u32 pid; int sig; u32 uid, euid; spinlock lock; } owner;
	struct list epitems;	/* epoll registrations (kernel/fs/epoll) */
	u32 epoll_depth;
	int async_fd;		/* the fd that turned O_ASYNC on: si_fd of its signals */
};
#define FMODE_READ	1
#define FMODE_WRITE	2
#define FMODE_PATH	4	/* O_PATH */
#define FMODE_NOPOS	8	/* stream: no file position */
#define FMODE_LENT	16	/* what path names is for ever: no references are held */

/* Files: references and construction. */
struct file *file_get(struct file *f);
void file_put(struct file *f);		/* process context; last put releases */
/* An unlinked tmpfs file of the given size, O_RDWR, for shared anonymous memory and memfd: shows as
 * "/NAME (deleted)". ERR_PTR. */
struct file *shmem_file(const char *name, u64 size);
int tmpfs_mmap(struct file *f, struct vma *v);	/* kernel/mm: maps the page cache of a tmpfs inode */
/* An object without a name (pipes, eventfd, perf): inode mode 0600, name like "anon_inode:[perf_event]". */
struct file *anon_file(const char *name, const struct file_ops *ops, void *priv, u32 flags);
/* Where many of the same name are made: the name once (NULL: no memory), kept for ever, then files with it. */
struct dentry *anon_dentry(const char *name);
struct file *anon_file_at(struct dentry *name, const struct file_ops *ops, void *priv, u32 flags);
/* Async notification: send SIGIO (or F_SETSIG's) to f's owner with si_fd=fd, si_code=POLL_x, si_band. Any context. */
void file_send_sigio(struct file *f, int fd, int code, long band);

/* fd tables. */
struct files;
struct file *fd_get(int fd);		/* current's, with a reference; NULL: EBADF. O_PATH files too */
struct file *fd_get_io(int fd);		/* the same, but NULL for O_PATH files */
struct file *task_fd_get(struct task *t, int fd);
int fd_alloc(u32 flags);		/* reserve the lowest free one (O_CLOEXEC); -EMFILE */
void fd_install(int fd, struct file *f);	/* gives the reference to the table */
void fd_release(int fd);		/* undo fd_alloc */
int fd_close(int fd);
int fd_next(struct task *t, int from);	/* smallest open fd >= from of a task, or -1 */
struct files *files_create(void);
struct files *files_fork(struct files *old);
void files_get(struct files *f);
void files_put(struct files *f);
void files_exec(void);			/* close CLOEXEC fds of current (unshares first) */
u32 files_size(struct task *t);		/* FDSize of /proc/PID/status */

struct fs_context { refcount refs; spinlock lock; struct path root, cwd; u32 umask; };
struct fs_context *fs_fork(struct fs_context *old);
void fs_get(struct fs_context *f);
void fs_put(struct fs_context *f);

/* Paths. lookup flags: */
#define LOOKUP_FOLLOW	1
#define LOOKUP_DIRECTORY 2
#define LOOKUP_EMPTY	4	/* AT_EMPTY_PATH */
#define LOOKUP_PARENT	8	/* internal */
/* Resolve a kernel string relative to dirfd (AT_FDCWD). 0 or -errno; path_put when done. */
int path_lookup(int dirfd, const char *name, u32 flags, struct path *out);
int user_path(int dirfd, const char __user *name, u32 flags, struct path *out);
void path_get(struct path *p);
void path_put(struct path *p);
/* A user's path string in a PATH_MAX page: ERR_PTR(-EFAULT, -ENAMETOOLONG, -ENOENT for ""); kfree it. */
char *getname(const char __user *name, bool empty_ok);
/* Absolute path of p as seen from root (or current's root): writes at the end of buf, returns its start; ERR_PTR(-ENAMETOOLONG).
 * Appends " (deleted)" when unlinked. */
char *path_name(const struct path *p, char *buf, size_t size);
struct file *file_open(int dirfd, const char *name, u32 flags, u32 mode);	/* kernel string; ERR_PTR */
struct file *path_open(const struct path *p, u32 flags);
ssize_t file_read_kernel(struct file *f, void *buf, size_t n, loff pos);
ssize_t file_write_kernel(struct file *f, const void *buf, size_t n, loff pos);
int vfs_mkdir(int dirfd, const char *name, u32 mode);
int vfs_mknod(int dirfd, const char *name, u32 mode, u64 rdev);
int vfs_symlink(const char *target, int dirfd, const char *name);
int vfs_link_paths(int odfd, const char *old, int ndfd, const char *new, u32 flags);
int vfs_mount(const char *source, const char *target, const char *type, u32 flags, const char *data);
int inode_permission(struct inode *i, int mask);	/* MAY_* of current; 0 or -EACCES */
#define MAY_EXEC 1
#define MAY_WRITE 2
#define MAY_READ 4
int deny_write_access(struct file *f);	/* exec: 0 or -ETXTBSY */
void allow_write_access(struct file *f);

/* Dentries: references. Another one; drop one (process context, no spinlock; the last frees). */
struct dentry *dentry_get(struct dentry *d);
void dentry_put(struct dentry *d);

/* Building file systems. */
struct inode *inode_alloc(struct super *sb, u32 mode);	/* times now, nlink 1; NULL on OOM */
void inode_get(struct inode *i);
void inode_put(struct inode *i);
/* Give a negative dentry its inode and make it findable. Takes over the inode reference; dir->lock held. */
void dentry_attach(struct dentry *d, struct inode *i);
struct dentry *dentry_root(struct super *sb, struct inode *i);	/* takes over i; NULL on OOM (i is put) */
/* The regular-file page cache of tmpfs: page at index with a reference; create: zero page if absent,
 * or ERR_PTR(-ENOMEM, -ENOSPC); else NULL if absent. */
struct page *tmpfs_page(struct inode *i, u64 index, bool create);
/* Show fn those among index..index+n-1 that may exist. */
void tmpfs_runs(struct inode *i, u64 index, u32 n, page_run_fn *fn, void *arg);

struct kstat { u64 dev, ino, rdev, size, blocks; u32 mode, nlink, uid, gid, blksize; s64 atime, mtime, ctime, btime; };
void generic_getattr(struct inode *i, struct kstat *st);
struct iattr { u32 valid; u32 mode, uid, gid; loff size; s64 atime, mtime; };
#define ATTR_MODE 1
#define ATTR_UID 2
#define ATTR_GID 4
#define ATTR_SIZE 8
#define ATTR_ATIME 16
#define ATTR_MTIME 32

struct readdir_ctx;
/* False when the user's buffer is full: the file system stops and keeps f->pos. type: DT_*. */
bool readdir_emit(struct readdir_ctx *c, const char *name, size_t len, loff next_pos, u64 ino, u8 type);

/* poll. A poll op calls this for each queue whose wake-up could change its answer. */
void poll_wait(struct file *f, struct waitq *q, struct poll_table *pt);

/* Devices: character devices by number. */
void chrdevs_show(struct textbuf *b);	/* /proc/devices */
int chrdev_register(u32 major, u32 minor, u32 nr, const char *name, const struct file_ops *ops);
/* Create a node in devtmpfs (may contain '/'): mode includes S_IFCHR/S_IFBLK. */
int devtmpfs_add(const char *name, u32 mode, u64 rdev);
static inline u64 mkdev(u32 ma, u32 mi) { return ((u64)ma << 20) | mi; }	/* internal form */
u64 dev_encode(u64 dev);	/* as st_rdev shows it */

/* Text that grows: for procfs, sysfs, fdinfo. Overflow of memory is remembered in .failed. */
struct textbuf { char *buf; size_t len, size; bool failed; };
void text_printf(struct textbuf *b, const char *fmt, ...) __printf(2, 3);
void text_puts(struct textbuf *b, const char *s);
void text_write(struct textbuf *b, const void *p, size_t n);
void text_escape(struct textbuf *b, const char *s, const char *chars);	/* octal escapes, as in /proc/mounts */
void text_free(struct textbuf *b);

void vfs_init(void);		/* root tmpfs mounted, fs types registered */
void initramfs_unpack(paddr base, u64 size);	/* newc, gzip, zstd, concatenated; logs what is wrong */

#endif
