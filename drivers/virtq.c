/* SPDX-License-Identifier: MIT */
/*
 * A split virtqueue (VIRTIO 1.2, section 2.7) for requests with answers.
 *
 * Three arrays shared with the device. desc: pieces of memory, chained by .next. avail: a ring of
 * chains that we offer; used: a ring of chains that the device is through with. Each side writes
 * its own ring and moves its own index on, so there is nothing to lock against the device, only an
 * order to keep:
 *
 *	we	descriptors, avail->ring[i]  |wmb|  avail->idx   |mb|  notify
 *	device	used->ring[i]                |wmb|  used->idx    interrupt
 *	we	used->idx  |rmb|  used->ring[i], the answer's bytes
 *
 * The task that offered a chain sleeps in it; the interrupt finds the task by the chain's first
 * descriptor. The numbers are 16 bits and wrap around; sizes are powers of two.
 */
#include "virtq.h"

#include <perch/atomic.h>
#include <perch/errno.h>
#include <string.h>

struct virtq_desc { u64 addr; u32 len; u16 flags, next; };
#define DESC_NEXT	1
#define DESC_WRITE	2	/* the device writes it */
struct virtq_avail { u16 flags, idx, ring[]; };
struct virtq_used_elem { u32 id, len; };
struct virtq_used { u16 flags, idx; struct virtq_used_elem ring[]; };

_Static_assert(VIRTQ_SIZE * (sizeof(struct virtq_desc) + 2) + 6 <= PAGE_SIZE,
	       "descriptors and avail fit into the first page");
_Static_assert(VIRTQ_SIZE * sizeof(struct virtq_used_elem) + 6 <= PAGE_SIZE,
	       "used fits into the second page");

struct virtq_wait { struct completion done; u32 len; };

int virtq_init(struct virtq *q, u32 size)
{
	char *mem;
	u64 flags;

	if (!q->mem) {
		q->mem = alloc_pages(VIRTQ_ORDER);
		if (!q->mem)
			return -ENOMEM;
		spin_init(&q->lock);
		waitq_init(&q->room);
	}
	mem = page_address(q->mem);
	flags = spin_lock_irqsave(&q->lock);
	memset(mem, 0, PAGE_SIZE << VIRTQ_ORDER);
	q->size = min_t(u32, size, VIRTQ_SIZE);
	q->desc = (void *)mem;
	q->avail = (void *)(mem + q->size * sizeof(*q->desc));
	q->used = (void *)(mem + VIRTQ_ALIGN);
	for (u32 i = 0; i < q->size; i++)
		q->desc[i].next = i + 1;
	q->nr_free = q->size;
	q->free_head = q->seen = 0;
	spin_unlock_irqrestore(&q->lock, flags);
	return 0;
}

/* Chain the segments; the caller has made sure of enough descriptors. Returns the first one. */
static u16 fill_chain_locked(struct virtq *q, const struct virtio_seg *segs, u32 out, u32 in)
{
	u16 head = q->free_head, at = head;

	for (u32 i = 0; i < out + in; i++) {
		struct virtq_desc *d = &q->desc[at];

		d->addr = virt_to_phys(segs[i].p);
		d->len = segs[i].len;
		d->flags = (i >= out ? DESC_WRITE : 0) | (i + 1 < out + in ? DESC_NEXT : 0);
		at = d->next;
	}
	q->free_head = at;
	q->nr_free -= out + in;
	return head;
}

static void free_chain_locked(struct virtq *q, u16 head)
{
	u16 last = head;

	q->nr_free++;
	while (q->desc[last].flags & DESC_NEXT) {
		last = q->desc[last].next;
		q->nr_free++;
	}
	q->desc[last].next = q->free_head;
	q->free_head = head;
}

/* False: not enough descriptors are free. */
static bool offer(struct virtq *q, const struct virtio_seg *segs, u32 out, u32 in,
		  struct virtq_wait *w)
{
	u64 flags = spin_lock_irqsave(&q->lock);
	bool room = q->nr_free >= out + in;

	if (room) {
		u16 head = fill_chain_locked(q, segs, out, in);

		q->wait[head] = w;
		q->avail->ring[q->avail->idx & (q->size - 1)] = head;
		smp_wmb();
		WRITE_ONCE(q->avail->idx, q->avail->idx + 1);
	}
	spin_unlock_irqrestore(&q->lock, flags);
	return room;
}

u32 virtq_exchange(struct virtq *q, const struct virtio_seg *segs, u32 out, u32 in,
		   void (*notify)(void *arg), void *arg)
{
	struct virtq_wait w;

	ASSERT(out + in > 0 && out + in <= VIRTIO_MAX_SEGS && out + in <= q->size);
	completion_init(&w.done);
	wait_event(&q->room, offer(q, segs, out, in, &w));
	smp_mb();
	notify(arg);
	wait_for_completion(&w.done);
	return w.len;
}

void virtq_interrupt(struct virtq *q)
{
	u64 flags = spin_lock_irqsave(&q->lock);

	while (q->seen != READ_ONCE(q->used->idx)) {
		struct virtq_used_elem e;
		struct virtq_wait *w;

		smp_rmb();
		e = q->used->ring[q->seen++ & (q->size - 1)];
		/* A device that names what it was not given must not make us write anywhere. */
		w = e.id < q->size ? q->wait[e.id] : NULL;
		if (!w)
			continue;
		q->wait[e.id] = NULL;
		free_chain_locked(q, e.id);
		w->len = e.len;
		complete(&w->done);
	}
	spin_unlock_irqrestore(&q->lock, flags);
	wake_up_all(&q->room);
}
