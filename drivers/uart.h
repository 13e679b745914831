/* SPDX-License-Identifier: MIT */
/* Between uart.c, which chooses the console's device, and the UART drivers. */
#ifndef DRIVERS_UART_H
#define DRIVERS_UART_H

#include <perch/types.h>

/* probe: map the device of the node, make it the polled console. Early boot: no allocator, no
 * interrupts. start: interrupts on. Process context. */
bool pl011_probe(int node);
void pl011_start(void);
bool mini_uart_probe(int node);
void mini_uart_start(void);

#endif
