/* lockstat(1) of FreeBSD:
 *
 *	Adaptive mutex spin: 41411 events in 5.011 seconds (8263 events/sec)
 *
 *	Count indv cuml rcnt     nsec Lock                   Caller
 *	-------------------------------------------------------------------------------
 *	13750  33%  33% 0.00       72 vm_page_queue_free_mtx vm_page_free_toq+0x12e
 *
 * nsec is the mean of an event, so a row's time is count times nsec. A lock's name may hold blanks, a
 * caller never does. What a lock was held for is no waiting: such sections are passed over. With -D n
 * rows are left out, of which only the number of events is known; then the totals are those of the rows
 * that are shown, and coverage says so.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <inttypes.h>
#include <stdio.h>

enum use { USE_NONE, USE_ROWS, USE_SKIP };

struct section {
	struct lock_parse *parse;
	enum use use;
	enum lock_kind kind;
	int64_t events, shown; /* all sections together */
};

static bool
begins(struct slice line)
{
	return slice_find(line, " events in ", NULL) && slice_find(line, " seconds", NULL) &&
	       slice_find(line, ": ", NULL);
}

/* "Spin lock hold" is a hold, and so is sought first; "R/W writer blocked by readers" is a block. */
static int
take_kind(struct section *section, struct slice title)
{
	static const struct {
		const char *word;
		enum use use;
		enum lock_kind kind;
	} words[] = {
		{ "hold", USE_SKIP, LOCK_SPIN },
		{ "spin", USE_ROWS, LOCK_SPIN },
		{ "block", USE_ROWS, LOCK_SLEEP },
		{ "sleep", USE_ROWS, LOCK_SLEEP },
	};
	char name[64];

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!slice_find(title, words[i].word, NULL))
			continue;
		section->use = words[i].use;
		section->kind = words[i].kind;
		return 0;
	}
	slice_copy(title, name, sizeof name);
	return lock_parse_fail(section->parse,
	    "lockstat has a section \"%s\": expected one of spin, block, sleep or hold", name);
}

static int
take_title(struct section *section, struct slice line)
{
	struct lock_table *table = section->parse->table;
	struct slice title, word;
	int64_t events, us;

	(void)slice_find(line, ": ", &title);
	line = (struct slice){ line.s + title.n + 1, line.n - title.n - 1 };
	if (!slice_word(&line, &word) || !slice_int(word, &events) || events < 0 ||
	    !slice_word(&line, &word) || !slice_is(word, "events") || !slice_word(&line, &word) ||
	    !slice_is(word, "in") || !slice_word(&line, &word) ||
	    !slice_decimal(word, 3, SECOND_US, &us) || us <= 0)
		return lock_parse_fail(section->parse,
		    "line %d is no title of lockstat's: expected \"...: 10 events in 2.000 "
		    "seconds\"",
		    section->parse->line);
	if (take_kind(section, title) != 0)
		return -1;
	table->window_us = us;
	if (section->use == USE_ROWS &&
	    __builtin_add_overflow(section->events, events, &section->events))
		return lock_parse_fail(section->parse, "the totals are past 63 bits");
	return 0;
}

static int
take_columns(struct section *section, struct slice line)
{
	static const char *const names[] = { "Count", "indv", "cuml", "rcnt", "nsec", "Lock",
		"Caller" };
	struct slice word;
	size_t i = 0, n = sizeof names / sizeof names[0];

	while (i < n && slice_word(&line, &word)) {
		if (slice_is(word, "Hottest")) /* with -w or -W, of the name that follows */
			continue;
		if (!slice_is(word, names[i]))
			break;
		i++;
	}
	if (i == n && slice_trim(line).n == 0)
		return 0;
	return lock_parse_fail(section->parse,
	    "line %d has other columns than Count indv cuml rcnt nsec Lock Caller: leave out -g, "
	    "-h, "
	    "-s and -R",
	    section->parse->line);
}

static int
take_row(struct section *section, struct slice line)
{
	struct lock_row row = { .kind = section->kind };
	struct slice count, word, nsec, caller;
	int64_t mean;

	if (!slice_word(&line, &count) || !slice_word(&line, &word) || !slice_word(&line, &word) ||
	    !slice_word(&line, &word) || !slice_word(&line, &nsec) ||
	    !slice_last_word(&line, &caller) || line.n == 0 || !slice_int(count, &row.count) ||
	    !slice_int(nsec, &mean))
		return lock_parse_fail(section->parse,
		    "line %d is no row of lockstat's: expected count, three shares, nsec, lock and "
		    "caller",
		    section->parse->line);
	slice_copy(line, row.lock, sizeof row.lock);
	slice_copy(caller, row.caller, sizeof row.caller);
	if (row.count < 0 || mean < 0 || __builtin_mul_overflow(row.count, mean, &row.wait_ns) ||
	    __builtin_add_overflow(section->shown, row.count, &section->shown) ||
	    !lock_table_add(section->parse->table, &row))
		return lock_parse_fail(section->parse,
		    "line %d has a negative figure, or one that is past 63 bits",
		    section->parse->line);
	return 0;
}

static int
take_line(struct section *section, struct slice line)
{
	if (begins(line))
		return take_title(section, line);
	if (slice_begins(line, "-----") || slice_is(line, "[...]") || section->use == USE_SKIP)
		return 0;
	if (slice_begins(line, "Count ") || slice_begins(line, "ops/s "))
		return take_columns(section, line);
	return take_row(section, line);
}

static int
parse(struct lock_parse *parse)
{
	struct section section = { .parse = parse };
	struct lock_table *table = parse->table;
	struct slice line;
	int rc;

	while ((rc = lock_parse_line(parse, &line)) > 0)
		if (take_line(&section, line) != 0)
			return -1;
	if (rc == 0 && section.shown < section.events)
		snprintf(table->coverage, sizeof table->coverage,
		    "lockstat shows %" PRId64 " of %" PRId64 " events; the others are in no total.",
		    section.shown, section.events);
	return rc;
}

const struct lock_format lock_format_freebsd = {
	.source = "dtrace",
	.words = "the output of lockstat",
	.begins = begins,
	.parse = parse,
};
