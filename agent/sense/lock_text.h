/* lock_text.h - the tables that lock tools print, as rows
 *
 * Shape:  one parser a format, and one that knows which format it has before it. Any bytes
 *         give a table or a reason; totals are over all rows, the rows kept are the top ones.
 * Units:  as struct lock_table. Counts and times past 32 bits are right; past 63, a reason. A count
 *         that the text does not tell is 0 beside a time; a lock without a name goes by its type.
 * Errors: table->missing says why there is no reading, in a sentence; it is never zero instead.
 * Memory: bounded by LOCK_ROWS_MAX; lock_table_clear.
 * Source: lockstat(8) of NetBSD, lockstat(1) of FreeBSD, debug.lock.prof.stats of subr_lock.c,
 *         perf-lock(1), Documentation/locking/lockstat.rst.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_TEXT_H
#define FLYBALL_LOCK_TEXT_H

#include "proto/units.h"

/* Which one it was stands in table->source. cpus: of the host, where the text does not say.
 * window_us: how long it was measured, where the text does not say; 0 unknown. */
void lock_text_parse(
    const char *text, size_t n, int32_t cpus, int64_t window_us, struct lock_table *ret_table);

void lock_table_clear(struct lock_table *table);
/* Adds to the totals, and to the rows while it is among the top. False past 63 bits. */
bool lock_table_add(struct lock_table *table, const struct lock_row *row);

#endif
