/* Names come late and for the top callers alone; what has none would otherwise fill the table with
 * rows that look the same.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_rest.h"

#include <string.h>

#include "agent/sense/lock_text.h"

bool
lock_rest_add(struct lock_rest *rest, struct lock_table *table, const struct lock_row *row)
{
	size_t i = 0;

	if (row->caller[0] != '\0')
		return lock_table_add(table, row);
	while (i < rest->n &&
	       (rest->rows[i].kind != row->kind || strcmp(rest->rows[i].lock, row->lock) != 0))
		i++;
	if (i == LOCK_REST_MAX)
		return lock_table_add(table, row);
	if (i == rest->n) {
		rest->rows[rest->n++] = *row;
		return true;
	}
	return !__builtin_add_overflow(rest->rows[i].count, row->count, &rest->rows[i].count) &&
	       !__builtin_add_overflow(rest->rows[i].wait_ns, row->wait_ns, &rest->rows[i].wait_ns);
}

bool
lock_rest_move(struct lock_rest *rest, struct lock_table *table)
{
	bool fits = true;

	for (size_t i = 0; i < rest->n; i++)
		fits &= lock_table_add(table, &rest->rows[i]);
	rest->n = 0;
	return fits;
}
