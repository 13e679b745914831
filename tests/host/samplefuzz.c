/* SPDX-License-Identifier: MIT */
/*
 * Random programs that sample: open, map, redirect, enable, fork, switch, exit, and pages full of rubbish.
 * Every record of an honest mapping is judged.
 */
#include "tape.h"

#define EVENTS 12

struct player {
	int fd;			/* -1: none */
	struct perf_event_attr a;
	u64 id;
	struct tape tape;	/* file NULL: not mapped */
	bool hostile;
};
static struct player players[EVENTS];
static u64 known[4096];		/* ids ever given: attr by index */
static struct perf_event_attr known_attr[4096];
static u32 nr_known;

static const struct perf_event_attr *attr_of_id(u64 id)
{
	for (u32 i = 0; i < nr_known; i++)
		if (known[i] == id)
			return &known_attr[i];
	fail("a record of event %lu, which never was", (unsigned long)id);
}

static void judge(struct tape *t, u32 most)
{
	static struct rec r;

	while (most-- && take(t, &r)) {
		const struct perf_event_attr *a;

		if (r.type == PERF_RECORD_SAMPLE) {
			a = attr_of_id(r.w[1]);
			decode_sample(&r, a, r.w[1], 0);
		} else {
			decode_other(&r, attr_of_id(r.w[r.size / 8 - 1]));
		}
	}
}

static void play_open(struct player *p)
{
	static const u64 kinds[][2] = { { CLOCK }, { RAW }, { ALIGN },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES }, { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY } };
	u32 k = sim_rand(ARRAY_SIZE(kinds));
	int pid = 0, cpu = (int)sim_rand(SIM_CPUS + 1) - 1;
	long fd;

	p->a = attr((u32)kinds[k][0], kinds[k][1], k == 1 || !k ? 20000 + sim_rand(200000) : 1 + sim_rand(3),
		    PERF_SAMPLE_IDENTIFIER | sim_rand(1u << 25));
	p->a.sample_type &= ~(u64)(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT_STRUCT);
	if (p->a.sample_type & PERF_SAMPLE_WEIGHT)
		p->a.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT_STRUCT;
	p->a.sample_regs_user = p->a.sample_regs_intr = 1 + sim_rand(1000);
	p->a.sample_stack_user = 8 * sim_rand(8);
	p->a.read_format = sim_rand(32);
	p->a.sample_id_all = 1;
	p->a.inherit = sim_rand(2);
	if (p->a.inherit)
		p->a.sample_type |= PERF_SAMPLE_TID;
	p->a.disabled = sim_rand(2);
	p->a.comm = sim_rand(2);
	p->a.task = sim_rand(2);
	p->a.namespaces = sim_rand(2);
	p->a.context_switch = sim_rand(2);
	p->a.mmap = sim_rand(2);
	p->a.mmap2 = sim_rand(2);
	p->a.wakeup_events = sim_rand(4);
	if (k == 1 && !sim_rand(3)) {
		p->a.freq = 1;
		p->a.sample_freq = 100 + sim_rand(20000);
	}
	if (!p->a.inherit && !sim_rand(8))
		p->a.sigtrap = p->a.remove_on_exec = 1;
	if (cpu >= 0 && !sim_rand(4) && !p->a.sigtrap)
		pid = -1;
	fd = sim_open(&p->a, pid, cpu, -1, 0);
	if (fd < 0)
		return;
	p->fd = (int)fd;
	p->id = sim_event(p->fd)->id;
	known[nr_known] = p->id;
	known_attr[nr_known++] = p->a;
	sim.fds[fd]->async = sim_rand(2);
}

static void play_close(struct player *p)
{
	if (p->tape.file && sim_rand(2))
		unmap(&p->tape);
	if (p->tape.file)
		return;
	sim_close(p->fd);
	p->fd = -1;
}

static void play_map(struct player *p)
{
	if (p->tape.file) {
		if (!p->hostile)
			judge(&p->tape, UINT32_MAX);
		unmap(&p->tape);
		return;
	}
	p->hostile = !sim_rand(6);
	if (map_try(p->fd, 1 + (1u << sim_rand(3)), true, &p->tape)) {
		p->tape.file = NULL;
		return;
	}
	/* of a ring that others have mapped or scribbled on, or that was in use, nothing is known */
	p->tape.tail = head_page(&p->tape)->data_tail;
	for (u32 i = 0; i < EVENTS; i++)
		if (&players[i] != p && players[i].tape.file && players[i].tape.pages == p->tape.pages)
			players[i].hostile = p->hostile = true;
}

