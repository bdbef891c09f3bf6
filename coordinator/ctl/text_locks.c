/* lockstat's columns, a table for each source and kind. What a source cannot see, and why there is
 * no reading, is said in words: an empty table must not look like a host without contention.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"
#include "proto/units.h"

enum { ROWS_SHOWN = 20 };

/* "12.3 %", or "-". */
static const char *
get_percent(char buf[FORMAT_SIZE], const json_t *object, const char *key)
{
	double share;

	if (get_real(object, key, &share))
		snprintf(buf, FORMAT_SIZE, "%.*f %%", share < 0.00995 ? 2 : 1, share * 100);
	else
		snprintf(buf, FORMAT_SIZE, "-");
	return buf;
}

/* ", spin 12.3 % of busy CPU time and 8.1 % of all" */
static void
say_spin(FILE *f, const json_t *source)
{
	const json_t *spin = json_object_get(source, "spin");
	char busy[FORMAT_SIZE], all[FORMAT_SIZE];

	if (json_is_object(spin))
		fprintf(f, "; spin %s of busy CPU time, %s of all",
		    get_percent(busy, spin, "busy_share"), get_percent(all, spin, "cpu_share"));
	else
		fprintf(f, "; it cannot tell spinning");
}

static void
say_cost(FILE *f, const json_t *source)
{
	char cpu[FORMAT_SIZE], steps[FORMAT_SIZE];
	double share;

	if (get_real(source, "cost_cpu_share", &share))
		fprintf(f, "; it costs %s of one CPU", get_percent(cpu, source, "cost_cpu_share"));
	else
		fprintf(f, "; what it costs is not measured");
	if (get_real(source, "cost_steps_share", &share))
		fprintf(f, " and %s of the steps in its window",
		    get_percent(steps, source, "cost_steps_share"));
}

/* What of the build's time was looked at. */
static void
say_seen(FILE *f, const json_t *source, const json_t *answer)
{
	char window[FORMAT_SIZE], elapsed[FORMAT_SIZE], n[FORMAT_SIZE];
	int64_t seen, all, builds;

	fprintf(f, "%s of %s seen in %s", get_duration(window, source, "window_us"),
	    get_duration(elapsed, answer, "elapsed_us"),
	    get_plural(n, source, "windows", "window"));
	if (get_number(source, "window_us", &seen) && get_number(answer, "elapsed_us", &all) &&
	    all > 0)
		fprintf(f, " (%.1f %%)", 100 * (double)seen / (double)all);
	if (get_number(source, "windows_missing", &seen) && seen > 0)
		fprintf(f, ", %s without a reading (the last: %s)",
		    format_plural(n, seen, "window"), text_of(source, "last_missing"));
	if (get_number(source, "builds_at_once", &builds) && builds > 1)
		fprintf(f, "; up to %" PRId64 " builds ran there, and it is of them all", builds);
}

static void
show_header(const json_t *source, const json_t *answer, const struct view *view)
{
	char window[FORMAT_SIZE], age[FORMAT_SIZE], *text = NULL;
	const char *missing = get_text(source, "missing"), *coverage = get_text(source, "coverage");
	bool whole = json_object_get(source, "windows") != NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (missing != NULL)
		fprintf(f, "no reading: %s", missing);
	else if (whole)
		say_seen(f, source, answer);
	else
		fprintf(f, "window %s, %s old", get_duration(window, source, "window_us"),
		    get_duration(age, source, "age_us"));
	if (missing == NULL)
		say_spin(f, source);
	say_cost(f, source);
	fclose(f);
	text_line(view, text_of(source, "source"), "%s", text);
	if (coverage != NULL)
		text_line(view, "", "%s", coverage);
	free(text);
}

static void
add_row(struct table *t, const json_t *row)
{
	char buf[FORMAT_SIZE];
	double share;
	int64_t ns;

	if (get_real(row, "total_share", &share))
		table_addf(t, "%.2f", share * 100);
	else
		table_add(t, NULL);
	table_add(t, get_count(buf, row, "count"));
	if (get_number(row, "wait_ns", &ns))
		table_addf(t, "%.2f", (double)ns / 1e6);
	else
		table_add(t, NULL);
	table_add(t, get_text(row, "lock"));
	table_add(t, get_text(row, "caller"));
}

static void
show_rows(const json_t *rows, const char *kind, const struct view *view)
{
	struct table *t = table_create("+TOTAL% +COUNT +TIME/ms LOCK CALLER");
	size_t i, n = 0;

	for (i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (strcmp(text_of(row, "kind"), kind) == 0 && (n++ < ROWS_SHOWN || view->wide))
			add_row(t, row);
	}
	if (n > 0) {
		fprintf(view->out, "-- %s\n", kind);
		table_print(t, view);
	}
	if (n > ROWS_SHOWN && !view->wide)
		fprintf(view->out, "and %zu more: -o wide shows them\n", n - ROWS_SHOWN);
	table_destroy(t);
}

void
text_locks(const json_t *answer, const struct view *view)
{
	const json_t *sources = json_object_get(answer, "sources");
	size_t i;

	for (i = 0; i < json_array_size(sources); i++) {
		const json_t *source = json_array_get(sources, i);

		if (i > 0)
			putc('\n', view->out);
		show_header(source, answer, view);
		show_rows(json_object_get(source, "rows"), lock_kind_name(LOCK_SPIN), view);
		show_rows(json_object_get(source, "rows"), lock_kind_name(LOCK_SLEEP), view);
	}
	if (json_array_size(sources) == 0)
		fputs(
		    "no table of locks has come (a build has those of windows that began after it "
		    "did); does lock_source in the agent's configuration name one that this "
		    "host has?\n",
		    view->out);
}
