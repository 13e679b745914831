/* SPDX-License-Identifier: MIT */
/*
 * Mounts: where the trees of file systems hang in each other. A mount is (super, root dentry, place);
 * the place is a dentry in another mount. There is one tree of mounts for everybody (no namespaces).
 *
 * References: the tree holds one on each attached mount; paths (working directories, open files,
 * mappings) hold one each; a child holds its parent and its mount point. umount refuses while
 * anything but the tree holds it; a lazy umount detaches and leaves the rest to the last path.
 *
 * mount_mutex serialises changes; mount_lock (spin) guards the list and the tree pointers for readers.
 */
#include "internal.h"

#include <string.h>

#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW	8
#define KEPT_FLAGS (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME | \
	MS_RELATIME | MS_NOSYMFOLLOW)
#define PROPAGATION (MS_UNBINDABLE | MS_PRIVATE | MS_SLAVE | MS_SHARED)

spinlock mount_lock = SPINLOCK_INIT;
struct mount *root_mount;
static LIST_HEAD(mounts);		/* attached ones; mount_lock */
static struct mutex mount_mutex = MUTEX_INIT(mount_mutex);
static struct fs_type *fs_types;	/* mount_mutex after boot */
static u32 next_minor = 1, next_mount_id = 1;	/* atomic */

/* --- types and supers ---------------------------------------------------------------------- */

