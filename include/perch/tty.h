/* SPDX-License-Identifier: MIT */
/* The console terminal: UART drivers below, termios line discipline above. */
#ifndef PERCH_TTY_H
#define PERCH_TTY_H

#include <perch/types.h>

struct process;
struct tty;

/* A UART as the console sees it. All ops: any context, IRQs off inside. */
struct uart_ops {
	void (*putc)(char c);		/* polled, waits for room: printk and panic */
	/* Queue as much as fits without waiting; returns the number taken. tx_ready comes by tty_tx_ready(). */
	size_t (*write)(const char *buf, size_t n);
	const char *name;		/* "ttyAMA" */
	u32 major, minor;		/* 204, 64 for PL011 */
};
void console_register(const struct uart_ops *ops);	/* early: printk goes there from now on */
const struct uart_ops *console_uart(void);	/* what was registered last, or NULL. Any context */
void tty_init(void);			/* device nodes: console, tty, ttyAMA0; after vfs_init */
/* Driver interrupt: received bytes (with ^C etc. not yet interpreted) / room to send again. IRQs off, and
 * no lock of the driver held: both may call its write op (for echo, for what waits to be sent). */
void tty_receive(const char *buf, size_t n);
void tty_tx_ready(void);

/* /proc/PID/stat tty_nr of a process (as st_rdev encodes it), and its foreground group; 0 / -1 if none. */
u32 tty_number(struct process *p);
int tty_foreground(struct process *p);
/* A session leader exits: drop the controlling terminal, SIGHUP the foreground group. */
void tty_disassociate(struct process *p);

#endif
