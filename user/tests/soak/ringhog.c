/* SPDX-License-Identifier: MIT */
/*
 * ringhog [PAGES]: opens events and maps rings of PAGES data pages (64) until it is refused or killed, keeps all of them for a
 * second and ends. Exits 0 if the refusal was a right one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 0) : 64, len = (pages + 1) * 4096;
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100000, .sample_type = PERF_SAMPLE_IP};
	struct rlimit files = {100000, 100000};
	int rings = 0, err = 0;

	setrlimit(RLIMIT_NOFILE, &files);
	for (;; rings++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, 0, rings % 2, -1, 0);

		if (fd < 0 || mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) {
			err = errno;
			break;
		}
	}
	printf("ringhog: %d rings of %zu pages, then: %s\n", rings, pages, strerror(err));
	fflush(stdout);
	sleep(1);
	return rings && (err == ENOMEM || err == EPERM || err == EMFILE || err == ENFILE) ? 0 : 1;
}
