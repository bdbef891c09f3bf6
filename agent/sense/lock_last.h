/* lock_last.h - what the lock sources said last, as readings of the load
 *
 * Shape:  takes each table, says whether it is to be sent, and gives spin and lock_sleep with
 *         their window and age. Of two sources that tell the same, the first in their order
 *         counts. Pure.
 * Units:  nanoseconds lost over nanoseconds of all CPUs.
 * Errors: none; what is not known, or too old to be acted on, stays missing.
 * Memory: by value; lock_last_init.
 * Source: docs/architecture.md "Lock sources".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_LAST_H
#define FLYBALL_LOCK_LAST_H

#include "proto/units.h"

enum { LOCK_LAST_MAX = 8, LOCK_SEND_S = 10 };

struct lock_last {
	int64_t every_us; /* as configured */
	size_t n;
	struct lock_said {
		char name[NAME_SIZE];
		bool has[2]; /* by enum lock_kind */
		struct reading share[2];
		mono_us at[2]; /* when each was taken */
		bool sent, sent_missing;
		mono_us sent_at;
		char told[TEXT_SIZE]; /* the reason that was logged last */
	} list[LOCK_LAST_MAX];
};

void lock_last_init(struct lock_last *last, int64_t every_us);
/* In the order in which they count. */
void lock_last_source(struct lock_last *last, const char *name);

/* True when this table is to be sent: the source's first, ten seconds after the one before, or one
 * that is missing where the one before was not, and the other way round. */
bool lock_last_take(struct lock_last *last, mono_us now, const struct lock_table *table);
/* True when it has another reason than was told before: once for each, however often it comes. */
bool lock_last_news(struct lock_last *last, const struct lock_table *table);
void lock_last_fill(const struct lock_last *last, mono_us now, struct load *load);

#endif
