/* SPDX-License-Identifier: MIT */
/*
 * Random programs against a model.
 *
 * The model knows of every event (root) in which tasks it has an instance, whether that is on, and
 * how long it was on while its task ran. Because every event counts a fixed number per nanosecond,
 * that says what read() must return:
 *
 *   time_enabled == model, exactly, over fork, exit, exec, migration and family switches
 *   time_running <= time on a matching CPU; equal if there are counters for all
 *   count == rate * time_running, exactly (nothing lost at a wrap, nothing twice)
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

#define MAX_ROOTS 48
#define MAX_INST 1024

struct root {
	bool used;
	int fd;
	int cpu;		/* filter or CPU */
	bool cpuwide, inherit, on_exec, remove_on_exec, sw, clock, faults, pinned, wide;
	u32 rate;
	struct root *leader;
	bool hwgroup;		/* some member needs a counter */
	u64 enabled, match, events;	/* model */
	u64 base_value, base_running, base_events;	/* at the last RESET */
	u64 last_enabled, last_running;
	struct task *opener;
};

struct inst {
	struct root *r;
	struct task *t;		/* NULL: CPU-wide */
	bool on, on_exec;
};

static struct root roots[MAX_ROOTS];
static struct inst insts[MAX_INST];
static u32 nr_insts;
static bool crowded;		/* more events than counters are allowed */
bool sim_trace, sim_check_each;
static u32 nr_wide, nr_hw;
static bool nested;		/* nobody else's call may be slipped in now */

#define TRACE(...) do { if (sim_trace) printf(__VA_ARGS__); } while (0)

static struct inst *find(struct root *r, struct task *t)
{
	for (u32 i = 0; i < nr_insts; i++)
		if (insts[i].r == r && insts[i].t == t)
			return &insts[i];
	return NULL;
}

static bool is_on(const struct inst *i)
{
	struct inst *l = find(i->r->leader, i->t);

	return i->on && l && l->on;
}

static void model_advance(u64 ns)
{
	for (u32 n = 0; n < nr_insts; n++) {
		struct inst *i = &insts[n];
		int cpu = i->t ? i->t->cpu : i->r->cpu;

		if (!is_on(i) || cpu < 0)
			continue;
		i->r->enabled += ns;
		if (i->r->cpu < 0 || i->r->cpu == cpu)
			i->r->match += ns;
	}
}

static struct root *pick_root(void)
{
	for (int n = 0; n < 16; n++) {
		struct root *r = &roots[sim_rand(MAX_ROOTS)];

		if (r->used)
			return r;
	}
	return NULL;
}

static void add_inst(struct root *r, struct task *t, bool on, bool on_exec)
{
	CHECK(nr_insts < MAX_INST);
	insts[nr_insts++] = (struct inst){ r, t, on, on_exec };
}

static void drop_insts(struct root *r, struct task *t)
{
	for (u32 i = 0; i < nr_insts;)
		if ((!r || insts[i].r == r) && (!t || insts[i].t == t))
			insts[i] = insts[--nr_insts];
		else
			i++;
}

/* --- checks ------------------------------------------------------------------------------------ */

static void check_values(struct root *r, u64 value, u64 enabled, u64 running)
{
	struct perf_event *e = sim_event(r->fd);
	bool always = !r->hwgroup || !crowded;

	if (e->state == PERF_ERROR)
		fail("pinned event in error although there is room");
	if (enabled != r->enabled)
		fail("fd %d: enabled %lu, model %lu", r->fd, enabled, r->enabled);
	if (running > r->match || (always && running != r->match))
		fail("fd %d: running %lu, could have run %lu", r->fd, running, r->match);
	if (enabled < r->last_enabled || running < r->last_running)
		fail("fd %d: a time went back", r->fd);
	r->last_enabled = enabled;
	r->last_running = running;
	if (r->faults) {
		if (value - r->base_value > r->events - r->base_events ||
		    (always && value - r->base_value != r->events - r->base_events))
			fail("fd %d: faults %lu, happened %lu", r->fd, value - r->base_value,
			     r->events - r->base_events);
	} else if (r->rate && value - r->base_value != r->rate * (running - r->base_running)) {
		fail("fd %d: count %lu since %lu running, rate %u", r->fd, value - r->base_value,
		     running - r->base_running, r->rate);
	}
}

