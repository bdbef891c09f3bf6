/* lock_cost.h - by how much a build is slower while its locks are measured
 *
 * Shape:  hears when windows begin and end and how many steps there were; compares the rate
 *         of each window with the rates before and behind it. Pure.
 * Units:  millionths of the rate.
 * Errors: none; -1 until enough was seen to tell.
 * Memory: by value; zeroed to begin with.
 * Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_COST_H
#define FLYBALL_LOCK_COST_H

#include "proto/units.h"

struct lock_rate {
	int64_t steps, us;
};

struct lock_cost {
	bool inside, mixed, began; /* mixed: a window began or ended since the last steps */
	mono_us at;
	int64_t steps;
	struct lock_rate before, within, behind; /* of the window that ended last */
	double n, mean, squares; /* of the shares that windows cost */
};

void lock_cost_window(struct lock_cost *cost, bool begins);
void lock_cost_steps(struct lock_cost *cost, mono_us now, int64_t steps);

int64_t lock_cost_ppm(const struct lock_cost *cost); /* -1: not known yet */
/* More than a hundredth, beyond doubt; then what was learned is forgotten. */
bool lock_cost_too_high(struct lock_cost *cost);

#endif
