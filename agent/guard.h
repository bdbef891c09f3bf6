/* guard.h - the agent's own guard of its host's memory, which needs no coordinator
 *
 * Shape:  stepped once a second with what is known; gives the limit to hold the host to.
 *         Pure: flyball-sim steps the same code.
 * Units:  limits in steps, sizes in bytes.
 * Errors: cannot fail; what is missing is not judged by.
 * Memory: by value; zeroed to begin with.
 * Source: docs/architecture.md "Guard".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_GUARD_H
#define FLYBALL_GUARD_H

#include "proto/units.h"

enum { GUARD_HOLD_S = 30, GUARD_WINDOW = 4 };

struct guard_input {
	mono_us now;
	const struct load *load;
	int64_t memory_bytes; /* of the host */
	int32_t limit; /* the coordinator's */
	int32_t running; /* steps, all builds together */
	int64_t begun; /* steps since the agent's start, all builds together */
};

/* Memory that steps hold, and the steps, at one time. */
struct guard_point {
	mono_us at;
	double held_bytes;
	int32_t running;
	int64_t begun;
};

/* Of late seconds, the older the less: quotients of them tell what a step holds and how long it lasts. */
struct guard_sums {
	double byte_s, step_s, ended;
	double square_s, seconds; /* of bytes that a step holds beyond the mean */
};

struct guard {
	int32_t limit; /* the guard's; 0: it holds nothing */
	mono_us hold_until, set_at;
	char reason[TEXT_SIZE];

	bool begun; /* the host has been seen without a step, from which all else is told */
	int64_t base_bytes; /* free memory when no step runs */
	struct guard_sums sums;
	double variance_least; /* that is believed */
	mono_us anew_until; /* other steps than those known have begun */
	size_t npoints;
	struct guard_point points[GUARD_WINDOW]; /* the last seconds, the newest first */
};

/* The limit in force: the coordinator's or less; 0 when nobody has said one. */
int32_t guard_step(struct guard *guard, const struct guard_input *in);

/* Free memory that is kept for all else on a host of that size. */
int64_t guard_floor_bytes(int64_t memory_bytes);

#endif