static struct fs_type *find_type(const char *name)
{
	for (struct fs_type *t = fs_types; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

void register_fs(struct fs_type *t)
{
	struct fs_type **p = &fs_types;

	if (find_type(t->name))
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

static void super_put(struct super *sb)
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
static struct super *super_get(struct fs_type *t, const char *source, const char *data)
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
static struct mount *mount_alloc(struct super *sb, struct dentry *root, const char *source, u32 flags)
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
static void attach(struct mount *m, const struct path *at)
{
	spin_lock(&mount_lock);
	m->parent = mount_get(at->mnt);
	m->point = dentry_get(at->dentry);
	m->point->mounted = m;
	list_add_tail(&m->node, &mounts);
	spin_unlock(&mount_lock);
}

static void detach_locked(struct mount *m)
{
	struct mount *o;

	list_del(&m->node);
	m->point->mounted = NULL;
	list_for_each(o, &mounts, node)
		if (o->point == m->point)
			m->point->mounted = o;
}

static bool has_children_locked(const struct mount *m)
{
	struct mount *o;

	list_for_each(o, &mounts, node)
		if (o->parent == m)
			return true;
	return false;
}

static struct mount *last_descendant_locked(struct mount *m)
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

/* --- mounting ------------------------------------------------------------------------------ */

static int check_target(const struct mount *m, const struct path *at)
{
	if (at->dentry->unhashed && at->dentry->parent != at->dentry)
		return -ENOENT;
	if (S_ISDIR(m->root->inode->mode) != S_ISDIR(at->dentry->inode->mode))
		return -ENOTDIR;
	/* The same thing is on top already. (Each mount of proc is its own file system on Linux.) */
	if (at->mnt->sb == m->sb && at->dentry == at->mnt->root && at->mnt->root == m->root &&
	    m->sb->magic != PROC_MAGIC)
		return -EBUSY;
	return 0;
}

static int graft(struct mount *m, const struct path *at)
{
	int err = check_target(m, at);

	if (err)
		mount_put(m);
	else
		attach(m, at);
	return err;
}

static int mount_new(const struct path *at, const char *source, const char *type, u32 flags,
		     const char *data)
{
	struct fs_type *t = find_type(type);
	struct super *sb;
	struct mount *m;

	if (!t || !t->mount || t->mount == no_mount)
		return -ENODEV;
	sb = super_get(t, source, data);
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	m = mount_alloc(sb, sb->root, source, flags);
	return m ? graft(m, at) : -ENOMEM;
}

/* MS_BIND: the tree at source appears at the target, too. With MS_REC mounts below are not copied
 * unless there are none: said with EINVAL rather than half done. */
static int mount_bind(const struct path *at, const char *source, u32 flags)
{
	struct path from;
	struct mount *m = NULL;
	int err = path_lookup(AT_FDCWD, source, LOOKUP_FOLLOW, &from);

	if (err)
		return err;
	if (from.dentry->sb->pseudo) {
		err = -EINVAL;
	} else {
		ref_get(&from.mnt->sb->refs);
		m = mount_alloc(from.mnt->sb, from.dentry, from.mnt->source, from.mnt->flags);
		err = m ? graft(m, at) : -ENOMEM;
	}
	path_put(&from);
	return err;
}

static int mount_move(const struct path *at, const char *source)
{
	struct path from;
	struct dentry *old_point = NULL;
	struct mount *old_parent = NULL, *m;
	int err = path_lookup(AT_FDCWD, source, LOOKUP_FOLLOW, &from);

	if (err)
		return err;
	m = from.mnt;
	if (from.dentry != m->root || !m->parent) {
		err = -EINVAL;
	} else {
		err = check_target(m, at);
		for (struct mount *p = at->mnt; p && !err; p = p->parent)
			if (p == m)
				err = -ELOOP;
	}
	if (!err) {
		spin_lock(&mount_lock);
		detach_locked(m);
		old_parent = m->parent;
		old_point = m->point;
		spin_unlock(&mount_lock);
		attach(m, at);
	}
	path_put(&from);
	dentry_put(old_point);
	mount_put(old_parent);
	return err;
}

static bool has_writers(const struct super *sb)
{
	struct mount *m;
	bool yes = false;

	spin_lock(&mount_lock);
	list_for_each(m, &mounts, node)
		yes |= m->sb == sb && atomic_read(&m->writers);
	spin_unlock(&mount_lock);
	return yes;
}

static int remount(const struct path *at, u32 flags, const char *data)
{
	if (at->dentry != at->mnt->root)
		return -EINVAL;
	if ((flags & MS_RDONLY) && has_writers(at->mnt->sb))
		return -EBUSY;
	if (!(flags & (MS_NOATIME | MS_STRICTATIME)))
		flags |= MS_RELATIME;
	WRITE_ONCE(at->mnt->flags, flags & KEPT_FLAGS);
	return 0;
}

static int do_mount(const struct path *at, const char *source, const char *type, u32 flags,
		    const char *data)
{
	if (flags & MS_REMOUNT)
		return remount(at, flags, data);
	if (flags & MS_BIND)
		return source && *source ? mount_bind(at, source, flags) : -EINVAL;
	if (flags & PROPAGATION)	/* one mount tree without peers: nothing can propagate */
		return at->dentry == at->mnt->root ? 0 : -EINVAL;
	if (flags & MS_MOVE)
		return source && *source ? mount_move(at, source) : -EINVAL;
	if (!type)
		return -EINVAL;
	if (!(flags & (MS_NOATIME | MS_STRICTATIME)))
		flags |= MS_RELATIME;
	return mount_new(at, source, type, flags, data);
}

int vfs_mount(const char *source, const char *target, const char *type, u32 flags, const char *data)
{
	struct path at;
	int err = path_lookup(AT_FDCWD, target, LOOKUP_FOLLOW, &at);

	if (err)
		return err;
	mutex_lock(&mount_mutex);
	err = do_mount(&at, source, type, flags, data);
	mutex_unlock(&mount_mutex);
	path_put(&at);
	return err;
}

/* --- unmounting ---------------------------------------------------------------------------- */

/* The tree and our own path are the only users? */
static bool is_idle_locked(const struct mount *m)
{
	return ref_read(&m->refs) == 2 && !has_children_locked(m);
}

/* Deepest first. A detached mount has no way up: ".." ends at its root. */
static void detach_all(struct mount *top)
{
	struct mount *m, *parent;
	struct dentry *point;

	do {
		spin_lock(&mount_lock);
		m = last_descendant_locked(top);
		detach_locked(m);
		parent = m->parent;
		point = m->point;
		m->parent = NULL;
		m->point = NULL;
		spin_unlock(&mount_lock);
		mount_put(m);
		dentry_put(point);
		mount_put(parent);
	} while (m != top);
}

static int do_umount(struct mount *m, int flags)
{
	bool idle;

	if (!m->parent || list_empty(&m->node))
		return -EINVAL;
	spin_lock(&mount_lock);
	idle = is_idle_locked(m);
	spin_unlock(&mount_lock);
	if (!idle && !(flags & MNT_DETACH))
		return -EBUSY;
	if (flags & MNT_EXPIRE)
		return -EAGAIN;	/* a first call only marks it; nothing expires here */
	detach_all(m);
	return 0;
}

long sys_umount2(const char __user *name, int flags)
{
	struct path p;
	int err;

	if (flags & ~(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if ((flags & MNT_EXPIRE) && (flags & (MNT_FORCE | MNT_DETACH)))
		return -EINVAL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = user_path(AT_FDCWD, name, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &p);
	if (err)
		return err;
	mutex_lock(&mount_mutex);
	err = p.dentry == p.mnt->root ? do_umount(p.mnt, flags) : -EINVAL;
	mutex_unlock(&mount_mutex);
	path_put(&p);
	return err;
}

/* --- mount(2) ------------------------------------------------------------------------------ */

/* A string argument that may be NULL: a copy of at most a page, NULL, or ERR_PTR. */
static char *copy_arg(const char __user *u)
{
	char *buf;
	long n;

	if (!u)
		return NULL;
	buf = kmalloc(PAGE_SIZE);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(buf, u, PAGE_SIZE);
	if (n >= 0 && n < PAGE_SIZE)
		return buf;
	kfree(buf);
	return ERR_PTR(n < 0 ? n : -EINVAL);
}

static long mount_copied(const char *source, const char *target, const char *type, u32 flags,
			 const char *data)
{
	if ((flags & 0xffff0000) == 0xc0ed0000)	/* the magic number of very old programs */
		flags &= 0xffff;
	return vfs_mount(source, target, type, flags, data);
}

long sys_mount(const char __user *usource, const char __user *utarget, const char __user *utype,
	       u64 flags, const char __user *udata)
{
	char *type = copy_arg(utype), *source = copy_arg(usource), *data = copy_arg(udata);
	char *target = getname(utarget, false);
	long err = 0;

	if (IS_ERR(type))
		err = PTR_ERR(type);
	else if (IS_ERR(source))
		err = PTR_ERR(source);
	else if (IS_ERR(data))
		err = PTR_ERR(data);
	else if (IS_ERR(target))
		err = PTR_ERR(target);
	else if (!capable(CAP_SYS_ADMIN))
		err = -EPERM;
	else
		err = mount_copied(source, target, type, flags, data);
	kfree(IS_ERR(type) ? NULL : type);
	kfree(IS_ERR(source) ? NULL : source);
	kfree(IS_ERR(data) ? NULL : data);
	kfree(IS_ERR(target) ? NULL : target);
	return err;
}

/* --- /proc/mounts and its kin -------------------------------------------------------------- */

static void show_flags(struct textbuf *b, u32 flags)
{
	static const struct { u32 flag; const char *name; } names[] = {
		{ MS_NOSUID, ",nosuid" }, { MS_NODEV, ",nodev" }, { MS_NOEXEC, ",noexec" },
		{ MS_NOATIME, ",noatime" }, { MS_NODIRATIME, ",nodiratime" },
		{ MS_RELATIME, ",relatime" }, { MS_NOSYMFOLLOW, ",nosymfollow" },
	};

	text_puts(b, flags & MS_RDONLY ? "ro" : "rw");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			text_puts(b, names[i].name);
}

static void show_options(struct textbuf *b, const struct super *sb)
{
	if (sb->options[0] && strncmp(sb->options, "rw", 2))
		text_printf(b, ",%s", sb->options);
}

static void show_mount(struct textbuf *b, struct mount *m, const char *where, enum mounts_format format)
{
	if (format == MOUNTS_MOUNTSTATS) {
		text_printf(b, "device %s mounted on %s with fstype %s\n", m->source, where,
			    m->sb->type->name);
		return;
	}
	if (format == MOUNTS_MOUNTINFO)
		text_printf(b, "%u %u 0:%u / ", m->id, m->parent ? m->parent->id : m->id,
			    (u32)(m->sb->dev & 0xff));
	else {
		text_escape(b, m->source, " \t\n\\#");
		text_puts(b, " ");
	}
	text_escape(b, where, " \t\n\\");
	if (format == MOUNTS_MOUNTINFO) {
		text_puts(b, " ");
		show_flags(b, m->flags);
		text_printf(b, " - %s %s rw", m->sb->type->name, m->source);
		show_options(b, m->sb);
		text_puts(b, "\n");
		return;
	}
	text_printf(b, " %s ", m->parent ? m->sb->type->name : "rootfs");
	show_flags(b, m->flags);
	show_options(b, m->sb);
	text_puts(b, " 0 0\n");
}

/* The next attached mount after id, with a reference. */
static struct mount *next_mount(u32 id)
{
	struct mount *m, *best = NULL;

	spin_lock(&mount_lock);
	list_for_each(m, &mounts, node)
		if (m->id > id && (!best || m->id < best->id))
			best = m;
	if (best)
		mount_get(best);
	spin_unlock(&mount_lock);
	return best;
}

void mounts_show(struct textbuf *b, enum mounts_format format)
{
	char *buf = kmalloc(PATH_MAX);
	struct mount *m;
	u32 id = 0;

	if (!buf) {
		b->failed = true;
		return;
	}
	while ((m = next_mount(id))) {
		struct path p = { m, m->root };
		char *where = path_name(&p, buf, PATH_MAX);

		if (!IS_ERR(where))
			show_mount(b, m, where, format);
		id = m->id;
		mount_put(m);
	}
	kfree(buf);
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
