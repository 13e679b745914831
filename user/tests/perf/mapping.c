/* SPDX-License-Identifier: MIT */
/* The pages of a ring as memory: who may write and who inherits them. Sizes and rules of mmap: ring.c. */
#include "ring.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

/* The signal that writing to p brings, 0: none. */
static int write_to(volatile char *p)
{
	struct sigaction sa = { .sa_handler = on_fault };
	int sig;

	sigaction(SIGBUS, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sig = sigsetjmp(back, 1);
	if (!sig)
		*p = 1;
	return sig;
}

TEST("mapping/data_read_only", "mmap", "Linux perf_mmap_fault: only the control page can be written")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	struct ring r = ring_map(open_attr(&a), 2, PROT_READ | PROT_WRITE);
	struct ring o = ring_map(open_attr(&a), 2, PROT_READ);

	EXPECT_EQ(write_to((char *)r.page + PAGE - 1), 0);
	EXPECT_EQ(write_to(r.data), SIGBUS);
	EXPECT_EQ(*(volatile char *)r.data, 0);
	EXPECT_EQ(write_to(r.data + PAGE), SIGBUS);
	EXPECT_EQ(write_to((char *)o.page), SIGSEGV);
}

TEST("mapping/not_inherited", "mmap", "Linux: VM_DONTCOPY")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	struct ring r = ring_map(open_attr(&a), 2, PROT_READ | PROT_WRITE);
	pid_t pid = fork();

	NEED(pid);
	if (!pid)
		_exit(write_to((char *)r.page) != SIGSEGV);
	reap(pid);
}

TEST("mapping/no_aux_area", "mmap aux_offset aux_size", "Linux: no PMU here has one")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);
	struct ring r;

	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 3 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);			/* no ring yet */
	r = ring_map(fd, 2, PROT_READ | PROT_WRITE);
	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 3 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);			/* aux_offset is 0 */
	r.page->aux_offset = 3 * PAGE;
	r.page->aux_size = 2 * PAGE;
	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 3 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);			/* another size */
	EXPECT_EQ(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 4 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);			/* another offset */
	EXPECT_EQ(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 3 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EOPNOTSUPP);
	r.page->aux_offset = 2 * PAGE;			/* inside the data */
	EXPECT_EQ(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 2 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	r.page->aux_offset = 3 * PAGE;
	r.page->aux_size = 3 * PAGE;			/* no power of two */
	EXPECT_EQ(mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED, fd, 3 * PAGE), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
}

/* Children on all CPUs write to one ring: what they write may be mixed up, the kernel must not be. */
TEST("mapping/many_writers", "ioctl.SET_OUTPUT attr.inherit", "hazard 35")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 50000, PERF_SAMPLE_TID | PERF_SAMPLE_TIME), b = a;
	int fd, many;
	pid_t kids[8];
	struct ring r;

	b.inherit = 1;
	b.disabled = 0;
	fd = open_attr(&a);
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	many = open_attr(&b);
	NEED(ioctl(many, PERF_EVENT_IOC_SET_OUTPUT, fd));
	for (int i = 0; i < 8; i++) {
		kids[i] = fork();
		if (!kids[i]) {
			spin_ms(40);
			_exit(0);
		}
	}
	for (int i = 0; i < 200; i++) {
		r.page->data_tail = r.page->data_head;
		nap_ms(1);
	}
	for (int i = 0; i < 8; i++)
		reap(kids[i]);
	EXPECT(r.page->data_head > 0, "nobody wrote");
}
