/* SPDX-License-Identifier: MIT */
/*
 * From a failing seed to a short program.
 *
 * Every step of a random program draws from a stream of its own (of seed and step), so any subset
 * of the steps is a program too, and says the same on every run. Shrinking leaves out larger, then
 * smaller pieces as long as what is left still fails, and prints how to replay the rest.
 */
#include "sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool fails(u64 seed, u32 ops, const u8 *skip)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		alarm(20);
		random_run(seed, ops, skip);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* Try to do without the steps from..to-1. */
static bool leave_out(u64 seed, u32 ops, u8 *skip, u32 from, u32 to)
{
	u8 *trial = malloc(ops);
	bool any = false, good;

	memcpy(trial, skip, ops);
	for (u32 i = from; i < to; i++) {
		any |= !trial[i];
		trial[i] = 1;
	}
	good = any && fails(seed, ops, trial);
	if (good)
		memcpy(skip, trial, ops);
	free(trial);
	return good;
}

static void print_kept(const u8 *skip, u32 ops)
{
	const char *comma = "";

	for (u32 i = 0; i < ops; i++) {
		u32 last = i;

		if (skip[i])
			continue;
		while (last + 1 < ops && !skip[last + 1])
			last++;
		printf(last > i ? "%s%u-%u" : "%s%u", comma, i, last);
		comma = ",";
		i = last;
	}
}

/* "3,7-9": leave out all others. False: not such a list. */
bool steps_keep(const char *list, u32 ops, u8 *skip)
{
	char *end = (char *)list;

	memset(skip, 1, ops);
	while (*end) {
		u32 from = (u32)strtoul(end, &end, 10), to = from;

		if (*end == '-')
			to = (u32)strtoul(end + 1, &end, 10);
		for (u32 i = from; i <= to && i < ops; i++)
			skip[i] = 0;
		if (*end == ',')
			end++;
		else if (*end)
			return false;
	}
	return true;
}

/* Prints the shortest program found; false if seed does not fail at all. */
bool shrink(u64 seed, u32 ops)
{
	u8 *skip = calloc(1, ops);
	u32 left = 0;
	bool better;

	if (!fails(seed, ops, skip)) {
		printf("seed %lu does not fail\n", seed);
		free(skip);
		return false;
	}
	for (u32 piece = (ops + 1) / 2; piece; piece = better && piece == 1 ? 1 : piece / 2) {
		better = false;
		for (u32 to = ops; to; to -= piece < to ? piece : to)
			better |= leave_out(seed, ops, skip, piece < to ? to - piece : 0, to);
	}
	for (u32 i = 0; i < ops; i++)
		left += !skip[i];
	printf("%u of %u steps are enough: perf-host -v -s %lu -o %u -k ", left, ops, seed, ops);
	print_kept(skip, ops);
	printf("\n");
	free(skip);
	return true;
}
