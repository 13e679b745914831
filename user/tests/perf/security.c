/* SPDX-License-Identifier: MIT */
/*
 * What must not leak: kernel addresses and the kernel's memory into rings, reserved fields and padding that are not
 * zero, another task's counts through registers.
 *
 * The scan looks at every word that the kernel ever put into a ring of an event that excludes the kernel: none may look
 * like a kernel address, and none like the poison of freed memory of a DEBUG kernel. Bytes of an uninitialised
 * stack or heap object would bring both. (User registers and stacks may hold anything, and are not asked for.)
 */
#include "ptest.h"
#include "ring.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>

#define POISON 0x6b6b6b6b6b6b6b6bull

/* Everything that makes records: samples, faults, mappings, names, processes, switches. */
static void busy_life(void)
{
	for (int i = 0; i < 6; i++) {
		char name[16];
		volatile char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pid_t pid;

		for (int k = 0; k < 8; k++)
			p[k * PAGE] = 1;
		munmap((void *)p, 8 * PAGE);
		memset(name, 'a' + i, sizeof(name));
		name[1 + 2 * i] = 0;
		prctl(PR_SET_NAME, name);
		for (int k = 0; k < 20; k++)
			syscall(SYS_getppid);
		pid = fork();
		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		spin_ms(3);
		nap_ms(1);
	}
}

static struct perf_event_attr everything(u32 type, u64 config, u64 period)
{
	struct perf_event_attr a = sampling(type, config, period, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_IDENTIFIER);

	a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST | RF_TIMES;
	a.exclude_kernel = a.exclude_callchain_kernel = a.exclude_hv = 1;
	a.mmap = a.mmap2 = a.mmap_data = a.comm = a.comm_exec = a.task = a.context_switch = a.sample_id_all = 1;
	a.namespaces = !geteuid();
	a.inherit = 1;
	return a;
}

static bool secret(u64 w)
{
	return (w >> 48 == 0xffff && w < (u64)-4096 && (u32)w != 0xffffffff && w >> 32 != 0xffffffff) || w == POISON;
}

/* All bytes of the ring, also those behind the head: fresh ones are zero. */
static void scan(const struct ring *r, const char *who)
{
	const u64 *w = (const u64 *)r->data;
	u64 head = r->page->data_head, n = head < r->size ? head : r->size;
	int found = 0;

	EXPECT(head > 0, "%s: no records", who);
	for (u64 i = 0; i < r->size / 8 && found < 3; i++) {
		if (i * 8 >= n && w[i])
			found++, test_fail(__FILE__, __LINE__, "%s: %#llx behind the head", who, (unsigned long long)w[i]);
		if (secret(w[i]))
			found++, test_fail(__FILE__, __LINE__, "%s: word %llu of the ring is %#llx", who, (unsigned long long)i,
					   (unsigned long long)w[i]);
	}
}

static void scan_all(const char *who)
{
	static const struct {
		u32 type;
		u64 config, period;
	} kinds[] = {
		{ CPU_CLOCK, 100000 }, { RAW_CYCLES, 100003 }, { TASK_CLOCK, 150000 },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1 }, { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1 },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0 },
	};
	struct ring r[6];
	int fd[6];

	for (int i = 0; i < 6; i++) {
		struct perf_event_attr a = everything(kinds[i].type, kinds[i].config, kinds[i].period);

		fd[i] = perf_open(&a, 0, 0, -1, 0);
		NEED(fd[i]);
		r[i] = ring_map(fd[i], i == 1 ? 1 : 64, PROT_READ | PROT_WRITE);
		ioc(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	}
	busy_life();
	for (int i = 0; i < 6; i++) {
		ioc(fd[i], PERF_EVENT_IOC_DISABLE, 0);
		scan(&r[i], who);
	}
}

TEST("security/ring_scan", "sample_type PERF_RECORD_SAMPLE", "issue 6")
{
	pin(0);
	scan_all("root");
}

TEST("security/ring_scan_user", "sysctl.perf_event_paranoid sample_type", "issue 6")
{
	long paranoid = read_long(PARANOID);
	pid_t pid;
	int st;

	pin(0);
	if (geteuid())
		test_skip("not root");
	NEED(write_long(PARANOID, 2));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		NEED(setgid(1000));
		NEED(setuid(1000));
		scan_all("uid 1000");
		fflush(stdout);
		_exit(test_failed());
	}
	waitpid(pid, &st, 0);
	NEED(write_long(PARANOID, paranoid));
	EXPECT(!st, "the part as uid 1000 failed");
}

/* What would tell of the kernel needs a privilege, one by one. */
TEST("security/refused_user", "sysctl.perf_event_paranoid PERF_SAMPLE_PHYS_ADDR attr.namespaces", "Linux 6.12")
{
	long paranoid = read_long(PARANOID);
	pid_t pid;
	int st;

	if (geteuid())
		test_skip("not root");
	NEED(write_long(PARANOID, 2));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct perf_event_attr user = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP), a;

		NEED(setgid(1000));
		NEED(setuid(1000));
		user.exclude_kernel = 1;
		NEED(perf_open(&user, 0, -1, -1, 0));
		a = user;
		a.exclude_kernel = 0;
		EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EACCES);
		a = user;
		a.sample_type |= PERF_SAMPLE_PHYS_ADDR;
		EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EACCES);
		a = user;
		a.namespaces = 1;
		EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EACCES);
		EXPECT_ERR(perf_open(&user, 1, -1, -1, 0), EACCES);	/* init is root's */
		EXPECT_ERR(perf_open(&user, -1, 0, -1, 0), EACCES);
		fflush(stdout);
		_exit(test_failed());
	}
	waitpid(pid, &st, 0);
	NEED(write_long(PARANOID, paranoid));
	EXPECT(!st, "the part as uid 1000 failed");
}

