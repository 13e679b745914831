/* SPDX-License-Identifier: MIT */
/*
 * The SIMD registers are the program's: they outlive samples of its stack, system calls that copy much (also in and out
 * of memory that is not there yet, or not at all), page faults, signals, and other programs on the same CPU. Each step
 * loads all 32 of them with values of its own, does one of these things in the same piece of assembly, and looks.
 */
#include "ring.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#ifdef __aarch64__

#define FILE_SIZE (32 * PAGE)
#define ALTSTACK (16 * PAGE)

struct simd {
	u64 v[64];
	u64 fpsr, fpcr;
} __attribute__((aligned(16)));

struct worker {
	char *file, *buf, *altstack;	/* what the file has; memory for copies */
	int fd, pipe[2];
	struct ring ring;
	u64 rng;
};

#define PAIRS(op, at)	op " q0, q1, [" at "]\n" op " q2, q3, [" at ", #32]\n" op " q4, q5, [" at ", #64]\n" \
	op " q6, q7, [" at ", #96]\n" op " q8, q9, [" at ", #128]\n" op " q10, q11, [" at ", #160]\n"		\
	op " q12, q13, [" at ", #192]\n" op " q14, q15, [" at ", #224]\n" op " q16, q17, [" at ", #256]\n"	\
	op " q18, q19, [" at ", #288]\n" op " q20, q21, [" at ", #320]\n" op " q22, q23, [" at ", #352]\n"	\
	op " q24, q25, [" at ", #384]\n" op " q26, q27, [" at ", #416]\n" op " q28, q29, [" at ", #448]\n"	\
	op " q30, q31, [" at ", #480]\n"
#define LOAD	PAIRS("ldp", "%[in]") "ldr x9, [%[in], #512]\n msr fpsr, x9\n ldr x9, [%[in], #520]\n msr fpcr, x9\n"
#define STORE	PAIRS("stp", "%[out]") "mrs x9, fpsr\n str x9, [%[out], #512]\n mrs x9, fpcr\n str x9, [%[out], #520]\n" \
	"msr fpcr, xzr\n"
#define VECTORS	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",	\
	"v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"

static u64 next(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	return *rng ^= *rng << 17;
}

static void fill(struct simd *s, u64 *rng)
{
	for (int i = 0; i < 64; i++)
		s->v[i] = next(rng);
	s->fpsr = next(rng) & 0x0800009f;	/* QC and the sticky flags */
	s->fpcr = next(rng) & 0x03c00000;	/* DN, FZ, rounding */
}

static void same(const struct simd *in, const struct simd *out, const char *when)
{
	for (int i = 0; i < 64; i++)
		EXPECT(in->v[i] == out->v[i], "q%d has changed %s", i / 2, when);
	EXPECT(in->fpsr == out->fpsr && in->fpcr == out->fpcr, "FPSR or FPCR has changed %s", when);
}

static long call(struct worker *w, const char *when, long nr, long a, void *b, long c, long d)
{
	struct simd in, out;
	long ret;

	fill(&in, &w->rng);	/* a call, so before the registers */
	register long x0 __asm__("x0") = a, x2 __asm__("x2") = c, x3 __asm__("x3") = d, x8 __asm__("x8") = nr;
	register void *x1 __asm__("x1") = b;

	__asm__ volatile(LOAD "svc #0\n" STORE
			 : "+r"(x0) : [in] "r"(&in), [out] "r"(&out), "r"(x1), "r"(x2), "r"(x3), "r"(x8)
			 : "x9", "memory", "cc", VECTORS);
	ret = x0;
	same(&in, &out, when);
	return ret;
}

/* Stores to a word every "step" bytes, n times. */
static void touch(struct worker *w, const char *when, void *p, u64 step, u64 n)
{
	struct simd in, out;

	fill(&in, &w->rng);
	__asm__ volatile(LOAD "1: str %[p], [%[p]]\n add %[p], %[p], %[step]\n subs %[n], %[n], #1\n b.ne 1b\n" STORE
			 : [p] "+r"(p), [n] "+r"(n) : [in] "r"(&in), [out] "r"(&out), [step] "r"(step)
			 : "x9", "memory", "cc", VECTORS);
	same(&in, &out, when);
}

static char *fresh(size_t n, int fd)
{
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	NEED(p == MAP_FAILED ? -1 : 0);
	return p;
}

static void read_into(struct worker *w, char *to, size_t n, size_t off, const char *when)
{
	EXPECT_EQ(call(w, when, SYS_pread64, w->fd, to, (long)n, (long)off), n);
	EXPECT(!memcmp(to, w->file + off, n), "wrong bytes %s", when);
}

