/* SPDX-License-Identifier: MIT */
/* checks: lists the checks, or runs one. See check.h. */
#include "check.h"
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>

extern const struct check *const __start_checks[], *const __stop_checks[];

long ok(const char *what, long result)
{
	if (result >= 0)
		say("%s: ok", what);
	else
		say("%s: %s", what, strerrorname_np(errno));
	return result;
}

long val(const char *what, long result)
{
	if (result >= 0)
		say("%s: %ld", what, result);
	else
		say("%s: %s", what, strerrorname_np(errno));
	return result;
}

void is(const char *what, int truth)
{
	say("%s: %s", what, truth ? "yes" : "no");
}

void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(1, line, n) != n)
		_exit(99);
}

void need(const char *what, long result)
{
	if (result >= 0)
		return;
	say("%s: %s, cannot go on", what, strerrorname_np(errno));
	_exit(98);
}

int reap(const char *what, pid_t pid)
{
	int status = -1;

	pid_t got = waitpid(pid, &status, 0);

	if (got < 0 || (pid > 0 && got != pid))
		say("%s: wait: %s", what, strerrorname_np(errno));
	else if (WIFEXITED(status))
		say("%s: exit %d", what, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		say("%s: signal %d", what, WTERMSIG(status));
	else
		say("%s: status %x", what, status);
	return status;
}

void in_child(const char *what, void (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(0);
	}
	reap(what, pid);
}

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

int wait_for(volatile int *flag, int n)
{
	long end = now_ms() + 10000;

	while (*flag < n && now_ms() < end)
		sleep_ms(1);
	return *flag >= n;
}

static int by_place(const void *a, const void *b)
{
	const struct check *x = *(const struct check *const *)a, *y = *(const struct check *const *)b;
	int d = strcmp(x->file, y->file);

	return d ? d : x->line - y->line;
}

int main(int argc, char **argv)
{
	size_t n = __stop_checks - __start_checks;
	const struct check **all = calloc(n, sizeof(*all));

	if (!all)
		return 1;
	memcpy(all, __start_checks, n * sizeof(*all));
	qsort(all, n, sizeof(*all), by_place);
	for (size_t i = 0; i < n; i++) {
		if (argc < 2) {
			const char *base = strrchr(all[i]->file, '/');

			base = base ? base + 1 : all[i]->file;
			printf("%.*s %s\n", (int)(strlen(base) - 2), base, all[i]->name);
		} else if (!strcmp(argv[1], all[i]->name)) {
			all[i]->run();
			return 0;
		}
	}
	return argc < 2 ? 0 : 127;
}
