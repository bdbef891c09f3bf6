/* lockstat(8) of NetBSD prints, for each kind of event, a section, and in it for each lock that has more
 * than one call site (or with -l for every lock) a row "<all>" and then its call sites:
 *
 *	Elapsed time: 1475.74 seconds.
 *
 *	-- Kernel lock spin
 *
 *	Total%  Count   Time/ms          Lock                       Caller
 *	------ ------- --------- ---------------------- ------------------------------
 *	100.00  159874    366.69 kernel_lock            <all>
 *	 41.76   65404    153.12 kernel_lock            VOP_POLL+43
 *
 * The row "<all>" was summed before rounding, so it is the total, while the call sites, each rounded to
 * a hundredth of a millisecond, are the rows; their sum may differ by half a hundredth each, and more
 * than that is a contradiction. Where "<all>" stands alone it is a row as well.
 *
 * Counts are printed as int: one that is negative has wrapped, and one at INT_MAX may have been cut.
 * A column is never as wide as its number must be, so numbers that have grown together are no numbers.
 * Counts and times may be averages a CPU (-p) or a second (-s); the first line says so.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <string.h>

enum { MS_NS = 1000000, ROUNDING_NS = 5000 }; /* half a hundredth of a millisecond */

struct section {
	struct lock_parse *parse;
	int64_t elapsed_ms10; /* hundredths of a second */
	bool per_cpu, per_second;
	enum lock_kind kind;
	bool titled;
	/* the lock whose "<all>" has been read */
	struct lock_row all;
	int64_t sites, count, ns;
};

static bool
begins(struct slice line)
{
	return slice_begins(line, "Elapsed time: ");
}

static int
take_elapsed(struct section *section, struct slice line)
{
	struct slice word;

	if (!slice_skip(&line, "Elapsed time: ") || !slice_word(&line, &word) ||
	    !slice_decimal(word, 2, 100, &section->elapsed_ms10) || section->elapsed_ms10 == 0 ||
	    section->elapsed_ms10 > INT64_MAX / 10000 || !slice_find(line, "seconds.", NULL))
		return lock_parse_fail(section->parse,
		    "line %d does not say how long lockstat measured: expected \"Elapsed time: "
		    "2.00 seconds.\", more than 0",
		    section->parse->line);
	section->per_cpu = slice_find(line, "per-CPU", NULL);
	section->per_second = slice_find(line, "per-second", NULL);
	if (section->per_cpu && section->parse->cpus <= 0)
		return lock_parse_fail(section->parse,
		    "lockstat shows averages per CPU (-p), and the number of CPUs is not known");
	section->parse->table->window_us = section->elapsed_ms10 * 10000;
	return 0;
}

/* An average back to what was measured. */
static bool
whole(const struct section *section, int64_t *n)
{
	int64_t hundredths = section->elapsed_ms10, part;

	if (section->per_cpu && __builtin_mul_overflow(*n, section->parse->cpus, n))
		return false;
	if (!section->per_second)
		return true;
	return !__builtin_mul_overflow(*n % 100, hundredths, &part) &&
	       !__builtin_mul_overflow(*n / 100, hundredths, n) &&
	       !__builtin_add_overflow(*n, part / 100, n);
}

/* "RW lock sleep (writer)": what the lock does is the last word that stands in no parentheses. */
static int
take_title(struct section *section, struct slice line)
{
	char title[64];
	struct slice rest = line, word;

	section->titled = true;
	while (slice_last_word(&rest, &word)) {
		if (slice_begins(word, "("))
			continue;
		section->kind = slice_is(word, "spin") ? LOCK_SPIN : LOCK_SLEEP;
		if (slice_is(word, "spin") || slice_is(word, "sleep"))
			return 0;
		break;
	}
	slice_copy(line, title, sizeof title);
	return lock_parse_fail(section->parse,
	    "lockstat has a section \"%s\": expected one that ends with spin or sleep", title);
}

/* So far may the sum of rounded call sites pass what was rounded once. */
static double
slack(const struct section *section)
{
	double n = (double)section->sites + 1;

	if (section->per_cpu)
		n *= section->parse->cpus;
	if (section->per_second)
		n *= (double)section->elapsed_ms10 / 100;
	return n;
}

static int
end_lock(struct section *section)
{
	struct lock_row all = section->all;

	section->all.lock[0] = '\0';
	if (all.lock[0] == '\0')
		return 0;
	if (section->sites == 0)
		lock_table_row(section->parse->table, &all);
	if ((double)section->count <= (double)all.count + slack(section) &&
	    (double)section->ns <= (double)all.wait_ns + slack(section) * ROUNDING_NS)
		return 0;
	return lock_parse_fail(section->parse,
	    "the call sites of %s sum to more than its row <all>: the output is not lockstat's",
	    all.lock);
}

