/* Only the largest rows are kept, so that a kernel with thousands of call sites costs no more than
 * one with ten: what falls out is small, and the totals still have it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/lock_sum.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

#define INT(struct_, member_) FIELD_AT(FIELD_INT, struct struct_, #member_, member_)
#define TEXT(struct_, member_) FIELD_AT(FIELD_TEXT, struct struct_, #member_, member_)

static const struct field row_fields[] = {
	TEXT(lock_row, lock),
	TEXT(lock_row, caller),
	INT(lock_row, kind),
	INT(lock_row, count),
	INT(lock_row, wait_ns),
	FIELD_END,
};

static const struct field table_fields[] = {
	TEXT(lock_table, source),
	TEXT(lock_table, missing),
	TEXT(lock_table, coverage),
	INT(lock_table, window_us),
	INT(lock_table, cpus),
	INT(lock_table, has_spin),
	INT(lock_table, has_sleep),
	INT(lock_table, spin_count),
	INT(lock_table, spin_ns),
	INT(lock_table, sleep_count),
	INT(lock_table, sleep_ns),
	INT(lock_table, cost_cpu_ppm),
	INT(lock_table, cost_steps_ppm),
	FIELD_MANY(FIELD_LIST, struct lock_table, "rows", rows, nrows, row_fields),
	FIELD_END,
};

static const struct field sum_fields[] = {
	FIELD_SUB(struct lock_sum, "table", table, table_fields),
	INT(lock_sum, tables),
	INT(lock_sum, tables_missing),
	INT(lock_sum, cpu_us),
	INT(lock_sum, busy_us),
	INT(lock_sum, builds_max),
	FIELD_END,
};

/* ---- adding ----------------------------------------------------------------------------- */

static int
by_time(const void *x, const void *y)
{
	const struct lock_row *a = x, *b = y;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return (a->count < b->count) - (a->count > b->count);
}

static bool
same_place(const struct lock_row *a, const struct lock_row *b)
{
	return a->kind == b->kind && strcmp(a->lock, b->lock) == 0 &&
	       strcmp(a->caller, b->caller) == 0;
}

static int64_t
plus(int64_t a, int64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

static void
add_row(struct lock_table *to, const struct lock_row *row)
{
	size_t i;

	for (i = 0; i < to->nrows; i++)
		if (same_place(&to->rows[i], row)) {
			to->rows[i].count = plus(to->rows[i].count, row->count);
			to->rows[i].wait_ns = plus(to->rows[i].wait_ns, row->wait_ns);
			return;
		}
	to->rows[to->nrows++] = *row;
}

static void
add_rows(struct lock_table *to, const struct lock_table *from)
{
	size_t i;

	to->rows = mem_grow(to->rows, to->nrows, to->nrows + from->nrows, sizeof *to->rows);
	for (i = 0; i < from->nrows; i++)
		add_row(to, &from->rows[i]);
	if (to->nrows > 0)
		qsort(to->rows, to->nrows, sizeof *to->rows, by_time);
	if (to->nrows > LOCK_SUM_ROWS_MAX)
		to->nrows = LOCK_SUM_ROWS_MAX;
}

/* What a source says of itself: the last word counts. */
static void
take_words(struct lock_table *to, const struct lock_table *from)
{
	memcpy(to->source, from->source, sizeof to->source);
	if (from->coverage[0] != '\0')
		memcpy(to->coverage, from->coverage, sizeof to->coverage);
	to->cost_cpu_ppm = from->cost_cpu_ppm;
	to->cost_steps_ppm = from->cost_steps_ppm;
}

void
lock_sum_add(struct lock_sum *sum, const struct lock_table *table, double busy, size_t builds)
{
	struct lock_table *to = &sum->table;
	int64_t cpu_us = table->window_us * table->cpus;

	take_words(to, table);
	if ((int64_t)builds > sum->builds_max)
		sum->builds_max = (int64_t)builds;
	if (table->missing[0] != '\0') {
		memcpy(to->missing, table->missing, sizeof to->missing);
		sum->tables_missing++;
		return;
	}
	sum->tables++;
	to->cpus = table->cpus;
	to->window_us = plus(to->window_us, table->window_us);
	to->has_spin = to->has_spin || table->has_spin;
	to->has_sleep = to->has_sleep || table->has_sleep;
	to->spin_count = plus(to->spin_count, table->spin_count);
	to->spin_ns = plus(to->spin_ns, table->spin_ns);
	to->sleep_count = plus(to->sleep_count, table->sleep_count);
	to->sleep_ns = plus(to->sleep_ns, table->sleep_ns);
	sum->cpu_us = plus(sum->cpu_us, cpu_us);
	if (busy < 0 || sum->busy_us < 0)
		sum->busy_us = -1;
	else
		sum->busy_us = plus(sum->busy_us, (int64_t)(busy * (double)cpu_us));
	add_rows(to, table);
}

void
lock_sum_clear(struct lock_sum *sum)
{
	codec_clear(sum_fields, sum);
	memset(sum, 0, sizeof *sum);
}

/* ---- as text ---------------------------------------------------------------------------- */

void
lock_sums_print(const struct lock_sum *list, size_t n, struct text *t)
{
	size_t i;

	text_add(t, "");
	for (i = 0; i < n; i++) {
		codec_encode(t, sum_fields, &list[i]);
		text_add(t, "\n");
	}
}

int
lock_sums_parse(const char *text, struct lock_sum **ret_list, size_t *ret_n, struct err *err)
{
	struct lock_sum *list = mem_calloc(LOCK_SOURCES_MAX, sizeof *list);
	size_t n = 0;

	while (*text != '\0' && n < LOCK_SOURCES_MAX) {
		if (codec_decode(&text, sum_fields, &list[n], err) < 0)
			goto fail;
		n++;
		if (*text++ != '\n') {
			err_set(err, "expected the end of a line behind sum %zu", n);
			goto fail;
		}
	}
	*ret_list = list;
	*ret_n = n;
	return 0;
fail:
	while (n > 0)
		lock_sum_clear(&list[--n]);
	free(list);
	return -1;
}
