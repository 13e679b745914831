/* SPDX-License-Identifier: MIT */
/*
 * Links in /proc/PID: cwd, root, exe and ns/x. They are magic: following one leads to the object
 * itself, whether or not its name still exists; readlink only describes it.
 *
 * There is one namespace of each kind. Its file is made at the first use and kept, so that all
 * processes show the same device and inode number, which is how programs compare namespaces.
 */
#include "internal.h"
#include "../internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <stdio.h>
#include <string.h>

#define NSFS_MAGIC 0x6e736673

/* The target of a link with references, after the permission check. */
static int link_target(struct inode *i, struct path *out)
{
	const struct pnode *n = i->priv;
	struct task *t = pnode_task(i);
	int err = -EACCES;

	if (!t)
		return -ENOENT;
	if (ptrace_may_access(t))
		err = n->e->link(t, n->e, out);
	task_put(t);
	return err;
}

static int link_follow(struct inode *i, struct dentry *d, struct path *out)
{
	return link_target(i, out);
}

int path_text(struct path *p, char *buf, size_t size)
{
	char *page = kmalloc(PATH_MAX), *s;
	int len;

	s = page ? path_name(p, page, PATH_MAX) : ERR_PTR(-ENOMEM);
	path_put(p);
	if (IS_ERR(s))
		len = (int)PTR_ERR(s);
	else
		len = (int)min(strlcpy(buf, s, size), size - 1);
	kfree(page);
	return len;
}

static int link_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	struct path p;
	int err = link_target(i, &p);

	return err ? err : path_text(&p, buf, size);
}

const struct inode_ops pid_link_iops = {
	.readlink = link_readlink,
	.follow = link_follow,
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

/* --- cwd, root, exe ------------------------------------------------------------------------- */

static int fs_path(struct task *t, bool root, struct path *out)
{
	struct fs_context *fs;
	int err = -ENOENT;

	spin_lock(&t->alloc_lock);
	fs = t->fs;
	if (fs) {
		spin_lock(&fs->lock);
		*out = root ? fs->root : fs->cwd;
		path_get(out);
		spin_unlock(&fs->lock);
		err = 0;
	}
	spin_unlock(&t->alloc_lock);
	return err;
}

int pid_link_cwd(struct task *t, const struct pid_entry *e, struct path *out)
{
	return fs_path(t, false, out);
}

int pid_link_root(struct task *t, const struct pid_entry *e, struct path *out)
{
	return fs_path(t, true, out);
}

int pid_link_exe(struct task *t, const struct pid_entry *e, struct path *out)
{
	struct mm *mm = task_get_mm(t);
	int err = -ENOENT;

	if (!mm)
		return err;
	if (mm->exe) {
		*out = mm->exe->path;
		path_get(out);
		err = 0;
	}
	mm_put(mm);
	return err;
}

/* --- namespaces ----------------------------------------------------------------------------- */

struct namespace { const char *name; u64 ino; struct dentry *dentry; };

/* Numbers of the initial namespaces, fixed in Linux (PROC_x_INIT_INO; mnt and net as first
 * allocated). */
static struct namespace namespaces[] = {
	{ "cgroup", 4026531835, NULL }, { "ipc", 4026531839, NULL }, { "mnt", 4026531841, NULL },
	{ "net", 4026531840, NULL }, { "pid", 4026531836, NULL }, { "time", 4026531834, NULL },
	{ "user", 4026531837, NULL }, { "uts", 4026531838, NULL },
};
static struct mount *ns_mount;			/* ns_lock; made once */
static struct mutex ns_lock = MUTEX_INIT(ns_lock);
static const struct file_ops ns_fops = { .ioctl = NULL };

static struct fs_type nsfs_type = { .name = "nsfs", .nodev = true };

/* ns_lock held. */
static struct dentry *ns_dentry(struct namespace *ns)
{
	struct inode *i;
	char name[40];

	if (ns->dentry)
		return ns->dentry;
	if (!ns_mount) {
		ns_mount = kern_mount(&nsfs_type);
		ns_mount->sb->magic = NSFS_MAGIC;
	}
	i = inode_alloc(ns_mount->sb, S_IFREG | 0444);
	if (!i)
		return NULL;
	i->ino = ns->ino;
	i->fops = &ns_fops;
	snprintf(name, sizeof(name), "%s:[%lu]", ns->name, ns->ino);
	ns->dentry = dentry_alloc_pseudo(ns_mount->sb, name, i);
	if (!ns->dentry)
		inode_put(i);
	return ns->dentry;
}

void ns_number(const char *name, u64 *dev, u64 *ino)
{
	struct namespace *ns = namespaces;

	while (strcmp(name, ns->name))
		ns++;
	mutex_lock(&ns_lock);
	ns_dentry(ns);
	*dev = dev_encode(ns_mount->sb->dev);
	*ino = ns->ino;
	mutex_unlock(&ns_lock);
}

int pid_link_ns(struct task *t, const struct pid_entry *e, struct path *out)
{
	struct namespace *ns = namespaces;
	struct dentry *d;

	if (t->exit_state)
		return -ENOENT;		/* a zombie has left its namespaces */
	while (strncmp(e->name, ns->name, strlen(ns->name)))
		ns++;
	mutex_lock(&ns_lock);
	d = ns_dentry(ns);
	if (d) {
		*out = (struct path){ ns_mount, d };
		path_get(out);
	}
	mutex_unlock(&ns_lock);
	return d ? 0 : -ENOMEM;
}

#define NS(nm) { .name = nm, .mode = S_IFLNK | 0777, .where = IN_BOTH, .iops = &pid_link_iops,	\
		 .link = pid_link_ns }
const struct pid_entry pid_ns_entries[] = {
	NS("net"), NS("uts"), NS("ipc"), NS("pid"), NS("pid_for_children"), NS("user"), NS("mnt"),
	NS("cgroup"), NS("time"), NS("time_for_children"), { .name = NULL },
};
