/* fixed.h - what each fixed limit takes for one draw of a build: what a law is judged by
 *
 * Shape:  a table by limit and seed; the best limit is the one with the least mean over seeds, for
 *         the whole build and for each phase alone (what an oracle would set there).
 * Units:  seconds; INFINITY where a limit is hopeless and was given up.
 * Errors: none.
 * Memory: fixed_clear.
 * Source: flyball-sim(1) "BENCHMARKS".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_FIXED_H
#define FLYBALL_SIM_FIXED_H

#include "coordinator/sim/run.h"

struct fixed {
	size_t nphases;
	int seeds, nlimits;
	int limits[JOBS_MAX];
	double *seconds; /* [limit][seed][phase], the whole build after the last phase */
};

void fixed_init(struct fixed *f, const struct scenario *scenario, int seeds);
void fixed_clear(struct fixed *f);
void fixed_measure(struct fixed *f, const struct work *work, int seed);

/* phase: nphases for the whole build. */
double fixed_seconds(const struct fixed *f, int limit, int seed, size_t phase);
/* The index of the best. */
int fixed_best(const struct fixed *f, size_t phase);
/* With the best limit of each phase. */
double fixed_oracle(const struct fixed *f, int seed);

#endif
