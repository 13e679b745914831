/* SPDX-License-Identifier: MIT */
/* What comes out of the rings of events: fields, side-band, and the sums of what is there and what is lost. */
#include "tape.h"

TEST(sampling_fields)	/* PB-16: any set of fields; size and contents agree */
{
	static const u64 all = PERF_SAMPLE_MAX - 1;
	static struct rec r;

	for (u32 round = 0; round < 400; round++) {
		struct perf_event_attr a = attr(RAW, 10000, 0), b = attr(RAW, 0, 0);
		u32 n = 0;
		struct tape t;
		int fd;

		begin(32);
		sim.seed = round * 77 + 1;
		sim_rand(2);
		a.sample_type = ((u64)sim_rand(1u << 30)) & all & ~(u64)PERF_SAMPLE_BRANCH_STACK;
		if (a.sample_type & PERF_SAMPLE_WEIGHT)
			a.sample_type &= ~(u64)PERF_SAMPLE_WEIGHT_STRUCT;
		a.read_format = b.read_format = sim_rand(32);
		a.sample_regs_user = a.sample_regs_intr = 1 + sim_rand(1u << 30);
		a.sample_stack_user = 8 * sim_rand(20);
		fd = self(a);
		open_on(b, 0, -1, fd);
		t = map(fd, 9);
		adv(35 * US);
		while (take(&t, &r)) {
			CHECK_EQ(r.type, PERF_RECORD_SAMPLE);
			decode_sample(&r, &a, sim_event(fd)->id, 2);
			n++;
		}
		CHECK_EQ(n, 3);
		unmap(&t);
		sim_end();
	}
}

TEST(sampling_backward)	/* positions that go down, past 0 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct tape t;

	begin(32);
	a.write_backward = 1;
	t = map(self(a), 2);
	happen(3);
	CHECK_EQ(head_page(&t)->data_head, -48ULL);
	unmap(&t);
	sim_end();
}

TEST(sampling_at_the_watermark)	/* reached is not passed, in both ways that records go */
{
	for (u32 raw = 0; raw < 2; raw++) {
		struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID | (raw ? PERF_SAMPLE_RAW : PERF_SAMPLE_ADDR));
		struct perf_ring *r;
		struct tape t;
		int fd;

		begin(32);
		a.watermark = 1;
		a.wakeup_watermark = 4 * 24;
		fd = self(a);
		t = map(fd, 2);
		r = sim_event(fd)->ring;
		happen(4);
		CHECK_EQ(head_page(&t)->data_head, 4 * 24);
		CHECK_EQ(r->ready, 0);
		happen(1);
		CHECK_EQ(r->ready, 1);
		unmap(&t);
		sim_end();
	}
}

TEST(sampling_lost_sums)	/* PB-09, H 42 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	u64 v[2], lost = 0, n = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin(32);
	a.read_format = PERF_FORMAT_LOST;
	a.sample_id_all = 1;
	fd = self(a);
	t = map(fd, 2);
	for (int round = 0; round < 20; round++) {
		happen(round ? sim_rand(500) : 300);
		if (!round) {
			CHECK_EQ(head_page(&t)->data_head, 4080);
			sim_read(fd, v, 16);
			CHECK_EQ(v[1], 45);
		}
		while (sim_rand(300) && take(&t, &r)) {
			n += r.type == PERF_RECORD_SAMPLE;
			lost += r.type == PERF_RECORD_LOST ? r.w[2] : 0;
			r.type == PERF_RECORD_SAMPLE ? decode_sample(&r, &a, sim_event(fd)->id, 1) : decode_other(&r, &a);
		}
	}
	while (take(&t, &r)) {
		n += r.type == PERF_RECORD_SAMPLE;
		lost += r.type == PERF_RECORD_LOST ? r.w[2] : 0;
	}
	happen(1);	/* what is not yet reported comes now */
	while (take(&t, &r)) {
		n += r.type == PERF_RECORD_SAMPLE;
		lost += r.type == PERF_RECORD_LOST ? r.w[2] : 0;
	}
	CHECK_EQ(sim_read(fd, v, 16), 16);
	CHECK_EQ(n + v[1], v[0]);
	CHECK_EQ(lost, v[1]);
	unmap(&t);
	sim_end();
}

