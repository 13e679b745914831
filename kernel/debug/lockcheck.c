/* SPDX-License-Identifier: MIT */
/*
 * The lock checker: what it remembers and what it forbids.
 *
 * A graph of lock classes. Taking B while holding A draws the edge A -> B, once and for ever, with the
 * place where it was drawn. A deadlock by order needs a cycle, so an edge that would close one is
 * reported at once, whether or not the two tasks would have met:
 *
 *   order	the new edge closes a cycle
 *   same class	a second lock of a class without a word of the order (spin_lock_nested)
 *   interrupt	a class that an interrupt handler takes is held somewhere with IRQs on, or is
 *		connected by edges to one that is: then the handler can wait for what it interrupted
 *   itself	the same lock again on the same CPU
 *   wait	a spinlock that does not come free in a minute
 *
 * Taking a lock by trylock draws no edge to it, since nobody waits, but what is taken under it counts.
 *
 * The hot path looks only at bits of the edge matrix; the graph's own lock is taken for news alone. It
 * is a bare word, because the checker cannot check itself.
 */
#include <perch/boot.h>
#include <perch/kallsyms.h>
#include <perch/lockcheck.h>
#include <perch/mm.h>
#include <perch/sched.h>
#include <perch/spinlock.h>
#include <perch/wait.h>
#include <string.h>

#define MAX_CLASSES	512
#define MAX_EDGES	4096
#define MAX_TRACE	10
#define STUCK_NS	(60 * NSEC_PER_SEC)
#define CALLER		((u64)__builtin_return_address(0))

extern char _sdata[], _end[];

enum { IN_IRQ = 1, IRQS_ON = 2 };

static struct {
	const struct lock_class *class;
	const void *lock;	/* a static one */
	u32 sub;
	u32 usage;		/* IN_IRQ, IRQS_ON (atomic) */
	u64 pc[2];		/* who was first to do so */
} info[MAX_CLASSES];		/* graph_lock; entries below nr_classes stay as they are */

static struct edge {
	u16 from, to;
	u64 held_pc;		/* where "from" was taken */
	u64 trace[MAX_TRACE];	/* where "to" was wanted */
} edges[MAX_EDGES];		/* graph_lock */

static u64 matrix[MAX_CLASSES][MAX_CLASSES / 64];	/* graph_lock to write */
static u32 nr_classes = 1, nr_edges;			/* graph_lock */
static struct lock_class static_class[MAX_CLASSES / 2];	/* graph_lock */
static u32 nr_static;					/* graph_lock */
static u32 graph_lock;
static bool off;
static struct held_locks cpu_held[NR_CPUS];		/* own CPU, IRQs off */

void lockcheck_off(void)
{
	WRITE_ONCE(off, true);
}

static u64 graph_enter(void)
{
	u64 flags = irq_save();

	while (!atomic_cas(&graph_lock, 0u, 1u))
		cpu_relax();
	return flags;
}

static void graph_leave(u64 flags)
{
	store_release(&graph_lock, 0u);
	irq_restore(flags);
}

/* --- reports ------------------------------------------------------------------------------------ */

static const char *symbol_at(u64 addr)
{
	const char *best = "?", *name;
	u64 a, found = 0;
	char type;

	for (u32 i = 0; kallsyms_get(i, &a, &type, &name); i++)
		if (a <= addr && a >= found) {
			found = a;
			best = name;
		}
	return best;
}

static void show_class(const char *what, u16 id, u64 pc)
{
	char where[128];

	if (info[id].class->name)
		pr_err("  %s \"%s\" of %s%s, at %s\n", what, info[id].class->name, info[id].class->file,
		       info[id].sub ? " (nested)" : "", ksym_format(pc, where, sizeof(where)));
	else
		pr_err("  %s \"%s\" (%p), at %s\n", what, symbol_at((u64)info[id].lock), info[id].lock,
		       ksym_format(pc, where, sizeof(where)));
}

static void show_trace(const u64 *pc)
{
	char where[128];

	for (u32 i = 0; i < MAX_TRACE && pc[i]; i++)
		pr_err("      %s\n", ksym_format(pc[i], where, sizeof(where)));
}

static void show_edge(u16 from, u16 to)
{
	for (u32 i = 0; i < nr_edges; i++)
		if (edges[i].from == from && edges[i].to == to) {
			show_class("held  ", from, edges[i].held_pc);
			show_class("wanted", to, edges[i].trace[0]);
			show_trace(edges[i].trace);
			return;
		}
}

