/* SPDX-License-Identifier: MIT */
/*
 * Sampling: rings, records, side-band, throttling, budgets, redirection.
 *
 * What comes out of a ring is judged by a decoder that was written from perf_event_open(2) alone and shares
 * nothing with the encoder but the ABI's header. A tape is a mapping of an event's file and the reader's place on it.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define US 1000ULL
#define MS 1000000ULL
#define CYC 0x11
#define PAGE 4096u

/* --- the independent decoder ------------------------------------------------------------------------------ */

struct tape {
	struct host_file *file;
	struct host_map_req req;
	void *const *pages;
	u64 size, tail;
};

struct rec {
	u32 type, misc, size;
	u64 w[8192];		/* the whole record */
};

static struct perf_event_mmap_page *head_page(const struct tape *t) { return t->pages[0]; }

static u64 word_at(const struct tape *t, u64 pos)
{
	u64 at = pos % t->size;

	return ((u64 *)t->pages[1 + at / PAGE])[at % PAGE / 8];
}

/* Take the oldest record; false if there is none. */
static bool take(struct tape *t, struct rec *r)
{
	u64 head = __atomic_load_n(&head_page(t)->data_head, __ATOMIC_ACQUIRE);

	if (head == t->tail)
		return false;
	CHECK(head - t->tail < t->size);
	r->w[0] = word_at(t, t->tail);
	r->type = (u32)r->w[0];
	r->misc = r->w[0] >> 32 & 0xffff;
	r->size = (u32)(r->w[0] >> 48);
	CHECK(r->size >= 8 && r->size % 8 == 0 && r->size <= head - t->tail);
	for (u32 i = 1; i < r->size / 8; i++)
		r->w[i] = word_at(t, t->tail + 8 * i);
	t->tail += r->size;
	__atomic_store_n(&head_page(t)->data_tail, t->tail, __ATOMIC_RELEASE);
	return true;
}

static int map_try(int fd, u32 total, bool writable, struct tape *t)
{
	int err;

	*t = (struct tape){ .file = sim.fds[fd], .req = { 0, total, true, writable } };
	err = t->file->ops->mmap(t->file->priv, &t->req, &t->pages);
	if (err)
		return err;
	t->file->refs++;
	t->size = (total - 1) * PAGE;
	return 0;
}
static struct tape map(int fd, u32 total)
{
	struct tape t;

	CHECK_EQ(map_try(fd, total, true, &t), 0);
	return t;
}
static void unmap(struct tape *t)
{
	t->file->ops->munmap(t->file->priv, &t->req);
	host_file_put(t->file);
	t->file = NULL;
}

/* Words of a sample behind the header; checks what is known. The list is the man page's. */
static void decode_sample(const struct rec *r, const struct perf_event_attr *a, u64 id, u32 nr_group)
{
	const u64 *w = r->w + 1;
	u64 st = a->sample_type, rf = a->read_format;

	CHECK(r->misc == PERF_RECORD_MISC_KERNEL || r->misc == PERF_RECORD_MISC_USER);
	if (st & PERF_SAMPLE_IDENTIFIER)
		CHECK_EQ(*w++, id);
	if (st & PERF_SAMPLE_IP)
		CHECK_EQ(*w++, 0x1000);
	if (st & PERF_SAMPLE_TID)
		CHECK(*w++ >> 32 < 1u << 20);
	if (st & PERF_SAMPLE_TIME)
		CHECK(*w++ != 0);
	if (st & PERF_SAMPLE_ADDR)
		w++;
	if (st & PERF_SAMPLE_ID)
		CHECK_EQ(*w++, id);
	if (st & PERF_SAMPLE_STREAM_ID)
		CHECK(*w++ >= id);	/* of a copy: younger */
	if (st & PERF_SAMPLE_CPU)
		CHECK(*w++ < SIM_CPUS);
	if (st & PERF_SAMPLE_PERIOD)
		CHECK(*w++ > 0);
	if (st & PERF_SAMPLE_READ) {
		u64 nr = 1;

		if (rf & PERF_FORMAT_GROUP) {
			nr = *w++;
			CHECK(!nr_group || nr == nr_group);
		} else {
			w++;
		}
		if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED && rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
			CHECK(w[1] <= w[0]);
		w += !!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING);
		for (u64 i = 0; i < nr; i++) {
			w += !!(rf & PERF_FORMAT_GROUP);
			if (rf & PERF_FORMAT_ID && i == 0 && !(rf & PERF_FORMAT_GROUP))
				CHECK_EQ(*w, id);
			w += !!(rf & PERF_FORMAT_ID) + !!(rf & PERF_FORMAT_LOST);
		}
	}
	if (st & PERF_SAMPLE_CALLCHAIN) {
		u64 nr = *w++;

		CHECK(nr <= 7);
		w += nr;
	}
	if (st & PERF_SAMPLE_RAW)
		CHECK_EQ(*w++, 4);
	if (st & PERF_SAMPLE_REGS_USER)
		w += *w ? 1 + __builtin_popcountll(a->sample_regs_user) : 1;
	if (st & PERF_SAMPLE_STACK_USER)
		w += *w ? 2 + *w / 8 : 1;
	if (st & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		CHECK_EQ(*w++, 0);
	if (st & PERF_SAMPLE_DATA_SRC)
		CHECK_EQ(*w++, 0x1e05080021);
	if (st & PERF_SAMPLE_TRANSACTION)
		CHECK_EQ(*w++, 0);
	if (st & PERF_SAMPLE_REGS_INTR) {
		CHECK_EQ(*w++, r->misc == PERF_RECORD_MISC_USER ? 2 : 0);
		if (w[-1])
			w += __builtin_popcountll(a->sample_regs_intr);
	}
	w += !!(st & PERF_SAMPLE_PHYS_ADDR) + !!(st & PERF_SAMPLE_CGROUP);
	w += !!(st & PERF_SAMPLE_DATA_PAGE_SIZE) + !!(st & PERF_SAMPLE_CODE_PAGE_SIZE);
	CHECK_EQ((w - r->w) * 8, r->size);
}

