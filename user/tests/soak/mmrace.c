/* SPDX-License-Identifier: MIT */
/*
 * mmrace [SECONDS]: threads that fault, unmap, protect, fork, truncate and move memory under each other's feet.
 * What must hold: a fault ends in the right value or a signal; a forked child's memory stands still while
 * the parent's threads write; a page never shows what another process wrote; nothing hangs. Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 64
#define PAGE 4096

static _Thread_local sigjmp_buf jump;
static _Thread_local volatile sig_atomic_t armed;
static atomic_bool stop;
static atomic_long faults, bad;
static volatile unsigned long *area;	/* PAGES pages that come and go */
static volatile unsigned long *stable;	/* private, always mapped, written by threads */
static volatile unsigned long *file_map;	/* shared file that is truncated */
static int fd;

static void on_signal(int sig, siginfo_t *si, void *ctx)
{
	if (!armed)
		_exit(70);
	atomic_fetch_add(&faults, 1);
	siglongjmp(jump, 1);
}

static unsigned rnd(volatile unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % n;
}

/* Writes a value that tells the page and reads it back: another page's value would be somebody else's. */
static void *toucher(void *arg)
{
	volatile unsigned seed = (unsigned)(long)arg;	/* survives the jump */

	while (!stop) {
		unsigned p = rnd(&seed, PAGES);
		volatile unsigned long *w = area + p * (PAGE / 8) + (long)arg;
		unsigned long v = (unsigned long)(long)arg << 32 | p;

		armed = 1;
		if (!sigsetjmp(jump, 0)) {
			unsigned long old = *w;

			if (old && old != v)
				atomic_fetch_add(&bad, 1);
			*w = v;
		}
		armed = 0;
	}
	return NULL;
}

