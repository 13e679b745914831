/* SPDX-License-Identifier: MIT */
/*
 * perfdiff FIRST COUNT: random programs of perf calls whose answers do not depend on time, to be compared with
 * what Linux answers (scripts/perf-diff boots both). Program n is made from seed n alone: `perfdiff 17 1` repeats it.
 *
 * A program is a process of its own, as root or uid 1000, with some value of perf_event_paranoid: it opens events
 * with random attributes (perfdiff_attr.h), targets, groups and flags, and reads, maps, controls and closes them. Each
 * line says what was done and what came back. Of what was counted it says only what is certain: is it 0, how do the
 * times compare; and records only where none can be lost or is made by time.
 *
 * Left out is what Perch does not have and CAVEATS.md names: tracepoints, breakpoints, probes, cgroups, BPF.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "perfdiff_attr.h"

#define SLOTS 8
#define PAGE 4096ul

static struct slot {
	int fd;			/* -1: none */
	union wide wide;
	u64 id;
	char *map;
	size_t map_len;
	int self;		/* counts this task */
} slots[SLOTS];

static int nr_ops, program;
static int nr_hw;		/* hardware events opened by this program */
static int forked;		/* this program has forked */
static int by_time;		/* some event here makes records or takes turns by time */
static pid_t helper, parent;
static int null_fd;

static const char *name_of(int err)
{
	const char *s = strerrorname_np(err);

	return s ? s : "?";
}

static void result(long r)
{
	if (r < 0)
		printf(" -> %s\n", name_of(errno));
	else
		printf(" -> %ld\n", r);
}

static void op(const char *name)
{
	printf("%d.%d %s", program, nr_ops, name);
}

static void put_long(const char *path, long v)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0) {
		dprintf(fd, "%ld\n", v);
		close(fd);
	}
}

/* --- open -------------------------------------------------------------------------------------------------- */

static pid_t random_pid(const char **name)
{
	static const char *const names[] = { "self", "self", "self", "self", "gettid", "helper", "parent", "1", "-1", "-1",
		"99999", "-2" };
	const pid_t pid[] = { 0, 0, 0, 0, gettid(), helper, parent, 1, -1, -1, 99999, -2 };
	u64 i = below(sizeof(pid) / sizeof(pid[0]));

	*name = names[i];
	return pid[i];
}

static int hardware(const struct perf_event_attr *a)
{
	return a->type != PERF_TYPE_SOFTWARE;
}

static void opened(int s, int fd, const union wide *w)
{
	const struct perf_event_attr *a = &w->a;

	slots[s].fd = fd;
	slots[s].wide = *w;
	nr_hw += hardware(a);
	by_time |= a->sample_period || a->exclusive || a->pinned || nr_hw > 4;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &slots[s].id))
		printf("# no id\n");
}

/*
 * After a fork, Linux and Perch may have swapped equal contexts of parent and child: then the event that was opened
 * ended with the child, and the copy counts on. As group_fd such an event is ENODEV, and it hangs up a poll.
 */
static int may_be_over(int s)
{
	return forked && slots[s].wide.a.inherit;
}

static int random_group(int *shown)
{
	int s = (int)below(SLOTS);

	*shown = -1;
	if (!one_in(2))
		return -1;
	if (one_in(12))
		return *shown = 999;
	if (one_in(12))
		return *shown = -2;
	if (one_in(12)) {
		*shown = 1000;	/* /dev/null */
		return null_fd;
	}
	if (slots[s].fd < 0 || may_be_over(s))
		return -1;
	*shown = s;
	return slots[s].fd;
}

static int slot_of_id(u64 id);

/* Does the size of its samples follow from the attribute alone? */
static int fixed_size(const struct slot *s)
{
	const struct perf_event_attr *a = &s->wide.a;

	return s->self && a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_PAGE_FAULTS && !a->freq &&
	       !(a->sample_type & PERF_SAMPLE_CALLCHAIN) && a->sample_stack_user <= 1024 &&
	       !(a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_FORMAT_GROUP);
}

