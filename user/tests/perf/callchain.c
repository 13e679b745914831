/* SPDX-License-Identifier: MIT */
/* Call chains by frame pointers. */
#include "ring.h"

static union record rec;

static u64 chain_run(struct perf_event_attr *a, void (*body)(void), u64 *kernel_part, u64 *longest)
{
	int fd = open_attr(a);
	struct ring r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	u64 n = 0;

	*kernel_part = *longest = 0;
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	body();
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_EQ(rec.h.size, 16 + 8 * rec.u64[1]);
		for (u64 i = 0; i < rec.u64[1]; i++)
			*kernel_part += rec.u64[2 + i] == (u64)PERF_CONTEXT_KERNEL;
		if (rec.u64[1] > *longest)
			*longest = rec.u64[1];
		n++;
	}
	munmap(r.page, 65 * PAGE);	/* a mapping keeps an event alive */
	close(fd);
	return n;
}

__attribute__((noinline)) static void leaf(unsigned ms)
{
	u64 end = thread_cpu_ns() + ms * 1000000ull;

	while (thread_cpu_ns() < end)
		for (volatile int i = 0; i < 30000; i++)
			;
}
__attribute__((noinline)) static void middle(unsigned ms) { leaf(ms); __asm__ volatile(""); }
__attribute__((noinline)) static void outer(unsigned ms) { middle(ms); __asm__ volatile(""); }

static void spin20(void) { spin_ms(20); }

TEST("callchain/three_deep", "PERF_SAMPLE_CALLCHAIN", "PB-22")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN);
	int good = 0, n = 0, fd;
	struct ring r;

	a.exclude_kernel = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	outer(30);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		u64 *c = rec.u64 + 2, nr = rec.u64[1];

		EXPECT_EQ(c[0], PERF_CONTEXT_USER);
		/* in leaf itself: leaf, middle, outer */
		good += nr >= 5 && c[1] - (u64)leaf < 256 && c[2] - (u64)middle < 64 && c[3] - (u64)outer < 64;
		n++;
	}
	EXPECT(n >= 3 && good >= n / 2, "%d of %d chains are right", good, n);
}

static void some_switches(void) { yields(10); }

TEST("callchain/kernel_and_user", "PERF_SAMPLE_CALLCHAIN", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_CALLCHAIN);
	u64 kernel, longest, n;

	n = chain_run(&a, some_switches, &kernel, &longest);
	EXPECT(n >= 10, "%ld samples", (long)n);
	EXPECT_EQ(kernel, n);
	EXPECT(longest > 5, "longest %ld", (long)longest);
	a.exclude_callchain_kernel = 1;
	n = chain_run(&a, some_switches, &kernel, &longest);
	EXPECT(n >= 10 && !kernel, "%ld kernel parts", (long)kernel);
	a.exclude_callchain_user = 1;
	n = chain_run(&a, some_switches, &kernel, &longest);
	EXPECT(n >= 10 && !longest, "length %ld", (long)longest);
	a.exclude_callchain_kernel = 0;
	n = chain_run(&a, some_switches, &kernel, &longest);
	EXPECT(n >= 10 && kernel == n, "%ld kernel parts of %ld", (long)kernel, (long)n);
}

__attribute__((noinline)) static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		spin20();
	__asm__ volatile("");
}
static void deep300(void) { deep(300); }

TEST("callchain/max_stack", "attr.sample_max_stack sysctl.perf_event_max_stack", "PB-22")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN);
	u64 kernel, longest;

	a.exclude_kernel = 1;
	a.sample_max_stack = 4;
	chain_run(&a, deep300, &kernel, &longest);
	EXPECT_EQ(longest, 5);		/* and the mark */
	a.sample_max_stack = 0;
	chain_run(&a, deep300, &kernel, &longest);
	EXPECT_EQ(longest, 128);
	a.sample_max_stack = 128;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOVERFLOW);
}

/* Run with x29 pointing at frame. */
static void spin_with_fp(void *frame)
{
	register u64 n __asm__("x1") = 60000000;
	register void *f __asm__("x2") = frame;

	__asm__ volatile("mov x3, x29\n mov x29, %1\n 1: subs %0, %0, #1\n b.ne 1b\n mov x29, x3"
			 : "+r"(n) : "r"(f) : "x3", "memory", "cc");
}

static u64 bad_frame[4] __attribute__((aligned(16)));
static void self_linked(void)
{
	bad_frame[0] = (u64)bad_frame;
	bad_frame[1] = (u64)spin20;
	spin_with_fp(bad_frame);
}
static void misaligned(void) { spin_with_fp((char *)bad_frame + 3); }
static void unmapped(void) { spin_with_fp((void *)0x10000); }
static void in_kernel(void) { spin_with_fp((void *)0xffff000000000000); }
static void at_the_end(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p[0] = 1;
	munmap(p + PAGE, PAGE);
	spin_with_fp(p + PAGE - 8);
}

TEST("callchain/hostile", "PERF_SAMPLE_CALLCHAIN", "PB-22")
{
	static void (*const bodies[])(void) = { self_linked, misaligned, unmapped, in_kernel, at_the_end };
	static const u64 most[] = { 3, 2, 2, 2, 2 };
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN);

	a.exclude_kernel = 1;
	for (int i = 0; i < 5; i++) {
		int fd = open_attr(&a), right = 0, n = 0;
		struct ring r = ring_map(fd, 64, PROT_READ | PROT_WRITE);

		ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
		bodies[i]();
		ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
		while (ring_next(&r, &rec)) {
			n++;
			right += rec.u64[1] == most[i];
		}
		EXPECT(n > 3 && right >= n - 3, "case %d: %d of %d chains have the right length", i, right, n);
		close(fd);
	}
}