static bool read_root(struct root *r, u64 v[3])
{
	u64 buf[64];
	long n = sim_read(r->fd, buf, sizeof(buf));
	u64 rf = sim_event(r->fd)->attr.read_format;

	if (n < 0 && sim.fail_after)
		return false;
	if (!(rf & PERF_FORMAT_GROUP)) {
		CHECK_EQ(n, 24);
		memcpy(v, buf, 24);
		return true;
	}
	if (n == -ECHILD)
		return false;
	CHECK(n >= 32);
	/* Values of this root inside its group: found by id. */
	for (u32 i = 0; i < buf[0]; i++)
		if (buf[3 + 2 * i + 1] == sim_event(r->fd)->id) {
			v[0] = buf[3 + 2 * i];
			v[1] = buf[1];
			v[2] = buf[2];
			return r->leader == r;	/* the times are the leader's */
		}
	fail("fd %d: not in its own group", r->fd);
}

static void check_root(struct root *r)
{
	u64 v[3];

	if (read_root(r, v))
		check_values(r, v[0], v[1], v[2]);
}

/* --- operations ----------------------------------------------------------------------------------- */

static bool room_for_hw(bool wide)
{
	/* Pessimistic: all hardware events of the machine at once on one CPU. */
	return crowded || (wide ? nr_wide < 1 && nr_hw <= 4 : nr_hw + 2 * nr_wide < 6);
}

static void op_open(void)
{
	struct perf_event_attr a = { .size = sizeof(a) };
	struct root *r = NULL, *g = NULL;
	struct task *t = NULL;
	int cpu = -1, pid;
	u32 kind = sim_rand(10);
	long fd;

	for (u32 i = 0; i < MAX_ROOTS && !r; i++)
		if (!roots[i].used)
			r = &roots[i];
	if (!r)
		return;
	*r = (struct root){ 0 };
	r->wide = kind < 5 && !sim_rand(6);
	if (kind < 5 && !room_for_hw(r->wide))
		kind = 5 + sim_rand(5);
	if (kind < 5) {
		a.type = PERF_TYPE_RAW;
		a.config = sim_rand(2) ? 0x11 : 0x100 + sim_rand(3);
		a.config1 = r->wide;
		r->rate = sim_rate(a.config);
	} else {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = kind < 8 ? PERF_COUNT_SW_TASK_CLOCK - sim_rand(2) : PERF_COUNT_SW_PAGE_FAULTS;
		r->clock = kind < 8;
		r->faults = !r->clock;
		r->rate = r->clock;
		r->sw = true;
		r->wide = false;
	}
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.disabled = sim_rand(3) == 0;
	if (sim_rand(4)) {
		do
			t = &sim.tasks[sim_rand(SIM_TASKS)];
		while (!t->used || t->dead);
		pid = (int)t->tid;
		cpu = sim_rand(3) ? -1 : (int)sim_rand(SIM_CPUS);
		a.inherit = sim_rand(3) != 0;
		a.enable_on_exec = sim_rand(4) == 0;
		a.remove_on_exec = !a.enable_on_exec && sim_rand(8) == 0;
		a.inherit_stat = a.inherit && sim_rand(10) == 0;
	} else {
		pid = -1;
		cpu = (int)sim_rand(SIM_CPUS);
	}
	if (sim_rand(3) == 0)
		g = pick_root();
	if (g && (find(g, t) == NULL || g->leader != g || g->cpu != cpu || g->cpuwide != !t ||
		  g->inherit != a.inherit))
		g = NULL;
	/* An exec takes members out of the groups of one task only: too much for this model. */
	if (g && (a.remove_on_exec || g->remove_on_exec))
		g = NULL;
	if (g && sim_rand(3) == 0)
		a.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (!g && !crowded && sim_rand(6) == 0)
		a.pinned = 1;
	fd = sim_open(&a, pid, cpu, g ? g->fd : -1, 0);
	TRACE("open pid %d cpu %d type %u cfg %lx group %d -> %ld\n", pid, cpu, a.type, a.config,
	      g ? g->fd : -1, fd);
	if (fd == -ENOMEM || fd == -EMFILE || (fd == -ESRCH && t->dead))
		return;
	if ((fd == -EINVAL || fd == -ENODEV) && g)	/* the group does not fit, or has changed or ended while we slept */
		return;
	if (fd == -EBADF && g && !g->used)
		return;
	if (fd < 0)
		fail("open: %ld", fd);
	r->used = true;
	r->fd = (int)fd;
	r->cpu = cpu;
	r->cpuwide = !t;
	r->inherit = a.inherit;
	r->on_exec = a.enable_on_exec;
	r->remove_on_exec = a.remove_on_exec;
	r->leader = g ? g : r;
	r->pinned = a.pinned;
	r->hwgroup = !r->sw || (g && g->hwgroup);
	r->opener = host_current();
	if (g && !r->sw)
		for (u32 i = 0; i < MAX_ROOTS; i++)
			if (roots[i].used && roots[i].leader == g)
				roots[i].hwgroup = true;
	nr_hw += !r->sw;
	nr_wide += r->wide;
	add_inst(r, t, !a.disabled, a.enable_on_exec);
}