/* Bytes of the trailer, from the man page. */
static u32 trailer(const struct perf_event_attr *a)
{
	static const u64 ids[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
				   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	u32 n = 0;

	for (u32 i = 0; a->sample_id_all && i < ARRAY_SIZE(ids); i++)
		n += a->sample_type & ids[i] ? 8 : 0;
	return n;
}

static void decode_other(const struct rec *r, const struct perf_event_attr *a)
{
	u32 body = r->size - 8 - trailer(a);

	switch (r->type) {
	case PERF_RECORD_LOST: CHECK_EQ(body, 16); CHECK(r->w[2]); break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: CHECK_EQ(body, 24); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: CHECK_EQ(body, 24); break;
	case PERF_RECORD_COMM: CHECK(body >= 16 && body <= 24 && memchr(r->w + 2, 0, body - 8)); break;
	case PERF_RECORD_SWITCH: CHECK_EQ(body, 0); break;
	case PERF_RECORD_SWITCH_CPU_WIDE: CHECK_EQ(body, 8); break;
	case PERF_RECORD_MMAP: CHECK(body > 32); break;
	case PERF_RECORD_MMAP2: CHECK(body > 64); break;
	case PERF_RECORD_NAMESPACES: CHECK_EQ(body, 16 + 7 * 16); break;
	default: fail("record of type %u", r->type);
	}
}

/* --- a ring by itself ------------------------------------------------------------------------------------ */

static u64 pattern(u64 seq, u32 i) { return (seq * 0x9e3779b97f4a7c15ULL) ^ (i * 0x100000001b3ULL); }

struct ring_game {
	struct perf_ring *r;
	struct tape t;
	u64 seq, written, lost, seen;
	bool hostile;
};

/* Everything up to data_head is whole records, whenever one looks. */
static void read_some(struct ring_game *g, u32 most)
{
	static struct rec r;

	while (most-- && take(&g->t, &r)) {
		CHECK(r.type < g->seq + 1);
		for (u32 i = 1; i < r.size / 8; i++)
			CHECK_EQ(r.w[i], pattern(r.type, i));
		g->seen++;
	}
}

static void write_one(struct ring_game *g, u32 depth)
{
	u32 size = 8 * (1 + sim_rand(sim_rand(10) ? 12 : 120));
	u64 seq = ++g->seq, room;
	struct ring_write w = { 0 };

	room = g->r->size - 1 - (g->r->head - head_page(&g->t)->data_tail);
	if (!ring_reserve(g->r, &w, size)) {
		CHECK(g->hostile || room < size);
		g->lost++;
		return;
	}
	CHECK(g->hostile || room >= size);
	g->written++;
	ring_header(&w, (u32)seq, 0, size);
	for (u32 i = 1; i < size / 8; i++) {
		if (depth < 3 && !sim_rand(8))
			write_one(g, depth + 1);	/* an interrupt */
		if (!g->hostile && !sim_rand(20))
			read_some(g, sim_rand(3));
		ring_u64(&w, pattern(seq, i));
	}
	ring_publish(&w);
}

static void ring_nested(void)	/* H 34, 36 */
{
	for (u32 pages = 1; pages <= 4; pages *= 2) {
		struct ring_game g = { 0 };
		u64 flags;

		sim_start(pages, 32);
		g.r = ring_alloc(pages, false, false, 0);
		CHECK(g.r);
		g.t = (struct tape){ .pages = g.r->pages, .size = g.r->size };
		flags = host_irq_save();
		for (int i = 0; i < 20000; i++) {
			write_one(&g, 0);
			CHECK_EQ(g.r->nest, 0);
			CHECK_EQ(head_page(&g.t)->data_head, g.r->head);
			if (!sim_rand(3))
				read_some(&g, sim_rand(40));
		}
		read_some(&g, UINT32_MAX);
		host_irq_restore(flags);
		CHECK_EQ(g.seen, g.written);
		CHECK(g.lost > 100 && g.written > 5000);
		CHECK_EQ(g.written + g.lost, g.seq);
		host_mutex_lock(&perf_mutex);
		ring_put(g.r);
		host_mutex_unlock(&perf_mutex);
		CHECK_EQ(perf_stats.rings, 0);
		sim_end();
	}
}

static void ring_hostile(void)	/* H 36, 37: the writable page holds anything */
{
	struct ring_game g = { .hostile = true };
	u64 flags;

	sim_start(3, 32);
	g.r = ring_alloc(2, false, false, 0);
	g.t = (struct tape){ .pages = g.r->pages, .size = g.r->size };
	flags = host_irq_save();
	for (int i = 0; i < 20000; i++) {
		u64 *page = g.r->pages[0];

		page[sim_rand(512)] = (u64)sim_rand(1u << 31) << sim_rand(34);
		head_page(&g.t)->data_tail = (u64)sim_rand(1u << 31) << sim_rand(34);
		write_one(&g, 0);
		CHECK_EQ(g.r->nest, 0);
	}
	host_irq_restore(flags);
	host_mutex_lock(&perf_mutex);
	ring_put(g.r);
	host_mutex_unlock(&perf_mutex);
	sim_end();
}

static void ring_backward(void)	/* the newest records, newest first, whole */
{
	struct perf_ring *r;
	u64 flags, seq = 0, pos, n = 0;

	sim_start(5, 32);
	r = ring_alloc(1, true, true, 0);
	flags = host_irq_save();
	for (int i = 0; i < 5000; i++) {
		u32 size = 8 * (1 + sim_rand(30));
		struct ring_write w = { 0 };

		CHECK(ring_reserve(r, &w, size));
		ring_header(&w, (u32)++seq, 0, size);
		for (u32 k = 1; k < size / 8; k++)
			ring_u64(&w, pattern(seq, k));
		ring_publish(&w);
	}
	host_irq_restore(flags);
	pos = ((struct perf_event_mmap_page *)r->pages[0])->data_head;
	for (u64 end = pos + r->size; pos < end;) {
		u64 *at = r->pages[1], h = at[pos % PAGE / 8];
		u32 size = (u32)(h >> 48);

		if (pos + size > end)
			break;	/* half overwritten */
		CHECK_EQ((u32)h, seq - n++);
		for (u32 k = 1; k < size / 8; k++)
			CHECK_EQ(at[(pos + 8 * k) % PAGE / 8], pattern((u32)h, k));
		pos += size;
	}
	CHECK(n > 15);
	host_mutex_lock(&perf_mutex);
	ring_put(r);
	host_mutex_unlock(&perf_mutex);
	sim_end();
}

/* --- events ---------------------------------------------------------------------------------------------- */

static struct perf_event_attr attr(u32 type, u64 config, u64 period, u64 sample_type)
{
	return (struct perf_event_attr){ .type = type, .size = sizeof(struct perf_event_attr), .config = config,
					 .sample_period = period, .sample_type = sample_type };
}
#define CLOCK PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK
#define ALIGN PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS
#define RAW PERF_TYPE_RAW, CYC

/* In small steps: the simulated PMU looks for overflows only between them. */
static void adv(u64 ns)
{
	for (; ns; ns -= min_t(u64, ns, US)) {
		sim_advance(min_t(u64, ns, US));
		host_irq_restore(host_irq_save());	/* irq work that an interrupt has left */
	}
}

static struct task *begin(void)
{
	struct task *t;

	sim_start(7, 32);
	t = sim_task();
	sim_switch(0, t);
	return t;
}
static int open_on(struct perf_event_attr a, int pid, int cpu, int group)
{
	long fd = sim_open(&a, pid, cpu, group, 0);

	if (fd < 0)
		fail("open of type %u config %lu: %ld", a.type, (unsigned long)a.config, fd);
	return (int)fd;
}
static int self(struct perf_event_attr a) { return open_on(a, 0, -1, -1); }
static void happen(u32 n)	/* alignment faults of current */
{
	while (n--)
		perf_sw_event(PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, NULL, 0x123);
}
static void ioc(int fd, u32 cmd, u64 arg) { CHECK_EQ(sim_ioctl(fd, cmd, arg), 0); }

static u32 drain_type(struct tape *t, u32 type)
{
	static struct rec r;
	u32 n = 0;

	while (take(t, &r))
		n += r.type == type;
	return n;
}

static void fields(void)	/* PB-16: any set of fields; size and contents agree */
{
	static const u64 all = PERF_SAMPLE_MAX - 1;
	static struct rec r;

	for (u32 round = 0; round < 400; round++) {
		struct perf_event_attr a = attr(RAW, 10000, 0), b = attr(RAW, 0, 0);
		u32 n = 0;
		struct tape t;
		int fd;

		begin();
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

static void lost_sums(void)	/* PB-09, H 42 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	u64 v[2], lost = 0, n = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin();
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

static void family_lost(void)	/* 64 children, one ring per CPU */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct task *kids[60], *t;
	u64 v[2], n = 0;
	struct tape tape;
	int fd;

	t = begin();
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

static void paused(void)
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	static struct rec r;
	struct tape t;
	u64 v[2];
	int fd;

	begin();
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

static void hostile_page(void)	/* H 37: geometry in the page is for the reader only */
{
	struct tape t;
	int fd;

	begin();
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

/* Throttle and unthrottle come in turn; so many samples per tick. */
static void throttle_run(struct perf_event_attr a, u32 per_tick)
{
	u32 n = 0, on = 0, off = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin();
	a.sample_id_all = 1;
	fd = self(a);
	t = map(fd, 65);
	adv(100 * MS);
	while (take(&t, &r)) {
		n += r.type == PERF_RECORD_SAMPLE;
		if (r.type == PERF_RECORD_THROTTLE)
			CHECK_EQ(on++, off);
		if (r.type == PERF_RECORD_UNTHROTTLE)
			CHECK_EQ(++off, on);
		if (r.type != PERF_RECORD_SAMPLE) {
			decode_other(&r, &a);
			CHECK_EQ(r.w[2], sim_event(fd)->id);
			CHECK_EQ(r.w[3], sim_event(fd)->id);
		}
	}
	CHECK(on >= 24 && on <= 26);
	CHECK(n >= 24 * per_tick && n <= 26 * per_tick);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	CHECK_EQ(perf_cpus[0].throttled, 0);
	CHECK_EQ(perf_tick_users[0], 0);
	unmap(&t);
	sim_end();
}

static struct perf_sysctl *rate(void)
{
	for (struct perf_sysctl *s = perf_sysctls;; s++)
		if (!strcmp(s->name, "perf_event_max_sample_rate"))
			return s;
}

static void throttle(void)	/* PB-45 */
{
	CHECK_EQ(perf_sysctl_set(rate(), 1000), 0);
	throttle_run(attr(CLOCK, 20 * US, PERF_SAMPLE_TIME), 4);
	throttle_run(attr(RAW, 20 * US, PERF_SAMPLE_TIME), 4);
	CHECK_EQ(perf_sysctl_set(rate(), 250), 0);
	throttle_run(attr(RAW, 20 * US, PERF_SAMPLE_TIME), 1);
}

static void never_throttled(void)	/* one sample of a happening is always allowed */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin();
	CHECK_EQ(perf_sysctl_set(rate(), 250), 0);
	fd = self(a);
	t = map(fd, 9);
	happen(500);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 500);
	unmap(&t);
	sim_end();
}

static void budget(void)	/* PB-12 */
{
	static const u64 types[2][2] = { { CLOCK }, { RAW } };

	for (int i = 0; i < 2; i++) {
		struct perf_event_attr a = attr((u32)types[i][0], types[i][1], 100 * US, PERF_SAMPLE_IP);
		struct tape t;
		u64 v;
		int fd;

		begin();
		a.disabled = 1;
		fd = self(a);
		sim.fds[fd]->async = true;
		t = map(fd, 2);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 4);
		adv(10 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 4);
		CHECK_EQ(sim.fds[fd]->signals[0], 3);
		CHECK_EQ(sim.fds[fd]->signals[1], 1);
		CHECK_EQ(sim_event(fd)->state, PERF_OFF);
		sim_read(fd, &v, sizeof(v));
		CHECK(v >= 400 * US && v < 450 * US);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 1);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 2);
		adv(10 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 3);
		CHECK_EQ(sim.fds[fd]->signals[1], 2);
		ioc(fd, PERF_EVENT_IOC_ENABLE, 0);	/* no limit */
		adv(2 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 20);
		CHECK_EQ(sim.fds[fd]->signals[1], 2);
		unmap(&t);
		sim_end();
	}
}

