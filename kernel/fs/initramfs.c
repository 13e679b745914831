/* SPDX-License-Identifier: MIT */
/*
 * The initramfs: one or more cpio archives ("newc", man 5 cpio), each plain, gzip or zstd, one
 * after the other in the memory that the boot loader filled. What they contain becomes the root
 * file system.
 *
 * The reader is fed pieces of any size (the whole archive when it is not compressed) and keeps its
 * place: a header of 110 hexadecimal characters, a name, the contents, each padded to 4 bytes. File
 * contents are copied once, into page-cache pages that are not zeroed first. What has been read of a plain archive is
 * given back page by page, so that a small machine never holds the programs twice.
 */
#include "internal.h"

#include "initramfs.h"
#include <perch/boot.h>
#include <stdio.h>
#include <string.h>

#define HEADER_SIZE	110
#define MAX_LINKS_HASH	64
#define MAX_WHY		80
#define PIECE		(256 * 1024)	/* read of a plain archive before its pages are given back */

struct entry { u32 ino, mode, uid, gid, nlink, mtime, size, dev_major, dev_minor, rdev_major,
	       rdev_minor, name_len; };

enum state { ST_HEADER, ST_NAME, ST_DATA, ST_SKIP, ST_BETWEEN };

struct link { struct link *next; u32 ino, major, minor; char *name; };

struct reader {
	enum state state;
	struct entry e;
	u8 header[HEADER_SIZE];
	char name[PATH_MAX + 4];
	char target[PATH_MAX];	/* of a symbolic link */
	u32 have;		/* bytes of header, name or target so far */
	u64 pos;		/* offset in the archive, for padding */
	u64 left;		/* of the contents, or to skip */
	struct inode *inode;	/* the file that contents go to, or NULL */
	struct file *file;
	u64 off;
	struct link *links[MAX_LINKS_HASH];
	const u8 *kept;		/* the image from here on has not been given back */
	u32 entries;
	u64 bytes;
	char why[MAX_WHY];	/* the first thing that went wrong */
};

static int complain(struct reader *r, const char *what, int err)
{
	if (!r->why[0])
		snprintf(r->why, sizeof(r->why), "%s %.40s: error %d", what, r->name, -err);
	return err;
}

/* --- making things --------------------------------------------------------------------------- */

static void set_attributes(struct inode *i, const struct entry *e)
{
	i->uid = e->uid;
	i->gid = e->gid;
	i->mode = (i->mode & S_IFMT) | (e->mode & 07777);
	i->atime = i->mtime = i->ctime = (s64)e->mtime * NSEC_PER_SEC;
}

static int set_by_name(struct reader *r)
{
	struct path p;
	int err = path_lookup(AT_FDCWD, r->name, 0, &p);

	if (err)
		return err;
	set_attributes(p.dentry->inode, &r->e);
	path_put(&p);
	return 0;
}

static struct link **link_slot(struct reader *r)
{
	struct link **l = &r->links[(r->e.ino ^ r->e.dev_minor) % MAX_LINKS_HASH];

	while (*l && ((*l)->ino != r->e.ino || (*l)->major != r->e.dev_major ||
		      (*l)->minor != r->e.dev_minor))
		l = &(*l)->next;
	return l;
}

/* Further names of a file that came before become links. 1: it was linked, -errno, 0: it is new. */
static int try_link(struct reader *r)
{
	struct link **slot, *l;
	int err;

	if (r->e.nlink < 2)
		return 0;
	slot = link_slot(r);
	if (*slot) {
		err = vfs_link_paths(AT_FDCWD, (*slot)->name, AT_FDCWD, r->name, 0);
		return err ? err : 1;
	}
	l = kzalloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	*l = (struct link){ NULL, r->e.ino, r->e.dev_major, r->e.dev_minor, kstrdup(r->name) };
	if (!l->name) {
		kfree(l);
		return -ENOMEM;
	}
	*slot = l;
	return 0;
}

