/* SPDX-License-Identifier: MIT */
/* PERF_SAMPLE_READ: whose counts, ids and losses a sample tells when events form groups and families. */
#include "ring.h"

static union record rec;

/* What a sample with TID, STREAM_ID and READ (ID, LOST) says. */
struct said {
	u64 stream, nr;
	struct { u64 value, id, lost; } m[2];
};

static struct said said(bool group)
{
	struct said s = { .stream = rec.u64[2], .nr = 1 };
	const u64 *w = rec.u64 + 3;

	if (group)
		s.nr = *w++;
	EXPECT_IN(s.nr, 1, 2);
	for (u64 i = 0; i < s.nr && i < 2; i++, w += 3) {
		s.m[i].value = w[0];
		s.m[i].id = w[1];
		s.m[i].lost = w[2];
	}
	EXPECT_EQ((const char *)w - rec.bytes, rec.h.size);
	return s;
}

static struct perf_event_attr family(u64 read_format)
{
	struct perf_event_attr a = sampling(FAULTS, 1, PERF_SAMPLE_TID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ);

	a.inherit = 1;
	a.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST | read_format;
	return a;
}

static void fault(unsigned pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; i < pages; i++)
		((volatile char *)p)[i * PAGE] = 1;
	munmap(p, pages * PAGE);
}

/* Fill the ring of fd and more, empty it: some are lost now. The last sample of ours in it. */
static struct said lose_some(struct ring *r, int fd, bool group)
{
	struct said last = { 0 };