static void show_held(const struct held_locks *h, const char *whose)
{
	for (u32 i = 0; i < h->n; i++)
		show_class(whose, h->h[i].id, h->h[i].pc);
}

void lockcheck_show_held(void)
{
	show_held(&cpu_held[cpu_id()], "CPU holds");
	if (current)
		show_held(&current->held, "task holds");
}

static void begin_report(const char *what)
{
	off = true;
	graph_lock = 0;
	pr_err("lockcheck: %s\n", what);
}

/* --- the graph: graph_lock held ------------------------------------------------------------------- */

static bool has_edge(u16 from, u16 to)
{
	return matrix[from][to / 64] & BIT(to % 64);
}

static u16 parent[MAX_CLASSES], queue[MAX_CLASSES];

/* Breadth first from a class along the edges (or against them) to one that matches; 0: none. The way
 * back is in parent[]. */
static u16 search(u16 start, bool against, bool (*match)(u16 id, u16 arg), u16 arg)
{
	u32 head = 0, tail = 0;

	memset(parent, 0, sizeof(parent));
	queue[tail++] = start;
	parent[start] = start;
	while (head < tail) {
		u16 at = queue[head++];

		if (match(at, arg))
			return at;
		for (u16 n = 1; n < nr_classes; n++)
			if (!parent[n] && (against ? has_edge(n, at) : has_edge(at, n))) {
				parent[n] = at;
				queue[tail++] = n;
			}
	}
	return 0;
}

static bool is_class(u16 id, u16 arg)	{ return id == arg; }
static bool has_usage(u16 id, u16 arg)	{ return info[id].usage & arg; }

/* The edges of a path that search() found, last one first. */
static void show_path(u16 start, u16 end, bool against)
{
	while (end != start) {
		u16 p = parent[end];

		pr_err(" the other chain:\n");
		if (against)
			show_edge(end, p);
		else
			show_edge(p, end);
		end = p;
	}
}

static void check_cycle(u16 from, u16 to, u64 held_pc, u64 pc)
{
	if (!search(to, false, is_class, from))
		return;
	begin_report("wrong lock order");
	pr_err(" this chain:\n");
	show_class("held  ", from, held_pc);
	show_class("wanted", to, pc);
	show_path(to, from, false);
	panic("lockcheck: wrong lock order");
}

/* The path a ->* b with a taken in interrupts, b held with IRQs on, is a deadlock to be. */
static void check_irq_path(u16 a, u16 b)
{
	if (!search(a, false, is_class, b))
		return;
	begin_report("a lock of an interrupt handler depends on one that is held with IRQs on");
	show_class("taken in an interrupt:", a, info[a].pc[0]);
	show_class("held with IRQs on:    ", b, info[b].pc[1]);
	show_path(a, b, false);
	panic("lockcheck: interrupt and lock: deadlock");
}

static void check_irq_around(u16 from, u16 to)
{
	u16 b = search(to, false, has_usage, IRQS_ON);
	u16 a = b ? search(from, true, has_usage, IN_IRQ) : 0;

	if (a)
		check_irq_path(a, b);
}

static noinline void new_edge(u16 from, u16 to, u64 held_pc, u64 pc)
{
	u64 flags = graph_enter();
	struct edge *e = &edges[nr_edges];

	if (has_edge(from, to) || off) {
		graph_leave(flags);
		return;
	}
	check_cycle(from, to, held_pc, pc);
	if (nr_edges == MAX_EDGES)
		panic("lockcheck: more than %d edges", MAX_EDGES);
	e->from = from;
	e->to = to;
	e->held_pc = held_pc;
	e->trace[0] = pc;
	if (current)
		arch_stack_trace(current, e->trace, MAX_TRACE);
	nr_edges++;
	matrix[from][to / 64] |= BIT(to % 64);
	check_irq_around(from, to);
	graph_leave(flags);
}

static noinline void new_usage(u16 id, u32 usage, u64 pc)
{
	u64 flags = graph_enter();

	if (!(info[id].usage & usage) && !off) {
		info[id].usage |= usage;
		info[id].pc[usage == IRQS_ON] = pc;
		check_irq_around(id, id);
	}
	graph_leave(flags);
}

