/* SPDX-License-Identifier: MIT */
/* A split virtqueue: virtq.c. */
#ifndef DRIVERS_VIRTQ_H
#define DRIVERS_VIRTQ_H

#include <perch/page.h>
#include <perch/virtio.h>
#include <perch/wait.h>

#define VIRTQ_SIZE 128		/* descriptors at most; a power of two */

struct virtq_desc;
struct virtq_avail;
struct virtq_used;
struct virtq_wait;

struct virtq {
	u32 size;			/* descriptors */
	struct page *mem;		/* the three parts, 2 pages */
	struct virtq_desc *desc;
	struct virtq_avail *avail;
	struct virtq_used *used;
	spinlock lock;			/* irqsave: everything below and the rings */
	u32 nr_free;
	u16 free_head;			/* list of free descriptors through .next */
	u16 seen;			/* entries of used that were looked at */
	struct waitq room;		/* descriptors became free */
	struct virtq_wait *wait[VIRTQ_SIZE];	/* by first descriptor */
};

/* Where the parts are, for the device. The layout is the one that legacy devices compute from the
 * first page's number; later ones are told each address. */
#define VIRTQ_ALIGN PAGE_SIZE
#define VIRTQ_ORDER 1

/* Empty the queue for a device that has been reset. size: what the device allows at most. The
 * memory is kept for the next time, so that an interrupt that is just ending finds it. 0 or
 * -ENOMEM. */
int virtq_init(struct virtq *q, u32 size);
/* virtio_exchange; notify(arg) tells the device that there is something to do. */
u32 virtq_exchange(struct virtq *q, const struct virtio_seg *segs, u32 out, u32 in,
		   void (*notify)(void *arg), void *arg);
/* From the device's interrupt: wake whoever has been answered. */
void virtq_interrupt(struct virtq *q);

#endif
