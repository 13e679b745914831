/* SPDX-License-Identifier: MIT */
/*
 * The 9P calls: each builds a request, sends it and takes the answer apart. A request is one chain
 * of descriptors, so the answer comes back to the task that sleeps in virtio_exchange and nobody
 * has to match tags; they are unique among the requests under way all the same, as the protocol
 * asks.
 */
#include "p9.h"

#include <string.h>

#define SMALL	64	/* requests and answers of a few numbers */
#define NAME	(NAME_MAX + 2)

/* --- numbers ------------------------------------------------------------------------------- */

static bool take_tag(struct p9 *c, u16 *tag)
{
	u32 free;

	spin_lock(&c->lock);
	free = ~c->tags & 0xffff;
	if (free) {
		*tag = __builtin_ctz(free);
		c->tags |= BIT(*tag);
	}
	spin_unlock(&c->lock);
	return free;
}

static void drop_tag(struct p9 *c, u16 tag)
{
	spin_lock(&c->lock);
	c->tags &= ~BIT(tag);
	spin_unlock(&c->lock);
	wake_up_one(&c->tag_free);
}

/* Twice as many words. False: out of memory. */
static bool grow_fids_locked(struct p9 *c)
{
	u32 n = c->nr_fids ? 2 * c->nr_fids : 4;
	u64 *map = krealloc(c->fids, n * sizeof(*map));

	if (!map)
		return false;
	memset(map + c->nr_fids, 0, (n - c->nr_fids) * sizeof(*map));
	c->fids = map;
	c->nr_fids = n;
	return true;
}

int p9_fid_alloc(struct p9 *c, u32 *fid)
{
	int err = 0;
	u32 w = 0;

	spin_lock(&c->lock);
	while (w < c->nr_fids && c->fids[w] == UINT64_MAX)
		w++;
	if (w == c->nr_fids && !grow_fids_locked(c)) {
		err = -ENOMEM;
	} else {
		u32 bit = __builtin_ctzll(~c->fids[w]);

		c->fids[w] |= BIT(bit);
		*fid = w * 64 + bit;
	}
	spin_unlock(&c->lock);
	return err;
}

void p9_fid_free(struct p9 *c, u32 fid)
{
	spin_lock(&c->lock);
	ASSERT(c->fids[fid / 64] & BIT(fid % 64));
	c->fids[fid / 64] &= ~BIT(fid % 64);
	spin_unlock(&c->lock);
}

/* --- one request --------------------------------------------------------------------------- */

/* The answer is in rx; n bytes of it and its data were written. */
static int check_answer(struct p9_msg *m, u32 n)
{
	u32 size;
	u8 type;
	u16 tag;

	m->rx_len = min(n, m->rx_room);
	size = get_u32(m);
	type = get_u8(m);
	tag = get_u16(m);
	if (m->bad || size > n || tag != m->tag)
		return -EPROTO;
	if (type == P9_TLERROR + 1) {
		u32 e = get_u32(m);

		return e && e < 4096 && !m->bad ? -(int)e : -EPROTO;
	}
	return type == m->type + 1 ? 0 : -EPROTO;
}

static u32 add_pages(struct virtio_seg *segs, struct page **data, u32 len)
{
	u32 n = 0;

	for (; len; n++) {
		segs[n].p = page_address(data[n]);
		segs[n].len = min_t(u32, len, PAGE_SIZE);
		len -= segs[n].len;
	}
	return n;
}

int p9_call_data(struct p9 *c, struct p9_msg *m, struct page **data, u32 len, bool in)
{
	struct virtio_seg segs[P9_IO_PAGES + 2];
	u32 total = m->tx_len, out = 1, n = 0;
	bool tagged = m->type != P9_TVERSION;

	ASSERT(len <= P9_IO_MAX);
	if (m->bad)
		return -ENAMETOOLONG;
	m->tag = P9_NOTAG;
	if (tagged)
		wait_event(&c->tag_free, take_tag(c, &m->tag));
	segs[0] = (struct virtio_seg){ m->buf, m->tx_len };
	if (!in) {
		out += add_pages(segs + 1, data, len);
		total += len;
	}
	memcpy(m->buf, &total, 4);
	memcpy(m->buf + 4, &m->type, 1);
	memcpy(m->buf + 5, &m->tag, 2);
	segs[out] = (struct virtio_seg){ m->buf + m->tx_room, m->rx_room };
	if (in)
		n = add_pages(segs + out + 1, data, len);
	n = virtio_exchange(c->dev, segs, out, 1 + n);
	if (tagged)
		drop_tag(c, m->tag);
	return check_answer(m, n);
}

