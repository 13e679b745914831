/* SPDX-License-Identifier: MIT */
/* Changing credentials: what the system calls in ids.c, caps.c and prctl.c share. */
#ifndef KERNEL_TASK_CREDS_H
#define KERNEL_TASK_CREDS_H

#include <perch/cred.h>

/* capabilities(7); prctl(2) PR_SET_SECUREBITS */
#define SECBIT_NOROOT		0x01
#define SECBIT_NO_SETUID_FIXUP	0x04
#define SECBIT_KEEP_CAPS	0x10
#define SECBIT_KEEP_CAPS_LOCKED	0x20
#define SECBIT_NO_CAP_AMBIENT_RAISE 0x40
#define SECBITS_ALL		0xff
#define SECBITS_LOCKS		0xaa

/* CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, LINUX_IMMUTABLE, MKNOD, MAC_OVERRIDE */
#define CAP_FS_SET	(0x1fULL | BIT(9) | BIT(27) | BIT(32))

/* The effect of changed user ids / of a changed fsuid on the capability sets of new. */
void creds_fix_caps(struct cred *new, const struct cred *old);
void creds_fix_fs_caps(struct cred *new, const struct cred *old);
/* Make them current's. 0 or -EAGAIN (no memory for the user's account). */
int creds_commit(const struct cred *new);

#endif
