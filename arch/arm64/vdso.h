/* SPDX-License-Identifier: MIT */
/* The data page that the kernel writes and vDSO code reads (one page below the code), and what
 * signal.c asks. */
#ifndef VDSO_H
#define VDSO_H

#include <perch/types.h>

struct vdso_data {
	u32 seq;		/* odd while the kernel writes */
	u32 mult, shift;	/* ns since boot = counter * mult >> shift */
	u32 pad;
	s64 realtime;		/* CLOCK_REALTIME = that + realtime, ns */
};

u64 vdso_sigreturn_offset(void);	/* of the trampoline, from the start of the image */

#endif
