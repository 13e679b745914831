/* SPDX-License-Identifier: MIT */
/*
 * Virtio devices (OASIS "Virtual I/O Device (VIRTIO)" 1.2), as far as a driver with one queue of
 * requests and answers needs them. The transport is drivers/virtio_mmio.c, the queue
 * drivers/virtq.c.
 */
#ifndef PERCH_VIRTIO_H
#define PERCH_VIRTIO_H

#include <perch/types.h>

struct virtio_dev;

#define VIRTIO_ID_9P		9

/* A piece of memory that the device reads or writes: an address of the linear map (page_address,
 * kmalloc), so never a kernel stack. */
struct virtio_seg { void *p; u32 len; };

/*
 * The n-th device of this kind (0: the first) that nobody else has taken, reset and with the
 * feature bits that both sides know; it is the caller's until virtio_release. NULL: there is none.
 * Process context, may sleep.
 */
struct virtio_dev *virtio_claim(u32 id, u32 n, u64 features);
/* Bytes of the device's own configuration space. */
void virtio_config(struct virtio_dev *d, u32 off, void *buf, u32 len);
/* Queue 0 and the device's interrupt are set up and the device starts: virtio_exchange is allowed.
 * 0 or -errno. Process context. */
int virtio_start(struct virtio_dev *d);
/* Reset the device and give it back. No exchange is under way. Process context. */
void virtio_release(struct virtio_dev *d);
/*
 * Give the device `out` segments to read and behind them `in` segments to write, and sleep until it
 * has used them. Returns the bytes that it wrote. Several tasks may do so at once. Process context,
 * no spinlock held; signals do not end it, because the memory is the device's until it answers.
 */
u32 virtio_exchange(struct virtio_dev *d, const struct virtio_seg *segs, u32 out, u32 in);
#define VIRTIO_MAX_SEGS 20	/* out + in of one exchange */

#endif