static void new_period(void)	/* PERIOD takes effect at once */
{
	static const u64 types[2][2] = { { CLOCK }, { RAW } };
	u64 v = 100 * US;

	for (int i = 0; i < 2; i++) {
		struct tape t;
		int fd;

		begin();
		fd = self(attr((u32)types[i][0], types[i][1], 1ULL << 40, PERF_SAMPLE_PERIOD));
		t = map(fd, 2);
		adv(MS);
		ioc(fd, PERF_EVENT_IOC_PERIOD, (u64)&v);
		adv(MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 10);
		unmap(&t);
		sim_end();
	}
}

static void slices(void)	/* H: what is left of a period survives slices */
{
	struct task *t = begin();
	int fd = self(attr(CLOCK, MS, PERF_SAMPLE_IP)), hw = self(attr(RAW, MS, PERF_SAMPLE_IP));
	struct tape a = map(fd, 2), b = map(hw, 2);

	for (int i = 0; i < 100; i++) {
		adv(300 * US);
		sim_switch(0, NULL);
		adv(500 * US);
		sim_switch(0, t);
	}
	CHECK_EQ(drain_type(&a, PERF_RECORD_SAMPLE), 30);
	CHECK_EQ(drain_type(&b, PERF_RECORD_SAMPLE), 30);
	unmap(&a);
	unmap(&b);
	sim_end();
}

