/* SPDX-License-Identifier: MIT */
/*
 * A program that does a bit of everything: mixed [ROUNDS]. It computes, writes and reads files, sends bytes through a
 * pipe, touches fresh memory and makes children, so a profile of it has user code and many parts of the kernel. The
 * functions stay apart so that a profile can tell them. See `make flamegraph`.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")	/* no tail calls: each caller keeps its frame */

static char buf[65536];
static volatile unsigned long sink;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* --- computing ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static APART void sort_numbers(void)
{
	static int v[20000];
	unsigned x = 1;

	for (int i = 0; i < 20000; i++)
		v[i] = (x = x * 1103515245 + 12345) >> 8 & 0xffff;
	qsort(v, 20000, sizeof(v[0]), by_value);
	sink += v[100];
}

static APART void checksum(void)
{
	unsigned long h = 5381;

	for (int pass = 0; pass < 40; pass++)
		for (unsigned i = 0; i < sizeof(buf); i++)
			h = h * 33 + (unsigned char)buf[i];
	sink += h;
}

static APART void compute(void)
{
	sort_numbers();
	checksum();
	BARRIER();
}

/* --- system calls -------------------------------------------------------------------------- */

static APART void write_file(const char *name)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	must(fd >= 0, name);
	for (int i = 0; i < 64; i++)
		must(write(fd, buf, sizeof(buf)) == sizeof(buf), "write");
	close(fd);
	BARRIER();
}

static APART void read_file(const char *name)
{
	int fd = open(name, O_RDONLY);

	must(fd >= 0, name);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
	BARRIER();
}

static APART void look_up(void)
{
	struct stat st;

	for (int i = 0; i < 2000; i++)
		must(stat("/sys/devices/system/cpu", &st) == 0, "stat");
}

static APART void files(void)
{
	write_file("/tmp/mixed");
	read_file("/tmp/mixed");
	look_up();
	unlink("/tmp/mixed");
	BARRIER();
}

static APART void pipes(void)
{
	int fd[2];

	must(pipe(fd) == 0, "pipe");
	for (int i = 0; i < 2000; i++) {
		must(write(fd[1], buf, 4096) == 4096, "write");
		must(read(fd[0], buf, 4096) == 4096, "read");
	}
	close(fd[0]);
	close(fd[1]);
	BARRIER();
}

static APART void touch_memory(void)
{
	size_t size = 16 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	munmap(p, size);
	BARRIER();
}

static APART void children(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 8;

	for (int i = 0; i < rounds; i++) {
		compute();
		files();
		pipes();
		touch_memory();
		children();
	}
	printf("done %lu\n", sink);
	return 0;
}
