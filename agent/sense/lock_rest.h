/* lock_rest.h - rows whose caller has no name yet, as one row a lock
 *
 * Shape:  gathered while a table is filled, then moved into it.
 * Units:  as struct lock_row.
 * Errors: false past 63 bits.
 * Memory: by value; zeroed to begin with.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_REST_H
#define FLYBALL_LOCK_REST_H

#include "proto/units.h"

enum { LOCK_REST_MAX = 24 }; /* more than there are locks and kinds in a Linux source */

struct lock_rest {
	size_t n;
	struct lock_row rows[LOCK_REST_MAX];
};

/* Into the table when the row's caller has a name, else gathered. */
bool lock_rest_add(struct lock_rest *rest, struct lock_table *table, const struct lock_row *row);
bool lock_rest_move(struct lock_rest *rest, struct lock_table *table);

#endif