static void drop_links(struct reader *r)
{
	for (u32 i = 0; i < MAX_LINKS_HASH; i++) {
		while (r->links[i]) {
			struct link *l = r->links[i];

			r->links[i] = l->next;
			kfree(l->name);
			kfree(l);
		}
	}
}

static int begin_regular(struct reader *r)
{
	int linked = try_link(r);
	u32 flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (linked ? 0 : O_TRUNC);

	if (linked < 0)
		return linked;
	if (linked && !r->e.size)
		return 0;	/* the contents came, or will come, with another name */
	r->file = file_open(AT_FDCWD, r->name, flags, r->e.mode & 07777);
	if (r->file == ERR_PTR(-ELOOP)) {
		/* An earlier archive has a symbolic link here: replaced, not followed. */
		vfs_unlink(AT_FDCWD, r->name);
		r->file = file_open(AT_FDCWD, r->name, flags, r->e.mode & 07777);
	}
	if (IS_ERR(r->file)) {
		int err = PTR_ERR(r->file);

		r->file = NULL;
		return err;
	}
	r->inode = r->file->inode;
	r->off = 0;
	return 0;
}

static int make_other(struct reader *r)
{
	const struct entry *e = &r->e;

	if (S_ISDIR(e->mode))
		return vfs_mkdir(AT_FDCWD, r->name, e->mode);
	if (S_ISLNK(e->mode))
		return vfs_symlink(r->target, AT_FDCWD, r->name);
	return vfs_mknod(AT_FDCWD, r->name, e->mode, mkdev(e->rdev_major, e->rdev_minor));
}

/* A later archive replaces what an earlier one left (directories just get new attributes). */
static int create_other(struct reader *r)
{
	int err = make_other(r);

	if (err == -EEXIST && !S_ISDIR(r->e.mode)) {
		vfs_unlink(AT_FDCWD, r->name);
		err = make_other(r);
	}
	if (err && err != -EEXIST)
		return err;
	return set_by_name(r);
}

/* --- file contents --------------------------------------------------------------------------- */

static int write_page(struct inode *i, u64 pos, const u8 *data, size_t n)
{
	u64 off = pos & ~PAGE_MASK;
	struct page *p;
	int err;

	p = pagecache_get(i, pos >> PAGE_SHIFT, true, false, &err);
	if (!p)
		return err;
	memcpy((char *)page_address(p) + off, data, n);
	if (!off && n < PAGE_SIZE)	/* the page is fresh: nothing has zeroed it */
		memset((char *)page_address(p) + n, 0, PAGE_SIZE - n);
	page_put(p);
	return 0;
}

static int write_file(struct reader *r, const u8 *data, size_t n)
{
	while (n) {
		size_t chunk = min_t(size_t, n, PAGE_SIZE - (r->off & ~PAGE_MASK));
		int err = write_page(r->inode, r->off, data, chunk);

		if (err)
			return err;
		data += chunk;
		n -= chunk;
		r->off += chunk;
		r->bytes += chunk;
	}
	if (r->off > r->inode->size)
		r->inode->size = r->off;
	return 0;
}

static void end_regular(struct reader *r)
{
	set_attributes(r->inode, &r->e);
	file_put(r->file);
	r->file = NULL;
	r->inode = NULL;
}

/* --- the state machine: each step eats some bytes -------------------------------------------- */

static bool parse_hex(const u8 *s, u32 *out)
{
	u32 v = 0;

	for (int i = 0; i < 8; i++) {
		u8 c = s[i] | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else
			return false;
	}
	*out = v;
	return true;
}

