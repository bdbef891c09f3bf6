/* bench.h - how far the law is from the best that is known: figures over many seeds
 *
 * Shape:  one line a scenario, name=value. Each seed draws one build; it is run with every fixed
 *         limit, four times in a row under the law on a host that knew nothing, and once more with locks
 *         that are read perfectly. All ratios are of times of the same draw.
 * Units:  ratios of seconds.
 * Errors: none.
 * Memory: none is kept.
 * Source: flyball-sim(1) "BENCHMARKS".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_BENCH_H
#define FLYBALL_SIM_BENCH_H

#include <stdio.h>

#include "coordinator/sim/scenario.h"

struct bench_options {
	uint64_t seed; /* of the first; they count up */
	int seeds;
};

void bench_scenario(
    const struct scenario *scenario, const struct bench_options *options, FILE *out);

/* Locks of so many random kinds, each with its own host and build: two ratios, and what each
 * fixed limit gives there as a table (table: NULL or where to). */
void bench_shapes(const struct bench_options *options, int shapes, FILE *table, FILE *out);

#endif
