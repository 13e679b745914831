/* SPDX-License-Identifier: MIT */
/* What the files of the 9P file system share: see super.c. */
#ifndef V9FS_V9FS_H
#define V9FS_V9FS_H

#include "../internal.h"
#include "p9.h"

/* inode->priv */
struct v9_node {
	u32 fid;	/* names the file; never opened */
	u32 fresh;	/* open for reading and writing since the file was created, for its first open;
			 * P9_NOFID: none; atomic */
	u64 path;	/* the server's number of the file */
};

static inline struct p9 *v9_client(const struct inode *i)
{
	return i->sb->priv;
}

static inline struct v9_node *v9_node(const struct inode *i)
{
	return i->priv;
}

/* An inode for the file that fid names; takes over fid, also when it fails. ERR_PTR. */
struct inode *v9_inode(struct super *sb, u32 fid);
/* Ask the server for size, times and all that. *blksize may be NULL. 0 or -errno: -ESTALE when the
 * fid names another file by now. */
int v9_refresh(struct inode *i, u64 *blksize);
/* Another fid for the file that fid names, or (name) for the one below it. */
int v9_walk(struct p9 *c, u32 fid, const struct dentry *name, u32 *newfid);

extern const struct file_ops v9_file_ops, v9_dir_ops;

#endif