TEST(sampling_family_lost)	/* 64 children, one ring per CPU */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct task *kids[60], *t;
	u64 v[2], n = 0;
	struct tape tape;
	int fd;

	t = begin(32);
	a.read_format = PERF_FORMAT_LOST;
	a.inherit = 1;
	fd = open_on(a, 0, 0, -1);
	tape = map(fd, 2);
	for (u32 i = 0; i < ARRAY_SIZE(kids); i++)
		kids[i] = sim_fork(false);
	for (u32 i = 0; i < ARRAY_SIZE(kids); i++) {
		sim_switch(0, kids[i]);
		happen(20);
		if (i & 1)
			sim_exit(0);
	}
	sim_switch(0, t);
	sim_read(fd, v, 16);
	n = drain_type(&tape, PERF_RECORD_SAMPLE);
	CHECK_EQ(v[0], 20 * ARRAY_SIZE(kids));
	CHECK_EQ(n + v[1], v[0]);
	CHECK_EQ(n, 255);
	unmap(&tape);
	sim_end();
}

TEST(sampling_paused)
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	static struct rec r;
	struct tape t;
	u64 v[2];
	int fd;

	begin(32);
	a.read_format = PERF_FORMAT_LOST;
	fd = self(a);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -EINVAL);
	t = map(fd, 2);
	ioc(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	happen(5);
	CHECK(!take(&t, &r));
	ioc(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	happen(1);
	CHECK(take(&t, &r) && r.type == PERF_RECORD_LOST && r.w[2] == 5);
	CHECK(take(&t, &r) && r.type == PERF_RECORD_SAMPLE);
	sim_read(fd, v, 16);
	CHECK_EQ(v[1], 5);
	unmap(&t);
	sim_end();
}

TEST(sampling_hostile_page)	/* H 37: geometry in the page is for the reader only */
{
	struct tape t;
	int fd;

	begin(32);
	fd = self(attr(ALIGN, 1, PERF_SAMPLE_TID | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN));
	t = map(fd, 2);
	for (int i = 0; i < 300; i++) {
		head_page(&t)->data_size = (u64)PAGE << sim_rand(20);
		head_page(&t)->data_offset = sim_rand(1u << 31);
		head_page(&t)->data_tail = head_page(&t)->data_head;
		happen(20);
	}
	unmap(&t);
	sim_end();
}

TEST(sampling_sideband)	/* PB-57: FORK, COMM, EXIT in order, of the right task */
{
	static const u32 order[] = { PERF_RECORD_FORK, PERF_RECORD_NAMESPACES, PERF_RECORD_COMM, PERF_RECORD_EXIT };
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	struct task *t = begin(32), *kid;
	static struct rec r;
	struct tape tape;
	u32 i = 0;
	int fd;

	a.task = a.comm = a.namespaces = a.inherit = a.sample_id_all = 1;
	fd = open_on(a, 0, 0, -1);
	tape = map(fd, 2);
	sim.next_tid = 1000000;		/* a name of 8 characters */
	kid = sim_fork(false);
	perf_forked(kid);
	sim_switch(0, kid);
	perf_comm(kid);
	sim_exit(0);
	sim_switch(0, t);
	for (; take(&tape, &r); i++) {
		CHECK(i < ARRAY_SIZE(order));
		CHECK_EQ(r.type, order[i]);
		decode_other(&r, &a);
		CHECK_EQ((u32)r.w[1], kid->tgid);
		if (r.type == PERF_RECORD_FORK)
			CHECK_EQ(r.w[1] >> 32, t->tgid);
		if (r.type == PERF_RECORD_EXIT)
			CHECK_EQ(r.w[1] >> 32, 1);
	}
	CHECK_EQ(i, ARRAY_SIZE(order));
	unmap(&tape);
	sim_end();
}

TEST(sampling_read_record)	/* of a copy that an exec removes: its values; none when a task exits */
{
	struct perf_event_attr a = attr(ALIGN, 1 << 20, PERF_SAMPLE_TID);
	struct task *t = begin(32), *kid;
	static struct rec r;
	struct tape tape;
	int fd;

	a.inherit = a.inherit_stat = a.remove_on_exec = a.sample_id_all = 1;
	a.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	fd = open_on(a, 0, 0, -1);
	tape = map(fd, 2);
	kid = sim_fork(false);
	sim_switch(0, kid);
	happen(7);
	perf_exec(false);
	CHECK(take(&tape, &r) && r.type == PERF_RECORD_READ);
	CHECK_EQ(r.size, 8 + 8 + 24 + 8);
	CHECK_EQ((u32)r.w[1], kid->tgid);
	CHECK_EQ(r.w[1] >> 32, kid->tid);
	CHECK_EQ(r.w[2], 7);
	CHECK_EQ(r.w[3], sim_event(fd)->id);
	CHECK_EQ(r.w[4], 0);
	sim_exit(0);
	sim_switch(0, t);
	kid = sim_fork(false);
	sim_switch(0, kid);
	sim_exit(0);
	sim_switch(0, t);
	CHECK(!take(&tape, &r));
	unmap(&tape);
	sim_end();
}

/* PB-09: two events in one ring, each with its own losses. */
TEST(sampling_group_lost)
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_IDENTIFIER);
	u64 v[6], n[2] = { 0, 0 }, said = 0;
	static struct rec r;
	struct tape t;
	int fd, mate;

	begin(32);
	a.read_format = PERF_FORMAT_LOST;
	fd = self(a);
	mate = member(a, fd);
	t = map(fd, 2);
	ioc(mate, PERF_EVENT_IOC_SET_OUTPUT, (u64)fd);
	for (int round = 0; round < 30; round++) {
		happen(sim_rand(300));
		for (u32 most = sim_rand(400); most-- && take(&t, &r);) {
			said += r.type == PERF_RECORD_LOST ? r.w[2] : 0;
			n[r.w[1] != sim_event(fd)->id] += r.type == PERF_RECORD_SAMPLE;
		}
	}
	while (take(&t, &r)) {
		said += r.type == PERF_RECORD_LOST ? r.w[2] : 0;
		n[r.w[1] != sim_event(fd)->id] += r.type == PERF_RECORD_SAMPLE;
	}
	CHECK_EQ(sim_read(fd, v, 16), 16);
	CHECK_EQ(sim_read(mate, v + 2, 16), 16);
	CHECK_EQ(n[0] + v[1], v[0]);
	CHECK_EQ(n[1] + v[3], v[2]);
	CHECK(v[1] > 10 && v[3] > 10);
	CHECK_EQ(said + sim_event(fd)->ring->lost, v[1] + v[3]);
	unmap(&t);
	sim_end();
}

