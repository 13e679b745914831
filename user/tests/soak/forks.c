/* SPDX-License-Identifier: MIT */
/* forks N [AT-ONCE]: N children that write a page and exit, at most AT-ONCE alive. Fails if one is lost. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char page[8192];

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000, at_once = argc > 2 ? atol(argv[2]) : 8;
	long made = 0, ended = 0, bad = 0;

	while (ended < n) {
		while (made < n && made - ended < at_once) {
			pid_t pid = fork();

			if (pid == 0) {
				page[made % 8192] = 1;
				_exit((int)(made & 127));
			}
			if (pid < 0) {
				printf("forks: fork %ld: %s\n", made, strerror(errno));
				return 1;
			}
			made++;
		}
		int st;

		if (wait(&st) < 0) {
			printf("forks: wait: %s\n", strerror(errno));
			return 1;
		}
		bad += !WIFEXITED(st);
		ended++;
	}
	printf("forks: %ld made, %ld ended, %ld badly\n", made, ended, bad);
	return bad != 0;
}
