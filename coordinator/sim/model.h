/* model.h - one host and one build on it, as time goes by
 *
 * Shape:  model_start, then model_advance by small strides with model_limit in between, until done.
 *         A raised limit starts steps at once; under a lowered one running steps go on to their end.
 * Units:  seconds since the build began; sums in CPU-seconds and as enum rate says.
 * Errors: none.
 * Memory: model_create/model_destroy; the work is borrowed.
 * Source: docs/decisions/0010-model.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_MODEL_H
#define FLYBALL_SIM_MODEL_H

#include "coordinator/sim/queue.h"
#include "coordinator/sim/work.h"

/* What has come together so far. */
struct model_sums {
	struct rates rates;
	double swapping; /* seconds */
};

struct model;

struct model *model_create(const struct work *work);
void model_destroy(struct model *m);

/* The build begins now, with nothing running. */
void model_start(struct model *m, int limit);
void model_limit(struct model *m, int limit);
void model_advance(struct model *m, double seconds);

bool model_done(const struct model *m);
double model_now(const struct model *m); /* when done: when it was */
int model_running(const struct model *m);
int64_t model_begun(const struct model *m); /* steps */
size_t model_phase(const struct model *m); /* the last one entered */
double model_phase_at(const struct model *m, size_t phase); /* when it was entered; -1 not yet */
int64_t model_phase_steps(const struct model *m, size_t phase); /* steps begun before it */
double model_memory_free(const struct model *m); /* GiB */
bool model_swaps(const struct model *m);
const struct rates *model_rates(struct model *m); /* now */
const struct model_sums *model_sums(const struct model *m);

#endif
