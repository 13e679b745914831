/* SPDX-License-Identifier: MIT */
/* What the files of kernel/debug tell each other. */
#ifndef DEBUG_INTERNAL_H
#define DEBUG_INTERNAL_H

void failpoint_init(void);
void live_init(void);
void live_object(int change);	/* kmalloc gave out one or got it back; any context */
void live_pages(int change);	/* the same for pages */
void pause_init(void);
void selftest_run(const char *name);	/* the fault of that name: must panic */

#endif