/* perf's leaf fix: LR beside the chain. */
TEST("callchain/with_lr", "PERF_SAMPLE_REGS_USER PERF_SAMPLE_CALLCHAIN", "PB-22")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER);
	int fd, n = 0;
	struct ring r;

	a.exclude_kernel = 1;
	a.sample_regs_user = 1ull << 30;
	fd = open_attr(&a);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	outer(30);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(rec.h.size, 16 + 8 * rec.u64[1] + 16);
		EXPECT_EQ(rec.u64[2 + rec.u64[1]], 2);
		n++;
	}
	EXPECT(n > 0, "%d samples", n);
}

#define MAX_STACK "/proc/sys/kernel/perf_event_max_stack"
#define MAX_CONTEXTS "/proc/sys/kernel/perf_event_max_contexts_per_stack"

/* Linux sizes its buffers by them when the first event with call chains comes. */
TEST("callchain/sysctl_busy", "sysctl.perf_event_max_stack sysctl.perf_event_max_contexts_per_stack", "measured on Linux 6.12")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int plain, one, two;

	if (read_long(MAX_STACK) != 127 || write_long(MAX_STACK, 127))
		test_skip("the limit cannot be set, or is another one");
	plain = open_attr(&a);
	NEED(write_long(MAX_STACK, 126));
	NEED(write_long(MAX_STACK, 127));
	a.sample_type = PERF_SAMPLE_CALLCHAIN;
	one = open_attr(&a);
	two = open_attr(&a);
	close(plain);
	EXPECT_ERR(write_long(MAX_STACK, 126), EBUSY);
	EXPECT_ERR(write_long(MAX_STACK, 127), EBUSY);	/* also what it is already */
	EXPECT_ERR(write_long(MAX_CONTEXTS, 8), EBUSY);
	EXPECT_ERR(write_long(MAX_STACK, -1), EINVAL);
	close(one);
	EXPECT_ERR(write_long(MAX_STACK, 126), EBUSY);
	close(two);
	EXPECT_EQ(write_long(MAX_STACK, 127), 0);
	a.sample_max_stack = 128;	/* a refused one keeps nothing */
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOVERFLOW);
	EXPECT_EQ(write_long(MAX_STACK, 127), 0);
	EXPECT_EQ(read_long(MAX_STACK), 127);
}

/* Longest chain of deep300 at a depth of the stack and a number of contexts. */
static u64 longest_with(long stack, long contexts)
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN);
	u64 kernel, longest;

	a.exclude_kernel = 1;
	NEED(write_long(MAX_STACK, stack));
	NEED(write_long(MAX_CONTEXTS, contexts));
	chain_run(&a, deep300, &kernel, &longest);
	NEED(write_long(MAX_STACK, 127));
	NEED(write_long(MAX_CONTEXTS, 8));
	return longest;
}

TEST("callchain/sysctl_depth", "sysctl.perf_event_max_stack sysctl.perf_event_max_contexts_per_stack attr.sample_max_stack",
     "measured on Linux 6.12")
{
	if (read_long(MAX_STACK) != 127 || read_long(MAX_CONTEXTS) != 8 || write_long(MAX_STACK, 127))
		test_skip("the limits cannot be set, or are others");
	EXPECT_EQ(longest_with(200, 8), 201);
	EXPECT_IN(longest_with(4000, 8), 303, 340);
	EXPECT_EQ(longest_with(0, 8), 1);
	EXPECT_EQ(longest_with(65536, 8), 1);	/* the attribute's field has 16 bits */
	EXPECT_EQ(longest_with(127, 1), 128);
	EXPECT_EQ(longest_with(127, 0), 0);
}

static void deep2000(void) { deep(2000); }

/* Deeper than 640 addresses. */
TEST("callchain/deep", "sysctl.perf_event_max_stack", "measured on Linux 6.12")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_CALLCHAIN);
	u64 kernel, longest;

	if (read_long(MAX_STACK) != 127 || write_long(MAX_STACK, 3000))
		test_skip("the limit cannot be set, or is another one");
	a.exclude_kernel = 1;
	chain_run(&a, deep2000, &kernel, &longest);
	NEED(write_long(MAX_STACK, 127));
	EXPECT_IN(longest, 2003, 2040);
}

/* The kernel's part takes all the room: the mark of the user's part is there, and nothing behind it. */
TEST("callchain/marks", "PERF_SAMPLE_CALLCHAIN attr.sample_max_stack", "measured on Linux 6.12")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_CALLCHAIN);
	int fd, n = 0;
	struct ring r;

	a.sample_max_stack = 2;
	fd = open_attr(&a);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(5);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	for (; ring_next(&r, &rec); n++) {
		EXPECT_EQ(rec.u64[1], 4);
		EXPECT_EQ(rec.u64[2], PERF_CONTEXT_KERNEL);
		EXPECT_EQ(rec.u64[5], PERF_CONTEXT_USER);
	}
	EXPECT(n >= 5, "%d samples", n);
}
