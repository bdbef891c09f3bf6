/* perf lock contention prints columns that its flags choose, and names them in a header: with -x SEP
 *
 *	# output: contended, total wait, max wait, avg wait, type, caller
 *	19, 194232, 21415, 10222, spinlock, process_one_work+0x1f0
 *
 * in nanoseconds, and without it
 *
 *	 contended   total wait     max wait     avg wait         type   caller
 *	        19    194.23 us     21.41 us     10.22 us     spinlock   process_one_work+0x1f0
 *
 * Both are read by the header's names. Without "contended" rows have no count, which is then 0 beside a
 * time; without "total wait" or the type of the lock there is no reading. What follows the columns that
 * are read (a stack) is passed over.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include "proto/base/mem.h"

enum column { COUNT, TOTAL, TIME, TYPE, CALLER, ADDRESS, SYMBOL, OTHER };

static const struct {
	const char *name;
	enum column column;
} names[] = {
	{ "contended", COUNT },
	{ "total wait", TOTAL },
	{ "max wait", TIME },
	{ "min wait", TIME },
	{ "avg wait", TIME },
	{ "type", TYPE },
	{ "caller", CALLER },
	{ "stacktrace", OTHER },
	{ "address", ADDRESS },
	{ "symbol", SYMBOL },
	{ "pid", OTHER },
	{ "comm", OTHER },
};

enum { COLUMNS_MAX = 16 };

struct layout {
	struct lock_parse *parse;
	char separator[2]; /* "": columns of a width */
	int n;
	enum column columns[COLUMNS_MAX];
};

struct figures {
	struct lock_row row;
	struct slice type, address, symbol;
};

/* The lock's type, or false: perf has named it otherwise. */
static bool
kind_of(struct slice type, enum lock_kind *ret_kind)
{
	static const struct {
		const char *begins;
		enum lock_kind kind;
	} types[] = { { "spinlock", LOCK_SPIN }, { "rwlock-rt", LOCK_SLEEP },
		{ "rwlock", LOCK_SPIN }, { "rwsem", LOCK_SLEEP }, { "mutex", LOCK_SLEEP },
		{ "rt-mutex", LOCK_SLEEP }, { "rtmutex", LOCK_SLEEP }, { "pcpu-sem", LOCK_SLEEP },
		{ "percpu-rwsem", LOCK_SLEEP }, { "semaphore", LOCK_SLEEP } };

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		if (slice_begins(type, types[i].begins)) {
			*ret_kind = types[i].kind;
			return true;
		}
	}
	return false;
}

/* ---- the header ---- */

static bool
begins_csv(struct slice line)
{
	return slice_begins(line, "# output:");
}

static bool
begins_text(struct slice line)
{
	return slice_begins(line, "contended ") || slice_begins(line, "total wait ");
}

static bool
take_column(struct layout *layout, struct slice *line)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!slice_skip(line, names[i].name))
			continue;
		layout->columns[layout->n++] = names[i].column;
		return true;
	}
	return false;
}

static bool
has(const struct layout *layout, enum column column)
{
	for (int i = 0; i < layout->n; i++)
		if (layout->columns[i] == column)
			return true;
	return false;
}

static int
take_header(struct layout *layout, struct slice line)
{
	bool csv = slice_skip(&line, "# output:");
	char rest[64];

	layout->n = 0;
	for (line = slice_trim(line); line.n > 0 && layout->n < COLUMNS_MAX;
	     line = slice_trim(line)) {
		if (!take_column(layout, &line))
			break;
		if (csv && layout->separator[0] == '\0' && line.n > 0)
			layout->separator[0] = line.s[0];
		if (csv && line.n > 0 && !slice_skip(&line, layout->separator))
			break;
	}
	slice_copy(line, rest, sizeof rest);
	if (rest[0] != '\0')
		return lock_parse_fail(layout->parse,
		    "perf lock contention has a column that is not known, at \"%s\"", rest);
	if (has(layout, TOTAL) && (has(layout, TYPE) || (!csv && has(layout, SYMBOL))))
		return 0;
	return lock_parse_fail(layout->parse,
	    "perf lock contention does not show total wait and the type of the lock: leave out -t, "
	    "and name wait_total in -F");
}

/* ---- rows ---- */

/* "14.99 us" or "557 ns" */
static bool
take_time(struct slice *line, int64_t *ret_ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", SECOND_US * 1000 },
		{ "m", MINUTE_US * 1000 }, { "h", HOUR_US * 1000 } };
	struct slice number, unit;

	if (!slice_word(line, &number) || !slice_word(line, &unit))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (slice_is(unit, units[i].name))
			return slice_decimal(number, -1, units[i].ns, ret_ns);
	return false;
}