	ioc(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	fault(300);
	while (ring_next(r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE)
			last = said(group);
	return last;
}

/* The sample that a child of ours makes. */
static struct said of_child(struct ring *r, bool group)
{
	struct said s = { 0 };
	pid_t kid = fork();
	unsigned n = 0;

	if (!kid) {
		fault(20);
		_exit(0);
	}
	reap(kid);
	while (ring_next(r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE || rec.u32[2] != (u32)kid)
			continue;
		s = said(group);
		n++;
	}
	EXPECT(n >= 20, "%u samples of the child", n);
	return s;
}

/* A family with samples that read: each task tells what it has counted itself, also when a child has ended. */
TEST("readsample/own_values", "PERF_SAMPLE_READ attr.inherit", "measured on Linux 6.12")
{
	struct perf_event_attr a = family(0);
	struct { u64 value, id, lost; } v;
	u64 before = 0, after = 0;
	struct ring r;
	pid_t kid;
	int fd;

	pin(0);
	NEED(open_self(DUMMY));		/* not inherited: Linux does not let the tasks swap their events */
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	fault(10);
	while (ring_next(&r, &rec))
		before = said(false).m[0].value;
	kid = fork();
	if (!kid) {
		fault(400);	/* less than a huge page */
		_exit(0);
	}
	reap(kid);
	while (ring_next(&r, &rec))
		;
	fault(1);
	while (ring_next(&r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE && rec.u32[2] == (u32)getpid())
			after = said(false).m[0].value;
	EXPECT_IN(before, 10, 100);
	EXPECT_IN(after, before + 1, before + 200);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT(v.value >= 400 + after, "read says %ld of the family", (long)v.value);
}

TEST("readsample/lost", "PERF_SAMPLE_READ PERF_FORMAT_LOST", "measured on Linux 6.12")
{
	struct perf_event_attr a = family(0);
	struct { u64 value, id, lost; } v;
	struct said s;
	struct ring r;
	int fd;

	pin(0);
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	lose_some(&r, fd, false);
	fault(1);
	EXPECT(ring_next(&r, &rec) && rec.h.type == PERF_RECORD_LOST, "type %u", rec.h.type);
	EXPECT(ring_next(&r, &rec), "no sample");
	s = said(false);
	EXPECT(s.m[0].lost > 100, "the parent's sample says %ld lost", (long)s.m[0].lost);
	EXPECT_EQ(s.stream, event_id(fd));
	s = of_child(&r, false);
	/* losses are counted in the root; a copy tells its own, and has none */
	EXPECT_EQ(s.m[0].lost, 0);
	EXPECT_EQ(s.m[0].id, event_id(fd));
	EXPECT(s.stream != event_id(fd), "the stream is the root's");
	EXPECT_IN(s.m[0].value, 20, 200);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT(v.lost > 100, "read says %ld lost", (long)v.lost);
}

TEST("readsample/group_lost", "PERF_SAMPLE_READ PERF_FORMAT_LOST PERF_FORMAT_GROUP PERF_FORMAT_ID", "measured on Linux 6.12")
{
	struct perf_event_attr a = family(PERF_FORMAT_GROUP), b = a;
	struct said s;
	struct ring r;
	int fd, member;

	pin(0);
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	b.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	b.disabled = 0;
	NEED(member = perf_open(&b, 0, 0, fd, 0));
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	NEED(ioctl(member, PERF_EVENT_IOC_SET_OUTPUT, fd));
	s = lose_some(&r, fd, true);
	EXPECT_EQ(s.nr, 2);
	EXPECT_EQ(s.m[0].id, event_id(fd));
	EXPECT_EQ(s.m[1].id, event_id(member));
	fault(1);
	for (int i = 0; i < 2; i++)
		EXPECT(ring_next(&r, &rec), "no record %d", i);
	s = said(true);
	EXPECT(s.m[0].lost > 100 && s.m[1].lost > 100, "%ld and %ld lost", (long)s.m[0].lost, (long)s.m[1].lost);
	s = of_child(&r, true);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(s.m[i].id, event_id(i ? member : fd));
		EXPECT_EQ(s.m[i].lost, 0);
		EXPECT_IN(s.m[i].value, 20, 200);
	}
}

/* Two software events of one ring: each sample says which, whoever of the family made it. */
TEST("readsample/ids", "PERF_SAMPLE_ID PERF_SAMPLE_STREAM_ID PERF_SAMPLE_IDENTIFIER ioctl.SET_OUTPUT", "measured on Linux 6.12")
{
	struct perf_event_attr a = sampling(FAULTS, 1, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_ID |
					    PERF_SAMPLE_STREAM_ID);
	u64 id[2], own[2][2] = { { 0 } }, n[2][2] = { { 0 } };	/* event, child */
	struct ring r;
	pid_t kid;
	int fd[2];

	pin(0);
	NEED(open_self(DUMMY));	/* not inherited: Linux does not let the tasks swap their events */
	a.inherit = a.sample_id_all = 1;
	NEED(fd[0] = perf_open(&a, 0, 0, -1, 0));
	a.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	NEED(fd[1] = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd[0], 8, PROT_READ | PROT_WRITE);
	NEED(ioctl(fd[1], PERF_EVENT_IOC_SET_OUTPUT, fd[0]));
	for (int i = 0; i < 2; i++) {
		id[i] = event_id(fd[i]);
		ioc(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	}
	EXPECT(id[0] != id[1], "one id for two events");
	fault(10);
	kid = fork();
	if (!kid) {
		fault(10);
		_exit(0);
	}
	reap(kid);
	while (ring_next(&r, &rec)) {
		int e = rec.u64[1] == id[1], child = rec.u32[4] == (u32)kid;

		EXPECT_EQ(rec.u64[1], id[e]);
		EXPECT_EQ(rec.u64[3], id[e]);
		if (own[e][child])
			EXPECT_EQ(rec.u64[4], own[e][child]);
		own[e][child] = rec.u64[4];
		n[e][child]++;
	}
	for (int e = 0; e < 2; e++) {
		EXPECT(n[e][0] >= 10 && n[e][1] >= 10, "%ld and %ld samples", (long)n[e][0], (long)n[e][1]);
		EXPECT_EQ(own[e][0], id[e]);
		EXPECT(own[e][1] != id[0] && own[e][1] != id[1], "the copy has the id of an event with a file");
	}
	EXPECT(own[0][1] != own[1][1], "both copies have the same id");
}
