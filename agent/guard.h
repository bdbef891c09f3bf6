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

enum { GUARD_HOLD_S = 30, GUARD_WINDOW = 3 };

struct guard_input {
	mono_us now;
	const struct load *load;
	int64_t memory_bytes; /* of the host */
	int32_t limit; /* the coordinator's */
	int32_t running; /* steps, all builds together */
};

/* Free memory, and the steps that ran, at one time. */
struct guard_point {
	mono_us at;
	int64_t free_bytes;
	int32_t running;
};

struct guard {
	int32_t limit; /* the guard's; 0: it holds nothing */
	mono_us hold_until;
	int64_t step_bytes; /* what one more step may take, learned */
	char reason[TEXT_SIZE];

	int32_t in_force; /* what the last step gave */
	int32_t cut_from; /* what ran, or was allowed, before the cuts that take effect now */
	mono_us cut_at, grown_at;
	size_t npoints;
	struct guard_point points[GUARD_WINDOW]; /* the last seconds, the newest first */
	bool has_calm;
	struct guard_point calm; /* when the fewest steps ran: what steps take is told against it */
};

/* The limit in force: the coordinator's or less; 0 when nobody has said one. */
int32_t guard_step(struct guard *guard, const struct guard_input *in);

/* Free memory that is kept for all else on a host of that size. */
int64_t guard_floor_bytes(int64_t memory_bytes);

#endif