static void frequency(void)	/* PB-28 */
{
	struct perf_event_attr a = attr(RAW, 0, PERF_SAMPLE_PERIOD);
	u64 last = 0, n = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin();
	a.freq = 1;
	a.sample_freq = 1000;
	fd = self(a);
	t = map(fd, 33);
	adv(400 * MS);
	while (take(&t, &r))
		if (r.type == PERF_RECORD_SAMPLE)
			last = r.w[1];
	CHECK(last > 900 * US && last < 1100 * US);
	adv(1000 * MS);
	n = drain_type(&t, PERF_RECORD_SAMPLE);
	CHECK(n > 900 && n < 1100);
	unmap(&t);
	sim_end();
}

static void redirected(void)	/* PB-18, H 38, 39 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_IDENTIFIER);
	struct tape t, u;
	int x, y, z;

	begin();
	x = self(a);
	y = self(a);
	z = self(a);
	t = map(x, 3);
	CHECK_EQ(sim_ioctl(y, PERF_EVENT_IOC_SET_OUTPUT, (u64)z), -EINVAL);
	CHECK_EQ(sim_ioctl(x, PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	CHECK_EQ(sim_ioctl(y, PERF_EVENT_IOC_SET_OUTPUT, 0xffffffff), -EBADF);
	ioc(y, PERF_EVENT_IOC_SET_OUTPUT, (u64)x);
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)y);	/* the ring of y is that of x */
	happen(3);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 9);
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)-1);
	happen(3);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 6);
	CHECK_EQ(map_try(y, 2, true, &u), -EINVAL);	/* another size */
	CHECK_EQ(map_try(y, 3, true, &u), 0);		/* the same ring */
	u.tail = t.tail;
	happen(2);
	CHECK_EQ(drain_type(&u, PERF_RECORD_SAMPLE), 4);
	unmap(&t);
	CHECK_EQ(perf_stats.rings, 1);			/* u has it still */
	happen(1);
	CHECK_EQ(drain_type(&u, PERF_RECORD_SAMPLE), 1);	/* of y; x has left with its mapping */
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)y);
	unmap(&u);
	CHECK_EQ(perf_stats.rings, 0);
	CHECK(!sim_event(z)->ring && !sim_event(y)->ring);
	happen(1);
	t = map(z, 2);
	happen(1);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	sim_close(z);				/* the mapping keeps the event */
	happen(1);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	unmap(&t);
	CHECK_EQ(perf_stats.rings, 0);
	CHECK_EQ(perf_stats.pages, 0);
	sim_end();
}

