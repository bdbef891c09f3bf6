/* overlap MARKS LIMITS [SLACK_MS] - did steps keep to the limits?     overlap now - the clock in ns
 *
 * MARKS is what mark_step wrote. LIMITS has a line "NS LIMIT WITHIN_S" for each change: from NS on,
 * LIMIT steps are allowed, and so many must be seen at once within WITHIN_S seconds (0: need not be).
 *
 * The rule: after a change at T, more than LIMIT may run only if all of them began before T; no step may
 * begin that makes or keeps the overlap higher. A step that had its token before T has SLACK_MS (250
 * by default) to come to its first line. The overlap is exact: every begin and end is an event.
 *
 * Prints a line for each change; exit 1 when the rule was broken or a limit not reached.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MARKS_MAX = 100000, LIMITS_MAX = 64, SLACK_MS = 250 };

struct mark {
	char what; /* b or e */
	int pid;
	int64_t at;
};

struct change {
	int64_t at;
	double within_s;
	double reached_s; /* when the limit was first seen, or -1 */
	int limit;
	int most; /* overlap seen under it */
	int broken; /* begins against the rule */
};

static struct mark marks[MARKS_MAX];
static struct change changes[LIMITS_MAX];
static size_t nmarks, nchanges;

static int
by_time(const void *a, const void *b)
{
	const struct mark *one = a, *two = b;

	if (one->at != two->at)
		return one->at < two->at ? -1 : 1;
	return two->what - one->what; /* an end before a begin */
}

static FILE *
open_or_die(const char *path)
{
	FILE *f = fopen(path, "r");

	if (f == NULL) {
		perror(path);
		exit(2);
	}
	return f;
}

static void
read_marks(const char *path)
{
	FILE *f = open_or_die(path);
	struct mark m;

	while (nmarks < MARKS_MAX && fscanf(f, " %c %d %" SCNd64, &m.what, &m.pid, &m.at) == 3)
		marks[nmarks++] = m;
	fclose(f);
	qsort(marks, nmarks, sizeof marks[0], by_time);
}

static void
read_limits(const char *path)
{
	FILE *f = open_or_die(path);
	struct change c = { .reached_s = -1 };

	while (nchanges < LIMITS_MAX &&
	       fscanf(f, "%" SCNd64 " %d %lf", &c.at, &c.limit, &c.within_s) == 3)
		changes[nchanges++] = c;
	fclose(f);
}

static struct change *
in_force(int64_t at)
{
	struct change *found = &changes[0];

	for (size_t i = 0; i < nchanges && changes[i].at <= at; i++)
		found = &changes[i];
	return found;
}

static void
judge_begin(int64_t at, int running, int64_t slack_ns)
{
	struct change *c = in_force(at);

	if (running > c->most)
		c->most = running;
	if (running >= c->limit && c->reached_s < 0)
		c->reached_s = (double)(at - c->at) / 1e9;
	if (running > c->limit && at > c->at + slack_ns)
		c->broken++;
}

/* A limit may be reached before any step begins under it: by those that are running. */
static void
carry_over(int64_t at, int running)
{
	for (size_t i = 0; i < nchanges; i++) {
		if (changes[i].at <= at && changes[i].reached_s < 0 &&
		    &changes[i] == in_force(at) && running >= changes[i].limit)
			changes[i].reached_s = 0;
	}
}

static void
walk(int64_t slack_ns)
{
	int running = 0;

	for (size_t i = 0; i < nmarks; i++) {
		carry_over(marks[i].at, running);
		if (marks[i].what == 'b')
			judge_begin(marks[i].at, ++running, slack_ns);
		else
			running--;
	}
}

static int
report(void)
{
	int bad = 0;

	for (size_t i = 0; i < nchanges; i++) {
		const struct change *c = &changes[i];
		bool late = c->within_s > 0 && (c->reached_s < 0 || c->reached_s > c->within_s);

		printf("limit=%d most_begun=%d reached_s=%.3f broken=%d%s\n", c->limit, c->most,
		    c->reached_s, c->broken, c->broken || late ? " BAD" : "");
		bad += c->broken || late;
	}
	printf("steps=%zu\n", nmarks / 2);
	return bad > 0;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "now") == 0) {
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC, &t);
		printf("%" PRId64 "\n", (int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
		return 0;
	}
	if (argc < 3) {
		fputs("usage: overlap MARKS LIMITS [SLACK_MS] | overlap now\n", stderr);
		return 2;
	}
	read_marks(argv[1]);
	read_limits(argv[2]);
	if (nmarks == 0 || nchanges == 0) {
		fputs("overlap: no marks or no limits\n", stderr);
		return 2;
	}
	walk((int64_t)(argc > 3 ? atoi(argv[3]) : SLACK_MS) * 1000000);
	return report();
}
