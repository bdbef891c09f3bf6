/* lock_stat version 0.4 of Linux (CONFIG_LOCK_STAT): a row for each class of locks, with figures since
 * the counters were cleared, and behind it up to four places that waited:
 *
 *	vmap_area_lock:  2554079  2554276  0.06  213.61  11719647.67  4.59  ...
 *	  --------------
 *	  vmap_area_lock  1297948  [<00000000dd41cbaa>] alloc_vmap_area+0x1c7/0x910
 *	  --------------
 *	  vmap_area_lock  ...      (who was waited for: not who lost the time)
 *
 * Times are microseconds. Places have counts but no time, so a class's time is divided among them by
 * their counts; what the four leave over is a row without a caller. Nothing says whether a class spins or
 * sleeps: all is counted as sleep, and spin is missing.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <math.h>

#include "proto/base/mem.h"

enum { US_NS = 1000 };

struct state {
	struct lock_parse *parse;
	struct lock_row class; /* what is left of it after its places; lock "": none */
	double count, ns; /* as it was */
	int rules; /* dashed lines behind the class's row */
};

static bool
begins(struct slice line)
{
	return slice_begins(line, "lock_stat version ") || slice_begins(line, "class name ");
}

static void
end_class(struct state *state)
{
	if (state->class.lock[0] != '\0')
		lock_table_row(state->parse->table, &state->class);
	state->class.lock[0] = '\0';
}

static int
check_columns(struct lock_parse *parse, struct slice line)
{
	static const char *const names[] = { "class", "name", "con-bounces", "contentions",
		"waittime-min", "waittime-max", "waittime-total" };
	struct slice word;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!slice_word(&line, &word) || !slice_is(word, names[i]))
			return lock_parse_fail(parse,
			    "lock_stat has other columns than class name, con-bounces, "
			    "contentions, "
			    "waittime-min, waittime-max, waittime-total, ...");
	return 0;
}

/* name: con-bounces contentions waittime-min waittime-max waittime-total ... The name may hold blanks
 * and colons, so it ends at the last colon. */
static int
take_class(struct state *state, struct slice line, struct slice name)
{
	struct lock_row row = { .kind = LOCK_SLEEP };
	struct slice word[5];
	bool good = true;

	end_class(state);
	for (int i = 0; i < 5 && good; i++)
		good = slice_word(&line, &word[i]);
	if (!good || !slice_int(word[1], &row.count) || row.count < 0 ||
	    !slice_decimal(word[4], 2, US_NS, &row.wait_ns))
		return lock_parse_fail(state->parse,
		    "line %d of lock_stat has no contentions and waittime-total, or one past 63 "
		    "bits",
		    state->parse->line);
	slice_copy(slice_trim(name), row.lock, sizeof row.lock);
	if (!lock_parse_since(state->parse, &row))
		return lock_parse_fail(state->parse,
		    "the counters of lock_stat were cleared since the reading before, or are too "
		    "many: the next reading begins anew");
	if (!lock_table_total(state->parse->table, row.kind, row.count, row.wait_ns))
		return lock_parse_fail(state->parse, "the totals are past 63 bits");
	state->class = row;
	state->count = (double)row.count;
	state->ns = (double)row.wait_ns;
	state->rules = 0;
	return 0;
}

/* The counters are read while they go on, so the places may have a few more than their class: the last
 * one takes what is left. */
static void
divide(struct state *state, struct lock_row *row)
{
	struct lock_row *left = &state->class;

	if (row->count >= left->count)
		row->wait_ns = left->wait_ns;
	else
		row->wait_ns = (int64_t)floor(state->ns * ((double)row->count / state->count));
	if (row->wait_ns > left->wait_ns)
		row->wait_ns = left->wait_ns;
	left->count = row->count < left->count ? left->count - row->count : 0;
	left->wait_ns -= row->wait_ns;
}

/* lock count [<address>] caller */
static int
take_place(struct state *state, struct slice line, struct slice before)
{
	struct lock_row row = state->class;
	struct slice count;

	if (state->class.lock[0] == '\0' || !slice_last_word(&before, &count) ||
	    !slice_int(count, &row.count) || row.count < 0)
		return lock_parse_fail(state->parse,
		    "line %d of lock_stat is neither a class nor a place that waits for one",
		    state->parse->line);
	if (state->rules > 1)
		return 0;
	(void)slice_last_word(&line, &count);
	slice_copy(count, row.caller, sizeof row.caller);
	if (!lock_parse_since(state->parse, &row) || state->count < 1)
		return 0; /* its counters were cleared, as the class's row will have said */
	divide(state, &row);
	lock_table_row(state->parse->table, &row);
	return 0;
}

/* Where the name of a class ends: at the last colon that a number follows. */
static bool
find_name(struct slice line, struct slice *ret_name, struct slice *ret_rest)
{
	for (size_t i = line.n; i-- > 0;) {
		if (line.s[i] != ':')
			continue;
		*ret_name = (struct slice){ line.s, i };
		*ret_rest = slice_trim((struct slice){ line.s + i + 1, line.n - i - 1 });
		return ret_rest->n > 0 && ret_rest->s[0] >= '0' && ret_rest->s[0] <= '9';
	}
	return false;
}

static int
take_line(struct state *state, struct slice line)
{
	struct slice before, rest;

	if (slice_begins(line, "#"))
		return 0;
	if (slice_begins(line, "---") || slice_begins(line, "...")) {
		state->rules++;
		return 0;
	}
	if (slice_begins(line, "class name"))
		return check_columns(state->parse, line);
	if (slice_find(line, " [<", &before))
		return take_place(state, line, before);
	if (find_name(line, &before, &rest))
		return take_class(state, rest, before);
	return lock_parse_fail(state->parse,
	    "line %d of lock_stat is neither a class nor a place that waits for one",
	    state->parse->line);
}

static int
parse(struct lock_parse *parse)
{
	struct state state = { .parse = parse };
	struct slice line;
	int rc = lock_parse_line(parse, &line);

	if (rc < 0)
		return -1;
	if (slice_begins(line, "class name") ? check_columns(parse, line) != 0
					     : !slice_is(line, "lock_stat version 0.4"))
		return parse->table->missing[0] != '\0'
			   ? -1
			   : lock_parse_fail(
				 parse, "lock_stat is not of version 0.4, which alone is known");
	while ((rc = lock_parse_line(parse, &line)) > 0)
		if (take_line(&state, line) != 0)
			return -1;
	if (rc == 0)
		end_class(&state);
	mem_copy_text(parse->table->coverage, sizeof parse->table->coverage,
	    "Spinning and sleeping are not told apart: all is counted as sleep. A lock's time is "
	    "divided among its callers by their counts.");
	return rc;
}

const struct lock_format lock_format_stat = {
	.source = "lock_stat",
	.words = "lock_stat",
	.counts_on = true,
	.begins = begins,
	.parse = parse,
};