TEST(sampling_told_or_not)	/* only those that are on and look at this CPU are told */
{
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, PERF_SAMPLE_TID);
	struct tape here, there, asleep;
	struct task *t = begin(32);
	int fd;

	a.comm = 1;
	here = map(open_on(a, 0, 0, -1), 2);
	there = map(open_on(a, 0, 1, -1), 2);
	a.disabled = 1;
	fd = self(a);
	asleep = map(fd, 2);
	perf_comm(t);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	perf_comm(t);
	CHECK_EQ(drain_type(&here, PERF_RECORD_COMM), 2);
	CHECK_EQ(drain_type(&there, PERF_RECORD_COMM), 0);
	CHECK_EQ(drain_type(&asleep, PERF_RECORD_COMM), 1);
	unmap(&here);
	unmap(&there);
	unmap(&asleep);
	sim_end();
}

TEST(sampling_own_values)	/* READ of an inherited event: the task's own count, not the family's */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID | PERF_SAMPLE_READ);
	struct task *t = begin(32);
	static struct rec r;
	struct tape tape;

	a.inherit = 1;
	tape = map(open_on(a, 0, 0, -1), 2);
	sim_switch(0, sim_fork(false));
	happen(5);
	sim_exit(0);
	sim_switch(0, t);
	CHECK_EQ(drain_type(&tape, PERF_RECORD_SAMPLE), 5);
	happen(1);
	CHECK(take(&tape, &r));
	CHECK_EQ(r.w[2], 1);
	unmap(&tape);
	sim_end();
}

TEST(sampling_own_losses)	/* READ with LOST: a root tells what the family has lost, a copy has lost nothing */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID | PERF_SAMPLE_READ);
	struct task *t = begin(32), *kid;
	static struct rec r;
	struct tape tape;

	a.inherit = 1;
	a.read_format = PERF_FORMAT_LOST;
	tape = map(open_on(a, 0, 0, -1), 2);
	kid = sim_fork(false);
	sim_switch(0, kid);
	happen(200);
	CHECK_EQ(drain_type(&tape, PERF_RECORD_SAMPLE), 127);
	happen(1);
	CHECK(take(&tape, &r) && r.type == PERF_RECORD_LOST);
	CHECK(take(&tape, &r));
	CHECK_EQ(r.w[2], 201);
	CHECK_EQ(r.w[3], 0);
	sim_exit(0);
	sim_switch(0, t);
	happen(1);
	CHECK(take(&tape, &r));
	CHECK_EQ(r.w[2], 1);
	CHECK_EQ(r.w[3], 73);
	unmap(&tape);
	sim_end();
}

TEST(sampling_max_stack)	/* PB-22: kernel and user part together */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_CALLCHAIN);
	static struct rec r;

	begin(32);
	for (u16 max = 1; max <= 6; max++) {
		struct tape t;

		a.sample_max_stack = max;
		t = map(self(a), 2);
		happen(1);
		CHECK(take(&t, &r));
		/* 3 and 2 there are; each part has a mark in front */
		CHECK_EQ(r.w[1], max < 5 ? max + 2 : 7);
		unmap(&t);
	}
	sim_end();
}

static int set_limit(const char *name, int value)
{
	for (struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, name))
			return perf_sysctl_set(s, value);
	fail("no sysctl %s", name);
}

