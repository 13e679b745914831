/* SPDX-License-Identifier: MIT */
/*
 * The 9P2000.L protocol: messages and the calls made of them. Layouts are those of the protocol's
 * documents ("Plan 9 manual, section 5" and diod's protocol.md for the Linux dialect).
 *
 * A fid is the client's number for a file of the server, given out by p9_fid_alloc, bound by walk
 * or attach and ended by clunk. All calls: process context, may sleep, no spinlock held; 0 or
 * -errno (the server's own, or -EPROTO for an answer that cannot be understood, -ENOMEM).
 */
#ifndef V9FS_P9_H
#define V9FS_P9_H

#include <perch/fs.h>
#include <perch/virtio.h>

/* --- messages: msg.c ----------------------------------------------------------------------- */

enum p9_type {		/* requests; the answer's type is one more */
	P9_TLERROR = 6, P9_TLOPEN = 12, P9_TLCREATE = 14, P9_TSYMLINK = 16, P9_TMKNOD = 18,
	P9_TREADLINK = 22, P9_TGETATTR = 24, P9_TSETATTR = 26, P9_TREADDIR = 40, P9_TFSYNC = 50,
	P9_TLINK = 70, P9_TMKDIR = 72, P9_TRENAMEAT = 74, P9_TUNLINKAT = 76, P9_TVERSION = 100,
	P9_TATTACH = 104, P9_TWALK = 110, P9_TREAD = 116, P9_TWRITE = 118, P9_TCLUNK = 120,
};
#define P9_HEADER	7	/* size[4] type[1] tag[2] */
#define P9_IO_HEADER	11	/* of Rread, Rreaddir: and count[4]; Rlerror has the same length */
#define P9_WRITE_HEADER	23	/* of Twrite: fid[4] offset[8] count[4] */
#define P9_NOTAG	0xffff
#define P9_NOFID	0xffffffffU

/* One request and its answer. Values are little-endian, as we are. */
struct p9_msg {
	u8 *buf;		/* tx first, rx behind it */
	u32 tx_len, tx_room;
	u32 rx_len, rx_room, rx_at;
	u16 tag;
	u8 type;
	bool bad;		/* did not fit, or the answer was too short */
};

/* Room for a request and its answer, header included. 0 or -ENOMEM; msg_end in either case. */
int msg_begin(struct p9_msg *m, u8 type, u32 tx_room, u32 rx_room);
void msg_end(struct p9_msg *m);
void put_u8(struct p9_msg *m, u8 v);
void put_u16(struct p9_msg *m, u16 v);
void put_u32(struct p9_msg *m, u32 v);
void put_u64(struct p9_msg *m, u64 v);
void put_str(struct p9_msg *m, const char *s, u32 len);
u8 get_u8(struct p9_msg *m);
u16 get_u16(struct p9_msg *m);
u32 get_u32(struct p9_msg *m);
u64 get_u64(struct p9_msg *m);
const char *get_bytes(struct p9_msg *m, u32 len);	/* in the answer's buffer; NULL: too short */

/* --- calls: client.c, io.c ------------------------------------------------------------------- */

#define P9_IO_PAGES	16	/* data of one read or write: pages, none of which need be neighbours */
#define P9_IO_MAX	(P9_IO_PAGES * PAGE_SIZE)

/* A connection: one device, one attach. */
struct p9 {
	struct virtio_dev *dev;
	u32 max_io;		/* bytes of data in one message */
	spinlock lock;		/* the numbers in use */
	u16 tags;		/* bit map; lock */
	u64 *fids;		/* bit map of nr_fids * 64; lock */
	u32 nr_fids;		/* words; lock */
	struct waitq tag_free;
};

struct p9_qid { u8 type; u32 version; u64 path; };
struct p9_attr {
	struct p9_qid qid;
	u32 mode, uid, gid;
	u64 nlink, rdev, size, blksize, blocks;
	s64 atime, mtime, ctime;	/* ns */
};

/* Send m, wait for the answer and check it: m is then at its first value. data: pages of len bytes
 * that follow the request (write) or the answer's count (read, in: true); NULL without. */
int p9_call(struct p9 *c, struct p9_msg *m);
int p9_call_data(struct p9 *c, struct p9_msg *m, struct page **data, u32 len, bool in);

int p9_fid_alloc(struct p9 *c, u32 *fid);	/* or -ENOMEM */
void p9_fid_free(struct p9 *c, u32 fid);

int p9_version(struct p9 *c, u32 msize);	/* sets max_io; -EPROTONOSUPPORT */
int p9_attach(struct p9 *c, u32 fid, u32 uid, const char *aname);
/* newfid: the file called name below fid; name NULL: the same file again. */
int p9_walk(struct p9 *c, u32 fid, u32 newfid, const struct dentry *name);
void p9_clunk(struct p9 *c, u32 fid);		/* and frees the number */
int p9_getattr(struct p9 *c, u32 fid, struct p9_attr *a);
int p9_setattr(struct p9 *c, u32 fid, const struct iattr *a);
int p9_open(struct p9 *c, u32 fid, u32 flags);	/* O_x */
/* fid, a directory, becomes the new file, open. */
int p9_create(struct p9 *c, u32 fid, const struct dentry *name, u32 flags, u32 mode, u32 gid);
int p9_mkdir(struct p9 *c, u32 dir, const struct dentry *name, u32 mode, u32 gid);
int p9_mknod(struct p9 *c, u32 dir, const struct dentry *name, u32 mode, u64 rdev, u32 gid);
int p9_symlink(struct p9 *c, u32 dir, const struct dentry *name, const char *target, u32 gid);
int p9_link(struct p9 *c, u32 dir, const struct dentry *name, u32 target);
int p9_unlink(struct p9 *c, u32 dir, const struct dentry *name, bool isdir);
int p9_rename(struct p9 *c, u32 od, const struct dentry *o, u32 nd, const struct dentry *n);
int p9_readlink(struct p9 *c, u32 fid, char *buf, u32 size);	/* length, or -errno */
int p9_fsync(struct p9 *c, u32 fid);

/* Bytes moved, at most n, or -errno: one message's worth; less than c->max_io and n: the end. */
ssize_t p9_read(struct p9 *c, u32 fid, u64 off, struct uio *u, size_t n);
ssize_t p9_write(struct p9 *c, u32 fid, u64 off, struct uio *u, size_t n);
/* One page of a file: bytes read, the rest is zeroed; -errno. */
ssize_t p9_read_page(struct p9 *c, u32 fid, u64 off, struct page *page);
/* Directory entries from cookie off on, into one page: bytes used, 0 at the end. Each entry:
 * qid[13] cookie-behind-it[8] type[1] len[2] name. */
ssize_t p9_readdir(struct p9 *c, u32 fid, u64 off, struct page *page);

#endif
