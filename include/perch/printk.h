/* SPDX-License-Identifier: MIT */
/*
 * The kernel log, panics and assertions. Any context, IRQs on or off; printk takes only the
 * log's own spinlock, so it may be called under any other lock.
 */
#ifndef PERCH_PRINTK_H
#define PERCH_PRINTK_H

#include <perch/types.h>

struct pt_regs;

#define KERN_ERR	"<3>"
#define KERN_WARN	"<4>"
#define KERN_INFO	"<6>"
#define KERN_DEBUG	"<7>"

/* Format one line (or part of one) into the log; a leading KERN_x sets its level (6 if none).
 * Lines with a level below console_loglevel also go to the console at once. */
int printk(const char *fmt, ...) __printf(1, 2);
extern int console_loglevel;

#define pr_err(...)	printk(KERN_ERR __VA_ARGS__)
#define pr_warn(...)	printk(KERN_WARN __VA_ARGS__)
#define pr_info(...)	printk(KERN_INFO __VA_ARGS__)
#define pr_debug(...)	printk(KERN_DEBUG __VA_ARGS__)

/* Print the reason, registers and a symbolised backtrace, the line PERCH-PANIC, and stop the
 * machine (PSCI off, so QEMU ends). Never returns. regs may be NULL. */
void panic(const char *fmt, ...) __printf(1, 2) __noreturn;
void panic_regs(struct pt_regs *regs, const char *fmt, ...) __printf(2, 3) __noreturn;

/* Print "function+offset/size" for a kernel text address into buf. Returns buf. */
const char *ksym_format(u64 addr, char *buf, size_t size);

#define ASSERT(c)								\
	do {									\
		if (unlikely(!(c)))						\
			panic("assertion failed: %s (%s:%d)", #c, __FILE__, __LINE__);	\
	} while (0)
/* On a path where the test would be a good part of the work: DEBUG builds only. */
#ifdef PERCH_DEBUG
#define ASSERT_DEBUG(c)	ASSERT(c)
#else
#define ASSERT_DEBUG(c)	((void)sizeof(!(c)))
#endif
#define BUG()	panic("BUG at %s:%d", __FILE__, __LINE__)
/* Say once that something impossible but survivable happened. Value: the condition. */
#define WARN_ONCE(c, ...) ({							\
	bool _c = !!(c);							\
	static bool _said;							\
	if (unlikely(_c) && !_said) {						\
		_said = true;							\
		pr_warn(__VA_ARGS__);						\
	}									\
	_c; })

#endif