static void wakeups(void)	/* PB-24 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin();
	fd = self(a);
	CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), HOST_POLLHUP);
	t = map(fd, 2);
	for (u32 i = 1; i <= 129; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i == 129 ? HOST_POLLIN : 0);
	}
	unmap(&t);
	a.wakeup_events = 3;
	fd = self(a);
	t = map(fd, 2);
	for (u32 i = 1; i <= 12; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i % 3 ? 0 : HOST_POLLIN);
	}
	unmap(&t);
	a.watermark = 1;
	a.wakeup_watermark = 1000;
	fd = self(a);
	t = map(fd, 2);
	for (u32 i = 1; i <= 63; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i == 63 ? HOST_POLLIN : 0);
	}
	unmap(&t);
	sim_end();
}

static void watermark_signal(void)	/* side-band signals, too */
{
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin();
	a.comm = a.watermark = 1;
	a.wakeup_watermark = 200;
	fd = self(a);
	sim.fds[fd]->async = true;
	t = map(fd, 2);
	for (int i = 0; i < 50; i++)
		perf_comm(host_current());
	CHECK(sim.fds[fd]->signals[0] >= 4);
	unmap(&t);
	sim_end();
}

static void sigtrap(void)
{
	struct perf_event_attr a = attr(ALIGN, 1, 0);
	struct task *t = begin();
	u32 before = sim_traps;
	int fd;

	a.sigtrap = a.remove_on_exec = 1;
	fd = self(a);
	happen(3);
	CHECK_EQ(sim_traps - before, 3);
	/* at a switch: told when the task comes back */
	a.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fd = self(a);
	before = sim_traps;
	sim_switch(0, NULL);
	CHECK_EQ(sim_traps, before);
	sim_switch(0, t);
	CHECK_EQ(sim_traps - before, 1);
	(void)fd;
	sim_end();
}