static void all_zero(const void *mem, size_t from, size_t to, const char *what)
{
	const unsigned char *b = mem;

	for (size_t i = from; i < to; i++)
		if (b[i]) {
			test_fail(__FILE__, __LINE__, "%s: byte %zu is %#x", what, i, b[i]);
			return;
		}
}

/* Reserved bytes of the control page, and a ring that nobody has written to. */
TEST("security/page_reserved", "page.data_head", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 4, PROT_READ | PROT_WRITE);
	const struct perf_event_mmap_page *p = r.page;

	all_zero(p, offsetof(struct perf_event_mmap_page, __reserved),
		 offsetof(struct perf_event_mmap_page, data_head), "reserved");
	all_zero(p, offsetof(struct perf_event_mmap_page, aux_size) + 8, PAGE, "behind the last field");
	EXPECT_EQ(p->data_head, 0);
	all_zero(r.data, 0, r.size, "a fresh ring");
}

/* Text in records is padded with zeros; the reserved half of "cpu, res" is zero; unknown bits of misc, too. */
TEST("security/padding", "PERF_RECORD_COMM PERF_RECORD_MMAP2 PERF_SAMPLE_CPU", "PB-42")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 200000, PERF_SAMPLE_CPU);
	static union record rec;
	int fd, comms = 0, maps = 0, samples = 0;
	struct ring r;

	a.comm = a.mmap = a.mmap2 = a.mmap_data = a.task = a.sample_id_all = 1;
	pin(0);
	fd = open_attr(&a);
	r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 1; i < 15; i++) {
		char name[17] = "xxxxxxxxxxxxxxxx";

		name[i] = 0;
		prctl(PR_SET_NAME, name);
		munmap(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	}
	spin_ms(5);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		u32 end = rec.h.size - 8, text = rec.h.type == PERF_RECORD_COMM ? 16 : rec.h.type == PERF_RECORD_MMAP2 ? 72 : 0;

		EXPECT_EQ(rec.u32[end / 4 + 1], 0);	/* cpu, res */
		EXPECT_EQ(rec.u32[end / 4], 0);
		if (text)
			all_zero(rec.bytes, text + strlen(rec.bytes + text), end, "padding");
		comms += rec.h.type == PERF_RECORD_COMM;
		maps += rec.h.type == PERF_RECORD_MMAP2;
		samples += rec.h.type == PERF_RECORD_SAMPLE;
	}
	EXPECT_EQ(comms, 14);
	EXPECT_IN(maps, 14, 40);
	EXPECT(samples > 0, "no samples");
}

#ifdef __aarch64__
static u64 counter(u32 n)
{
	u64 v;

	if (n == 31)
		__asm__ volatile("isb; mrs %0, pmccntr_el0" : "=r"(v));
	else
		__asm__ volatile("msr pmselr_el0, %1; isb; mrs %0, pmxevcntr_el0" : "=r"(v) : "r"((u64)n));
	return v;
}

/* A task counts on all counters; then one that may read its own event from user space looks at every register. */
TEST("security/rdpmc_registers", "sysctl.perf_user_access config1.rdpmc", "hazard 44")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	volatile struct perf_event_mmap_page *p;
	u32 index, pmcr_n = 0;
	int fd, go[2];
	pid_t pid;

	if (access(USER_ACCESS, F_OK) || write_long(USER_ACCESS, 1))
		test_skip("no perf_user_access");
	pin(0);
	NEED(pipe(go));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct perf_event_attr b = attr_of(RAW_CYCLES);

		for (int i = 0; i < 8; i++)
			perf_open(&b, 0, -1, -1, 0);
		NEED(write(go[1], "x", 1));
		spin_ms(1000000);
		_exit(0);
	}
	NEED(read(go[0], &pmcr_n, 1));
	nap_ms(100);		/* it counts some 10^8 */
	a.config1 = 2;
	fd = perf_open(&a, 0, -1, -1, 0);
	NEED(fd);
	p = map_pages(fd, 1, PROT_READ);
	NEED((void *)p == MAP_FAILED ? -1 : 0);
	for (int i = 0; i < 20; i++) {
		sched_yield();		/* the other one counts again */
		nap_ms(2);
		index = p->index;
		if (!index)
			continue;
		for (u32 n = 0; n < 6; n++)
			if (n != index - 1)
				EXPECT(!counter(n) || p->index != index, "counter %u, not ours, is %llu", n,
				       (unsigned long long)counter(n));
		if (index != 32)
			EXPECT(!counter(31) || p->index != index, "the cycle counter, not ours, is %llu",
			       (unsigned long long)counter(31));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	write_long(USER_ACCESS, 0);
}
#endif
