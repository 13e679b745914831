/* SPDX-License-Identifier: MIT */
/*
 * Raspberry Pi: reset by the watchdog of the power management block (BCM2711 has no public chapter
 * on it; registers as in the device tree bindings and Broadcom's firmware). A partition number of
 * 63 in RSTS asks the firmware to halt after the reset, which is as near to "off" as the board
 * gets; QEMU ends on it.
 */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/boot.h>

#include "../arch/arm64/arch.h"

#define PM_RSTC		0x1c
#define PM_RSTS		0x20
#define PM_WDOG		0x24
#define PM_PASSWORD	0x5a000000u
#define RSTC_CONFIG	0x30u	/* mask of the reset type */
#define RSTC_FULL	0x20u
#define RSTS_HALT	0x555u	/* partition 63, its bits spread */

static void *pm;

void bcm_pm_init(void)
{
	static const char *const names[] = {
		"brcm,bcm2711-pm", "brcm,bcm2835-pm", "brcm,bcm2835-pm-wdt",
	};
	paddr base;
	u64 size;

	for (size_t i = 0; !pm && i < ARRAY_SIZE(names); i++) {
		int node = dt_find(names[i], -1);

		if (node >= 0 && dt_reg(node, 0, &base, &size))
			pm = ioremap(base, size);
	}
}

static void reset_soon(void)
{
	u32 rstc = mmio_read(pm, PM_RSTC) & ~RSTC_CONFIG & 0xffffff;

	mmio_write(pm, PM_WDOG, PM_PASSWORD | 10);	/* about 150 us */
	mmio_write(pm, PM_RSTC, PM_PASSWORD | rstc | RSTC_FULL);
	for (;;)
		wfi();
}

void bcm_reboot(void)
{
	if (pm)
		reset_soon();
}

void bcm_poweroff(void)
{
	if (!pm)
		return;
	mmio_write(pm, PM_RSTS, PM_PASSWORD | (mmio_read(pm, PM_RSTS) & 0xfff000) | RSTS_HALT);
	reset_soon();
}
