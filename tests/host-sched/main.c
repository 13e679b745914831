// SPDX-License-Identifier: MIT
/*
 * Models against which lib/heap.c, kernel/time/timer.c and kernel/sched/{fair,rt}.c are checked,
 * with random programs; a seed replays.
 *   heap   the first node is the smallest of those inside; heap_next visits each of them once
 *   timer  on 4 CPUs with a simulated clock: a timer fires once, on the CPU that started it, not
 *          before its time, and at it if that CPU's comparator is obeyed; a cancelled one does not
 *   fair   CPU time is proportional to weight; a sleeper's credit is bounded
 *   rt     the highest priority first, FIFO within one; throttled after 950 ms
 */
#include "rq.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cpu the_cpus[NR_CPUS];
struct cpu *test_cpu = the_cpus;
struct task *test_current;
bool test_irqs_off;
u32 nr_cpus = 4;
struct rq rqs[NR_CPUS];

static u64 seed, rng;

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (seed %lu)\n", (unsigned long)seed);
	abort();
}

static u32 rnd(u32 n)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(rng >> 33) % n;
}

/* --- heap */

#define NODES 300

static void check_heap(struct heap *h, const struct heap_node *nodes, const bool *in)
{
	u32 inside = 0, seen = 0;
	s64 least = INT64_MAX;

	for (int i = 0; i < NODES; i++) {
		if (in[i] && nodes[i].key < least)
			least = nodes[i].key;
		inside += in[i];
	}
	for (struct heap_node *n = heap_first(h); n; n = heap_next(n)) {
		ASSERT(in[n - nodes]);
		seen++;
	}
	ASSERT(seen == inside);
	ASSERT(!inside || heap_first(h)->key == least);
}

static void test_heap(void)
{
	struct heap_node nodes[NODES];
	bool in[NODES] = { false };
	struct heap h = { NULL };

	for (int step = 0; step < 3000; step++) {
		int i = rnd(NODES);

		if (in[i]) {
			heap_remove(&h, &nodes[i]);
		} else {
			nodes[i].key = (s64)rnd(100) - 50;
			heap_insert(&h, &nodes[i]);
		}
		in[i] = !in[i];
		if (step % 7 == 0)
			check_heap(&h, nodes, in);
	}
}

/* --- timers */

#define TIMERS 40

static ktime now, comparator[NR_CPUS];
static struct { struct timer t; int cpu; ktime due; u32 fired; } timers[TIMERS];

ktime ktime_now(void)
{
	return now;
}

void arch_timer_program(ktime expires)
{
	ASSERT(expires >= 0);	/* the hardware compares unsigned numbers */
	comparator[test_cpu->id] = expires;
}

void arch_timer_init_cpu(void)
{
	comparator[test_cpu->id] = KTIME_MAX;
}

static void start(int i, ktime when)
{
	timer_start(&timers[i].t, when);
	timers[i].cpu = test_cpu->id;
	timers[i].due = when > 0 ? when : 0;
}

static void fn(struct timer *t)
{
	int i = container_of(t, typeof(timers[0]), t) - timers;

	ASSERT(timers[i].cpu == (int)test_cpu->id);
	ASSERT(timers[i].due <= now && !timer_armed(t));
	timers[i].cpu = -1;
	timers[i].fired++;
	if (rnd(3) == 0)
		start(i, now + 1 + rnd(500));
}

/* The machine: the CPU whose comparator comes first takes its interrupt at that time. */
static void advance(ktime to)
{
	for (;;) {
		int first = 0;

		for (u32 c = 1; c < nr_cpus; c++)
			if (comparator[c] < comparator[first])
				first = c;
		if (comparator[first] > to)
			break;
		if (comparator[first] > now)
			now = comparator[first];
		test_cpu = &the_cpus[first];
		test_irqs_off = true;
		timer_interrupt();
		test_irqs_off = false;
	}
	now = to;
	for (int i = 0; i < TIMERS; i++)
		ASSERT(timers[i].cpu < 0 || timers[i].due > now);
}

