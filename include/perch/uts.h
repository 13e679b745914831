/* SPDX-License-Identifier: MIT */
/* What uname(2) and /proc/sys/kernel/{hostname,domainname,osrelease,ostype,version} say. */
#ifndef PERCH_UTS_H
#define PERCH_UTS_H

#include <perch/types.h>

#define UTS_LEN 65
struct utsname {
	char sysname[UTS_LEN], nodename[UTS_LEN], release[UTS_LEN];
	char version[UTS_LEN], machine[UTS_LEN], domainname[UTS_LEN];
};
extern struct utsname uts;	/* nodename and domainname: uts_lock */

/* Copies out both names safely / sets one (len <= 64 bytes). Process context. */
void uts_read(struct utsname *out);
int uts_set(bool domain, const char *name, size_t len);	/* -EINVAL: too long */

#endif
