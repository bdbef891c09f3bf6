/* governor.h - a host's limit, from all that has a say in it
 *
 * Shape:  given what is known of a host now, the limit it should have and why: the law (law.h)
 *         where its mode lets it act, else the first limit; within policies' bounds; under
 *         what operators allow.
 * Units:  limits in steps; shares 0..1.
 * Errors: cannot fail.
 * Memory: none.
 * Source: docs/states.md "Limit".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_GOVERNOR_H
#define FLYBALL_GOVERNOR_H

#include "coordinator/core/cluster.h"

struct governor_input {
	int32_t threads;
	int32_t limit; /* in force; 0 none */
	enum governor_mode mode; /* mode.h: the most careful of the builds' */
	size_t builds; /* that run here */
	int32_t start; /* wanted by policies; 0 as many as threads */
	int32_t min, max; /* policies' bounds over all builds here; max 0 none */
	int32_t spin_target_ppm; /* the least that policies ask for; 0: it is learned */
	bool throttled;
	int32_t throttle;
	const char *throttle_who, *throttle_reason;
	bool pinned; /* comes before the throttle */
	int32_t pin;
	const char *pin_who, *pin_reason;
	bool paused; /* its builds stand still: they tell nothing */
	const struct law *law; /* NULL: it is not to be heard */
	bool limited; /* any build says that it could use more */
	int32_t running;
	const struct load *load; /* NULL: no reading of this connection */
	int64_t load_age_us;
};

struct governor_decision {
	int32_t limit; /* to set; the one in force: leave it */
	int32_t would; /* what the law would set if it could act */
	char would_reason[TEXT_SIZE];
	enum governor_level level;
	char reason[TEXT_SIZE];
};

void governor_decide(const struct governor_input *in, struct governor_decision *ret_decision);

/* Gathers the input for a host. */
void governor_input_get(
    const struct cluster *c, const struct host *h, struct governor_input *ret_input);

/* The share of busy CPU time that is lost to spinning now, and whether that is an estimate; false
 * when nothing is known. */
bool governor_spin(const struct host *h, double *ret_share, bool *ret_estimate);

#endif