int p9_call(struct p9 *c, struct p9_msg *m)
{
	return p9_call_data(c, m, NULL, 0, false);
}

/* For requests of which only success is of interest. err: of msg_begin. */
static int call_and_end(struct p9 *c, struct p9_msg *m, int err)
{
	if (!err)
		err = p9_call(c, m);
	msg_end(m);
	return err;
}

static void put_name(struct p9_msg *m, const struct dentry *d)
{
	put_str(m, d->name, d->name_len);
}

static void get_qid(struct p9_msg *m, struct p9_qid *q)
{
	q->type = get_u8(m);
	q->version = get_u32(m);
	q->path = get_u64(m);
}

/* --- the connection ------------------------------------------------------------------------ */

static const char dialect[] = "9P2000.L";

static int check_version(struct p9 *c, struct p9_msg *m, u32 asked)
{
	u32 msize = get_u32(m), len = get_u16(m);
	const char *s = get_bytes(m, len);

	if (!s || len != sizeof(dialect) - 1 || memcmp(s, dialect, len))
		return -EPROTONOSUPPORT;
	if (msize > asked || msize < P9_WRITE_HEADER + 4096)
		return -EPROTO;
	c->max_io = min_t(u32, ALIGN_DOWN(msize - P9_WRITE_HEADER, PAGE_SIZE), P9_IO_MAX);
	return 0;
}

int p9_version(struct p9 *c, u32 msize)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TVERSION, SMALL, SMALL);

	if (!err) {
		put_u32(&m, msize);
		put_str(&m, dialect, sizeof(dialect) - 1);
		err = p9_call(c, &m);
	}
	if (!err)
		err = check_version(c, &m, msize);
	msg_end(&m);
	return err;
}

int p9_attach(struct p9 *c, u32 fid, u32 uid, const char *aname)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TATTACH, SMALL + PATH_MAX, SMALL);

	if (!err) {
		put_u32(&m, fid);
		put_u32(&m, P9_NOFID);		/* no authentication */
		put_str(&m, "", 0);
		put_str(&m, aname, strlen(aname));
		put_u32(&m, uid);
	}
	return call_and_end(c, &m, err);
}

/* --- fids ---------------------------------------------------------------------------------- */

int p9_walk(struct p9 *c, u32 fid, u32 newfid, const struct dentry *name)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TWALK, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, fid);
		put_u32(&m, newfid);
		put_u16(&m, name ? 1 : 0);
		if (name)
			put_name(&m, name);
	}
	return call_and_end(c, &m, err);
}

/* The server forgets the fid whatever it answers. Without memory for the request the number stays
 * taken on both sides. */
void p9_clunk(struct p9 *c, u32 fid)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TCLUNK, SMALL, SMALL);

	if (!err) {
		put_u32(&m, fid);
		p9_call(c, &m);
		p9_fid_free(c, fid);
	}
	msg_end(&m);
}

int p9_open(struct p9 *c, u32 fid, u32 flags)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TLOPEN, SMALL, SMALL);

	if (!err) {
		put_u32(&m, fid);
		put_u32(&m, flags);
	}
	return call_and_end(c, &m, err);
}

int p9_fsync(struct p9 *c, u32 fid)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TFSYNC, SMALL, SMALL);

	if (!err) {
		put_u32(&m, fid);
		put_u32(&m, 0);		/* times as well as data */
	}
	return call_and_end(c, &m, err);
}

/* --- attributes ---------------------------------------------------------------------------- */

#define GETATTR_BASIC	0x7ffULL
#define RGETATTR_SIZE	160
/* Bits of Tsetattr; the first six are ATTR_x. */
#define SETATTR_ATIME_SET 128
#define SETATTR_MTIME_SET 256

static s64 get_time(struct p9_msg *m)
{
	u64 sec = get_u64(m), nsec = get_u64(m);

	return sec * NSEC_PER_SEC + nsec;
}

static void get_attr(struct p9_msg *m, struct p9_attr *a)
{
	u64 dev;

	get_u64(m);			/* which of them are valid */
	get_qid(m, &a->qid);
	a->mode = get_u32(m);
	a->uid = get_u32(m);
	a->gid = get_u32(m);
	a->nlink = get_u64(m);
	dev = get_u64(m);		/* glibc's form on the host */
	a->rdev = mkdev((dev >> 8 & 0xfff) | (dev >> 32 & ~0xfffULL),
			(dev & 0xff) | (dev >> 12 & 0xffffff00));
	a->size = get_u64(m);
	a->blksize = get_u64(m);
	a->blocks = get_u64(m);
	a->atime = get_time(m);
	a->mtime = get_time(m);
	a->ctime = get_time(m);
}

