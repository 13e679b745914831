/* SPDX-License-Identifier: MIT */
/* The tree of mounts, for mount.c (its structure), mountcalls.c (its changes) and mountshow.c. */
#ifndef KERNEL_FS_MOUNT_H
#define KERNEL_FS_MOUNT_H

#include "internal.h"

#define KEPT_FLAGS (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME | \
	MS_RELATIME | MS_NOSYMFOLLOW)

extern struct list mounts;		/* attached ones; mount_lock */
extern struct mutex mount_mutex;	/* every change */

struct fs_type *fs_type_find(const char *name);
/* A super with a reference, made or (single types) shared. ERR_PTR. mount_mutex held after boot. */
struct super *super_get(struct fs_type *t, const char *source, const char *data);
void super_put(struct super *sb);
/* Takes over sb, on failure (NULL), too. */
struct mount *mount_alloc(struct super *sb, struct dentry *root, const char *source, u32 flags);
/* The tree takes over the caller's reference to m. */
void mount_attach(struct mount *m, const struct path *at);
void mount_detach_locked(struct mount *m);
bool mount_has_children_locked(const struct mount *m);
struct mount *mount_last_locked(struct mount *m);	/* deepest below m, or m */

#endif
