/* SPDX-License-Identifier: MIT */
/*
 * ARM PL011 UART (DDI 0183). The firmware has set baud rate and pins. Early: polled output for
 * printk. After uart_init the receive and transmit FIFOs interrupt: input goes to the tty as it
 * comes, output is taken from the tty as much as fits, and the tty is told when there is room
 * again.
 */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/irq.h>
#include <perch/printk.h>
#include <perch/spinlock.h>
#include <perch/tty.h>

#include "uart.h"

#define DR	0x00
#define DR_ERROR (BIT(8) | BIT(9) | BIT(10))	/* framing, parity, break */
#define FR	0x18
#define FR_BUSY	BIT(3)
#define FR_RXFE	BIT(4)
#define FR_TXFF	BIT(5)
#define LCRH	0x2c
#define LCRH_8BIT (3 << 5)
#define LCRH_FEN BIT(4)
#define CR	0x30
#define CR_ON	(BIT(0) | BIT(8) | BIT(9))	/* enable, transmit, receive */
#define IFLS	0x34
#define IMSC	0x38
#define MIS	0x40
#define ICR	0x44
#define INT_RX	(BIT(4) | BIT(6))		/* receive level, receive timeout */
#define INT_TX	BIT(5)


static void *uart;
static u32 intid;
static spinlock lock;		/* irqsave: IMSC and filling the FIFO */
static u32 mask;		/* IMSC; lock */

static bool tx_full(void)
{
	return mmio_read(uart, FR) & FR_TXFF;
}

static void set_mask(u32 m)
{
	mask = m;
	mmio_write(uart, IMSC, m);
}

/* No lock: printk serialises its lines, and a panic must get through whoever holds what. */
static void pl011_putc(char c)
{
	while (tx_full())
		cpu_relax();
	mmio_write(uart, DR, (u8)c);
}

static size_t pl011_write(const char *buf, size_t n)
{
	u64 flags = spin_lock_irqsave(&lock);
	size_t done = 0;

	while (done < n && !tx_full())
		mmio_write(uart, DR, (u8)buf[done++]);
	if (done < n && !(mask & INT_TX))
		set_mask(mask | INT_TX);
	spin_unlock_irqrestore(&lock, flags);
	return done;
}

static const struct uart_ops ops = {
	.putc = pl011_putc,
	.write = pl011_write,
	.name = "ttyAMA",
	.major = 204,
	.minor = 64,
};

static void receive(void)
{
	char buf[32];
	size_t n = 0;

	while (!(mmio_read(uart, FR) & FR_RXFE)) {
		u32 d = mmio_read(uart, DR);

		if (!(d & DR_ERROR))
			buf[n++] = (char)d;
		if (n == sizeof(buf)) {
			tty_receive(buf, n);
			n = 0;
		}
	}
	if (n)
		tty_receive(buf, n);
}

/* The transmit interrupt is off again before the tty is asked: its write switches it on if there is
 * more. */
static void pl011_irq(u32 id, struct pt_regs *regs, void *arg)
{
	u32 status = mmio_read(uart, MIS);

	mmio_write(uart, ICR, status);
	if (status & INT_RX)
		receive();
	if (status & INT_TX) {
		spin_lock(&lock);
		set_mask(mask & ~INT_TX);
		spin_unlock(&lock);
		tty_tx_ready();
	}
}

bool pl011_probe(int node)
{
	paddr base;
	u64 size;

	if (!dt_reg(node, 0, &base, &size))
		return false;
	uart = ioremap(base, size);
	if (!uart)
		return false;
	dt_irq(node, 0, &intid);
	mmio_write(uart, IMSC, 0);
	/* The FIFO may be set only while the UART is off; QEMU starts with all of it off. */
	if ((mmio_read(uart, CR) & CR_ON) != CR_ON || !(mmio_read(uart, LCRH) & LCRH_FEN)) {
		while ((mmio_read(uart, CR) & CR_ON) && (mmio_read(uart, FR) & FR_BUSY))
			cpu_relax();	/* a character of the firmware's is under way */
		mmio_write(uart, CR, 0);
		mmio_write(uart, LCRH, LCRH_8BIT | LCRH_FEN);
		mmio_write(uart, CR, CR_ON);
	}
	console_register(&ops);
	return true;
}

void pl011_start(void)
{
	if (!intid || irq_request(intid, pl011_irq, NULL, "uart-pl011")) {
		pr_warn("pl011: no interrupt: output only\n");
		return;
	}
	mmio_write(uart, IFLS, 0);		/* transmit at 1/8 full, receive at 1/8 */
	mmio_write(uart, ICR, 0x7ff);
	set_mask(INT_RX);
}
