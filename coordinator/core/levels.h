/* levels.h - what was achieved at each limit, and which of two achieved more
 *
 * Shape:  sums for each level that was visited. Two signals of work are weighed against each
 *         other by their variances: user CPU time, precise at once but inflated where steps
 *         get into each other's way (memory bandwidth, SMT, locks that spin in user space),
 *         and steps that ended, right on average but noisy while they are few. How much user
 *         time inflates with the level is learned from comparisons that had both. Where
 *         the hardware counts instructions those stand in for user time, and nothing inflates.
 * Units:  user in CPUs (or 10^9 instructions a second), steps a second, gains as natural
 *         logarithms of ratios.
 * Errors: cannot fail; a comparison without data has an infinite variance.
 * Memory: by value.
 * Source: inverse-variance weighting; a scalar Kalman filter for the inflation.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LEVELS_H
#define FLYBALL_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/units.h"

enum { LEVELS_KEPT = 24 };

struct level {
	int32_t limit; /* 0: free */
	mono_us at; /* last sample */
	double user_s; /* seconds behind the sums of user time */
	double user, user2; /* sums of user x seconds, and of squares */
	double steps_s, steps;
};

struct levels {
	struct level list[LEVELS_KEPT];
	double
	    inflation; /* of user time a step: exponent of the level; steps rarely help each other */
	double inflation_var;
	double dispersion; /* variance of steps over their mean, in one second */
	double dispersion_n;
	double blind_s; /* of samples, since a step was seen to end */
	bool counted; /* user is instructions */
};

struct gain {
	double log; /* ln of the work at one level over that at the other */
	double sd;
	double user, user_sd; /* of user alone: more work than this a wider level never does */
};

void levels_clear(struct levels *levels); /* the sums; what was learned of inflation stays */
/* From now on user is instructions, or is CPUs again; what does not compare is cleared. */
void levels_count(struct levels *levels, bool counted);
/* user: NAN when missing. steps: that ended, -1 when not counted in this sample. */
void levels_add(
    struct levels *levels, int32_t limit, double user, double steps, double seconds, mono_us now);
const struct level *levels_find(const struct levels *levels, int32_t limit);
/* crowded: 0..1, how far CPUs are busy enough for steps to get into each other's way. spins: in user
 * mode at one of them, so that only steps tell. */
struct gain levels_compare(
    const struct levels *levels, int32_t from, int32_t to, double crowded, bool spins, mono_us now);
/* Learns the inflation from these two. */
void levels_learn(struct levels *levels, int32_t from, int32_t to);

double level_user(const struct level *level); /* NAN when there is none */
double level_steps(const struct level *level); /* a second */

#endif
