/* SPDX-License-Identifier: MIT */
/* memhog [MIB]: takes memory and touches it until it gets an error, is killed, or has MIB of it (default: no limit). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	long want = argc > 1 ? atol(argv[1]) : 1L << 40, have = 0;

	while (have < want) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			printf("memhog: refused\n");
			return 3;
		}
		memset(p, 1, 1 << 20);
		have++;
	}
	printf("memhog: has %ld MiB\n", have);
	return 0;
}
