/* sysctl debug.lock.prof.stats of FreeBSD: a header that names the columns, other ones in other releases,
 * and rows of numbers with "file:line (class:lock)" behind them. Times are microseconds. count is every
 * acquisition; those that had to wait are cnt_lock.
 *
 * The class says how a lock is waited for. A "sleep mutex", a "rw" or a "sx" lock spins while its holder
 * runs and sleeps otherwise, which the figures do not tell apart; so only the wait of a "spin mutex" is
 * spin for sure, and that of all others is counted as sleep.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include "proto/base/mem.h"

enum { COLUMNS_MAX = 16, US_NS = 1000 };

struct columns {
	int n, wait_total, cnt_lock, name; /* the place of each; -1: it is not there */
};

static bool
begins(struct slice line)
{
	struct slice word;

	return slice_is(line, "No locking recorded") ||
	       (slice_word(&line, &word) && slice_is(word, "max") &&
		   slice_last_word(&line, &word) && slice_is(word, "name"));
}

static int
take_header(struct lock_parse *parse, struct slice line, struct columns *columns)
{
	static const char *const known[] = { "max", "wait_max", "total", "count", "avg", "wait_avg",
		"cnt_hold" };
	struct slice word;
	char name[32];

	*columns = (struct columns){ .wait_total = -1, .cnt_lock = -1, .name = -1 };
	for (; slice_word(&line, &word); columns->n++) {
		bool is_known = columns->n < COLUMNS_MAX && columns->name < 0;

		if (slice_is(word, "wait_total"))
			columns->wait_total = columns->n;
		else if (slice_is(word, "cnt_lock"))
			columns->cnt_lock = columns->n;
		else if (slice_is(word, "name"))
			columns->name = columns->n;
		else {
			size_t i = 0;

			while (i < sizeof known / sizeof known[0] && !slice_is(word, known[i]))
				i++;
			is_known = is_known && i < sizeof known / sizeof known[0];
		}
		if (is_known)
			continue;
		slice_copy(word, name, sizeof name);
		return lock_parse_fail(
		    parse, "debug.lock.prof.stats has a column \"%s\" that is not known", name);
	}
	if (columns->wait_total >= 0 && columns->cnt_lock >= 0 && columns->name >= 0)
		return 0;
	return lock_parse_fail(parse, "debug.lock.prof.stats has no column wait_total, cnt_lock or "
				      "name: this release does not "
				      "tell how long locks are waited for");
}

/* "file:line (class:lock)" */
static bool
take_name(struct slice name, struct lock_row *row)
{
	struct slice caller, class;

	if (!slice_find(name, " (", &caller) ||
	    !slice_begins((struct slice){ name.s + name.n - 1, 1 }, ")"))
		return false;
	name = (struct slice){ name.s + caller.n + 2, name.n - caller.n - 3 };
	if (!slice_find(name, ":", &class))
		return false;
	name = (struct slice){ name.s + class.n + 1, name.n - class.n - 1 };
	row->kind = slice_is(class, "spin mutex") ? LOCK_SPIN : LOCK_SLEEP;
	slice_copy(name, row->lock, sizeof row->lock);
	slice_copy(caller, row->caller, sizeof row->caller);
	return name.n > 0;
}

static int
take_row(struct lock_parse *parse, struct slice line, const struct columns *columns)
{
	struct lock_row row = { .count = -1, .wait_ns = -1 };
	struct slice word;
	int64_t n;

	for (int i = 0; i < columns->name; i++) {
		if (!slice_word(&line, &word) || !slice_int(word, &n) || n < 0)
			return lock_parse_fail(parse,
			    "line %d of debug.lock.prof.stats has fewer figures than the header "
			    "has "
			    "columns, or one past 63 bits",
			    parse->line);
		if (i == columns->cnt_lock)
			row.count = n;
		if (i == columns->wait_total && __builtin_mul_overflow(n, US_NS, &row.wait_ns))
			return lock_parse_fail(
			    parse, "the time in line %d is past 63 bits", parse->line);
	}
	if (!take_name(slice_trim(line), &row))
		return lock_parse_fail(parse,
		    "line %d of debug.lock.prof.stats names no lock: expected file:line "
		    "(class:lock)",
		    parse->line);
	if (!lock_table_add(parse->table, &row))
		return lock_parse_fail(parse, "the totals are past 63 bits");
	return 0;
}

static int
parse(struct lock_parse *parse)
{
	struct columns columns;
	struct slice line;
	int rc = lock_parse_line(parse, &line);

	if (rc < 0)
		return -1;
	if (slice_is(line, "No locking recorded"))
		return 0;
	if (take_header(parse, line, &columns) != 0)
		return -1;
	while ((rc = lock_parse_line(parse, &line)) > 0)
		if (take_row(parse, line, &columns) != 0)
			return -1;
	mem_copy_text(parse->table->coverage, sizeof parse->table->coverage,
	    "Only spin mutexes spin for sure; what adaptive locks spin is counted as sleep.");
	return rc;
}

const struct lock_format lock_format_prof = {
	.source = "lock_prof",
	.words = "debug.lock.prof.stats",
	.begins = begins,
	.parse = parse,
};
