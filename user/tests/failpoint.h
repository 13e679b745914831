/* SPDX-License-Identifier: MIT */
/* /proc/perch/failpoints of a DEBUG kernel: the n-th fallible step of the caller's next call of one number fails. */
#ifndef PERCH_TESTS_FAILPOINT_H
#define PERCH_TESTS_FAILPOINT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

/* What became of it. */
struct fired {
	int left, seen, fired;
	char kind[16], where[128];	/* "memory", "copy", "fd" or "wait"; the function */
};

/* fd: of the file. By calls that no test of failing steps is about. */
static inline void failpoint_arm(int fd, int n, long nr)
{
	char b[32];
	struct iovec v = {b, (size_t)snprintf(b, sizeof(b), "%d %ld", n, nr)};

	if (pwritev(fd, &v, 1, 0) < 0) {
		perror("failpoints");
		exit(1);
	}
}

static inline struct fired failpoint_fired(int fd)
{
	struct fired f = {0};
	char b[256] = "";
	struct iovec v = {b, sizeof(b) - 1};

	if (preadv(fd, &v, 1, 0) < 0) {
		perror("failpoints");
		exit(1);
	}
	sscanf(b, "left %d seen %d fired %d kind %15s at %127s", &f.left, &f.seen, &f.fired, f.kind, f.where);
	return f;
}

#endif
