/* SPDX-License-Identifier: MIT */
/* The names of the system: uname(2), sethostname(2), setdomainname(2). */
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/spinlock.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <perch/uts.h>
#include <string.h>

/* Programs choose by the release what to expect of a kernel: 6.12 is the one whose ABI this is. */
struct utsname uts = {
	.sysname = "Linux",
	.nodename = "(none)",
	.release = "6.12.0-perch",
	.version = "#1 SMP Perch",
	.machine = "aarch64",
	.domainname = "(none)",
};
static spinlock uts_lock = SPINLOCK_INIT;	/* nodename, domainname */

void uts_read(struct utsname *out)
{
	spin_lock(&uts_lock);
	*out = uts;
	spin_unlock(&uts_lock);
}

int uts_set(bool domain, const char *name, size_t len)
{
	char *dst = domain ? uts.domainname : uts.nodename;

	if (len >= UTS_LEN)
		return -EINVAL;
	spin_lock(&uts_lock);
	memset(dst, 0, UTS_LEN);
	memcpy(dst, name, len);
	spin_unlock(&uts_lock);
	return 0;
}


long sys_uname(struct utsname __user *out)
{
	struct utsname u;

	uts_read(&u);
	return copy_to_user(out, &u, sizeof(u)) ? -EFAULT : 0;
}

static long set_name(bool domain, const char __user *uname, int len)
{
	char name[UTS_LEN];

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len < 0 || len >= UTS_LEN)
		return -EINVAL;
	if (copy_from_user(name, uname, (size_t)len))
		return -EFAULT;
	return uts_set(domain, name, (size_t)len);
}

long sys_sethostname(const char __user *name, int len)
{
	return set_name(false, name, len);
}

long sys_setdomainname(const char __user *name, int len)
{
	return set_name(true, name, len);
}
