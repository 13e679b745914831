/* SPDX-License-Identifier: MIT */
/*
 * The console terminal on the UART that the kernel log uses, and the device nodes console (always
 * the system's), tty (the opener's own terminal) and the UART's name.
 */
#include "internal.h"
#include <perch/printk.h>
#include <perch/task.h>
#include <stdio.h>

static struct tty console_tty;
static const struct uart_ops *uart;	/* set once by tty_init */

/* Give the UART what it takes, in pieces that do not wrap around the ring. */
static void console_start(struct tty *t)
{
	while (out_used(t)) {
		u32 at = t->out_tail & (TTY_OUT_SIZE - 1);
		size_t n = min(out_used(t), TTY_OUT_SIZE - at);
		size_t taken = uart->write((const char *)t->out + at, n);

		t->out_tail += (u32)taken;
		if (taken < n)
			break;
	}
}

static const struct tty_ops console_ops = { .start = console_start };

void tty_receive(const char *buf, size_t n)
{
	if (uart)
		tty_input(&console_tty, (const u8 *)buf, n);
}

void tty_tx_ready(void)
{
	u64 flags;

	if (!uart)
		return;
	flags = spin_lock_irqsave(&console_tty.lock);
	tty_start(&console_tty);
	spin_unlock_irqrestore(&console_tty.lock, flags);
}

static int console_open(struct inode *i, struct file *f)
{
	return uart ? tty_open_file(&console_tty, f, true, false) : -ENODEV;
}

static int uart_open(struct inode *i, struct file *f)
{
	return tty_open_file(&console_tty, f, false, true);
}

static int own_tty_open(struct inode *i, struct file *f)
{
	struct tty *t = current_tty_get();
	int err;

	if (!t)
		return -ENXIO;
	err = tty_open_file(t, f, false, false);
	pty_tty_put(t);
	return err;
}

static const struct file_ops console_dev_fops = { .open = console_open };
static const struct file_ops uart_dev_fops = { .open = uart_open };
static const struct file_ops own_tty_dev_fops = { .open = own_tty_open };

/* driver: the name in /proc/devices, kept. */
static void add_device(const char *name, const char *driver, u32 mode, u32 major, u32 minor,
		       const struct file_ops *ops)
{
	int err = chrdev_register(major, minor, 1, driver, ops);

	if (!err)
		err = devtmpfs_add(name, S_IFCHR | mode, mkdev(major, minor));
	if (err)
		pr_err("tty: no device %s: error %d\n", name, -err);
}

void tty_init(void)
{
	const struct uart_ops *ops = console_uart();
	char name[32];

	if (ops) {
		tty_setup(&console_tty, &console_ops, mkdev(ops->major, ops->minor),
			  B38400 | CS8 | CREAD | HUPCL | CLOCAL);
		console_tty.ws = (struct winsize_abi){ .row = 24, .col = 80 };
		store_release(&uart, ops);
		snprintf(name, sizeof(name), "%s0", ops->name);
		add_device(name, ops->name, 0600, ops->major, ops->minor, &uart_dev_fops);
	}
	add_device("console", "/dev/console", 0600, 5, 1, &console_dev_fops);
	add_device("tty", "/dev/tty", 0666, 5, 0, &own_tty_dev_fops);
	pty_init();
}
