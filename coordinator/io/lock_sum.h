/* lock_sum.h - adding tables of locks up, and sums as text
 *
 * Shape:  see locks.h; no files here.
 * Units:  as units.h.
 * Errors: a text that is damaged is refused.
 * Memory: lock_sum_clear.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_SUM_H
#define FLYBALL_LOCK_SUM_H

#include "coordinator/core/codec.h"
#include "coordinator/io/locks.h"

/* busy: as in struct lock_seen; builds: how many share this table. */
void lock_sum_add(struct lock_sum *sum, const struct lock_table *table, double busy, size_t builds);
void lock_sum_clear(struct lock_sum *sum);

/* A line for each. */
void lock_sums_print(const struct lock_sum *list, size_t n, struct text *t);
int lock_sums_parse(const char *text, struct lock_sum **ret_list, size_t *ret_n, struct err *err);

#endif
