/* SPDX-License-Identifier: MIT */
/*
 * badargs [SECONDS [SEED [THREADS]]]: system calls with bad pointers, sizes, descriptors, flags and random numbers.
 *
 * Each call must give a value, an errno or a signal. The work is done in child processes (half of them as uid 1000), each
 * with several threads on one address space; one more thread unmaps, replaces and protects pages that the others pass in. A
 * child that dies or hangs is replaced. At the end the parent says how many
 * calls were made and exits 0: the kernel is alive. The same seed makes the same calls.
 *
 * Left out: reboot, kill and its relatives towards others (they would end the test, rightly), and what would take the
 * machine away from under it: unmounting and hiding file systems as root, setting the clock, freezing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_MAX 463 /* one above the last number that 6.12 has */
#define ROUND_MS 700

/* Calls made, shared by all. Alone, far from what the drawn pointers point to: a call that writes on from there ends
 * at a gap long before. */
#define TOTAL_AT ((void *)0x500000000000)
static unsigned long *total;
static int threads = 4;

static const short left_out[] = {
	SYS_reboot, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal,
	SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
	SYS_exit_group, SYS_exit, SYS_vhangup, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module,
	SYS_delete_module, SYS_swapon, SYS_swapoff, SYS_mount, SYS_move_mount, SYS_sethostname, SYS_syslog, SYS_setns,
	SYS_unshare, SYS_rt_sigreturn, SYS_ptrace, SYS_seccomp, SYS_process_madvise, SYS_sched_setscheduler,
	SYS_sched_setattr, SYS_sched_setparam, SYS_bpf, SYS_userfaultfd, SYS_mount_setattr, SYS_fsmount, SYS_open_tree,
};