int p9_getattr(struct p9 *c, u32 fid, struct p9_attr *a)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TGETATTR, SMALL, RGETATTR_SIZE);

	if (!err) {
		put_u32(&m, fid);
		put_u64(&m, GETATTR_BASIC);
		err = p9_call(c, &m);
	}
	if (!err) {
		get_attr(&m, a);
		err = m.bad ? -EPROTO : 0;
	}
	msg_end(&m);
	return err;
}

int p9_setattr(struct p9 *c, u32 fid, const struct iattr *a)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TSETATTR, 2 * SMALL, SMALL);
	u32 valid = a->valid;

	_Static_assert(ATTR_MODE == 1 && ATTR_SIZE == 8 && ATTR_MTIME == 32, "the protocol's bits");
	if (valid & ATTR_ATIME)
		valid |= SETATTR_ATIME_SET;
	if (valid & ATTR_MTIME)
		valid |= SETATTR_MTIME_SET;
	if (!err) {
		put_u32(&m, fid);
		put_u32(&m, valid);
		put_u32(&m, a->mode);
		put_u32(&m, a->uid);
		put_u32(&m, a->gid);
		put_u64(&m, a->size);
		put_u64(&m, a->atime / NSEC_PER_SEC);
		put_u64(&m, a->atime % NSEC_PER_SEC);
		put_u64(&m, a->mtime / NSEC_PER_SEC);
		put_u64(&m, a->mtime % NSEC_PER_SEC);
	}
	return call_and_end(c, &m, err);
}

/* --- names --------------------------------------------------------------------------------- */

int p9_create(struct p9 *c, u32 fid, const struct dentry *name, u32 flags, u32 mode, u32 gid)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TLCREATE, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, fid);
		put_name(&m, name);
		put_u32(&m, flags);
		put_u32(&m, mode);
		put_u32(&m, gid);
	}
	return call_and_end(c, &m, err);
}

int p9_mkdir(struct p9 *c, u32 dir, const struct dentry *name, u32 mode, u32 gid)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TMKDIR, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, dir);
		put_name(&m, name);
		put_u32(&m, mode);
		put_u32(&m, gid);
	}
	return call_and_end(c, &m, err);
}

int p9_mknod(struct p9 *c, u32 dir, const struct dentry *name, u32 mode, u64 rdev, u32 gid)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TMKNOD, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, dir);
		put_name(&m, name);
		put_u32(&m, mode);
		put_u32(&m, rdev >> 20);
		put_u32(&m, rdev & 0xfffff);
		put_u32(&m, gid);
	}
	return call_and_end(c, &m, err);
}

int p9_symlink(struct p9 *c, u32 dir, const struct dentry *name, const char *target, u32 gid)
{
	struct p9_msg m;
	u32 len = strlen(target);
	int err = msg_begin(&m, P9_TSYMLINK, SMALL + NAME + len, SMALL);

	if (!err) {
		put_u32(&m, dir);
		put_name(&m, name);
		put_str(&m, target, len);
		put_u32(&m, gid);
	}
	return call_and_end(c, &m, err);
}

int p9_link(struct p9 *c, u32 dir, const struct dentry *name, u32 target)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TLINK, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, dir);
		put_u32(&m, target);
		put_name(&m, name);
	}
	return call_and_end(c, &m, err);
}

int p9_unlink(struct p9 *c, u32 dir, const struct dentry *name, bool isdir)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TUNLINKAT, SMALL + NAME, SMALL);

	if (!err) {
		put_u32(&m, dir);
		put_name(&m, name);
		put_u32(&m, isdir ? AT_REMOVEDIR : 0);
	}
	return call_and_end(c, &m, err);
}

int p9_rename(struct p9 *c, u32 od, const struct dentry *o, u32 nd, const struct dentry *n)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TRENAMEAT, SMALL + 2 * NAME, SMALL);

	if (!err) {
		put_u32(&m, od);
		put_name(&m, o);
		put_u32(&m, nd);
		put_name(&m, n);
	}
	return call_and_end(c, &m, err);
}

int p9_readlink(struct p9 *c, u32 fid, char *buf, u32 size)
{
	struct p9_msg m;
	int err = msg_begin(&m, P9_TREADLINK, SMALL, SMALL + PATH_MAX);

	if (!err) {
		put_u32(&m, fid);
		err = p9_call(c, &m);
	}
	if (!err) {
		u32 len = get_u16(&m);
		const char *s = get_bytes(&m, len);

		err = s && len <= size ? (int)len : -EPROTO;
		if (err > 0)
			memcpy(buf, s, len);
	}
	msg_end(&m);
	return err;
}
