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

enum { GUARD_HOLD_S = 30 };

struct guard_input {
	mono_us now;
	const struct load *load;
	int64_t memory_bytes; /* of the host */
	int32_t limit; /* the coordinator's */
	int32_t running; /* steps, all builds together */
};

struct guard {
	int32_t limit; /* the guard's; 0: it holds nothing */
	mono_us hold_until;
	int64_t step_bytes; /* what one more step may take, learned */
	char reason[TEXT_SIZE];
};

/* The limit in force: the coordinator's or less. */
int32_t guard_step(struct guard *guard, const struct guard_input *in);

#endif
