/* plan.h - who builds what next, where
 *
 * Shape:  plan_search proposes moves of queued builds to hosts with a free slot; step() checks
 *         each again with plan_filter before it grants. Nothing here changes the cluster.
 * Units:  durations in us.
 * Errors: a host that cannot take a build is not an error: plan_filter gives the reason.
 * Memory: moves are fresh memory (free).
 * Source: docs/states.md; hard filters first, then earliest finish by what is known.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PLAN_H
#define FLYBALL_PLAN_H

#include "coordinator/core/event.h"

/* In the order they are asked: what a host is, before what it is doing. */
enum filter {
	FILTER_NONE, /* may run there, now */
	FILTER_RECIPE,
	FILTER_OS,
	FILTER_RELEASE,
	FILTER_LABELS,
	FILTER_MEMORY,
	FILTER_REFUSED, /* the host refused this build before */
	FILTER_STATE,
	FILTER_DRAINED,
	FILTER_DISK,
	FILTER_SLOTS /* would do, but is full */
};

const char *filter_name(enum filter filter);

/* The first hard filter that keeps the build off the host, with a sentence in ret_reason, a text of
 * TEXT_SIZE; NULL when nobody reads it. */
enum filter plan_filter(
    const struct cluster *c, const struct build *b, const struct host *h, char *ret_reason);

/* Is there a queued build that a host could take now? Else a plan can do nothing. */
bool plan_could_help(const struct cluster *c);

/* budget: pairs of build and host that may be looked at. Same cluster, same budget, same plan. */
void plan_search(
    const struct cluster *c, int64_t budget, struct plan_move **ret_moves, size_t *ret_nmoves);

#endif
