/* run.h - builds on a model host, one after the other, under the daemon's core
 *
 * Shape:  run_create for a host that knows nothing; each run_build is one more build of the
 *         same branch and target there, so that what is learned is used by the next.
 * Units:  seconds.
 * Errors: none.
 * Memory: run_create/run_destroy; the work is borrowed.
 * Source: docs/decisions/0010-model.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_RUN_H
#define FLYBALL_SIM_RUN_H

#include <stdio.h>

#include "coordinator/sim/work.h"
#include "proto/limits.h"

struct run_options {
	uint64_t seed; /* of the sensors */
	int fixed; /* the law off and this limit; 0: the law acts, and the agent's guard */
	bool perfect; /* locks are read each second, as they are */
	double stop_at; /* given up then; 0 never */
	FILE *record, *show; /* NULL: none */
};

struct run_result {
	double seconds; /* INFINITY: given up */
	double phases[PHASES_MAX]; /* INFINITY: not ended */
	double swapping, spin; /* seconds; CPU-seconds */
	int changes; /* of the limit */
};

struct run;

struct run *run_create(const struct work *work, const struct run_options *options);
void run_build(struct run *run, struct run_result *ret_result);
void run_destroy(struct run *run);

#endif