/* --- classes ---------------------------------------------------------------------------------------- */

static struct lock_class *class_of_static(const void *lock)
{
	ASSERT(nr_static < ARRAY_SIZE(static_class));
	return &static_class[nr_static++];
}

static noinline u16 new_class(struct lock_class **class, const void *lock, u32 sub)
{
	u64 flags = graph_enter();
	struct lock_class *c = *class;
	u16 id;

	if (!c && !((const char *)lock >= _sdata && (const char *)lock < _end)) {
		begin_report("a lock that nobody initialised");
		panic("lockcheck: lock %p was never initialised", lock);
	}
	if (!c)
		c = *class = class_of_static(lock);
	id = c->id[sub];
	if (!id) {
		if (nr_classes == MAX_CLASSES)
			panic("lockcheck: more than %d classes of locks", MAX_CLASSES);
		id = nr_classes++;
		info[id].class = c;
		info[id].lock = lock;
		info[id].sub = sub;
		store_release(&c->id[sub], id);
	}
	graph_leave(flags);
	return id;
}

static u16 class_id(struct lock_class **class, const void *lock, u32 sub)
{
	struct lock_class *c = *class;
	u16 id;

	ASSERT(sub < LOCK_SUBCLASSES);
	id = c ? load_acquire(&c->id[sub]) : 0;
	return likely(id) ? id : new_class(class, lock, sub);
}

/* --- who holds what ----------------------------------------------------------------------------------- */

static void push(struct held_locks *s, u16 id, const void *lock, u64 pc)
{
	if (s->n == LOCK_MAX_HELD) {
		begin_report("too many locks held");
		lockcheck_show_held();
		panic("lockcheck: more than %d locks held", LOCK_MAX_HELD);
	}
	s->h[s->n].id = id;
	s->h[s->n].lock = lock;
	s->h[s->n].pc = pc;
	barrier();	/* an interrupt pushes behind it and pops again */
	s->n++;
}

static void pop(struct held_locks *s, const void *lock)
{
	for (u32 i = s->n; i-- > 0;)
		if (s->h[i].lock == lock) {
			memmove(&s->h[i], &s->h[i + 1], (s->n - i - 1) * sizeof(s->h[0]));
			s->n--;
			return;
		}
	begin_report("a lock is given up by somebody who does not hold it");
	lockcheck_show_held();
	panic("lockcheck: lock %p is not held here", lock);
}

static noinline void same_class(const struct held_lock *h, u16 id, const void *lock, u64 pc)
{
	begin_report(h->lock == lock ? "the same lock again" : "two locks of one class, no order said");
	show_class("held  ", h->id, h->pc);
	show_class("wanted", id, pc);
	panic(h->lock == lock ? "lockcheck: lock %p taken twice" : "lockcheck: nested lock %p", lock);
}

static void check_against(const struct held_locks *s, u16 id, const void *lock, u64 pc)
{
	for (u32 i = 0; i < s->n; i++) {
		const struct held_lock *h = &s->h[i];

		if (unlikely(h->id == id))
			same_class(h, id, lock, pc);
		if (unlikely(!has_edge(h->id, id)))
			new_edge(h->id, id, h->pc, pc);
	}
}

static void check_order(u16 id, const void *lock, u64 pc)
{
	check_against(&cpu_held[cpu_id()], id, lock, pc);
	if (current && !in_irq())
		check_against(&current->held, id, lock, pc);
}

/* --- spinlocks ---------------------------------------------------------------------------------------- */

static void note_usage(u16 id, u64 pc)
{
	u32 usage = in_irq() ? IN_IRQ : irqs_off() ? 0 : IRQS_ON;

	if (unlikely(usage & ~info[id].usage))
		new_usage(id, usage, pc);
}

static bool take(spinlock *l)
{
	if (atomic_read(&l->locked) || !atomic_cas(&l->locked, 0u, 1u))
		return false;
	this_cpu()->spin_depth++;
	l->owner = cpu_id() + 1;
	return true;
}

static void got(spinlock *l, u16 id, u64 pc)
{
	u64 flags = irq_save();

	push(&cpu_held[cpu_id()], id, l, pc);
	irq_restore(flags);
}

