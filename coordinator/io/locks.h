/* locks.h - tables of kernel locks: the last ones of each host, and what builds add up to
 *
 * Shape:  an agent sends a table for each window of each of its lock sources. The last of each
 *         source is kept with its host. Each build that ran there adds it to its own sum: rows by
 *         lock, caller and kind, the largest of them; the totals are exact. A sum is kept in a
 *         file beside the build's log, and is there after its end and after a restart.
 * Units:  as units.h.
 * Errors: a file that cannot be written is said, throttled; nothing else stops for it.
 * Memory: locks_open/locks_close; what is shown is borrowed until the next call.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCKS_H
#define FLYBALL_LOCKS_H

#include "coordinator/core/cluster.h"

enum { LOCK_SOURCES_MAX = 8, LOCK_SUM_ROWS_MAX = 256 };

/* The last table of a source. */
struct lock_seen {
	struct lock_table table;
	mono_us at; /* when it came; its own age comes on top */
	double busy; /* share of all CPUs' time in use then; negative: not known */
};

/* All tables of a source over one attempt: window_us adds up, age_us means nothing; missing is of the
 * last window that gave none. */
struct lock_sum {
	struct lock_table table;
	int64_t tables, tables_missing;
	int64_t cpu_us; /* CPU time that passed in the windows */
	int64_t busy_us; /* of that, in use; -1: not known for all of them */
	int64_t builds_max; /* that ran on the host at once: the table is of them all */
};

struct locks;

/* folder: of the build logs. */
struct locks *locks_open(const char *folder);
void locks_close(struct locks *locks);

/* h is the cluster's; its live attempts take part, as far as they ran for all of the window. */
void locks_take(struct locks *locks, const struct cluster *c, const struct host *h,
    const struct lock_table *table, mono_us now);
/* Nothing more comes for it: its sum is written and forgotten. */
void locks_ended(struct locks *locks, attempt_id attempt);

const struct lock_seen *locks_of_host(const struct locks *locks, const char *host, size_t *ret_n);
/* From memory or its file; none: *ret_n is 0. -1 when its file cannot be read. */
int locks_of_attempt(struct locks *locks, attempt_id attempt, const struct lock_sum **ret_list,
    size_t *ret_n, struct err *err);

#endif