/* The next field as the header has it. The last one of a row of widths may hold blanks. */
static bool
take_field(const struct layout *layout, int i, struct slice *line, struct slice *ret_field)
{
	if (layout->separator[0] != '\0') {
		struct slice rest = *line;

		if (i > 0 && rest.n == 0)
			return false;
		if (!slice_find(rest, layout->separator, ret_field))
			*ret_field = rest;
		rest.n -= ret_field->n;
		rest.s += ret_field->n;
		(void)slice_skip(&rest, layout->separator);
		*line = rest;
		*ret_field = slice_trim(*ret_field);
		return true;
	}
	if (i == layout->n - 1) {
		*ret_field = slice_trim(*line);
		return true;
	}
	return slice_word(line, ret_field);
}

static bool
take_value(struct figures *figures, enum column column, struct slice field)
{
	switch (column) {
	case COUNT:
		return slice_int(field, &figures->row.count) && figures->row.count >= 0;
	case TOTAL:
		return slice_int(field, &figures->row.wait_ns) && figures->row.wait_ns >= 0;
	case TYPE:
		figures->type = field;
		return field.n > 0;
	case CALLER:
		slice_copy(field, figures->row.caller, sizeof figures->row.caller);
		break;
	case ADDRESS:
		figures->address = field;
		break;
	case SYMBOL:
		figures->symbol = field;
		break;
	case TIME:
	case OTHER:
		break;
	}
	return true;
}

static bool
take_figures(const struct layout *layout, struct slice line, struct figures *figures)
{
	for (int i = 0; i < layout->n; i++) {
		enum column column = layout->columns[i];
		struct slice field;
		int64_t ns;

		if (layout->separator[0] == '\0' && (column == TOTAL || column == TIME)) {
			if (!take_time(&line, &ns))
				return false;
			if (column == TOTAL)
				figures->row.wait_ns = ns;
		} else if (!take_field(layout, i, &line, &field) ||
			   !take_value(figures, column, field))
			return false;
	}
	return true;
}

/* "pack_mutex (mutex)": without a separator the type of the lock stands behind its symbol. */
static void
split_symbol(struct figures *figures)
{
	struct slice rest = figures->symbol, word;

	if (figures->type.n > 0 || !slice_last_word(&rest, &word) || word.n < 3 ||
	    !slice_begins(word, "(") || word.s[word.n - 1] != ')')
		return;
	figures->type = (struct slice){ word.s + 1, word.n - 2 };
	figures->symbol = rest;
}

static int
take_row(const struct layout *layout, struct slice line)
{
	struct lock_parse *parse = layout->parse;
	struct figures figures = { .row = { .count = 0 } };
	char type[32];

	if (!take_figures(layout, line, &figures))
		return lock_parse_fail(parse,
		    "line %d of perf lock contention does not have what its header names, or a "
		    "figure "
		    "past 63 bits",
		    parse->line);
	split_symbol(&figures);
	slice_copy(figures.type, type, sizeof type);
	if (!kind_of(figures.type, &figures.row.kind))
		return lock_parse_fail(parse,
		    "line %d of perf lock contention has a lock of type \"%s\", which is not known "
		    "to "
		    "spin or to sleep",
		    parse->line, type);
	if (figures.symbol.n == 0)
		figures.symbol = figures.address.n > 0 ? figures.address : figures.type;
	slice_copy(figures.symbol, figures.row.lock, sizeof figures.row.lock);
	if (!lock_table_add(parse->table, &figures.row))
		return lock_parse_fail(parse, "the totals are past 63 bits");
	return 0;
}

static int
parse(struct lock_parse *parse)
{
	struct layout layout = { .parse = parse };
	struct slice line;
	int rc = lock_parse_line(parse, &line);

	if (rc < 0 || take_header(&layout, line) != 0)
		return -1;
	while ((rc = lock_parse_line(parse, &line)) > 0) {
		if (!slice_begins(line, "#") && take_row(&layout, line) != 0)
			return -1;
	}
	mem_copy_text(parse->table->coverage, sizeof parse->table->coverage,
	    has(&layout, COUNT)
		? "What a lock is spun for before the kernel's slow path is not seen."
		: "What a lock is spun for before the kernel's slow path is not seen. Counts were "
		  "not "
		  "asked for.");
	return rc;
}

const struct lock_format lock_format_perf_csv = {
	.source = "perf",
	.words = "the output of perf lock contention",
	.begins = begins_csv,
	.parse = parse,
};

const struct lock_format lock_format_perf = {
	.source = "perf",
	.words = "the output of perf lock contention",
	.begins = begins_text,
	.parse = parse,
};