static int
take_figures(struct section *section, struct slice line, struct lock_row *row)
{
	struct lock_parse *parse = section->parse;
	struct slice percent, count, time, lock;
	int64_t ignored;

	if (!slice_word(&line, &percent) || !slice_word(&line, &count) ||
	    !slice_word(&line, &time) || !slice_word(&line, &lock) || slice_trim(line).n == 0)
		return lock_parse_fail(parse,
		    "line %d is cut, or its numbers have grown together: "
		    "expected percent, count, ms, lock and caller",
		    parse->line);
	if (!slice_int(count, &row->count) || !slice_decimal(time, 2, MS_NS, &row->wait_ns) ||
	    !slice_decimal(percent, 2, 100, &ignored) || ignored > 10000)
		return lock_parse_fail(parse,
		    "line %d has no percent, count and ms in its first three columns: they have "
		    "grown "
		    "together, or are past 63 bits",
		    parse->line);
	if (row->count < 0 || row->count == INT32_MAX)
		return lock_parse_fail(parse,
		    "the count in line %d is past 32 bits, which lockstat cannot print: measure a "
		    "shorter window",
		    parse->line);
	if (!whole(section, &row->count) || !whole(section, &row->wait_ns))
		return lock_parse_fail(parse, "a figure of line %d is past 63 bits", parse->line);
	slice_copy(lock, row->lock, sizeof row->lock);
	slice_copy(slice_trim(line), row->caller, sizeof row->caller);
	return 0;
}

static int
take_all(struct section *section, const struct lock_row *row)
{
	if (end_lock(section) != 0)
		return -1;
	section->all = *row;
	section->all.caller[0] = '\0';
	section->sites = section->count = section->ns = 0;
	return 0;
}

/* True when it belongs to the lock whose "<all>" was read, and so is in the total already. */
static bool
take_site(struct section *section, const struct lock_row *row)
{
	lock_table_row(section->parse->table, row);
	if (section->all.lock[0] == '\0')
		return false;
	section->sites++;
	/* an overflow is more than any "<all>" */
	if (__builtin_add_overflow(section->count, row->count, &section->count))
		section->count = INT64_MAX;
	if (__builtin_add_overflow(section->ns, row->wait_ns, &section->ns))
		section->ns = INT64_MAX;
	return true;
}

static int
take_row(struct section *section, struct slice line)
{
	struct lock_row row = { .kind = section->kind };

	if (take_figures(section, line, &row) != 0)
		return -1;
	if (strcmp(row.caller, "<all>") == 0) {
		if (take_all(section, &row) != 0)
			return -1;
	} else {
		if (strcmp(section->all.lock, row.lock) != 0 && end_lock(section) != 0)
			return -1;
		if (take_site(section, &row))
			return 0;
	}
	if (!lock_table_total(section->parse->table, row.kind, row.count, row.wait_ns))
		return lock_parse_fail(section->parse, "the totals are past 63 bits");
	return 0;
}

static int
take_line(struct section *section, struct slice line)
{
	if (slice_skip(&line, "-- "))
		return end_lock(section) == 0 ? take_title(section, line) : -1;
	if (slice_begins(line, "------") || slice_begins(line, "None of the selected"))
		return 0;
	if (slice_begins(line, "Total%")) {
		struct slice word;
		static const char *const names[] = { "Total%", "Count", "Time/ms", "Lock",
			"Caller" };

		for (int i = 0; i < 5; i++)
			if (!slice_word(&line, &word) || !slice_is(word, names[i]))
				return lock_parse_fail(section->parse,
				    "lockstat has other columns than Total%% Count "
				    "Time/ms Lock Caller");
		return 0;
	}
	if (!section->titled)
		return lock_parse_fail(section->parse,
		    "line %d of lockstat's output stands in no section", section->parse->line);
	return take_row(section, line);
}

static int
parse(struct lock_parse *parse)
{
	struct section section = { .parse = parse };
	struct slice line;
	int rc = lock_parse_line(parse, &line);

	if (rc < 0 || take_elapsed(&section, line) != 0)
		return -1;
	while ((rc = lock_parse_line(parse, &line)) > 0)
		if (take_line(&section, line) != 0)
			return -1;
	return rc == 0 ? end_lock(&section) : -1;
}

const struct lock_format lock_format_netbsd = {
	.source = "lockstat",
	.words = "the output of lockstat",
	.begins = begins,
	.parse = parse,
};
