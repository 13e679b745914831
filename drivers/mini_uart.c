/* SPDX-License-Identifier: MIT */
/*
 * The mini UART of BCM2835 and BCM2711 (BCM2711 ARM Peripherals, chapter 2.2): an 8250 look-alike
 * with an 8-byte FIFO in the auxiliary block. The firmware has enabled it and set its baud rate,
 * which hangs on the core clock (config.txt enable_uart=1 fixes that). The interrupt is shared with
 * the SPI masters of the block, which Perch does not use.
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

#define MU_IO	0x00
#define MU_IER	0x04
#define IER_RX	BIT(0)
#define IER_TX	BIT(1)
#define IER_ON	(BIT(2) | BIT(3))	/* without them nothing interrupts (the data sheet's errata) */
#define MU_IIR	0x08
#define IIR_CLEAR_RX 0x02	/* empty the receive FIFO */
#define MU_LCR	0x0c
#define LCR_8BIT 3
#define MU_LSR	0x14
#define LSR_RX	BIT(0)		/* data is there */
#define LSR_TX	BIT(5)		/* room for at least one byte */
#define MU_CNTL	0x20
#define CNTL_ON	3

static void *uart;
static u32 intid;
static spinlock lock;		/* irqsave: IER and filling the FIFO */
static u32 ier;			/* lock */

static bool tx_room(void)
{
	return mmio_read(uart, MU_LSR) & LSR_TX;
}

static void set_ier(u32 v)
{
	ier = v;
	mmio_write(uart, MU_IER, v ? v | IER_ON : 0);
}

static void mini_putc(char c)
{
	while (!tx_room())
		cpu_relax();
	mmio_write(uart, MU_IO, (u8)c);
}

static size_t mini_write(const char *buf, size_t n)
{
	u64 flags = spin_lock_irqsave(&lock);
	size_t done = 0;

	while (done < n && tx_room())
		mmio_write(uart, MU_IO, (u8)buf[done++]);
	if (done < n && !(ier & IER_TX))
		set_ier(ier | IER_TX);
	spin_unlock_irqrestore(&lock, flags);
	return done;
}

static const struct uart_ops ops = {
	.putc = mini_putc,
	.write = mini_write,
	.name = "ttyS",
	.major = 4,
	.minor = 64,
};

static void mini_irq(u32 id, struct pt_regs *regs, void *arg)
{
	while (mmio_read(uart, MU_LSR) & LSR_RX) {
		char c = (char)mmio_read(uart, MU_IO);

		tty_receive(&c, 1);
	}
	if (!(ier & IER_TX) || !tx_room())
		return;
	spin_lock(&lock);
	set_ier(ier & ~IER_TX);
	spin_unlock(&lock);
	tty_tx_ready();
}

bool mini_uart_probe(int node)
{
	paddr base;
	u64 size;

	if (!dt_reg(node, 0, &base, &size))
		return false;
	uart = ioremap(base, size);
	if (!uart)
		return false;
	dt_irq(node, 0, &intid);
	set_ier(0);
	mmio_write(uart, MU_LCR, LCR_8BIT);
	mmio_write(uart, MU_CNTL, CNTL_ON);
	console_register(&ops);
	return true;
}

void mini_uart_start(void)
{
	if (!intid || irq_request(intid, mini_irq, NULL, "mini-uart")) {
		pr_warn("mini-uart: no interrupt: output only\n");
		return;
	}
	mmio_write(uart, MU_IIR, IIR_CLEAR_RX);	/* forget old input */
	set_ier(IER_RX);
}