static void op_close(void)
{
	struct root *r = pick_root();

	if (!r)
		return;
	check_root(r);
	if (!r->used)
		return;	/* somebody else closed it while we slept */
	TRACE("close %d\n", r->fd);
	r->used = false;
	drop_insts(r, NULL);
	nr_hw -= !r->sw;
	nr_wide -= r->wide;
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].used && roots[i].leader == r)
			roots[i].leader = &roots[i];
	nested = true;		/* the model is ahead until it is closed */
	sim_close(r->fd);
	nested = false;
	/* Once a software member has lost its hardware, it runs always: too late for the exact rule. */
}

static void set_on(struct root *r, bool on)
{
	for (u32 i = 0; i < nr_insts; i++)
		if (insts[i].r == r)
			insts[i].on = on;
}

static void op_onoff(void)
{
	struct root *r = pick_root();
	bool on = sim_rand(2), group = sim_rand(3) == 0;

	if (!r)
		return;
	TRACE("%s %d%s\n", on ? "enable" : "disable", r->fd, group ? " group" : "");
	CHECK_EQ(sim_ioctl(r->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, group), 0);
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (&roots[i] == r || (group && roots[i].used && roots[i].leader == r->leader))
			set_on(&roots[i], on);
}

static void op_reset(void)
{
	struct root *r = pick_root();
	u64 v[3];

	if (!r || sim_event(r->fd)->attr.read_format & PERF_FORMAT_GROUP)
		return;
	nested = true;		/* until the model knows of it */
	CHECK_EQ(sim_ioctl(r->fd, PERF_EVENT_IOC_RESET, 0), 0);
	if (!read_root(r, v))
		fail("no read after reset");
	nested = false;
	TRACE("reset %d\n", r->fd);
	CHECK_EQ(v[0], sim_event(r->fd)->child_count);
	r->base_value = v[0];
	r->base_running = v[2];
	r->base_events = r->events;
}

static void op_fault(void)
{
	struct task *t = host_current();

	perf_sw_event(PERF_COUNT_SW_PAGE_FAULTS, 1, USER_REGS, 0);
	for (u32 n = 0; n < nr_insts; n++) {
		struct inst *i = &insts[n];
		bool here = i->r->cpu < 0 || i->r->cpu == (int)sim.cpu;

		if (i->r->faults && is_on(i) && here && (i->t ? i->t == t : i->r->cpuwide))
			i->r->events++;
	}
}

static void op_fork(void)
{
	struct task *me = host_current(), *t;
	u32 n = nr_insts;

	if (nr_insts > MAX_INST / 2)
		return;
	t = sim_fork(sim_rand(2));
	TRACE("fork %u -> %u\n", me->tid, t ? t->tid : 0);
	if (!t)
		return;
	n = nr_insts;
	for (u32 i = 0; i < n; i++)
		if (insts[i].t == me && insts[i].r->inherit)
			add_inst(insts[i].r, t, insts[i].on, insts[i].r->on_exec);
}

static void op_exit(void)
{
	struct task *t = host_current();
	u32 live = 0;

	for (u32 i = 0; i < SIM_TASKS; i++)
		live += sim.tasks[i].used && !sim.tasks[i].dead;
	if (t->idle || live < 3)
		return;
	TRACE("exit %u\n", t->tid);
	sim_exit(sim.cpu);
	drop_insts(NULL, t);
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].opener == t)
			roots[i].opener = NULL;	/* nobody's prctl reaches them any more */
}

