/* SPDX-License-Identifier: MIT */
/*
 * A program that makes machine code at run time, as just-in-time compilers do, and tells perf about it:
 *
 *	jit map MILLIONS	by /tmp/perf-PID.map (perf report reads it)
 *	jit dump MILLIONS	by ./jit-PID.dump (perf record -k mono, then perf inject --jit)
 *	jit quiet MILLIONS	not at all
 *	jit vdso MILLIONS	asks for the time instead: code that the kernel has brought (MILLIONS times 10000)
 *
 * It runs MILLIONS times a million rounds of a loop called jitted_loop. Formats: tools/perf/Documentation of Linux,
 * jit-interface.txt and jitdump-specification.txt.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint32_t code[] = {
	0xf1000400,	/* 1: subs x0, x0, #1 */
	0x54ffffe1,	/*    b.ne 1b */
	0xd65f03c0,	/*    ret */
};
static const char name[] = "jitted_loop";

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Writable first, executable then, never both. */
static void *make_code(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, p + sizeof(code));
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) ? NULL : p;
}

static int tell_map(const void *at)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f)
		return -1;
	fprintf(f, "%lx %zx %s\n", (unsigned long)at, sizeof(code), name);
	return fclose(f);
}

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};
struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, length, index;
};

static int tell_dump(const void *at)
{
	struct header h = { 0x4a695444, 1, sizeof(h), 183, 0, (uint32_t)getpid(), now(), 0 };
	struct load l = { 0, sizeof(l) + sizeof(name) + sizeof(code), now(), (uint32_t)getpid(),
			  (uint32_t)syscall(SYS_gettid), (uint64_t)at, (uint64_t)at, sizeof(code), 0 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
	if (fd < 0 || write(fd, &h, sizeof(h)) != sizeof(h))
		return -1;
	/* This mapping is how perf hears of the file. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return -1;
	if (write(fd, &l, sizeof(l)) != sizeof(l) || write(fd, name, sizeof(name)) != sizeof(name) ||
	    write(fd, code, sizeof(code)) != sizeof(code))
		return -1;
	return close(fd);
}

static void ask_the_time(unsigned long n)
{
	while (n--)
		now();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "quiet";
	unsigned long millions = argc > 2 ? strtoul(argv[2], NULL, 0) : 200;
	void *at = make_code();
	void (*fn)(unsigned long) = (void (*)(unsigned long))at;

	if (!strcmp(mode, "vdso")) {
		ask_the_time(millions * 10000);
		return 0;
	}
	if (!at || (!strcmp(mode, "map") && tell_map(at)) || (!strcmp(mode, "dump") && tell_dump(at)))
		return 1;
	while (millions--)
		fn(1000000);
	return 0;
}
