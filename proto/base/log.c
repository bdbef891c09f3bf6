/* A line is built in one buffer and written by one write(2), so that lines of
 * several programs on one terminal do not mix. Bytes below space are shown as
 * '?': a stranger's text must not be able to forge a line.
 *
 * The throttle is a small table: a flood of different keys pushes the oldest
 * out, which costs a line that could have been spared, never memory.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 2048, THROTTLE_KEYS = 64, THROTTLE_S = 10 };

struct throttle {
	uint64_t hash; /* of the key; 0: free */
	time_t since;
	unsigned unsaid;
};

static const char *log_program = "flyball";
static enum log_level log_limit = LOG_NOTICE;
static bool log_to_journal;
static struct throttle throttles[THROTTLE_KEYS];

void
log_open(const char *program, enum log_level level)
{
	log_program = program;
	log_limit = level;
	log_to_journal = getenv("JOURNAL_STREAM") != NULL;
}

/* The journal takes the level from "<N>" and has its own clock. */
static size_t
print_head(char *line, enum log_level level)
{
	static const char *const words[] = { "error: ", "warning: ", "", "debug: " };
	static const int syslog_levels[] = { 3, 4, 5, 7 };
	struct timespec now;
	struct tm tm;
	size_t n;

	if (log_to_journal)
		return (size_t)snprintf(
		    line, LINE_SIZE, "<%d>%s: %s", syslog_levels[level], log_program, words[level]);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(line, LINE_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	return n + (size_t)snprintf(line + n, LINE_SIZE - n, ".%03dZ %s: %s",
		       (int)(now.tv_nsec / 1000000), log_program, words[level]);
}

static void
write_line(enum log_level level, const char *tail, const char *format, va_list ap)
{
	char line[LINE_SIZE];
	size_t head, n;
	int m;

	head = print_head(line, level);
	if (head >= sizeof line / 2)
		head = sizeof line / 2;
	m = vsnprintf(line + head, sizeof line - head, format, ap);
	n = head + (m > 0 ? (size_t)m : 0);
	if (n < sizeof line - 1)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s", tail);
	if (n > sizeof line - 1)
		n = sizeof line - 1;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			line[i] = '?';
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nobody left to tell */
}

#define LOG_AT(level) \
	do { \
		va_list ap; \
\
		if ((level) > log_limit) \
			return; \
		va_start(ap, format); \
		write_line(level, "", format, ap); \
		va_end(ap); \
	} while (0)

void
log_error(const char *format, ...)
{
	LOG_AT(LOG_ERROR);
}

void
log_warning(const char *format, ...)
{
	LOG_AT(LOG_WARNING);
}

void
log_notice(const char *format, ...)
{
	LOG_AT(LOG_NOTICE);
}

void
log_debug(const char *format, ...)
{
	LOG_AT(LOG_DEBUG);
}

/* FNV-1a. */
static uint64_t
hash_key(const char *key)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *key != '\0'; key++)
		h = (h ^ (unsigned char)*key) * UINT64_C(1099511628211);
	return h != 0 ? h : 1;
}

static struct throttle *
find_throttle(uint64_t hash)
{
	struct throttle *oldest = &throttles[0];

	for (size_t i = 0; i < THROTTLE_KEYS; i++) {
		if (throttles[i].hash == hash)
			return &throttles[i];
		if (throttles[i].since < oldest->since)
			oldest = &throttles[i];
	}
	*oldest = (struct throttle){ .hash = hash };
	return oldest;
}

void
log_throttled(const char *key, const char *format, ...)
{
	struct throttle *t = find_throttle(hash_key(key));
	char tail[64] = "";
	struct timespec now;
	va_list ap;

	if (LOG_WARNING > log_limit)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (t->since != 0 && now.tv_sec - t->since < THROTTLE_S) {
		t->unsaid++;
		return;
	}
	if (t->unsaid > 0)
		snprintf(tail, sizeof tail, " (and %u more like it since the last such line)",
		    t->unsaid);
	t->since = now.tv_sec > 0 ? now.tv_sec : 1;
	t->unsaid = 0;
	va_start(ap, format);
	write_line(LOG_WARNING, tail, format, ap);
	va_end(ap);
}