static void sideband(void)	/* PB-57: FORK, COMM, EXIT in order, of the right task */
{
	static const u32 order[] = { PERF_RECORD_FORK, PERF_RECORD_NAMESPACES, PERF_RECORD_COMM, PERF_RECORD_EXIT };
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	struct task *t = begin(), *kid;
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
	}
	CHECK_EQ(i, ARRAY_SIZE(order));
	unmap(&tape);
	sim_end();
}

static void cpu_time(void)	/* the rate goes down until sampling costs 25 % at most */
{
	u64 flags;

	begin();
	CHECK_EQ(perf_sysctl_set(rate(), 100000), 0);
	flags = host_irq_save();
	for (int i = 0; i < 2000; i++)
		cputime_took(2000);
	CHECK_EQ(rate()->value, 100000);
	for (int i = 0; i < 2000; i++)
		cputime_took(20000);
	host_irq_restore(flags);
	CHECK(rate()->value <= 12500 && rate()->value >= 8000);
	sim_end();
}

/* --- random programs --------------------------------------------------------------------------------------- */

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
	begin();
	sim.seed = seed * 0x9e3779b97f4a7c15ULL + 3;
	CHECK_EQ(perf_sysctl_set(rate(), sim_rand(2) ? 100000 : 2000), 0);
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

static void programs(void)
{
	for (u64 seed = 1; seed <= 60; seed++)
		play(seed, 1500);
}

#define T(f) { "sampling_" #f, f }
const struct test sampling_tests[] = {
	T(ring_nested), T(ring_hostile), T(ring_backward), T(fields), T(lost_sums), T(family_lost), T(paused), T(hostile_page),
	T(throttle), T(never_throttled), T(budget), T(new_period), T(slices), T(frequency), T(redirected), T(wakeups),
	T(watermark_signal), T(sigtrap), T(sideband), T(cpu_time), T(programs),
	{ NULL, NULL },
};
