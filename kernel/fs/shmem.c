/* SPDX-License-Identifier: MIT */
/*
 * Memory that is a file without a name: shared anonymous mappings and memfd_create. The inodes live
 * on a tmpfs of their own that is mounted nowhere; their names are only what /proc shows.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define MFD_CLOEXEC		1
#define MFD_ALLOW_SEALING	2
#define MFD_HUGETLB		4
#define MFD_NOEXEC_SEAL		8
#define MFD_EXEC		16
#define F_SEAL_SEAL		1
#define F_SEAL_EXEC		32

static struct fs_type shmem_type = { .name = "shmem", .nodev = true };
static struct mount *shmem_mount;

void shmem_init(void)
{
	shmem_type.mount = tmpfs_type.mount;
	shmem_mount = kern_mount(&shmem_type);
	shmem_mount->sb->pseudo = true;
	shmem_mount->sb->max_pages = 0;		/* memory itself is the limit */
}

struct file *shmem_file(const char *name, u64 size)
{
	struct inode *i;
	struct path p = { shmem_mount, NULL };
	struct file *f;

	if (size > MAX_FILE_SIZE)
		return ERR_PTR(-EINVAL);
	i = tmpfs_inode(shmem_mount->sb, NULL, S_IFREG | 0777, 0);
	if (!i)
		return ERR_PTR(-ENOMEM);
	i->nlink = 0;
	i->size = size;
	p.dentry = dentry_alloc_pseudo(shmem_mount->sb, name, i);
	if (!p.dentry) {
		inode_put(i);
		return ERR_PTR(-ENOMEM);
	}
	mount_get(p.mnt);
	f = file_new(&p, O_RDWR | O_LARGEFILE, &tmpfs_file_ops);
	if (!f)
		return ERR_PTR(-ENOMEM);
	if (file_begin_write(f))
		BUG();		/* nobody can be executing a file that was just made */
	return f;
}

static struct file *memfd_file(const char *name, u32 flags)
{
	struct file *f = shmem_file(name, 0);

	if (IS_ERR(f))
		return f;
	f->inode->seals = flags & MFD_ALLOW_SEALING ? 0 : F_SEAL_SEAL;
	if (flags & MFD_NOEXEC_SEAL) {
		f->inode->mode &= ~0111;
		f->inode->seals = F_SEAL_EXEC;
	}
	return f;
}

long sys_memfd_create(const char __user *uname, u32 flags)
{
	char name[256] = "memfd:";
	size_t room = 249;	/* characters a name may have */
	long n;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | MFD_EXEC))
		return -EINVAL;		/* huge pages are not supported either */
	if ((flags & MFD_EXEC) && (flags & MFD_NOEXEC_SEAL))
		return -EINVAL;
	n = strncpy_from_user(name + 6, uname, room + 1);
	if (n < 0)
		return n;
	if (n > room)
		return -EINVAL;
	return fd_new(memfd_file(name, flags), flags & MFD_CLOEXEC ? O_CLOEXEC : 0);
}