static bool parse_header(struct reader *r)
{
	u32 *const field[] = { &r->e.ino, &r->e.mode, &r->e.uid, &r->e.gid, &r->e.nlink,
			      &r->e.mtime,
		&r->e.size, &r->e.dev_major, &r->e.dev_minor, &r->e.rdev_major, &r->e.rdev_minor,
		&r->e.name_len };

	if (memcmp(r->header, "07070", 5) || (r->header[5] != '1' && r->header[5] != '2'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(field); i++)
		if (!parse_hex(r->header + 6 + 8 * i, field[i]))
			return false;
	return r->e.name_len && r->e.name_len <= PATH_MAX;
}

static u32 padding(const struct reader *r)
{
	return -r->pos & 3;
}

static void skip(struct reader *r, u64 n)
{
	r->state = n ? ST_SKIP : ST_HEADER;
	r->left = n;
	r->have = 0;
}

static int after_data(struct reader *r)
{
	int err = 0;

	if (r->file)
		end_regular(r);
	else if (S_ISLNK(r->e.mode) && r->name[0])
		err = create_other(r);
	skip(r, padding(r));
	return err ? complain(r, "cannot make", err) : 0;
}

static int after_name(struct reader *r)
{
	int err = 0;

	r->entries++;
	if (!strcmp(r->name, "TRAILER!!!")) {
		drop_links(r);
		r->entries--;
		r->state = ST_BETWEEN;
		return 0;
	}
	if (S_ISREG(r->e.mode))
		err = begin_regular(r);
	else if (!S_ISLNK(r->e.mode))
		err = create_other(r);
	if (err)
		complain(r, "cannot make", err);
	r->state = ST_DATA;
	r->left = r->e.size;
	r->have = 0;
	if (!r->left)
		return after_data(r);
	return err == -ENOMEM || err == -ENOSPC ? err : 0;
}

static size_t collect(struct reader *r, void *to, size_t want, const u8 *data, size_t n)
{
	size_t take = min_t(size_t, n, want - r->have);

	memcpy((u8 *)to + r->have, data, take);
	r->have += take;
	return take;
}

static int eat_data(struct reader *r, const u8 *data, size_t n, size_t *eaten)
{
	size_t take = min_t(u64, n, r->left);
	int err = 0;

	if (r->file)
		err = write_file(r, data, take);
	else if (S_ISLNK(r->e.mode) && r->e.size < PATH_MAX)
		collect(r, r->target, r->e.size, data, take);
	*eaten = take;
	r->left -= take;
	return err ? complain(r, "cannot write", err) : 0;
}

/* Between archives: zeros, or a compressed one, which the caller must see. */
static bool at_boundary(const struct reader *r)
{
	return r->state == ST_BETWEEN || (r->state == ST_HEADER && !r->have);
}

static int step(struct reader *r, const u8 *data, size_t n, size_t *eaten)
{
	int err = 0;

	switch (r->state) {
	case ST_BETWEEN:
		for (*eaten = 0; *eaten < n && !data[*eaten]; ++*eaten)
			;
		r->pos += *eaten;
		if (*eaten < n)
			skip(r, 0);
		return 0;
	case ST_HEADER:
		*eaten = collect(r, r->header, HEADER_SIZE, data, n);
		r->pos += *eaten;
		if (r->have < HEADER_SIZE)
			return 0;
		if (!parse_header(r))
			return complain(r, "no cpio header after", -EINVAL);
		r->state = ST_NAME;
		r->have = 0;
		return 0;
	case ST_NAME: {
		/* Header and name are padded together. */
		u32 padded = ALIGN_UP(HEADER_SIZE + r->e.name_len, 4U) - HEADER_SIZE;

		*eaten = collect(r, r->name, padded, data, n);
		r->pos += *eaten;
		if (r->have < padded)
			return 0;
		r->name[r->e.name_len - 1] = '\0';
		return after_name(r);
	}
	case ST_DATA:
		err = eat_data(r, data, n, eaten);
		r->pos += *eaten;
		if (err || r->left)
			return err;
		if (S_ISLNK(r->e.mode))
			r->target[min_t(u32, r->e.size, PATH_MAX - 1)] = '\0';
		return after_data(r);
	case ST_SKIP:
		*eaten = min_t(u64, n, r->left);
		r->pos += *eaten;
		r->left -= *eaten;
		if (!r->left)
			skip(r, 0);
		return 0;
	}
	return -EINVAL;
}

static int feed(void *arg, const u8 *data, size_t n)
{
	struct reader *r = arg;

	while (n) {
		size_t eaten = 0;
		int err = step(r, data, n, &eaten);

		if (err)
			return err;
		data += eaten;
		n -= eaten;
	}
	return 0;
}

/* --- the whole image ------------------------------------------------------------------------- */

/* Everything before upto has been read: its pages may hold files now. */
static void give_back(struct reader *r, const u8 *upto)
{
	const u8 *end = (const u8 *)((uintptr_t)upto & ~(PAGE_SIZE - 1));

	if (end <= r->kept)
		return;
	mem_free_range(virt_to_phys(r->kept), (u64)(end - r->kept));
	r->kept = end;
}

/* A plain archive ends where something that is neither zeros nor a header follows its trailer. */
static int feed_plain(struct reader *r, const u8 *data, size_t n, size_t *used)
{
	size_t done = 0;
	int err = 0;

	while (done < n && !err) {
		size_t eaten = 0;

		if (at_boundary(r) && done && data[done] && data[done] != '0')
			break;
		err = step(r, data + done, min_t(size_t, n - done, PIECE), &eaten);
		done += eaten;
		give_back(r, data + done);
	}
	*used = done;
	return err;
}

static int unpack_segment(struct reader *r, const u8 *p, size_t n, size_t *used)
{
	static const u8 zstd_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	r->pos = 0;
	r->have = 0;
	r->state = ST_BETWEEN;
	if (p[0] == '0' || !p[0])
		return feed_plain(r, p, n, used);
	if (n > 4 && p[0] == 0x1f && p[1] == 0x8b)
		return gunzip_stream(p, n, used, feed, r);
	if (n > 4 && !memcmp(p, zstd_magic, 4))
		return unzstd_stream(p, n, used, feed, r);
	snprintf(r->why, sizeof(r->why), "unknown format (%02x %02x)", p[0], p[1]);
	return -EINVAL;
}

static void unpack(struct reader *r, const u8 *p, size_t n)
{
	int err = 0;

	while (n && !err) {
		size_t used = 0;

		err = unpack_segment(r, p, n, &used);
		if (r->file)
			end_regular(r);		/* the archive was cut short */
		drop_links(r);
		ASSERT(used <= n);
		p += used;
		n -= used;
		give_back(r, p);
	}
	if (err && !r->why[0])
		snprintf(r->why, sizeof(r->why), "damaged archive: error %d", -err);
}

/* What Linux's built-in archive has: enough for a console before anything is mounted. */
static void make_defaults(void)
{
	vfs_mkdir(AT_FDCWD, "/dev", 0755);
	vfs_mknod(AT_FDCWD, "/dev/console", S_IFCHR | 0600, mkdev(5, 1));
	vfs_mkdir(AT_FDCWD, "/root", 0700);
}

void initramfs_unpack(paddr base, u64 size)
{
	struct reader *r = kzalloc(sizeof(*r));
	ktime start = ktime_now();
	u32 umask = current->fs->umask;

	make_defaults();
	if (!r) {
		pr_err("initramfs: out of memory\n");
		return;
	}
	current->fs->umask = 0;
	r->kept = phys_to_virt(base);
	/* Its limit is half of the memory, of which this is a part. */
	current->fs->root.mnt->sb->max_pages += size / PAGE_SIZE / 2;
	unpack(r, r->kept, size);
	current->fs->umask = umask;
	if (r->why[0])
		pr_err("initramfs: %s\n", r->why);
	pr_info("initramfs: %u entries, %lu KiB in %ld ms\n", r->entries, r->bytes >> 10,
		(long)((ktime_now() - start) / NSEC_PER_MSEC));
	give_back(r, (const u8 *)phys_to_virt(base) + size);
	kfree(r);
}
