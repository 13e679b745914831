/* SPDX-License-Identifier: MIT */
/* File ABI of arm64 Linux: open and fcntl flags, modes, stat, statx, statfs, dirent64 (man 2 pages). */
#ifndef UAPI_FCNTL_H
#define UAPI_FCNTL_H

#include <perch/types.h>

#define O_ACCMODE	3
#define O_RDONLY	0
#define O_WRONLY	1
#define O_RDWR		2
#define O_CREAT		0100
#define O_EXCL		0200
#define O_NOCTTY	0400
#define O_TRUNC		01000
#define O_APPEND	02000
#define O_NONBLOCK	04000
#define O_DSYNC		010000
#define O_ASYNC		020000
#define O_DIRECTORY	040000		/* arm64's own values for these four */
#define O_NOFOLLOW	0100000
#define O_DIRECT	0200000
#define O_LARGEFILE	0400000
#define O_NOATIME	01000000
#define O_CLOEXEC	02000000
#define O_SYNC		04010000
#define O_PATH		010000000
#define O_TMPFILE	(020000000 | O_DIRECTORY)

#define AT_FDCWD		-100
#define AT_SYMLINK_NOFOLLOW	0x100
#define AT_REMOVEDIR		0x200
#define AT_EACCESS		0x200
#define AT_SYMLINK_FOLLOW	0x400
#define AT_NO_AUTOMOUNT		0x800
#define AT_EMPTY_PATH		0x1000

#define F_DUPFD		0
#define F_GETFD		1
#define F_SETFD		2
#define F_GETFL		3
#define F_SETFL		4
#define F_GETLK		5
#define F_SETLK		6
#define F_SETLKW	7
#define F_SETOWN	8
#define F_GETOWN	9
#define F_SETSIG	10
#define F_GETSIG	11
#define F_SETOWN_EX	15
#define F_GETOWN_EX	16
#define F_OFD_GETLK	36
#define F_OFD_SETLK	37
#define F_OFD_SETLKW	38
#define F_DUPFD_CLOEXEC	1030
#define F_SETPIPE_SZ	1031
#define F_GETPIPE_SZ	1032
#define F_ADD_SEALS	1033
#define F_GET_SEALS	1034
#define FD_CLOEXEC	1
#define F_OWNER_TID	0
#define F_OWNER_PID	1
#define F_OWNER_PGRP	2
#define F_RDLCK		0
#define F_WRLCK		1
#define F_UNLCK		2

#define S_IFMT		0170000
#define S_IFSOCK	0140000
#define S_IFLNK		0120000
#define S_IFREG		0100000
#define S_IFBLK		0060000
#define S_IFDIR		0040000
#define S_IFCHR		0020000
#define S_IFIFO		0010000
#define S_ISUID		04000
#define S_ISGID		02000
#define S_ISVTX		01000
#define S_ISDIR(m)	(((m) & S_IFMT) == S_IFDIR)
#define S_ISREG(m)	(((m) & S_IFMT) == S_IFREG)
#define S_ISLNK(m)	(((m) & S_IFMT) == S_IFLNK)
#define S_ISCHR(m)	(((m) & S_IFMT) == S_IFCHR)
#define S_ISBLK(m)	(((m) & S_IFMT) == S_IFBLK)
#define S_ISFIFO(m)	(((m) & S_IFMT) == S_IFIFO)
#define S_ISSOCK(m)	(((m) & S_IFMT) == S_IFSOCK)

#define DT_UNKNOWN	0
#define DT_FIFO		1
#define DT_CHR		2
#define DT_DIR		4
#define DT_BLK		6
#define DT_REG		8
#define DT_LNK		10
#define DT_SOCK		12

#define SEEK_SET	0
#define SEEK_CUR	1
#define SEEK_END	2
#define SEEK_DATA	3
#define SEEK_HOLE	4

struct stat_abi {
	u64 st_dev, st_ino;
	u32 st_mode, st_nlink, st_uid, st_gid;
	u64 st_rdev, pad1;
	s64 st_size;
	s32 st_blksize, pad2;
	s64 st_blocks;
	s64 st_atime; u64 st_atime_nsec;
	s64 st_mtime; u64 st_mtime_nsec;
	s64 st_ctime; u64 st_ctime_nsec;
	u32 unused[2];
};
_Static_assert(sizeof(struct stat_abi) == 128, "struct stat of arm64");

/* statx(2): 256 bytes; times are seconds, nanoseconds and padding. */
struct statx_time_abi { s64 sec; u32 nsec; s32 pad; };
struct statx_abi {
	u32 stx_mask, stx_blksize;
	u64 stx_attributes;
	u32 stx_nlink, stx_uid, stx_gid;
	u16 stx_mode, pad0;
	u64 stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct statx_time_abi stx_atime, stx_btime, stx_ctime, stx_mtime;
	u32 stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	u64 stx_mnt_id;
	u32 stx_dio_mem_align, stx_dio_offset_align;
	u64 stx_subvol;
	u32 stx_atomic_write[4];
	u64 spare[9];
};
_Static_assert(sizeof(struct statx_abi) == 256, "struct statx");

struct statfs_abi {
	u64 f_type, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree;
	s32 f_fsid[2];
	u64 f_namelen, f_frsize, f_flags, f_spare[4];
};
_Static_assert(sizeof(struct statfs_abi) == 120, "struct statfs of arm64");

#define TMPFS_MAGIC	0x01021994
#define PROC_MAGIC	0x9fa0
#define SYSFS_MAGIC	0x62656572
#define DEBUGFS_MAGIC	0x64626720
#define TRACEFS_MAGIC	0x74726163
#define PIPEFS_MAGIC	0x50495045
#define SOCKFS_MAGIC	0x534f434b
#define ANON_INODE_MAGIC 0x09041934
#define DEVPTS_MAGIC	0x1cd1

#endif
