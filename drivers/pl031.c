/* SPDX-License-Identifier: MIT */
/* ARM PL031 real time clock (DDI 0224): seconds since 1970. Read once, at boot. */
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/printk.h>
#include <perch/time.h>

#include "../arch/arm64/arch.h"

#define RTC_DR 0

void rtc_init(void)
{
	int node = dt_find("arm,pl031", -1);
	paddr base;
	u64 size;
	void *rtc;

	if (node < 0 || !dt_reg(node, 0, &base, &size))
		return;			/* the clock starts in 1970 */
	rtc = ioremap(base, size);
	if (rtc)
		realtime_set((s64)mmio_read(rtc, RTC_DR) * NSEC_PER_SEC);
}
