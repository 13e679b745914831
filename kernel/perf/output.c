/* SPDX-License-Identifier: MIT */
/*
 * Where the records of an event go: its own ring (mmap of its file), another event's (SET_OUTPUT), or
 * nowhere. Copies of a family write to the root's ring.
 *
 * root->ring is written under perf_mutex and read with IRQs off on any CPU. A ring that an event has
 * left is let go only after every CPU has been seen once since (drain): then no writer is left in it.
 *
 * One ring has one writing CPU at a time. An event with a CPU filter writes only there; without a
 * filter it follows one task, and Linux's rules keep other tasks and CPUs out of the same ring: no
 * mapping of inherit without a CPU, SET_OUTPUT only with the same CPU, and without one the same task.
 * They leave one hole: SET_OUTPUT of inherit without a CPU to a ring of its task lets all copies write
 * there. Such a ring is "crowded" from then on, and writers take turns under a spinlock.
 */
#include "core.h"

static void nothing(void *unused)
{
	(void)unused;
}

/* Wait until all that ran with IRQs off when we came has ended. P. */
static void drain(void)
{
	for (u32 c = 0; c < host_nr_cpus(); c++)
		if (host_cpu_online(c))
			(void)host_call_on_cpu(c, nothing, NULL);
}

/* Writers on several CPUs are about to come. All know it once those that do not have left. P, m. */
static void make_crowded(struct perf_ring *r)
{
	if (r->crowded)
		return;
	WRITE_ONCE(r->crowded, true);
	drain();
}

/* root's records go to r (NULL: nowhere) from now on. P, m. */
void output_set(struct perf_event *root, struct perf_ring *r)
{
	struct perf_ring *old = root->ring;
	u64 flags;

	if (r && root->cpu < 0 && root->attr.inherit)
		make_crowded(r);
	flags = host_irq_save();
	if (old) {
		host_spin_lock(&old->lock);
		list_del(&root->ring_node);
		host_spin_unlock(&old->lock);
	}
	if (r) {
		r->refs++;
		host_spin_lock(&r->lock);
		list_add_tail(&root->ring_node, &r->events);
		host_spin_unlock(&r->lock);
	}
	__atomic_store_n(&root->ring, r, __ATOMIC_RELEASE);
	host_irq_restore(flags);
	if (!old)
		return;
	drain();
	ring_put(old);
	host_waitq_wake(&root->waitq, HOST_POLLHUP);	/* who polls waits for another ring now */
}

/* --- SET_OUTPUT, PAUSE_OUTPUT: P, m ------------------------------------------------------------------ */

static bool same_clock(const struct perf_event *a, const struct perf_event *b)
{
	return a->attr.use_clockid == b->attr.use_clockid &&
	       (!a->attr.use_clockid || a->attr.clockid == b->attr.clockid);
}

/* Send e's records to where those of to go (NULL: nowhere). 0 or -EINVAL as Linux. */
int output_redirect(struct perf_event *e, struct perf_event *to)
{
	if (to) {
		if (e == to || e->cpu != to->cpu)
			return -EINVAL;
		if (e->cpu < 0 && e->target != to->target)
			return -EINVAL;
		if (!same_clock(e, to) || e->attr.write_backward != to->attr.write_backward)
			return -EINVAL;
	}
	if (e->nr_maps || (to && !to->ring))
		return -EINVAL;
	HOST_PAUSE("redirect");
	output_set(e, to ? to->ring : NULL);
	return 0;
}

int output_pause(struct perf_event *e, bool pause)
{
	if (!e->ring || !e->ring->nr_pages)
		return -EINVAL;
	WRITE_ONCE(e->ring->paused, pause);
	return 0;
}

/* --- mmap ---------------------------------------------------------------------------------------------- */

static u64 online_cpus(void)
{
	u64 n = 0;

	for (u32 c = 0; c < host_nr_cpus(); c++)
		n += host_cpu_online(c);
	return n;
}

/*
 * Charge pages: the user's allowance first (perf_event_mlock_kb for each CPU), the rest to the
 * process's RLIMIT_MEMLOCK. 0, -EPERM or -ENOMEM.
 */
static int charge(struct perf_ring *r)
{
	u64 pages = (u64)r->nr_pages + 1, allowance, used, pinned;

	r->user = host_user_get();
	if (!r->user)
		return -ENOMEM;
	r->mm = host_mm_get();
	allowance = ((u64)sysctl_mlock_kb() >> 2) * online_cpus();
	used = (u64)__atomic_load_n(host_user_locked_pages(r->user), __ATOMIC_RELAXED);
	r->user_pages = used >= allowance ? 0 : min_t(u64, pages, allowance - used);
	r->mm_pages = pages - r->user_pages;
	pinned = (u64)__atomic_load_n(host_mm_pinned_pages(r->mm), __ATOMIC_RELAXED);
	/* Also if the user's allowance pays it all, as on Linux: the limit may have been lowered. */
	if (pinned + r->mm_pages > host_memlock_limit() >> 12 && sysctl_paranoid() >= 0 &&
	    !host_capable(HOST_CAP_IPC_LOCK))
		return -EPERM;
	__atomic_fetch_add(host_user_locked_pages(r->user), (s64)r->user_pages, __ATOMIC_RELAXED);
	__atomic_fetch_add(host_mm_pinned_pages(r->mm), (s64)r->mm_pages, __ATOMIC_RELAXED);
	return 0;
}