static void test_timers(void)
{
	now = 1000;
	for (u32 c = 0; c < nr_cpus; c++) {
		the_cpus[c].id = c;
		test_cpu = &the_cpus[c];
		test_irqs_off = true;
		timer_init_cpu();
		test_irqs_off = false;
	}
	for (int i = 0; i < TIMERS; i++) {
		timer_setup(&timers[i].t, fn);
		timers[i].cpu = -1;
	}
	for (int step = 0; step < 2000; step++) {
		int i = rnd(TIMERS);

		test_cpu = &the_cpus[rnd(nr_cpus)];
		if (rnd(3)) {
			start(i, rnd(20) ? now + rnd(2000) : -(ktime)rnd(1000));
		} else {
			ASSERT(timer_cancel(&timers[i].t) == (timers[i].cpu >= 0));
			timers[i].cpu = -1;
		}
		ASSERT(timer_armed(&timers[i].t) == (timers[i].cpu >= 0));
		if (rnd(2))
			advance(now + rnd(300));
	}
	for (int i = 0; i < TIMERS; i++)
		timer_cancel_sync(&timers[i].t);
}

/* --- fair */

#define TASKS 6

static void test_fair(void)
{
	static struct task t[TASKS];
	struct rq *rq = &rqs[0];
	u64 total = 0, weights = 0;

	memset(rq, 0, sizeof(*rq));
	memset(t, 0, sizeof(t));
	for (int i = 0; i < TASKS; i++) {
		t[i].se.weight = nice_weight((int)rnd(21) - 10);
		weights += t[i].se.weight;
		fair_enqueue(rq, &t[i]);
	}
	for (int step = 0; step < 200000; step++) {
		struct task *next = fair_first(rq);
		u64 ns = 1000000 + rnd(4000000);

		fair_dequeue(rq, next);
		next->se.sum_exec += ns;
		total += ns;
		fair_charge(rq, next, ns);
		fair_enqueue(rq, next);
	}
	for (int i = 0; i < TASKS; i++) {
		double share = (double)t[i].se.sum_exec / total;
		double want = (double)t[i].se.weight / weights;

		ASSERT(share > want * 0.99 && share < want * 1.01);
	}
	/* One that slept all the time does not catch up. */
	struct task *first = fair_first(rq);

	fair_dequeue(rq, first);
	first->se.fair.key -= 1000000000000;
	fair_place(rq, first);
	ASSERT(first->se.fair.key == rq->min_vruntime - SLEEPER_CREDIT);
}

static void test_weights(void)
{
	ASSERT(nice_weight(0) == 1024 && nice_weight(-20) > 88000 && nice_weight(-20) < 89500);
	ASSERT(nice_weight(19) >= 14 && nice_weight(19) <= 16);
	for (int n = -20; n < 19; n++) {
		u32 a = nice_weight(n), b = nice_weight(n + 1);

		ASSERT(a * 100 >= b * 114 && a * 100 <= b * 136);
	}
}

/* --- real time */

static void test_rt(void)
{
	static struct task t[60];
	struct rq *rq = &rqs[0];
	u32 last_prio = 100, last_seq = 0;

	memset(rq, 0, sizeof(*rq));
	memset(t, 0, sizeof(t));
	rt_queue_init(&rq->rt);
	for (u32 i = 0; i < ARRAY_SIZE(t); i++) {
		t[i].rt_prio = 1 + rnd(MAX_RT_PRIO);
		t[i].pid = i;
		rt_enqueue(rq, &t[i], false);
	}
	for (u32 i = 0; i < ARRAY_SIZE(t); i++) {
		struct task *n = rt_first(rq);

		ASSERT((u32)n->rt_prio < last_prio ||
		       ((u32)n->rt_prio == last_prio && n->pid > last_seq));
		last_prio = n->rt_prio;
		last_seq = n->pid;
		rt_dequeue(rq, n);
	}
	ASSERT(!rt_first(rq) && !rq->rt.nr);
	for (now = 1; now < 3 * NSEC_PER_SEC; now += TICK_NSEC)
		rt_charge(rq, TICK_NSEC, now);
	ASSERT(rq->rt_throttled);
	rt_charge(rq, 0, rq->rt_period_end);
	ASSERT(!rq->rt_throttled);
}

int main(int argc, char **argv)
{
	u64 n = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	u64 from = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;

	test_weights();
	for (seed = from; seed < from + n; seed++) {
		rng = seed * 0x9e3779b97f4a7c15ULL;
		test_heap();
		test_timers();
		test_rt();
		if (seed % 20 == 0)
			test_fair();
	}
	printf("ok - heap, timer and run queues, %lu seeds\n", (unsigned long)n);
	return 0;
}