static void scribble(struct player *p)
{
	if (!p->tape.file || !p->hostile)
		return;
	head_page(&p->tape)->data_size = (u64)PAGE << sim_rand(20);
	for (u32 i = 0; i < 20; i++)
		((u64 *)p->tape.pages[0])[sim_rand(512)] = (u64)sim_rand(1u << 31) << sim_rand(34);
}

static struct task *pool[6];

static void play_tasks(void)
{
	u32 c = sim_rand(SIM_CPUS), i = sim_rand(ARRAY_SIZE(pool));
	struct task *k;

	if (sim_rand(3)) {	/* somebody else runs there */
		if (c && (!pool[i] || pool[i]->cpu < 0))
			sim_switch(c, pool[i]);
	} else if (!pool[i]) {
		k = pool[i] = sim_fork(sim_rand(2));
		if (k)
			perf_forked(k);
	} else if (pool[i]->cpu > 0) {
		sim_exit((u32)pool[i]->cpu);
		pool[i] = NULL;
	}
}

static void play_ioctl(struct player *p)
{
	u64 v = 20000 + sim_rand(100000);

	switch (sim_rand(7)) {
	case 0: case 1: sim_ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0); break;
	case 2: sim_ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0); break;
	case 3: sim_ioctl(p->fd, PERF_EVENT_IOC_REFRESH, 1 + sim_rand(3)); break;
	case 4: sim_ioctl(p->fd, PERF_EVENT_IOC_PERIOD, (u64)&v); break;
	case 5: sim_ioctl(p->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, sim_rand(2)); break;
	case 6: sim_ioctl(p->fd, PERF_EVENT_IOC_RESET, 0); break;
	}
}

static void play_output(struct player *p)
{
	struct player *q = &players[sim_rand(EVENTS)];

	sim_ioctl(p->fd, PERF_EVENT_IOC_SET_OUTPUT, q->fd >= 0 && sim_rand(4) ? (u64)q->fd : UINT64_MAX);
}

static void play_happen(void)
{
	struct perf_mapping m = { .start = 0x400000, .len = 4096, .prot = 5, .flags = 2, .path = "/a/path" };

	switch (sim_rand(4)) {
	case 0: happen(sim_rand(30)); break;
	case 1: perf_comm(host_current()); break;
	case 2: perf_mmap(&m); break;
	case 3: adv(sim_rand(600) * US); break;
	}
}

static void play_check(void)
{
	for (u32 i = 0; i < EVENTS; i++) {
		struct player *p = &players[i];
		u64 v[64];

		if (p->fd < 0)
			continue;
		if (p->tape.file && !p->hostile)
			judge(&p->tape, sim_rand(200));
		CHECK(sim_read(p->fd, v, sizeof(v)) > 0);
		sim.fds[p->fd]->ops->poll(sim.fds[p->fd]->priv, NULL);
	}
}

static void play(u64 seed, u32 ops)
{
	begin(32);
	sim.seed = seed * 0x9e3779b97f4a7c15ULL + 3;
	set_sysctl("perf_event_max_sample_rate", sim_rand(2) ? 100000 : 2000);
	nr_known = 0;
	memset(pool, 0, sizeof(pool));
	for (u32 i = 0; i < EVENTS; i++)
		players[i] = (struct player){ .fd = -1 };
	while (ops-- && nr_known < 4000) {
		struct player *p = &players[sim_rand(EVENTS)];

		if (p->fd < 0) {
			play_open(p);
			continue;
		}
		switch (sim_rand(16)) {
		case 0: play_close(p); break;
		case 1: case 2: play_map(p); break;
		case 3: case 4: play_ioctl(p); break;
		case 5: play_output(p); break;
		case 6: case 7: case 8: play_tasks(); break;
		case 9: scribble(p); break;
		case 10: play_check(); break;
		default: play_happen();
		}
	}
	for (u32 i = 0; i < EVENTS; i++) {
		if (players[i].tape.file && !players[i].hostile)
			judge(&players[i].tape, UINT32_MAX);
		if (players[i].tape.file)
			unmap(&players[i].tape);
	}
	sim_end();
	CHECK_EQ(perf_stats.rings, 0);
}

TEST(sampling_programs)
{
	for (u64 seed = 1; seed <= 60; seed++)
		play(seed, 1500);
}