/* Samples of page faults: how long, and what lies behind the header where it is known. */
static void do_sample(int s)
{
	const struct perf_event_mmap_page *p = (void *)slots[s].map;
	const struct perf_event_header *h;
	u64 pos = 0;

	if (!p || !fixed_size(&slots[s]) || slots[s].wide.a.write_backward || !p->data_size || p->data_head > p->data_size)
		return;
	for (; pos < p->data_head; pos += h->size) {
		h = (const void *)(slots[s].map + p->data_offset + pos);
		if (!h->size || h->type == PERF_RECORD_SAMPLE)
			break;
	}
	if (pos >= p->data_head)
		return;
	op("sample");
	printf(" %d size %u", s, h->size);
	if (slots[s].wide.a.sample_type & PERF_SAMPLE_IDENTIFIER)
		printf(" id %d", slot_of_id(*(const u64 *)(h + 1)));
	result(0);
}

static void touch_pages(void)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (int i = 0; i < 4; i++)
		p[i * PAGE] = 1;
	munmap(p, 4 * PAGE);
}

/* An event that samples page faults: a ring, some faults, and a look at the first sample. */
static void try_samples(int s)
{
	if (!fixed_size(&slots[s]) || slots[s].wide.a.disabled)
		return;
	slots[s].map_len = 9 * PAGE;
	slots[s].map = mmap(NULL, 9 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, slots[s].fd, 0);
	if (slots[s].map == MAP_FAILED)
		slots[s].map = NULL;
	touch_pages();
	do_sample(s);
}

static void do_open(int s)
{
	static const int cpus[] = { -1, -1, -1, -1, -1, 0, 0, 0, 1, 3, 100, -2 };
	static const unsigned long flag[] = { 0, 0, 0, 0, PERF_FLAG_FD_CLOEXEC, PERF_FLAG_FD_NO_GROUP, PERF_FLAG_FD_OUTPUT,
		PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP, PERF_FLAG_PID_CGROUP, 16, 1ul << 40 };
	union wide w = random_attr();
	struct perf_event_attr *a = &w.a;
	static char page[2 * PAGE];
	const char *who;
	int group_slot, group = random_group(&group_slot), cpu = PICK(cpus);
	pid_t pid = random_pid(&who);
	unsigned long flags = PICK(flag);
	u32 size = a->size;
	long fd;

	op("open");
	printf(" %d pid=%s cpu=%d group=%d flags=%#lx", s, who, cpu, group_slot, flags);
	print_attr(&w);
	memset(page, 0, sizeof(page));
	memcpy(page, &w, sizeof(w));
	fd = syscall(SYS_perf_event_open, page, pid, cpu, group, flags);
	memcpy(&w, page, sizeof(w));
	if (a->size != size)
		printf(" size became %u", a->size);
	if (fd < 0) {
		result(fd);
		return;
	}
	printf(" -> fd%s\n", fcntl((int)fd, F_GETFD) & FD_CLOEXEC ? " cloexec" : "");
	opened(s, (int)fd, &w);
	slots[s].self = !pid || pid == gettid();
	try_samples(s);
}

/* --- read --------------------------------------------------------------------------------------------------- */

static int slot_of_id(u64 id)
{
	for (int s = 0; s < SLOTS; s++)
		if (slots[s].fd >= 0 && slots[s].id == id)
			return s;
	return -1;
}

/* Counts that are not known beforehand: only whether there are any, and that only without multiplexing. */
static void show_value(const struct slot *s, u64 v)
{
	const struct perf_event_attr *a = &s->wide.a;
	int countable = a->type != PERF_TYPE_SOFTWARE || a->config < 2 || a->config >= 9;

	if (by_time || !countable)
		return;
	printf(v ? " v>0" : " v=0");
}

