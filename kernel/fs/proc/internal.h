/* SPDX-License-Identifier: MIT */
/* What the files of procfs and sysfs share. Private to kernel/fs/proc and kernel/fs/sysfs. */
#ifndef PROC_INTERNAL_H
#define PROC_INTERNAL_H

#include <perch/fs.h>
#include <perch/procfs.h>
#include <perch/task.h>

/* --- textfile.c: a file whose text is made at the first read -------------------------------- */

/* Makes f a text file: f->priv becomes ours. show is called with the file at each read at position
 * 0. 0 or -ENOMEM. */
int text_open(struct file *f, int (*show)(struct file *f, struct textbuf *b));
ssize_t text_read(struct file *f, struct uio *u, loff *pos);
loff text_llseek(struct file *f, loff off, int whence);
void text_release(struct file *f);
/* The bytes of one write as a NUL-terminated kmalloc'ed string of at most PAGE_SIZE - 1, length in
 * *len. ERR_PTR(-EFAULT, -ENOMEM). */
char *text_write_copy(struct uio *u, size_t *len);
/* Serve [*pos, ...) of a block of memory of len bytes to u. */
ssize_t text_serve(struct uio *u, loff *pos, const void *mem, size_t len);

/* --- knode.c, knode_fs.c: static trees ------------------------------------------------------ */

struct knode {
	refcount refs;			/* the tree's, and one for each inode */
	struct knode *parent;		/* knode_lock */
	struct list children, node;	/* knode_lock; order of registration */
	const char *name;		/* immutable */
	u32 mode, uid, gid;		/* type immutable; the rest knode_lock */
	u64 ino;			/* immutable */
	loff size;			/* immutable after registration */
	u32 nr_dirs;			/* among the children; knode_lock */
	bool dead;			/* removed; knode_lock */
	const struct knode_ops *ops;	/* immutable */
	void *arg;			/* immutable */
	char *target;			/* links; immutable */
};

/* The child called name (len bytes) with a reference, or NULL. */
struct knode *knode_find(struct knode *dir, const char *name, size_t len);
/* The nth child with a reference, or NULL. */
struct knode *knode_nth(struct knode *dir, u32 n);
void knode_put(struct knode *n);
/* A new inode of sb for n (takes over the caller's reference also on failure), or NULL. */
struct inode *knode_inode(struct super *sb, struct knode *n);
extern const struct inode_ops knode_dir_iops, sysctl_dir_iops;
extern const struct file_ops knode_dir_fops;
/* Emit the children of a directory: positions 2, 3, ... False when the buffer is full. */
bool knode_emit(struct knode *dir, struct file *f, struct readdir_ctx *ctx);
/* Fill sb from a tree. */
int knode_mount(struct super *sb, struct knode *root, u64 magic);
/* Emit "." and ".." (positions 0 and 1) if they are next. False when the buffer is full. */
bool emit_dots(struct file *f, struct readdir_ctx *ctx);

/* --- pid.c: directories of processes and threads -------------------------------------------- */

struct pid_entry;

/* priv of every inode below /proc/PID: names a task without keeping it alive. */
struct pnode {
	u32 pid;			/* task id */
	ktime start;			/* tells a reused id apart */
	bool thread;			/* below task/TID: one thread's values, not the process's */
	int fd;				/* in fd/ and fdinfo/ */
	const struct pid_entry *e;	/* NULL: a PID or TID directory, or an fd entry */
};

/* One name in a PID or TID directory (or in ns/, attr/). */
struct pid_entry {
	const char *name;
	u32 mode;			/* with type */
	u8 where;			/* IN_x */
	u8 check;			/* CHECK_x */
	int (*show)(struct textbuf *b, struct task *t, bool thread);
	ssize_t (*store)(struct task *t, const char *buf, size_t len);
	const struct inode_ops *iops;	/* directories and links */
	const struct file_ops *fops;	/* instead of show and store */
	/* Links: the target with references. */
	int (*link)(struct task *t, const struct pid_entry *e, struct path *out);
	const struct pid_entry *sub;	/* directories: their names */
};
#define IN_PROC		1
#define IN_TASK		2
#define IN_BOTH		3
#define CHECK_NONE	0
/* Where current must pass ptrace_may_access: at open (EACCES), at each read (EACCES or EPERM). */
#define CHECK_OPEN	1
#define CHECK_READ	2
#define CHECK_READ_EPERM 3

/* The inode's task with a reference, or NULL when it is gone. */
struct task *pnode_task(const struct inode *i);
/* An inode for task t; fd -1 if none. NULL on OOM. */
struct inode *pid_inode(struct super *sb, struct task *t, bool thread, const struct pid_entry *e,
			int fd, u32 mode);
int pid_lookup_root(struct inode *dir, struct dentry *d);	/* a number in /proc */
/* Emit processes from f->pos - PID_POS on. */
int pid_emit_root(struct file *f, struct readdir_ctx *ctx);
#define PID_POS 256
bool pid_revalidate(struct dentry *d);
int pid_setattr(struct inode *i, const struct iattr *a);
void pid_evict(struct inode *i);
bool parse_number(const char *s, size_t len, u32 *out);	/* decimal, no sign, no leading 0 */