static void *mapper(void *arg)
{
	unsigned seed = 77;

	while (!stop) {
		unsigned p = rnd(&seed, PAGES), n = 1 + rnd(&seed, PAGES - p);
		void *a = (void *)(area + p * (PAGE / 8));

		switch (rnd(&seed, 5)) {
		case 0: munmap(a, n * PAGE); break;
		case 1: mprotect(a, n * PAGE, rnd(&seed, 2) ? PROT_READ : PROT_NONE); break;
		case 2: mprotect(a, n * PAGE, PROT_READ | PROT_WRITE); break;
		case 3: madvise(a, n * PAGE, MADV_DONTNEED); break;
		default:
			mmap(a, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		}
	}
	return NULL;
}

/* All of a page's words are one thread's: it counts them up together. */
static void *writer(void *arg)
{
	long t = (long)arg % 4;
	unsigned long n = 0;

	while (!stop) {
		n++;
		for (int p = 0; p < 16; p++)
			stable[(t * 16 + p) * (PAGE / 8)] = n;
	}
	return NULL;
}

static int child_sees_still_memory(void)
{
	unsigned long copy[64];

	for (int i = 0; i < 64; i++)
		copy[i] = stable[i * (PAGE / 8)];
	for (int round = 0; round < 50; round++)
		for (int i = 0; i < 64; i++)
			if (stable[i * (PAGE / 8)] != copy[i])
				return 1;
	for (int i = 0; i < 64; i++)
		stable[i * (PAGE / 8)] = ~0UL;	/* the parent must not see this */
	return 0;
}

static void *forker(void *arg)
{
	while (!stop) {
		pid_t pid = fork();
		int st;

		if (pid == 0)
			_exit(child_sees_still_memory());
		if (pid < 0)
			continue;
		waitpid(pid, &st, 0);
		if (st)
			atomic_fetch_add(&bad, 1);
		for (int i = 0; i < 64; i++)
			if (stable[i * (PAGE / 8)] == ~0UL)
				atomic_fetch_add(&bad, 1);
	}
	return NULL;
}

static void *truncater(void *arg)
{
	unsigned seed = 5;

	while (!stop) {
		ftruncate(fd, rnd(&seed, PAGES) * PAGE);
		ftruncate(fd, PAGES * PAGE);
	}
	return NULL;
}

static void *file_toucher(void *arg)
{
	volatile unsigned seed = 9 + (unsigned)(long)arg;

	while (!stop) {
		unsigned p = rnd(&seed, PAGES);

		armed = 1;
		if (!sigsetjmp(jump, 0)) {
			unsigned long v = file_map[p * (PAGE / 8)];

			if (v && v != p + 1)
				atomic_fetch_add(&bad, 1);
			file_map[p * (PAGE / 8)] = p + 1;
		}
		armed = 0;
	}
	return NULL;
}

#define COPIES 512
static volatile unsigned long *copies;	/* private, of a file of its own */
static int copied;
static atomic_bool copied_enough;
static pthread_barrier_t turn;

/* A truncation takes away private copies like the pages: while they become writable again. */
static void *copy_truncater(void *arg)
{
	unsigned seed = 31;

	while (!copied_enough) {
		pthread_barrier_wait(&turn);
		for (volatile unsigned k = rnd(&seed, 20000); k; k--)
			;
		ftruncate(copied, 0);
		ftruncate(copied, COPIES * PAGE);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

/* fork makes the copies read-only; when the child has gone they are this process's alone. */
static void *copy_writer(void *arg)
{
	for (;;) {
		pid_t pid;

		for (int p = 0; p < COPIES; p++)
			copies[p * (PAGE / 8)] = p + 1;
		pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		pthread_barrier_wait(&turn);
		for (volatile int p = 0; p < COPIES; p++) {
			unsigned long v = (unsigned long)p + 1;
			struct iovec from = { &v, 8 }, to = { (void *)&copies[p * (PAGE / 8)], 8 };

			armed = 1;
			if (p % 4 == 3)		/* the kernel does it, to what is there now */
				process_vm_writev(getpid(), &from, 1, &to, 1, 0);
			else if (!sigsetjmp(jump, 0))
				copies[p * (PAGE / 8)] = v;
			armed = 0;
		}
		copied_enough = stop;
		pthread_barrier_wait(&turn);
		if (copied_enough)
			return NULL;
	}
}

/* Reads of the kernel into memory that goes away: EFAULT or whole. */
static void *reader(void *arg)
{
	int zero = open("/dev/zero", O_RDONLY);
	unsigned seed = 3;

	while (!stop) {
		long n = read(zero, (void *)(area + rnd(&seed, PAGES) * (PAGE / 8)), 32);

		if (n != 32 && errno != EFAULT)
			atomic_fetch_add(&bad, 1);
	}
	return NULL;
}

static void *mover(void *arg)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t n = 8;

	memset(p, 42, 8 * PAGE);
	while (!stop) {
		size_t m = n == 8 ? 700 : 8;
		char *q = mremap(p, n * PAGE, m * PAGE, MREMAP_MAYMOVE);

		if (q == MAP_FAILED)
			continue;
		p = q;
		n = m;
		for (int i = 0; i < 8; i++)
			if (p[i * PAGE] != 42)
				atomic_fetch_add(&bad, 1);
	}
	return NULL;
}

static void run(const char *name, int secs, int n, void *(**fn)(void *))
{
	static int nr;
	pthread_t t[8];
	long before = bad;

	stop = 0;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, fn[i], (void *)i);
	sleep(secs);
	stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%sok %d - mmrace %s\n", bad == before ? "" : "not ", ++nr, name);
	if (bad != before)
		printf("# %ld wrong values\n", bad - before);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int secs = argc > 1 ? atoi(argv[1]) : 3;
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stable = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = memfd_create("mmrace", 0);
	ftruncate(fd, PAGES * PAGE);
	file_map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run("unmap under faults", secs, 4, (void *(*[])(void *)){ mapper, toucher, toucher, reader });
	run("fork under writes", secs, 4, (void *(*[])(void *)){ writer, writer, writer, forker });
	mmap((void *)area, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	run("truncate under faults", secs, 4,
	    (void *(*[])(void *)){ truncater, file_toucher, file_toucher, file_toucher });
	run("move, fork and unmap", secs, 6,
	    (void *(*[])(void *)){ mover, mover, forker, toucher, mapper, writer });
	copied = memfd_create("copied", 0);
	ftruncate(copied, COPIES * PAGE);
	copies = mmap(NULL, COPIES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, copied, 0);
	pthread_barrier_init(&turn, NULL, 2);
	run("truncate under private copies", secs, 2, (void *(*[])(void *)){ copy_truncater, copy_writer });
	printf("1..5\n");
	return bad != 0;
}