static void show_times(const u64 *t, u64 rf)
{
	u64 enabled = 0;

	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		enabled = *t++;
		printf(enabled ? " e>0" : " e=0");
	}
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING) {
		if (!by_time)
			printf(*t ? " r>0" : " r=0");
		if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED && *t > enabled)
			printf(" r>e!");
	}
}

static void show_read(const struct slot *s, const u64 *w, long n)
{
	u64 rf = s->wide.a.read_format, i = 0, nr = 1;
	int times = !!(rf & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(rf & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if (n <= 0)
		return;
	if (rf & PERF_FORMAT_GROUP) {
		nr = w[0];
		printf(" nr=%d", (int)nr);
		show_times(w + 1, rf);
		i = 1 + (u64)times;
	} else {
		show_times(w + 1, rf);
	}
	for (u64 m = 0; m < nr; m++) {
		u64 v = w[i++];
		const struct slot *who = s;

		if (!(rf & PERF_FORMAT_GROUP))
			i += (u64)times;
		if (rf & PERF_FORMAT_ID) {
			int k = slot_of_id(w[i++]);

			printf(" id=%d", k);
			who = k >= 0 ? &slots[k] : s;
		}
		if (nr == 1 || rf & PERF_FORMAT_ID)
			show_value(who, v);
		if (rf & PERF_FORMAT_LOST) {
			if (!by_time)
				printf(" lost=%d", (int)w[i]);
			i++;
		}
	}
}

static void do_read(int s)
{
	static u64 buf[512];
	static const size_t size[] = { 4096, 4096, 4096, 4096, 0, 8, 16, 24, 40, 7 };
	size_t n = PICK(size);
	int bad = one_in(16);
	long r;

	memset(buf, 0xee, sizeof(buf));
	r = read(slots[s].fd, bad ? (void *)8 : buf, n);
	op("read");
	printf(" %d size=%zu%s", s, n, bad ? " bad pointer" : "");
	show_read(&slots[s], buf, r);
	result(r);
}

/* --- ioctl -------------------------------------------------------------------------------------------------- */

static u64 random_arg(unsigned long cmd, int *shown, u64 *cell)
{
	static const u64 period[] = { 0, 1, 1000, 1000000, 100000, 100001, 1ull << 62, 1ull << 63, ~0ull };
	int s = (int)below(SLOTS);

	*shown = 0;
	switch (cmd) {
	case PERF_EVENT_IOC_PERIOD:
		*cell = PICK(period);
		*shown = (int)below(16);
		return *shown ? (u64)(uintptr_t)cell : 8;
	case PERF_EVENT_IOC_SET_OUTPUT:
		*shown = one_in(8) ? -1 : one_in(8) ? 1000 : s;
		return *shown == -1 ? ~0ull : *shown == 1000 ? (u64)null_fd : (u64)(long)slots[s].fd;
	case PERF_EVENT_IOC_REFRESH:
		return (u64)(*shown = (int)below(3));
	case PERF_EVENT_IOC_ID:
		return one_in(4) ? 8 : (u64)(uintptr_t)cell;
	default:
		return (u64)(*shown = (int)below(3));
	}
}

/* A period makes interrupts as fast as it says: none of those that would be a storm. */
static int storms(int s, unsigned long cmd, u64 period)
{
	return cmd == PERF_EVENT_IOC_PERIOD && !slots[s].wide.a.freq && period && period < 100000;
}

static void modify(int s)
{
	union wide w = slots[s].wide;

	if (one_in(2))
		change(&w);
	op("modify");
	printf(" %d", s);
	print_attr(&w);
	result(ioctl(slots[s].fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &w));
}

static void do_ioctl(int s)
{
	static const struct { unsigned long cmd; const char *name; } cmds[] = {
		{ PERF_EVENT_IOC_ENABLE, "ENABLE" }, { PERF_EVENT_IOC_ENABLE, "ENABLE" },
		{ PERF_EVENT_IOC_DISABLE, "DISABLE" }, { PERF_EVENT_IOC_RESET, "RESET" },
		{ PERF_EVENT_IOC_REFRESH, "REFRESH" }, { PERF_EVENT_IOC_PERIOD, "PERIOD" },
		{ PERF_EVENT_IOC_SET_OUTPUT, "SET_OUTPUT" }, { PERF_EVENT_IOC_SET_OUTPUT, "SET_OUTPUT" },
		{ PERF_EVENT_IOC_SET_FILTER, "SET_FILTER" }, { PERF_EVENT_IOC_ID, "ID" },
		{ PERF_EVENT_IOC_SET_BPF, "SET_BPF" }, { PERF_EVENT_IOC_PAUSE_OUTPUT, "PAUSE_OUTPUT" },
		{ PERF_EVENT_IOC_QUERY_BPF, "QUERY_BPF" }, { 0x2450, "0x2450" }, { TCGETS, "TCGETS" },
	};
	u64 i = below(sizeof(cmds) / sizeof(cmds[0])), cell = 0;
	unsigned long cmd = cmds[i].cmd;
	int shown;
	u64 arg = random_arg(cmd, &shown, &cell);

	if (one_in(12)) {
		modify(s);
		return;
	}
	if (storms(s, cmd, cell))
		return;
	if (cmd == PERF_EVENT_IOC_SET_BPF)
		arg = (u64)null_fd;	/* not a BPF program */
	op(cmds[i].name);
	printf(" %d arg=%d", s, shown);
	if (cmd == PERF_EVENT_IOC_PERIOD)
		printf(" value=%#llx", (unsigned long long)cell);
	result(ioctl(slots[s].fd, cmd, arg));
	if (cmd == PERF_EVENT_IOC_PERIOD || cmd == PERF_EVENT_IOC_REFRESH)
		by_time = 1;
}

/* --- mmap --------------------------------------------------------------------------------------------------- */

/* On a clock's page Linux 6.12 shows cap_user_rdpmc and a width at random: it takes its timer for flags of a counter. */
static int is_clock(const struct perf_event_attr *a)
{
	return (a->type == PERF_TYPE_SOFTWARE && a->config < 2) || a->type == 6 || a->type == 7;
}

static void show_page(const struct slot *s)
{
	const struct perf_event_mmap_page *p = (void *)s->map;
	int clock = is_clock(&s->wide.a);

	printf(" page: version %u %u caps %#llx width %u size %u data %llu %llu aux %llu %llu", p->version,
	       p->compat_version, (unsigned long long)p->capabilities & (clock ? ~4ull : ~0ull), clock ? 0 : p->pmc_width, p->size,
	       (unsigned long long)p->data_offset, (unsigned long long)p->data_size,
	       (unsigned long long)p->aux_offset, (unsigned long long)p->aux_size);
	if (!by_time)
		printf(" index %d", p->index != 0);
}

static void unmap(int s)
{
	if (slots[s].map)
		munmap(slots[s].map, slots[s].map_len);
	slots[s].map = NULL;
}

static void do_mmap(int s)
{
	static const unsigned pages[] = { 1, 2, 3, 5, 9, 9, 2, 4, 0, 17 };
	size_t len = PICK(pages) * PAGE;
	int prot = one_in(4) ? PROT_READ : one_in(12) ? PROT_WRITE : one_in(12) ? PROT_READ | PROT_EXEC :
		PROT_READ | PROT_WRITE;
	int flags = one_in(8) ? MAP_PRIVATE : MAP_SHARED;
	off_t off = one_in(8) ? (off_t)PAGE * (off_t)below(4) : 0;
	char *p;

	op("mmap");
	printf(" %d pages=%zu prot=%d flags=%d off=%ld", s, len / PAGE, prot, flags, (long)off);
	p = mmap(NULL, len, prot, flags, slots[s].fd, off);
	if (p == MAP_FAILED) {
		result(-1);
		return;
	}
	if (slots[s].map) {	/* a second mapping of the same ring */
		munmap(p, len);
		printf(" again");
	} else {
		slots[s].map = p, slots[s].map_len = len;
		if (prot & PROT_READ)
			show_page(&slots[s]);
	}
	result(0);
}

static void do_munmap(int s)
{
	op("munmap");
	printf(" %d %s", s, slots[s].map ? "mapped" : "not mapped");
	unmap(s);
	result(0);
}

static int is_stable(u32 type)
{
	return type == PERF_RECORD_COMM || type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
	       type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT || type == PERF_RECORD_NAMESPACES;
}

/* Types and sizes of the side-band records, oldest first. Nobody takes them off; a full ring is not shown. */
static void do_records(int s)
{
	const struct perf_event_mmap_page *p = (void *)slots[s].map;
	u64 pos = 0;

	if (!p || by_time || slots[s].wide.a.write_backward || !p->data_size || p->data_head > p->data_size)
		return;
	op("records");
	printf(" %d:", s);
	while (pos < p->data_head) {
		const struct perf_event_header *h = (const void *)(slots[s].map + p->data_offset + pos % p->data_size);

		if (!h->size)
			break;
		if (is_stable(h->type))
			printf(" %u/%#x/%u", h->type, h->misc, h->size);
		pos += h->size;
	}
	result(0);
}

/* --- the rest ------------------------------------------------------------------------------------------------- */

static void do_file(int s)
{
	int fd = slots[s].fd;
	struct pollfd p = { fd, POLLIN, 0 };
	struct stat st;
	char buf[64] = "", path[32];
	long r;

	switch (below(9)) {
	case 0:
		op("lseek"), printf(" %d", s), result(lseek(fd, 0, SEEK_SET));
		break;
	case 1:
		op("write"), printf(" %d", s), result(write(fd, buf, 8));
		break;
	case 2:
		op("pread"), printf(" %d", s), result(pread(fd, buf, 1, 0));
		break;
	case 3:
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		r = readlink(path, buf, sizeof(buf) - 1);
		op("readlink"), printf(" %d %s", s, buf), result(r);
		break;
	case 4:
		op("fstat"), printf(" %d", s), r = fstat(fd, &st);
		printf(" mode %o size %ld nlink %d", st.st_mode, (long)st.st_size, (int)st.st_nlink), result(r);
		break;
	case 5:
		op("getfl"), printf(" %d", s), result(fcntl(fd, F_GETFL));
		break;
	case 6:
		op("setfl"), printf(" %d", s), result(fcntl(fd, F_SETFL, one_in(2) ? O_ASYNC : O_NONBLOCK));
		break;
	case 7:
		op("ftruncate"), printf(" %d", s), result(ftruncate(fd, 0));
		break;
	default:
		if (by_time || may_be_over(s))
			return;
		r = poll(&p, 1, 0);
		op("poll"), printf(" %d revents %#x", s, p.revents), result(r);
	}
}

/*
 * A child that execs: an event is opened on it before, and read when it has ended. What it counted is not known, only
 * whether it was on (enable_on_exec) or gone (remove_on_exec) when it ran.
 */
static void do_exec(void)
{
	union wide w = random_attr();
	int go[2], fd;
	u64 v[3] = { 0 };
	pid_t pid;
	char c;

	w.a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	w.a.enable_on_exec = one_in(2);
	w.a.remove_on_exec = one_in(4);
	if (pipe(go))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			execl("/bin/true", "true", NULL);
		_exit(1);
	}
	op("exec");
	print_attr(&w);
	fd = (int)syscall(SYS_perf_event_open, &w, pid, -1, -1, 0);
	if (fd < 0)
		printf(" %s", name_of(errno));
	if (write(go[1], "", 1) != 1)
		printf(" no write");
	close(go[0]);
	close(go[1]);
	waitpid(pid, NULL, 0);
	if (fd >= 0) {
		if (read(fd, v, sizeof(v)) == sizeof(v))
			printf(v[1] ? " e>0" : " e=0");
		close(fd);
	}
	result(0);
}

static void do_prctl(void)
{
	int off = one_in(2);

	op(off ? "all off" : "all on");
	result(prctl(off ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE));
}

static void do_work(void)
{
	volatile u64 n = 20000;
	void *p;
	pid_t pid;

	switch (below(8)) {
	case 5:
		op("touch"), printf("\n");
		touch_pages();
		break;
	case 6:
		do_exec();
		break;
	case 7:
		do_prctl();
		break;
	case 0:
		forked = 1;
		op("fork"), printf("\n");
		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		break;
	case 1:
		op("comm"), printf("\n");
		prctl(PR_SET_NAME, "another name");
		break;
	case 2:
		op("code"), printf("\n");
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			munmap(p, PAGE);
		break;
	default:
		op("spin"), printf("\n");
		while (n)
			n--;
	}
}

static void do_close(int s)
{
	op("close");
	printf(" %d", s);
	result(close(slots[s].fd));
	slots[s].fd = -1;
	if (one_in(2))
		unmap(s);
}

static void one_op(void)
{
	int s = (int)below(SLOTS);

	if (slots[s].fd < 0) {
		unmap(s);
		do_open(s);
		return;
	}
	switch (below(20)) {
	case 0: case 1: case 2: case 3: case 4:
		do_read(s);
		break;
	case 5: case 6: case 7: case 8:
		do_ioctl(s);
		break;
	case 9: case 10:
		do_mmap(s);
		break;
	case 11:
		do_munmap(s);
		break;
	case 12: case 13:
		do_records(s);
		do_sample(s);
		break;
	case 14: case 15:
		do_file(s);
		break;
	case 16:
		do_close(s);
		break;
	default:
		do_work();
	}
}

/* --- programs ------------------------------------------------------------------------------------------------- */

static void ignore(int sig)
{
	(void)sig;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void run_program(void)
{
	static const int levels[] = { -1, 0, 1, 2, 2 };
	int level = PICK(levels), user = one_in(3);

	put_long("/proc/sys/kernel/perf_event_paranoid", level);
	put_long("/proc/sys/kernel/perf_user_access", (long)below(2));
	pin();
	signal(SIGTRAP, ignore);
	signal(SIGIO, ignore);
	null_fd = open("/dev/null", O_RDWR);
	if (user && (setgid(1000) || setuid(1000)))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
	printf("program %d: %s, paranoid %d\n", program, user ? "uid 1000" : "root", level);
	for (int s = 0; s < SLOTS; s++)
		slots[s].fd = -1;
	for (u64 n = 10 + below(40); n; n--) {
		nr_ops++;
		one_op();
		fflush(stdout);
	}
}

/* A task that sleeps for ever and belongs to uid 1000, and is asleep when this returns. */
static pid_t sleeper(void)
{
	struct timespec nap = { 0, 20000000 };
	pid_t pid = fork();

	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1);
		for (;;)
			pause();
	}
	nanosleep(&nap, NULL);
	return pid;
}

static void seed(int n)
{
	rng = 0x9e3779b97f4a7c15ull * (u64)(n + 1);
	for (int i = 0; i < 8; i++)
		next();
}

int main(int argc, char **argv)
{
	int first = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 100, st;

	/* Linux lowers the limit of the rate by itself, else. */
	put_long("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	put_long("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	parent = getpid();
	helper = sleeper();
	for (program = first; program < first + count; program++) {
		fflush(stdout);
		pid_t pid = fork();

		if (!pid) {
			alarm(20);
			seed(program);
			run_program();
			fflush(stdout);
			_exit(0);
		}
		waitpid(pid, &st, 0);
		if (st)
			printf("program %d ended with status %#x\n", program, st);
	}
	kill(helper, SIGKILL);
	printf("perfdiff: %d programs\n", count);
	return 0;
}