static void copies(struct worker *w)
{
	size_t odd = next(&w->rng) % 100, off = next(&w->rng) % PAGE, n = FILE_SIZE / 2 + next(&w->rng) % PAGE;
	char *p = fresh(FILE_SIZE + PAGE, -1);

	read_into(w, w->buf + odd, n, off, "over a read");
	read_into(w, p + odd, n, off, "over a read into fresh memory");
	munmap(p, FILE_SIZE + PAGE);
	p = fresh(FILE_SIZE, w->fd);
	read_into(w, p, n, 0, "over a read into fresh pages of a file");
	EXPECT_EQ(call(w, "over a write", SYS_pwrite64, w->fd, p, (long)n, 0), n);
	munmap(p, FILE_SIZE);
	p = fresh(FILE_SIZE, w->fd);
	EXPECT_EQ(call(w, "over a write of fresh memory", SYS_pwrite64, w->fd, p, (long)n, 0), n);
	munmap(p, FILE_SIZE);
}

/* The memory ends in the middle of a copy, and in the middle of a block of it. */
static void broken(struct worker *w)
{
	size_t odd = next(&w->rng) % 300 + 1;
	char *p = fresh(4 * PAGE, -1);
	long got;

	NEED(mprotect(p + 2 * PAGE, PAGE, PROT_NONE));
	got = call(w, "over a read that faults", SYS_pread64, w->fd, p + odd, 3 * PAGE, 0);
	EXPECT(got == -EFAULT || (got > 0 && (u64)got <= 2 * PAGE - odd), "a read behind the memory: %ld", got);
	got = call(w, "over a write that faults", SYS_write, w->pipe[1], p + odd, 3 * PAGE, 0);
	EXPECT(got == -EFAULT || (got > 0 && (u64)got <= 2 * PAGE - odd), "a write behind the memory: %ld", got);
	if (got > 0)
		EXPECT_EQ(call(w, "over a read of a pipe", SYS_read, w->pipe[0], w->buf, got, 0), got);
	munmap(p, 4 * PAGE);
}

static void faults(struct worker *w)
{
	char *p = fresh(FILE_SIZE, -1), *q = fresh(FILE_SIZE, w->fd);

	touch(w, "over page faults", p, PAGE, FILE_SIZE / PAGE);
	touch(w, "over copies of pages", q, PAGE, FILE_SIZE / PAGE);
	touch(w, "over samples", w->buf, 0, 20000);
	call(w, "over a yield", SYS_sched_yield, 0, NULL, 0, 0);
	munmap(p, FILE_SIZE);
	munmap(q, FILE_SIZE);
}

static void on_alarm(int sig)
{
	__asm__ volatile("movi v0.16b, #1\n movi v1.16b, #2\n movi v2.16b, #3\n movi v3.16b, #4\n movi v31.16b, #5"
			 : : : "v0", "v1", "v2", "v3", "v31");
}

/* Signals all the time, whose frames go to memory that is not there yet. */
static void alarms(struct worker *w)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	stack_t ss = { .ss_sp = w->altstack = fresh(ALTSTACK, -1), .ss_size = ALTSTACK };

	NEED(sigaltstack(&ss, NULL));
	NEED(sigaction(SIGALRM, &sa, NULL));
	NEED(setitimer(ITIMER_REAL, &often, NULL));
}

/* Samples of registers, chains and the stack, as often as the kernel lets us. */
static struct ring samples(void)
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 20000, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
					    PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER);
	int fd;

	a.sample_stack_user = 8192;
	a.sample_regs_user = (1ull << 33) - 1;
	fd = open_attr(&a);
	struct ring r = ring_map(fd, 64, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	return r;
}

static void setup(struct worker *w, u64 seed)
{
	w->rng = seed * 0x9e3779b97f4a7c15ull | 1;
	w->buf = fresh(FILE_SIZE + PAGE, -1);
	w->file = fresh(FILE_SIZE, -1);
	for (size_t i = 0; i < FILE_SIZE; i++)
		w->file[i] = (char)next(&w->rng);
	NEED(w->fd = memfd_create("simd", 0));
	EXPECT_EQ(pwrite(w->fd, w->file, FILE_SIZE, 0), FILE_SIZE);
	NEED(pipe2(w->pipe, O_NONBLOCK));
}

static void work(void *seed)
{
	struct worker w;

	setup(&w, *(u64 *)seed);
	alarms(&w);
	w.ring = samples();
	for (u64 end = thread_cpu_ns() + 300000000; thread_cpu_ns() < end && !test_failed();) {
		copies(&w);
		broken(&w);
		faults(&w);
		madvise(w.altstack, ALTSTACK, MADV_DONTNEED);
		w.ring.page->data_tail = w.ring.page->data_head;	/* nobody reads them, but they shall be written */
	}
	EXPECT(w.ring.page->data_head > 0, "no samples");
	_exit(test_failed());
}

static void work_in_parallel(int n)
{
	pid_t pid[64];
	u64 seed;

	n = n > 64 ? 64 : n;
	for (int i = 0; i < n; i++) {
		seed = (u64)i + 1;
		pid[i] = run_child(work, &seed);
	}
	for (int i = 0; i < n; i++)
		reap(pid[i]);
}

TEST("simd/one_cpu", "PERF_SAMPLE_STACK_USER attr.sample_stack_user", "the registers are the program's")
{
	pin(0);
	work_in_parallel(2);
}

TEST("simd/all_cpus", "PERF_SAMPLE_STACK_USER attr.sample_stack_user", "the registers are the program's")
{
	work_in_parallel(nr_cpus() + 1);
}

#endif
