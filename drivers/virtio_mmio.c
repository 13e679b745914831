/* SPDX-License-Identifier: MIT */
/*
 * Virtio over memory-mapped registers (VIRTIO 1.2, section 4.2): version 2 and the older "legacy"
 * version 1 (4.2.4), which QEMU's virt machine still presents unless told otherwise.
 *
 * The device tree has a node for each slot (QEMU: 32), empty ones too; an empty slot says device 0.
 * The slots are looked at when the first driver asks for a device, so a machine on which nobody
 * does pays nothing at boot.
 */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/irq.h>
#include <perch/printk.h>
#include <string.h>

#include "virtq.h"

#define MAGIC			0x000
#define MAGIC_VIRT		0x74726976
#define VERSION			0x004
#define DEVICE_ID		0x008
#define DEVICE_FEATURES		0x010
#define DEVICE_FEATURES_SEL	0x014
#define DRIVER_FEATURES		0x020
#define DRIVER_FEATURES_SEL	0x024
#define GUEST_PAGE_SIZE		0x028	/* legacy */
#define QUEUE_SEL		0x030
#define QUEUE_NUM_MAX		0x034
#define QUEUE_NUM		0x038
#define QUEUE_ALIGN		0x03c	/* legacy */
#define QUEUE_PFN		0x040	/* legacy */
#define QUEUE_READY		0x044
#define QUEUE_NOTIFY		0x050
#define INTERRUPT_STATUS	0x060
#define INTERRUPT_ACK		0x064
#define INT_USED		BIT(0)
#define STATUS			0x070
#define QUEUE_DESC		0x080	/* 64 bits each, low word first */
#define QUEUE_DRIVER		0x090
#define QUEUE_DEVICE		0x0a0
#define CONFIG			0x100

#define S_ACKNOWLEDGE	1
#define S_DRIVER	2
#define S_DRIVER_OK	4
#define S_FEATURES_OK	8
#define S_FAILED	128
#define F_VERSION_1	BIT(32)

struct virtio_dev {
	void *regs;
	u32 id, version, intid;
	bool taken;		/* mutex */
	bool has_irq;		/* the handler is registered, for ever; mutex */
	struct virtq q;
};

static struct mutex mutex = MUTEX_INIT(mutex);	/* devs[] and who has which */
static struct virtio_dev *devs[32];
static u32 nr_devs;
static bool looked;

/* --- finding devices --------------------------------------------------------------------- */

static void add_slot(int node)
{
	struct virtio_dev *d;
	paddr base;
	u64 size;
	void *regs;
	u32 intid;

	if (!dt_reg(node, 0, &base, &size) || !dt_irq(node, 0, &intid))
		return;
	regs = ioremap(base, size);
	if (!regs || mmio_read(regs, MAGIC) != MAGIC_VIRT || !mmio_read(regs, DEVICE_ID))
		return;
	d = kzalloc(sizeof(*d));
	if (!d)
		return;
	d->regs = regs;
	d->id = mmio_read(regs, DEVICE_ID);
	d->version = mmio_read(regs, VERSION);
	d->intid = intid;
	devs[nr_devs++] = d;
}

static void look(void)
{
	int node = -1;

	while (!looked && nr_devs < ARRAY_SIZE(devs) && (node = dt_find("virtio,mmio", node)) >= 0)
		add_slot(node);
	looked = true;
}

/* --- status and features ------------------------------------------------------------------- */

static void add_status(struct virtio_dev *d, u32 bits)
{
	mmio_write(d->regs, STATUS, mmio_read(d->regs, STATUS) | bits);
}

/* Writing 0 resets; the device is through with it when it reads 0. */
static void reset(struct virtio_dev *d)
{
	mmio_write(d->regs, STATUS, 0);
	while (mmio_read(d->regs, STATUS))
		cpu_relax();
}

static u64 device_features(struct virtio_dev *d)
{
	u64 f;

	mmio_write(d->regs, DEVICE_FEATURES_SEL, 1);
	f = (u64)mmio_read(d->regs, DEVICE_FEATURES) << 32;
	mmio_write(d->regs, DEVICE_FEATURES_SEL, 0);
	return f | mmio_read(d->regs, DEVICE_FEATURES);
}