static int skipped(long nr)
{
	for (unsigned int i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (left_out[i] == nr)
			return 1;
	return 0;
}

static unsigned long next(unsigned long *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static char page[3 * 4096] __attribute__((aligned(4096))); /* the last page becomes unmapped */

/* These pages come and go while others use them: flip(). What is in them is that of a file, so it comes back. */
#define MOVING_PAGES 4
static char *moving;
static int moving_fd;

static void fill(unsigned long *s);

static unsigned long pointer(unsigned long *s)
{
	switch (next(s) % 15) {
	case 0:
		return 0;
	case 1:
		return 8;
	case 2:
		return 0xffff000000000000;
	case 3:
		return 0xffffffffffffffff;
	case 4:
		return 0x0000fffffffff000;
	case 5:
		return 0x00ff000000001000;
	case 6:
		return (unsigned long)page + 8192 - next(s) % 64; /* crosses into nothing */
	case 7:
		return (unsigned long)fill; /* read only */
	case 8:
		return next(s);
	case 9:
	case 10:
		return (unsigned long)moving + next(s) % (MOVING_PAGES * 4096);
	default:
		return (unsigned long)page + next(s) % 4096;
	}
}

static unsigned long number(unsigned long *s)
{
	static const unsigned long edge[] = {0, 1, 2, 3, 7, 8, 16, 63, 64, 65, 128, 255, 256, 4095, 4096, 4097, 65535, 65536,
		0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, -1UL, -2UL, -22UL,
		-100UL, -4096UL};

	switch (next(s) % 4) {
	case 0:
		return next(s) >> next(s) % 64;
	case 1:
		return 1UL << next(s) % 64;
	default:
		return edge[next(s) % (sizeof(edge) / sizeof(*edge))];
	}
}

static const char *const names[] = {"", "/", ".", "..", "/tmp/ba", "/proc/self/mem", "/proc/self/maps", "/dev/null", "/dev/zero",
	"/proc/self/fd/0", "/sys/kernel/notes", "/nope/x", "/proc/1/stat", "/dev/full", "ba-file", "/proc/self/task"};

static void fill(unsigned long *s)
{
	unsigned long *w = (unsigned long *)page;

	if (next(s) % 3 == 0) {
		strcpy(page, names[next(s) % (sizeof(names) / sizeof(*names))]);
		return;
	}
	for (int i = 0; i < 32; i++)
		w[next(s) % 1024] = next(s) % 2 ? number(s) : pointer(s);
	if (next(s) % 4 == 0)
		(void)!pwrite(moving_fd, page, 4096, next(s) % MOVING_PAGES * 4096);
}

static unsigned long argument(unsigned long *s)
{
	switch (next(s) % 6) {
	case 0:
	case 1:
		return pointer(s);
	case 2:
		return next(s) % 24; /* descriptors */
	default:
		return number(s);
	}
}

struct worker {
	unsigned long seed;
	int id;
};

static long end_ms;

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void *work(void *arg)
{
	unsigned long s = ((struct worker *)arg)->seed | 1;

	while (now_ms() < end_ms) {
		for (int i = 0; i < 20; i++) {
			long nr = next(&s) % 50 ? (long)(next(&s) % NR_MAX) : (long)number(&s);

			if (skipped(nr & 0xffffffff))
				continue;
			unsigned long a[6];

			for (int k = 0; k < 6; k++)
				a[k] = argument(&s);
			/* No new processes by the thousand, and none that run on this stack. */
			if (nr == SYS_clone || nr == SYS_clone3)
				a[0] = nr == SYS_clone ? (a[0] | CLONE_THREAD) & ~CLONE_SIGHAND : (unsigned long)8 + (a[0] & 7);
			if (nr == SYS_prlimit64)
				a[0] &= 1;
			if (nr == SYS_fcntl && a[0] < 3)
				a[0] = 5;
			if ((nr == SYS_close || nr == SYS_dup3 || nr == SYS_close_range) && a[0] < 3)
				a[0] = 99;
			if (nr == SYS_setpriority || nr == SYS_setpgid)
				a[1] = 0;
			fill(&s);
			syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
			__atomic_add_fetch(total, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void make_moving(void)
{
	moving_fd = (int)syscall(SYS_memfd_create, "moving", 0);
	(void)!ftruncate(moving_fd, MOVING_PAGES * 4096);
	moving_fd = fcntl(moving_fd, F_DUPFD, 30);	/* beyond the descriptors that are drawn */
	moving = mmap(NULL, MOVING_PAGES * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, moving_fd, 0);
}

static void *flip(void *arg)
{
	unsigned long s = *(unsigned long *)arg | 1;

	while (now_ms() < end_ms) {
		unsigned long i = next(&s) % MOVING_PAGES, n = 1 + next(&s) % (MOVING_PAGES - i);
		int file = next(&s) % 3 != 0;

		switch (next(&s) % 5) {
		case 0:
			munmap(moving + i * 4096, n * 4096);
			break;
		case 1:
			mprotect(moving + i * 4096, n * 4096, (int)(next(&s) % 4));
			break;
		case 2:
			madvise(moving + i * 4096, n * 4096, MADV_DONTNEED);
			break;
		default:
			mmap(moving + i * 4096, n * 4096, PROT_READ | PROT_WRITE,
				MAP_FIXED | (file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS), file ? moving_fd : -1, file ? (long)i * 4096 : 0);
		}
	}
	return NULL;
}

static void poked(int sig)
{
}

static void child(unsigned long seed, int user)
{
	struct worker w[16];
	pthread_t t[16], flipper;
	char dir[64];
	int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	snprintf(dir, sizeof(dir), "/tmp/badargs.%d", user);
	mkdir(dir, 0777);
	if (chdir(dir))
		_exit(1);
	struct rlimit fsize = {1 << 20, 1 << 20}, as = {256 << 20, 256 << 20};
	setrlimit(RLIMIT_FSIZE, &fsize);
	setrlimit(RLIMIT_AS, &as);
	int quiet = open("/dev/null", O_RDWR);
	dup2(quiet, 0);
	dup2(quiet, 1);
	dup2(quiet, 2);
	for (int i = 0; i < 6; i++) {
		int p[2];
		if (pipe2(p, O_NONBLOCK))
			break;
	}
	make_moving();
	if (user && (setgid(1000) || setuid(1000)))
		_exit(1);
	munmap(page + 8192, 4096);
	end_ms = now_ms() + ROUND_MS;
	signal(SIGUSR1, poked);
	pthread_create(&flipper, NULL, flip, &seed);
	for (n = 0; n < threads; n++) {
		w[n] = (struct worker){seed + n * 0x9e3779b97f4a7c15, n};
		if (pthread_create(&t[n], NULL, work, &w[n]))
			break;
	}
	/* Calls that wait are interrupted, so that the next ones get their turn. */
	while (now_ms() < end_ms) {
		usleep(5000);
		for (int i = 0; i < n; i++)
			pthread_kill(t[i], SIGUSR1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 5;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	long end = now_ms() + seconds * 1000, minute = now_ms();
	int rounds = 0, died = 0, hung = 0;

	threads = argc > 3 ? atoi(argv[3]) : 4;
	if (threads < 1 || threads > 16)
		return 2;
	total = mmap(TOTAL_AT, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (total == MAP_FAILED)
		return 1;
	printf("badargs: seed %lu, %d threads, %ld s\n", seed, threads, seconds);
	fflush(stdout);
	for (; now_ms() < end; rounds++) {
		pid_t pid[2];

		for (int i = 0; i < 2; i++) {
			pid[i] = fork();
			if (pid[i] == 0)
				child(seed * 1000003 + rounds * 2 + i, i);
			if (pid[i] < 0) {
				printf("badargs: fork: %s\n", strerror(errno));
				return 1;
			}
		}
		long limit = now_ms() + 3 * ROUND_MS;

		for (int i = 0; i < 2; i++) {
			int st = 0;

			while (waitpid(pid[i], &st, WNOHANG) == 0 && now_ms() < limit)
				usleep(2000);
			if (kill(pid[i], SIGKILL) == 0 && now_ms() >= limit)
				hung++;
			/* SIGKILL must end it, whatever its threads are in: a call that cannot be killed hangs here. */
			waitpid(pid[i], &st, 0);
			died += WIFSIGNALED(st);
		}
		if (now_ms() - minute >= 60000) {
			minute += 60000;
			printf("badargs: round %d, %lu calls\n", rounds, *total);
			fflush(stdout);
		}
	}
	printf("badargs: %d rounds, %lu calls, %d processes ended by a signal, %d had to be killed\n", rounds, *total, died, hung);
	return *total > 1000 ? 0 : 1;
}
