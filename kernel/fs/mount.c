/* SPDX-License-Identifier: MIT */
/*
 * Mounts: where the trees of file systems hang in each other. A mount is (super, root dentry,
 * place); the place is a dentry in another mount. There is one tree of mounts for everybody (no
 * namespaces).
 *
 * References: the tree holds one on each attached mount; paths (working directories, open files,
 * mappings) hold one each; a child holds its parent and its mount point. umount refuses while
 * anything but the tree holds it; a lazy umount detaches and leaves the rest to the last path.
 *
 * mount_mutex serialises changes; mount_lock (spin) guards the list and the tree pointers for
 * readers.
 */
#include "mount.h"

#include <string.h>

spinlock mount_lock = SPINLOCK_INIT;
struct mount *root_mount;
struct list mounts = LIST_INIT(mounts);
struct mutex mount_mutex = MUTEX_INIT(mount_mutex);
static struct fs_type *fs_types;	/* mount_mutex after boot */
static u32 next_minor = 1, next_mount_id = 1;	/* atomic */

/* --- types and supers ---------------------------------------------------------------------- */

struct fs_type *fs_type_find(const char *name)
{
	for (struct fs_type *t = fs_types; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

void register_fs(struct fs_type *t)
{
	struct fs_type **p = &fs_types;

	if (fs_type_find(t->name))
		return;
	while (*p)
		p = &(*p)->next;
	t->next = NULL;
	*p = t;
}

void fs_types_show(struct textbuf *b)
{
	for (struct fs_type *t = fs_types; t; t = t->next)
		text_printf(b, "%s\t%s\n", t->nodev ? "nodev" : "", t->name);
}

struct super *super_alloc(struct fs_type *t)
{
	struct super *sb = kzalloc(sizeof(*sb));

	if (!sb)
		return NULL;
	ref_init(&sb->refs, 1);
	sb->type = t;
	sb->dev = dev_encode(mkdev(0, __atomic_fetch_add(&next_minor, 1, __ATOMIC_RELAXED)));
	sb->next_ino = 1;
	return sb;
}

void super_put(struct super *sb)
{
	if (!ref_put(&sb->refs))
		return;
	if (sb->type->kill)
		sb->type->kill(sb);
	else
		dentry_put(sb->root);
	kfree(sb);
}

/* A super with a reference, made or (single types) shared. mount_mutex held after boot. */
struct super *super_get(struct fs_type *t, const char *source, const char *data)
{
	struct super *sb = t->the_super;
	int err;

	if (t->single && sb) {
		ref_get(&sb->refs);
		return sb;
	}
	sb = super_alloc(t);
	if (!sb)
		return ERR_PTR(-ENOMEM);
	strlcpy(sb->source, source ? source : t->name, sizeof(sb->source));
	err = t->mount(sb, source, data);
	if (err) {
		kfree(sb);
		return ERR_PTR(err);
	}
	if (t->single) {
		ref_get(&sb->refs);	/* kept for the next mount */
		t->the_super = sb;
	}
	return sb;
}

/* --- mounts -------------------------------------------------------------------------------- */

/* Takes over sb, on failure too. */
struct mount *mount_alloc(struct super *sb, struct dentry *root, const char *source, u32 flags)
{
	struct mount *m = kzalloc(sizeof(*m));
	char *s = kstrdup(source && *source ? source : "none");

	if (!m || !s) {
		kfree(m);
		kfree(s);
		super_put(sb);
		return NULL;
	}
	ref_init(&m->refs, 1);
	m->sb = sb;
	m->root = dentry_get(root);
	m->source = s;
	m->flags = flags & KEPT_FLAGS;
	m->id = __atomic_fetch_add(&next_mount_id, 1, __ATOMIC_RELAXED);
	list_init(&m->node);
	return m;
}

struct mount *mount_get(struct mount *m)
{
	ref_get(&m->refs);
	return m;
}

void mount_put(struct mount *m)
{
	while (m && ref_put(&m->refs)) {
		struct mount *parent = m->parent;
		struct dentry *point = m->point;

		ASSERT(list_empty(&m->node));
		dentry_put(m->root);
		super_put(m->sb);
		kfree(m->source);
		kfree(m);
		dentry_put(point);
		m = parent;
	}
}

static int no_mount(struct super *sb, const char *source, const char *data)
{
	struct inode *i = inode_alloc(sb, S_IFDIR | 0755);

	sb->root = i ? dentry_root(sb, i) : NULL;
	sb->pseudo = true;
	return sb->root ? 0 : -ENOMEM;
}

struct mount *kern_mount(struct fs_type *t)
{
	struct super *sb;
	struct mount *m;

	if (!t->mount)
		t->mount = no_mount;
	sb = super_get(t, t->name, NULL);
	if (IS_ERR(sb))
		panic("cannot mount %s: error %ld", t->name, -PTR_ERR(sb));
	m = mount_alloc(sb, sb->root, t->name, 0);
	if (!m)
		panic("out of memory mounting %s", t->name);
	return m;
}

/* --- the tree of mounts -------------------------------------------------------------------- */

static struct mount *covering_locked(const struct mount *parent, const struct dentry *point)
{
	struct mount *m;

	list_for_each(m, &mounts, node)
		if (m->parent == parent && m->point == point)
			return m;
	return NULL;
}

struct mount *mount_covering(struct mount *parent, struct dentry *point)
{
	struct mount *m;

	spin_lock(&mount_lock);
	m = covering_locked(parent, point);
	if (m)
		mount_get(m);
	spin_unlock(&mount_lock);
	return m;
}

bool mount_up(struct path *p)
{
	struct path up = { NULL, NULL };

	spin_lock(&mount_lock);
	if (p->mnt->parent) {
		up.mnt = mount_get(p->mnt->parent);
		up.dentry = dentry_get(p->mnt->point);
	}
	spin_unlock(&mount_lock);
	if (!up.mnt)
		return false;
	path_put(p);
	*p = up;
	return true;
}

/* The tree takes over the caller's reference to m. */
void mount_attach(struct mount *m, const struct path *at)
{
	spin_lock(&mount_lock);
	m->parent = mount_get(at->mnt);
	m->point = dentry_get(at->dentry);
	m->point->mounted = m;
	list_add_tail(&m->node, &mounts);
	spin_unlock(&mount_lock);
}

void mount_detach_locked(struct mount *m)
{
	struct mount *o;

	list_del(&m->node);
	m->point->mounted = NULL;
	list_for_each(o, &mounts, node)
		if (o->point == m->point)
			m->point->mounted = o;
}

bool mount_has_children_locked(const struct mount *m)
{
	struct mount *o;

	list_for_each(o, &mounts, node)
		if (o->parent == m)
			return true;
	return false;
}

struct mount *mount_last_locked(struct mount *m)
{
	struct mount *o;
	bool deeper = true;

	while (deeper) {
		deeper = false;
		list_for_each(o, &mounts, node) {
			if (o->parent == m) {
				m = o;
				deeper = true;
				break;
			}
		}
	}
	return m;
}

/* --- start --------------------------------------------------------------------------------- */

static void mount_root(void)
{
	root_mount = kern_mount(&tmpfs_type);
	kfree(root_mount->source);
	root_mount->source = kstrdup("rootfs");
	if (!root_mount->source)
		panic("out of memory at boot");
	root_mount->sb->root->inode->mode = S_IFDIR | 0755;
	list_add_tail(&root_mount->node, &mounts);
}

void vfs_init(void)
{
	register_fs(&tmpfs_type);
	register_fs(&devtmpfs_type);
	register_fs(&v9fs_type);
	mount_root();
	anon_init();
	pipe_init();
	sock_init();
	shmem_init();
	devtmpfs_init();
	if (!current->fs)
		current->fs = fs_fork(NULL);
	if (!current->files)
		current->files = files_create();
	if (!current->fs || !current->files)
		panic("out of memory at boot");
}
