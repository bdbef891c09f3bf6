/* mark_step FILE MS [burn] - one step of a test's build, which tells when it ran
 *
 * Appends "b PID NS" when it begins and "e PID NS" when it ends, by CLOCK_MONOTONIC, each by one
 * write to a file open for appending, so that the steps of a build can share it. Sleeps for MS
 * milliseconds, or with "burn" computes for as long.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
mark(int fd, char what)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%c %d %" PRId64 "\n", what, (int)getpid(), now_ns());

	if (write(fd, line, (size_t)n) != n)
		exit(1);
}

static void
spend(int64_t ms, int burn)
{
	int64_t end = now_ns() + ms * 1000000;
	struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };

	if (!burn)
		nanosleep(&t, NULL);
	while (now_ns() < end)
		;
}

int
main(int argc, char **argv)
{
	int fd;

	if (argc < 3) {
		fputs("usage: mark_step FILE MS [burn]\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	mark(fd, 'b');
	spend(atoll(argv[2]), argc > 3);
	mark(fd, 'e');
	return 0;
}