extern const struct pid_entry pid_entries[];	/* ends with name NULL */
extern const struct inode_ops pid_link_iops, pid_subdir_iops, pid_fd_iops, pid_fdinfo_iops;
extern const struct inode_ops pid_task_iops;
extern const struct file_ops pid_subdir_fops, pid_fd_fops, pid_fdinfo_fops, pid_task_fops;
extern const struct file_ops pid_mem_fops, pid_pagemap_fops;

#define PID_SHOW(fn) int fn(struct textbuf *b, struct task *t, bool thread)
#define PID_STORE(fn) ssize_t fn(struct task *t, const char *buf, size_t len)

/* pid_status.c */
PID_SHOW(pid_status_show);
PID_SHOW(pid_stat_show);
PID_SHOW(pid_statm_show);
char task_state_char(struct task *t);
u64 ns_to_ticks(u64 ns);		/* USER_HZ */
/* The counters of one thread or of the whole process. */
void pid_times(struct task *t, bool thread, struct rusage_counts *out);
u32 process_parent_pid(struct process *p);
/* pid_maps.c */
PID_SHOW(pid_maps_show);
PID_SHOW(pid_smaps_show);
PID_SHOW(pid_smaps_rollup_show);
PID_SHOW(pid_numa_maps_show);
PID_STORE(pid_clear_refs_store);
/* pid_mem.c */
PID_SHOW(pid_cmdline_show);
PID_SHOW(pid_environ_show);
PID_SHOW(pid_auxv_show);
/* pid_links.c */
/* Describe p (whose references it takes over) in buf: length or -errno. */
int path_text(struct path *p, char *buf, size_t size);
int pid_link_exe(struct task *t, const struct pid_entry *e, struct path *out);
int pid_link_cwd(struct task *t, const struct pid_entry *e, struct path *out);
int pid_link_root(struct task *t, const struct pid_entry *e, struct path *out);
int pid_link_ns(struct task *t, const struct pid_entry *e, struct path *out);
extern const struct pid_entry pid_ns_entries[], pid_net_entries[];	/* end with name NULL */
/* mounts.c */
PID_SHOW(pid_mounts_show);
PID_SHOW(pid_mountinfo_show);
PID_SHOW(pid_mountstats_show);
/* pid_misc.c */
PID_SHOW(pid_comm_show);
PID_STORE(pid_comm_store);
PID_SHOW(pid_limits_show);
PID_SHOW(pid_io_show);
PID_SHOW(pid_cgroup_show);
PID_SHOW(pid_oom_adj_show);
PID_SHOW(pid_oom_score_show);
PID_SHOW(pid_oom_score_adj_show);
PID_STORE(pid_oom_adj_store);
PID_STORE(pid_oom_score_adj_store);
PID_SHOW(pid_loginuid_show);
PID_SHOW(pid_sessionid_show);
PID_SHOW(pid_personality_show);
PID_SHOW(pid_sched_show);
PID_SHOW(pid_schedstat_show);
PID_SHOW(pid_syscall_show);
PID_SHOW(pid_stack_show);
PID_SHOW(pid_wchan_show);
PID_SHOW(pid_timerslack_show);
PID_STORE(pid_timerslack_store);
PID_SHOW(pid_setgroups_show);
PID_SHOW(pid_id_map_show);
PID_SHOW(pid_coredump_filter_show);
PID_SHOW(pid_cpuset_show);
PID_SHOW(pid_children_show);
PID_SHOW(pid_perf_refusal_show);

/* --- the rest ------------------------------------------------------------------------------- */

void proc_system_init(void);	/* system.c: stat, uptime, version ... */
void proc_meminfo_init(void);
void proc_tables_init(void);	/* tables.c: devices, filesystems, interrupts ... */
void proc_kernel_init(void);	/* kernel.c: kallsyms, kmsg, sysrq-trigger, perch/ */
void proc_kcore_init(void);
void proc_sysctl_init(void);
void proc_sysctl_vm_fs_init(void);
/* meminfo of the machine, each line after prefix (sysfs: "Node 0 "). */
void meminfo_node_show(struct textbuf *b);
extern int sysctl_kptr_restrict;
int sysctl_parse_int(const char *buf, long *out);	/* white space around it; -EINVAL */
void sysctl_text_file(const char *path, const char *text);	/* read-only line below /proc/sys */

/* Parts of a device number in the form of st_dev. */
static inline u32 dev_major(u64 dev) { return (u32)(dev >> 8 & 0xfff); }
static inline u32 dev_minor(u64 dev) { return (u32)((dev & 0xff) | (dev >> 12 & 0xfff00)); }

/* --- util.c --------------------------------------------------------------------------------- */

void text_cpulist(struct textbuf *b, u64 mask);		/* "0-3,5" */
void text_cpumask(struct textbuf *b, u64 mask);	/* hexadecimal, as wide as the possible CPUs */
void text_escape_newline(struct textbuf *b, const char *s);	/* file names: \n as \012 */
void text_comm(struct textbuf *b, const struct task *t, bool escape);	/* newline and backslash */

#endif
