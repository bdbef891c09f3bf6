/* Tools print warnings before their tables, and scripts print what they like; so the table begins at the
 * first line that a format knows. From there on every line must be understood: a line that is not would
 * be time that is lost from a total without a word.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/mem.h"

static const struct lock_format *const formats[] = { &lock_format_netbsd, &lock_format_freebsd,
	&lock_format_prof, &lock_format_perf_csv, &lock_format_perf, &lock_format_stat };

enum { NFORMATS = sizeof formats / sizeof formats[0] };

/* The first that is found counts: the more special ones stand first. */
static const struct {
	const char *says, *reason;
} reasons[] = {
	{ "overflowed available kernel trace buffers",
	    "lockstat ran out of the kernel's trace buffers and has no data for this window: trace "
	    "one type of lock, a shorter window, or give it more buffers with -b" },
	{ "cannot enable tracing: Device busy",
	    "lockstat is still enabled by a user that died: run lockstat -d as root" },
	{ "Device busy", "another user has lockstat's device open, and it takes one at a time: end "
			 "that one, or wait until it is done" },
	{ "Device not configured",
	    "the kernel has no lockstat device: build it with pseudo-device lockstat" },
	{ "incompatible lockstat interface",
	    "lockstat and kernel are of different releases: install the lockstat of this kernel" },
	{ "None of the selected events were recorded",
	    "lockstat recorded no event in this window, so there is nothing to read" },
	{ "No locking recorded",
	    "the kernel has recorded no lock yet: set debug.lock.prof.enable to 1" },
	{ "unknown oid 'debug.lock.prof",
	    "this kernel has no lock profiling: build it with options "
	    "LOCK_PROFILING" },
	{ "debug.lock.prof.enable is 1", "somebody else profiles the locks: set "
					 "debug.lock.prof.enable to 0 when they are done" },
	{ "failed to initialize dtrace",
	    "lockstat cannot use DTrace: load it with kldload dtraceall, as root" },
	{ "Permission denied", "the lock tool lacks the permission: run the agent as root" },
	{ "Operation not permitted", "the lock tool lacks the permission: run the agent as root" },
	{ "No such file or directory", "a program or device of the lock tool is not there: install "
				       "it, or choose another lock_source" },
	{ "not found",
	    "the lock tool is not installed: install it, or choose another lock_source" },
};

/* ---- for the formats ---- */

int
lock_parse_fail(struct lock_parse *parse, const char *format, ...)
{
	struct lock_table *table = parse->table;
	va_list ap;

	table->nrows = 0;
	table->has_spin = table->has_sleep = false;
	table->spin_count = table->spin_ns = table->sleep_count = table->sleep_ns = 0;
	va_start(ap, format);
	vsnprintf(table->missing, sizeof table->missing, format, ap);
	va_end(ap);
	return -1;
}

int
lock_parse_line(struct lock_parse *parse, struct slice *ret_line)
{
	bool whole;

	while (slice_line(&parse->text, ret_line, &whole)) {
		parse->line++;
		*ret_line = slice_trim(*ret_line);
		if (ret_line->n == 0)
			continue;
		if (!whole)
			return lock_parse_fail(parse,
			    "the text ends within line %d: all of what the tool prints is needed",
			    parse->line);
		return 1;
	}
	return 0;
}

/* ---- finding the format ---- */

static const struct lock_format *
find_format(struct lock_parse *parse)
{
	struct slice rest = parse->text, line;
	bool whole;

	for (int n = 0; slice_line(&rest, &line, &whole); n++) {
		for (int i = 0; i < NFORMATS; i++) {
			if (!formats[i]->begins(slice_trim(line)))
				continue;
			parse->line = n;
			return formats[i];
		}
		parse->text = rest;
	}
	return NULL;
}

bool
lock_text_reason(const char *text, size_t n, char *buf, size_t size)
{
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (slice_find((struct slice){ text, n }, reasons[i].says, NULL)) {
			mem_copy_text(buf, size, reasons[i].reason);
			return true;
		}
	}
	return false;
}

/* The first line that says anything, so that an operator sees what it was. */
static void
fail_unknown(struct lock_parse *parse, struct slice text)
{
	struct slice line = { "", 0 };
	char first[80];
	bool whole;

	if (lock_text_reason(text.s, text.n, parse->table->missing, sizeof parse->table->missing))
		return;
	while (slice_line(&text, &line, &whole) && slice_trim(line).n == 0)
		continue;
	slice_copy(slice_trim(line), first, sizeof first);
	if (first[0] == '\0')
		(void)lock_parse_fail(
		    parse, "the lock tool printed nothing: run it by hand to see why");
	else
		(void)lock_parse_fail(parse,
		    "\"%s\" begins no table that is known: expected the output of lockstat, of "
		    "perf "
		    "lock contention, of sysctl debug.lock.prof.stats, or lock_stat version 0.4",
		    first);
}

/* A format that found nothing has no zero to tell. */
static int
parse_as(const struct lock_format *format, struct lock_parse *parse)
{
	struct lock_table *table = parse->table;
	struct slice text = parse->text;
	bool first = format->counts_on && parse->now != NULL && parse->past == NULL;

	mem_copy_text(table->source, sizeof table->source, format->source);
	if (!format->counts_on)
		parse->now = NULL;
	if (format->parse(parse) != 0)
		return -1;
	if (first)
		(void)lock_parse_fail(parse,
		    "this is the first reading of counters that go on: the "
		    "next one will tell what came in between");
	else if (!table->has_spin && !table->has_sleep &&
		 !lock_text_reason(text.s, text.n, table->missing, sizeof table->missing))
		(void)lock_parse_fail(
		    parse, "%s has no row: nothing was recorded in this window", format->words);
	return 0;
}

/* -1 when the text could not be understood to its end. */
static int
parse_all(struct lock_parse *parse, const char *text, size_t n, int64_t window_us)
{
	const struct lock_format *format;

	*parse->table = (struct lock_table){ .cpus = parse->cpus > 0 ? parse->cpus : 0,
		.window_us = window_us > 0 ? window_us : 0,
		.cost_cpu_ppm = -1,
		.cost_steps_ppm = -1 };
	parse->text = (struct slice){ text, n };
	format = find_format(parse);
	if (format != NULL)
		return parse_as(format, parse);
	fail_unknown(parse, (struct slice){ text, n });
	return -1;
}

void
lock_text_parse(
    const char *text, size_t n, int32_t cpus, int64_t window_us, struct lock_table *ret_table)
{
	struct lock_parse parse = { .cpus = cpus, .table = ret_table };

	(void)parse_all(&parse, text, n, window_us);
}

void
lock_text_parse_since(const char *text, size_t n, int32_t cpus, int64_t window_us,
    struct lock_past **past, struct lock_table *ret_table)
{
	struct lock_past *now = lock_past_create();
	struct lock_parse parse = { .cpus = cpus, .past = *past, .now = now, .table = ret_table };

	if (parse_all(&parse, text, n, window_us) != 0) {
		lock_past_destroy(now);
		now = NULL;
	}
	lock_past_destroy(*past);
	*past = now;
}