static bool negotiate(struct virtio_dev *d, u64 features)
{
	u64 f = device_features(d) & (features | F_VERSION_1);

	if (d->version >= 2 && !(f & F_VERSION_1))
		return false;
	mmio_write(d->regs, DRIVER_FEATURES_SEL, 1);
	mmio_write(d->regs, DRIVER_FEATURES, f >> 32);
	mmio_write(d->regs, DRIVER_FEATURES_SEL, 0);
	mmio_write(d->regs, DRIVER_FEATURES, f);
	if (d->version == 1) {
		mmio_write(d->regs, GUEST_PAGE_SIZE, PAGE_SIZE);
		return true;
	}
	add_status(d, S_FEATURES_OK);
	return mmio_read(d->regs, STATUS) & S_FEATURES_OK;
}

static bool wake_device(struct virtio_dev *d, u64 features)
{
	reset(d);
	add_status(d, S_ACKNOWLEDGE);
	add_status(d, S_DRIVER);
	if (negotiate(d, features))
		return true;
	add_status(d, S_FAILED);
	return false;
}

struct virtio_dev *virtio_claim(u32 id, u32 n, u64 features)
{
	struct virtio_dev *found = NULL;

	mutex_lock(&mutex);
	look();
	for (u32 i = 0; i < nr_devs && !found; i++)
		if (devs[i]->id == id && !devs[i]->taken && !n--)
			found = devs[i];
	if (found && !wake_device(found, features))
		found = NULL;
	if (found)
		found->taken = true;
	mutex_unlock(&mutex);
	return found;
}

void virtio_config(struct virtio_dev *d, u32 off, void *buf, u32 len)
{
	for (u32 i = 0; i < len; i++)
		((u8 *)buf)[i] = *((volatile u8 *)d->regs + CONFIG + off + i);
}

/* --- the queue ----------------------------------------------------------------------------- */

static void set_address(struct virtio_dev *d, u32 reg, const void *p)
{
	u64 pa = virt_to_phys(p);

	mmio_write(d->regs, reg, pa);
	mmio_write(d->regs, reg + 4, pa >> 32);
}

static int start_queue(struct virtio_dev *d)
{
	u32 max;
	int err;

	mmio_write(d->regs, QUEUE_SEL, 0);
	max = mmio_read(d->regs, QUEUE_NUM_MAX);
	if (max < VIRTIO_MAX_SEGS || (max & (max - 1)))
		return -ENODEV;
	err = virtq_init(&d->q, max);
	if (err)
		return err;
	mmio_write(d->regs, QUEUE_NUM, d->q.size);
	if (d->version == 1) {
		mmio_write(d->regs, QUEUE_ALIGN, VIRTQ_ALIGN);
		mmio_write(d->regs, QUEUE_PFN, page_to_pfn(d->q.mem));
		return 0;
	}
	set_address(d, QUEUE_DESC, d->q.desc);
	set_address(d, QUEUE_DRIVER, d->q.avail);
	set_address(d, QUEUE_DEVICE, d->q.used);
	mmio_write(d->regs, QUEUE_READY, 1);
	return 0;
}

static void interrupt(u32 intid, struct pt_regs *regs, void *arg)
{
	struct virtio_dev *d = arg;
	u32 status = mmio_read(d->regs, INTERRUPT_STATUS);

	mmio_write(d->regs, INTERRUPT_ACK, status);
	if ((status & INT_USED) && d->q.mem)
		virtq_interrupt(&d->q);
}

static int start_irq(struct virtio_dev *d)
{
	int err = d->has_irq ? 0 : irq_request(d->intid, interrupt, d, "virtio");

	d->has_irq |= !err;
	return err;
}

int virtio_start(struct virtio_dev *d)
{
	int err = start_queue(d);

	ASSERT(d->taken);
	if (!err)
		err = start_irq(d);
	if (!err)
		add_status(d, S_DRIVER_OK);
	return err;
}

void virtio_release(struct virtio_dev *d)
{
	reset(d);
	ASSERT(!d->q.mem || d->q.nr_free == d->q.size);
	mutex_lock(&mutex);
	d->taken = false;
	mutex_unlock(&mutex);
}

static void notify(void *arg)
{
	struct virtio_dev *d = arg;

	dsb(st);	/* the queue's memory before the register */
	mmio_write(d->regs, QUEUE_NOTIFY, 0);
}

u32 virtio_exchange(struct virtio_dev *d, const struct virtio_seg *segs, u32 out, u32 in)
{
	return virtq_exchange(&d->q, segs, out, in, notify, d);
}
