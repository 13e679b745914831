/* SPDX-License-Identifier: MIT */
/*
 * The console's UART: the kind that console= names, else the device that the tree's stdout-path (or
 * serial0) names, else the first that we know.
 */
#include <asm/dt.h>
#include <libfdt.h>
#include <perch/boot.h>
#include <perch/types.h>
#include <string.h>

#include "../arch/arm64/arch.h"
#include "uart.h"

static const struct driver {
	const char *compatible;
	const char *console;	/* how console= calls it, without the number */
	bool (*probe)(int node);
	void (*start)(void);
} drivers[] = {
	{ "arm,pl011", "ttyAMA", pl011_probe, pl011_start },
	{ "brcm,bcm2835-aux-uart", "ttyS", mini_uart_probe, mini_uart_start },
};

static const struct driver *chosen;

static bool try_node(int node)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		const struct driver *d = &drivers[i];

		if (fdt_node_check_compatible(boot_fdt, node, d->compatible) || !d->probe(node))
			continue;
		chosen = d;
		return true;
	}
	return false;
}

/* The first device whose console name fits (NULL: any). */
static bool try_driver(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		int node;

		if (name && strncmp(name, drivers[i].console, strlen(drivers[i].console)))
			continue;
		node = dt_find(drivers[i].compatible, -1);
		if (node >= 0 && try_node(node))
			return true;
	}
	return false;
}

void uart_init_early(void)
{
	char name[32];
	int node = dt_stdout();

	if (cmdline_get("console", name, sizeof(name)) && try_driver(name))
		return;
	if (node < 0 || !try_node(node))
		try_driver(NULL);
}

void uart_init(void)
{
	if (chosen)
		chosen->start();
}
