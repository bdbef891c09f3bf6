/* Rows are kept sorted by time as they come, which for the few that a table keeps is cheaper than to
 * sort at the end. Two rows of the same time stay in the order of the text.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

void
lock_table_clear(struct lock_table *table)
{
	free(table->rows);
	*table = (struct lock_table){ 0 };
}

bool
lock_table_total(struct lock_table *table, enum lock_kind kind, int64_t count, int64_t ns)
{
	int64_t *counts = kind == LOCK_SPIN ? &table->spin_count : &table->sleep_count;
	int64_t *times = kind == LOCK_SPIN ? &table->spin_ns : &table->sleep_ns;
	int64_t new_count, new_ns;

	if (count < 0 || ns < 0 || __builtin_add_overflow(*counts, count, &new_count) ||
	    __builtin_add_overflow(*times, ns, &new_ns))
		return false;
	*counts = new_count;
	*times = new_ns;
	*(kind == LOCK_SPIN ? &table->has_spin : &table->has_sleep) = true;
	return true;
}

void
lock_table_row(struct lock_table *table, const struct lock_row *row)
{
	size_t at = table->nrows;

	if (row->count == 0 && row->wait_ns == 0)
		return; /* a lock that nobody waited for */
	if (table->rows == NULL)
		table->rows = mem_calloc(LOCK_ROWS_MAX, sizeof *table->rows);
	while (at > 0 && table->rows[at - 1].wait_ns < row->wait_ns)
		at--;
	if (at == LOCK_ROWS_MAX)
		return;
	if (table->nrows < LOCK_ROWS_MAX)
		table->nrows++;
	memmove(
	    &table->rows[at + 1], &table->rows[at], (table->nrows - at - 1) * sizeof *table->rows);
	table->rows[at] = *row;
}

bool
lock_table_add(struct lock_table *table, const struct lock_row *row)
{
	if (!lock_table_total(table, row->kind, row->count, row->wait_ns))
		return false;
	lock_table_row(table, row);
	return true;
}