static void uncharge(struct perf_ring *r, bool charged)
{
	if (charged) {
		__atomic_fetch_sub(host_user_locked_pages(r->user), (s64)r->user_pages, __ATOMIC_RELAXED);
		__atomic_fetch_sub(host_mm_pinned_pages(r->mm), (s64)r->mm_pages, __ATOMIC_RELAXED);
	}
	if (r->mm)
		host_mm_put(r->mm);
	if (r->user)
		host_user_put(r->user);
	r->mm = NULL;
	r->user = NULL;
}

static int new_ring(struct perf_event *e, const struct host_map_req *req, struct perf_ring **out)
{
	const struct perf_event_attr *a = &e->attr;
	u64 watermark = a->watermark ? a->wakeup_watermark : 0;
	struct perf_ring *r = ring_alloc((u32)req->npages - 1, !req->writable, a->write_backward, watermark);
	int err;

	if (!r)
		return -ENOMEM;
	err = charge(r);
	if (err) {
		uncharge(r, false);
		ring_put(r);
		return err;
	}
	*out = r;
	return 0;
}

/*
 * The area for traces, whose place and size the program says in the control page. No PMU traces; a
 * program that asks rightly is told so, one that makes a mistake hears of that.
 */
static int map_aux(struct perf_event *e, const struct host_map_req *req)
{
	const struct perf_event_mmap_page *p;
	u64 offset, size;

	if (!e->ring)
		return -EINVAL;
	p = e->ring->pages[0];
	offset = READ_ONCE(p->aux_offset);
	size = READ_ONCE(p->aux_size);
	if (offset < e->ring->size + RING_PAGE || offset != req->pgoff * RING_PAGE ||
	    size != req->npages * RING_PAGE || req->npages & (req->npages - 1))
		return -EINVAL;
	return -EOPNOTSUPP;
}

/* mmap of e's file. 0 or -errno as Linux. P, m. */
int output_map(struct perf_event *e, const struct host_map_req *req, void *const **pages)
{
	u64 data = req->npages - 1;
	struct perf_ring *r = e->ring;
	int err;

	if (e->cpu < 0 && e->attr.inherit)
		return -EINVAL;	/* copies on several CPUs would write one ring */
	if (!req->shared)
		return -EINVAL;
	if (req->pgoff)
		return map_aux(e, req);
	if (data & (data - 1) || data > 1u << 20)
		return -EINVAL;
	if (r && r->maps) {
		if (r->nr_pages != data)
			return -EINVAL;
	} else {
		err = new_ring(e, req, &r);
		if (err)
			return err;
		userpage_init(r);
		output_set(e, r);
		ring_put(r);	/* e and, below, the mapping keep it */
		userpage_show(e);
	}
	r->refs++;
	r->maps++;
	e->map = r;
	e->nr_maps++;
	*pages = r->pages;
	return 0;
}

/* The last mapping of a ring has gone: nobody can read it, so everyone leaves it. */
static void abandon(struct perf_ring *r)
{
	while (!list_empty(&r->events))
		output_set(list_first(&r->events, struct perf_event, ring_node), NULL);
	uncharge(r, true);
}

void output_unmap(struct perf_event *e)
{
	struct perf_ring *r = e->map;

	ASSERT_PERF(r && e->nr_maps && r->maps);
	if (!--e->nr_maps) {
		if (e->page)
			userpage_hide(e);
		if (e->ring == r)
			output_set(e, NULL);
		e->map = NULL;
	}
	if (!--r->maps)
		abandon(r);
	ring_put(r);
}

/* --- poll ---------------------------------------------------------------------------------------------- */

/* Its task has gone and left nobody behind. */
static bool is_over(const struct perf_event *e)
{
	return READ_ONCE(e->state) == PERF_GONE && list_empty(&e->children);
}

u32 output_poll(struct perf_event *e, struct host_poll *p)
{
	u32 mask = HOST_POLLHUP;

	host_poll_wait(p, &e->waitq);
	host_mutex_lock(&perf_mutex);
	if (!is_over(e) && e->ring)
		mask = __atomic_exchange_n(&e->ring->ready, 0, __ATOMIC_ACQ_REL) ? HOST_POLLIN : 0;
	host_mutex_unlock(&perf_mutex);
	return mask;
}