TEST(sampling_chain_limits)	/* they stand still while somebody makes call chains */
{
	static const char depth[] = "perf_event_max_stack", contexts[] = "perf_event_max_contexts_per_stack";
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_CALLCHAIN);
	static struct rec r;
	struct tape t;
	long live;
	int fd;

	begin(32);
	live = sim.allocs;
	a.sample_max_stack = 200;
	CHECK_EQ(try_open(a, 0, -1, -1), -EOVERFLOW);
	CHECK_EQ(set_limit(depth, 1), 0);
	CHECK_EQ(set_limit(contexts, 1), 0);
	a.sample_max_stack = 0;
	fd = self(a);
	CHECK_EQ(set_limit(depth, 127), -EBUSY);
	CHECK_EQ(set_limit(contexts, 8), -EBUSY);
	CHECK_EQ(set_limit(contexts, 1001), -EINVAL);
	t = map(fd, 2);
	happen(1);
	CHECK(take(&t, &r));
	CHECK_EQ(r.w[1], 2);	/* the mark of the kernel, one address, no other mark */
	unmap(&t);
	sim_close(fd);
	CHECK_EQ(set_limit(contexts, 0), 0);
	fd = self(a);
	t = map(fd, 2);
	happen(1);
	CHECK(take(&t, &r));
	CHECK_EQ(r.w[1], 0);
	unmap(&t);
	sim_close(fd);
	CHECK_EQ(sim.allocs, live + 2);		/* what the task keeps of perf, its context at rest; no buffers */
	CHECK_EQ(set_limit(depth, 127), 0);
	CHECK_EQ(set_limit(contexts, 8), 0);
	sim_end();
}

TEST(sampling_no_room_for_chains)	/* no memory: refused, and the limits are free */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_CALLCHAIN);
	int n = 0;

	begin(32);
	for (long err = -1; err < 0; n++) {
		CHECK_EQ(set_limit("perf_event_max_stack", 127), 0);
		sim.fail_after = n + 1;
		err = try_open(a, 0, -1, -1);
		CHECK(err >= 0 || err == -ENOMEM);
	}
	CHECK(n > SIM_CPUS);
	sim.fail_after = 0;
	sim_end();
}

TEST(sampling_record_is_full)	/* 64 KiB: the chain is cut off, then the stack; nothing is dropped */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
					PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	static const u32 frames[] = { 7000, 8100, 8170, 8180, 8190, 9000, 65535 };
	static struct rec r;

	begin(32);
	set_sysctl("perf_event_max_stack", 640 * 1024 - 1);
	a.read_format = PERF_FORMAT_LOST;
	a.sample_regs_user = 3;
	a.sample_stack_user = 65528;
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		int fd = self(a);
		struct tape t = map(fd, 33);

		sim.user_frames = frames[i];
		happen(1);
		CHECK(take(&t, &r));
		CHECK_EQ(r.type, PERF_RECORD_SAMPLE);
		CHECK(r.size >= 65504 && r.size <= 65528);
		decode_sample(&r, &a, sim_event(fd)->id, 1);
		unmap(&t);
		sim_close(fd);
	}
	set_sysctl("perf_event_max_stack", 127);
	sim_end();
}

/* A sample is in the ring or counted as lost. An interrupt that comes late can find any task, and the kernel. */
static void late_in_the_kernel(u64 also)
{
	struct perf_event_attr a = attr(RAW, 10000, PERF_SAMPLE_IP | PERF_SAMPLE_TID | also);
	struct task *t = begin(32);
	static struct rec r;
	struct tape tape;
	u32 n = 0;
	int fd;

	a.exclude_kernel = 1;
	fd = open_on(a, -1, 0, -1);
	tape = map(fd, 2);
	sim.in_kernel = true;
	adv(35 * US);
	for (; take(&tape, &r); n++) {		/* where the task left user mode */
		CHECK_EQ(r.misc, PERF_RECORD_MISC_USER);
		CHECK_EQ((u32)r.w[2], t->tgid);
	}
	CHECK_EQ(n, 3);
	sim_switch(0, NULL);
	adv(30 * US);
	for (; take(&tape, &r); n++) {
		CHECK_EQ(r.misc, PERF_RECORD_MISC_KERNEL);
		CHECK_EQ((u32)r.w[2], 0);
	}
	CHECK_EQ(n, 6);
	sim_switch(0, t);
	unmap(&tape);
	sim_end();
}

TEST(sampling_late_in_the_kernel)
{
	late_in_the_kernel(0);
	late_in_the_kernel(PERF_SAMPLE_CALLCHAIN);
	late_in_the_kernel(PERF_SAMPLE_RAW);
}
