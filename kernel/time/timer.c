/* SPDX-License-Identifier: MIT */
/*
 * One-shot timers: a heap for each CPU, and that CPU's comparator programmed for the first of it.
 *
 * The comparator may be programmed too early (a timer was cancelled, or replaced by a later one):
 * the interrupt then finds nothing and programs the right time. That makes cancelling cheap, and
 * timeouts are mostly cancelled.
 *
 * timer.cpu says whose queue holds the timer. It goes from -1 to a CPU by compare-and-swap under
 * that CPU's queue lock, and back under the same lock: so even two CPUs that start one timer at the
 * same time insert it once. A timer whose fn runs is in the queue's running slot, set before the
 * timer leaves the queue: timer_cancel_sync never misses it.
 */
#include <perch/cpu.h>
#include <perch/spinlock.h>
#include <perch/time.h>

static struct timer_queue {
	spinlock lock;		/* irqsave; under any other lock, takes none */
	struct heap heap;	/* lock */
	ktime programmed;	/* what the comparator is set to; lock */
	struct timer *running;	/* own CPU writes */
} __aligned(64) queues[NR_CPUS] = {
	[0 ... NR_CPUS - 1] = { .programmed = KTIME_MAX },
};

void timer_setup(struct timer *t, void (*fn)(struct timer *))
{
	*t = (struct timer){ .fn = fn, .cpu = -1 };
}

bool timer_armed(const struct timer *t)
{
	return atomic_read(&t->cpu) >= 0;
}

static void program(struct timer_queue *q, ktime expires)
{
	q->programmed = expires;
	arch_timer_program(expires);
}

static void program_first(struct timer_queue *q)
{
	struct heap_node *first = heap_first(&q->heap);

	program(q, first ? first->key : KTIME_MAX);
}

static bool insert(struct timer_queue *q, struct timer *t, ktime expires)
{
	if (!atomic_cas(&t->cpu, -1, (int)cpu_id()))
		return false;
	t->expires = t->node.key = expires;
	heap_insert(&q->heap, &t->node);
	if (expires < q->programmed)
		program(q, expires);
	return true;
}

void timer_start(struct timer *t, ktime expires)
{
	u64 flags = irq_save();
	struct timer_queue *q = &queues[cpu_id()];
	bool done;

	ASSERT(t->fn);
	if (expires < 0)	/* before the machine started: now */
		expires = 0;
	do {
		timer_cancel(t);
		spin_lock(&q->lock);
		done = insert(q, t, expires);
		spin_unlock(&q->lock);
	} while (!done);
	irq_restore(flags);
}

bool timer_cancel(struct timer *t)
{
	for (;;) {
		int cpu = load_acquire(&t->cpu);
		struct timer_queue *q;
		u64 flags;

		if (cpu < 0)
			return false;
		q = &queues[cpu];
		flags = spin_lock_irqsave(&q->lock);
		if (t->cpu == cpu) {
			heap_remove(&q->heap, &t->node);
			store_release(&t->cpu, -1);
			spin_unlock_irqrestore(&q->lock, flags);
			return true;
		}
		spin_unlock_irqrestore(&q->lock, flags);
	}
}

static bool fn_runs(const struct timer *t)
{
	for (u32 c = 0; c < nr_cpus; c++)
		if (load_acquire(&queues[c].running) == t)
			return true;
	return false;
}

bool timer_cancel_sync(struct timer *t)
{
	bool was_armed = false;

	do {
		was_armed |= timer_cancel(t);
		while (fn_runs(t))
			cpu_relax();
	} while (timer_armed(t));	/* fn armed it again */
	return was_armed;
}

/* Take the first timer out if it is due; its fn counts as running from then on. */
static struct timer *pop_due(struct timer_queue *q, ktime now)
{
	struct heap_node *n = heap_first(&q->heap);
	struct timer *t;

	if (!n || n->key > now)
		return NULL;
	t = container_of(n, struct timer, node);
	heap_remove(&q->heap, n);
	atomic_set(&q->running, t);
	store_release(&t->cpu, -1);
	return t;
}

/* Timers that became due while others ran wait for the next interrupt, which follows at once. */
void timer_interrupt(void)
{
	struct timer_queue *q = &queues[cpu_id()];
	ktime now = ktime_now();
	struct timer *t;

	ASSERT(irqs_off());
	spin_lock(&q->lock);
	q->programmed = 0;	/* timers that are armed meanwhile: programmed once, below */
	while ((t = pop_due(q, now))) {
		spin_unlock(&q->lock);
		t->fn(t);	/* may free t */
		store_release(&q->running, NULL);
		spin_lock(&q->lock);
	}
	program_first(q);
	spin_unlock(&q->lock);
}

/* The comparator is off at start; timers may have been armed before. */
void timer_init_cpu(void)
{
	struct timer_queue *q = &queues[cpu_id()];
	u64 flags;

	arch_timer_init_cpu();
	flags = spin_lock_irqsave(&q->lock);
	program_first(q);
	spin_unlock_irqrestore(&q->lock, flags);
}
