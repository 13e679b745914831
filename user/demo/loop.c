/* SPDX-License-Identifier: MIT */
/*
 * A program that computes: loop [MILLIONS [fork]]. Most of its time is in hot_inner, some in warm. A second argument
 * makes it fork a child that does the same. The functions stay apart so that a profile can tell them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static unsigned long hot_inner(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++) {
		sum += i * 3;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

__attribute__((noinline)) static unsigned long warm(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++) {
		sum ^= i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long millions = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	pid_t child = argc > 2 ? fork() : -1;

	for (unsigned long i = 0; i < millions; i++) {
		sink += hot_inner(800000);
		sink += warm(200000);
	}
	if (child == 0)
		_exit(0);
	if (child > 0 && waitpid(child, NULL, 0) != child)
		return 1;
	printf("done %lu\n", sink);
	return 0;
}