static void op_exec(void)
{
	struct task *t = host_current();

	bool there[MAX_ROOTS];

	TRACE("exec %u\n", t->tid);
	for (u32 i = 0; i < MAX_ROOTS; i++)
		there[i] = roots[i].used && sim_event(roots[i].fd)->ctx;
	perf_exec(false);
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (there[i] && roots[i].used && !sim_event(roots[i].fd)->ctx)
			roots[i].opener = NULL;	/* removed: nobody's prctl reaches its copies */
	for (u32 i = 0; i < nr_insts; i++)
		if (insts[i].t == t && insts[i].on_exec) {
			insts[i].on = true;
			insts[i].on_exec = false;
		}
	/* The root's own flag is used up if its own task did it; which instance is the root's does not
	 * matter to the model but for later copies. */
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].used)
			roots[i].on_exec = sim_event(roots[i].fd)->on_exec;
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].used && roots[i].remove_on_exec)
			drop_insts(&roots[i], t);
}

static struct task *waiter(void)
{
	for (int n = 0; n < 16; n++) {
		struct task *t = &sim.tasks[sim_rand(SIM_TASKS)];

		if (t->used && !t->dead && t->cpu < 0)
			return t;
	}
	return NULL;
}

static void op_check(void)
{
	struct root *r = pick_root();

	if (r)
		check_root(r);
}

static void op_prctl(void)
{
	bool on = sim_rand(2);

	TRACE("prctl %d by %u\n", on, host_current()->tid);
	perf_prctl(on);
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].used && roots[i].opener == host_current())
			set_on(&roots[i], on);
}

static void call(void)
{
	switch (sim_rand(16)) {
	case 0: case 1: op_open(); break;
	case 2: op_close(); break;
	case 3: case 4: case 5: op_onoff(); break;
	case 6: op_reset(); break;
	case 7: case 8: op_fork(); break;
	case 9: op_exit(); break;
	case 10: op_exec(); break;
	case 11: op_prctl(); break;
	default: op_check(); break;
	}
}

/* Somebody else's system call while ours sleeps: on another CPU. */
static void call_elsewhere(void)
{
	u32 me = sim.cpu, c = sim_rand(SIM_CPUS);

	if (nested || c == me || sim.irq_off[c] || sim.curr[c]->idle)
		return;
	nested = true;
	sim.cpu = c;
	if (sim_rand(2))
		op_check();	/* what changes the model must not come between a call and its model */
	sim.cpu = me;
	nested = false;
}

static void step(void)
{
	u32 c = sim_rand(SIM_CPUS);

	sim.cpu = c;
	switch (sim_rand(8)) {
	case 0: case 1: case 2: {
		struct task *t = waiter();

		TRACE("cpu %u: %u -> %u\n", c, sim.curr[c]->tid, t ? t->tid : 0);
		sim_switch(c, t);
		break;
	}
	case 3:
		TRACE("time\n");
		sim_advance(1 + sim_rand(sim_rand(4) ? 20000 : 3000000));
		break;
	default:
		if (sim.curr[c]->idle)
			break;
		if (sim_rand(4) == 0)
			op_fault();
		else
			call();
	}
}

/* The stream of one step: what the steps before drew does not matter to it. */
static u64 stream(u64 seed, u64 step)
{
	u64 x = seed * 0x9e3779b97f4a7c15ULL + (step + 1) * 0xd1b54a32d192ed03ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (x ^ x >> 31) | 1;
}

/* skip: NULL, or for each step whether it is left out. */
void random_run(u64 seed, u32 ops, const u8 *skip)
{
	static const u32 widths[] = { 18, 24, 32, 64 };

	sim_start(seed, widths[seed % 4]);
	memset(roots, 0, sizeof(roots));
	nr_insts = nr_hw = nr_wide = 0;
	crowded = seed & 1;
	sim.late_irq = seed & 4;
	sim.chaos = seed & 2 ? 20 : 0;
	sim.chaos_call = call_elsewhere;
	sim_on_advance = model_advance;
	for (u32 i = 0; i < 8; i++)
		sim_task();
	for (u32 i = 0; i < ops; i++) {
		if (skip && skip[i])
			continue;
		sim.seed = stream(seed, i);
		TRACE("[%u] ", i);
		if (seed % 5 == 0 && sim_rand(40) == 0)
			sim.fail_after = 1 + sim_rand(6);
		step();
		sim.fail_after = 0;
		for (u32 k = 0; sim_check_each && !sim.chaos && k < MAX_ROOTS; k++)
			if (roots[k].used)
				check_root(&roots[k]);
	}
	sim.chaos = 0;
	for (u32 i = 0; i < MAX_ROOTS; i++)
		if (roots[i].used)
			check_root(&roots[i]);
	sim_end();
	sim_on_advance = NULL;
}