static noinline void wait_for(spinlock *l, u16 id, u64 pc)
{
	ktime end = ktime_now() + STUCK_NS;

	while (!take(l)) {
		cpu_relax();
		if (ktime_now() < end || off)
			continue;
		begin_report("a spinlock does not come free");
		show_class("wanted", id, pc);
		panic("lockcheck: spinlock %p held by CPU %d for a minute", l, (int)l->owner - 1);
	}
}

static void lock_at(spinlock *l, u32 sub, u64 pc)
{
	u16 id;

	if (unlikely(off)) {
		while (!take(l))
			cpu_relax();
		return;
	}
	id = class_id(&l->class, l, sub);
	check_order(id, l, pc);
	note_usage(id, pc);
	if (unlikely(!take(l)))
		wait_for(l, id, pc);
	got(l, id, pc);
}

void spin_lock(spinlock *l)
{
	lock_at(l, 0, CALLER);
}

void spin_lock_nested(spinlock *l, u32 sub)
{
	lock_at(l, sub, CALLER);
}

bool spin_trylock(spinlock *l)
{
	u16 id;

	if (!take(l))
		return false;
	if (likely(!off)) {
		id = class_id(&l->class, l, 0);
		note_usage(id, CALLER);
		got(l, id, CALLER);
	}
	return true;
}

void spin_unlock(spinlock *l)
{
	u64 flags;

	if (likely(!off)) {
		flags = irq_save();
		pop(&cpu_held[cpu_id()], l);
		ASSERT(l->locked && l->owner == cpu_id() + 1);
		irq_restore(flags);
	}
	this_cpu()->spin_depth--;
	l->owner = 0;
	store_release(&l->locked, 0);
}

/* --- mutexes ------------------------------------------------------------------------------------------ */

void lockcheck_mutex_order(struct mutex *m, u32 sub, u64 pc)
{
	if (likely(!off))
		check_order(class_id(&m->class, m, sub), m, pc);
}

void lockcheck_mutex_got(struct mutex *m, u32 sub, u64 pc)
{
	if (likely(!off))
		push(&current->held, class_id(&m->class, m, sub), m, pc);
}

void lockcheck_mutex_drop(struct mutex *m)
{
	if (likely(!off))
		pop(&current->held, m);
}

/* --- contexts ------------------------------------------------------------------------------------------ */

void irq_state_bad(const char *what)
{
	begin_report(what);
	lockcheck_show_held();
	panic("lockcheck: IRQ state: %s", what);
}

static void bad_sleep(const char *what, const char *why)
{
	begin_report("sleep where nobody may");
	lockcheck_show_held();
	panic("lockcheck: %s may sleep, but is called %s", what, why);
}

void might_sleep_at(const char *what)
{
	if (unlikely(off) || !current)
		return;
	if (unlikely(in_irq()))
		bad_sleep(what, "in an interrupt");
	if (unlikely(this_cpu()->spin_depth))
		bad_sleep(what, "with a spinlock held");
	if (unlikely(irqs_off()))
		bad_sleep(what, "with IRQs off");
}

/* A fault takes mm->lock: whoever touches user memory must be able to. */
void might_fault(void)
{
	might_sleep_at("access to user memory");
	if (current && current->mm && likely(!off))
		lockcheck_mutex_order(&current->mm->lock, 0, CALLER);
}

void lockcheck_user_return(u64 syscall)
{
	const struct held_locks *c = &cpu_held[cpu_id()];

	if (likely(!c->n && !current->held.n && !irqs_off()) || off)
		return;
	begin_report("a system call leaves something behind");
	lockcheck_show_held();
	panic("lockcheck: system call %lu ends with %u spinlocks, %u mutexes, IRQs %s",
	      (unsigned long)syscall, c->n, current->held.n, irqs_off() ? "off" : "on");
}

u32 lockcheck_irq_enter(void)
{
	const struct held_locks *s = &cpu_held[cpu_id()];

	for (u32 i = 0; i < s->n && !off; i++)
		if (!(info[s->h[i].id].usage & IRQS_ON))
			new_usage(s->h[i].id, IRQS_ON, s->h[i].pc);
	return s->n;
}

void lockcheck_irq_exit(u32 held)
{
	if (likely(cpu_held[cpu_id()].n == held && irqs_off()) || off)
		return;
	begin_report("an interrupt handler leaves something behind");
	lockcheck_show_held();
	panic("lockcheck: %u spinlocks before an interrupt, %u after it", held,
	      cpu_held[cpu_id()].n);
}
