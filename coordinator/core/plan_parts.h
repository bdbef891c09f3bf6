/* plan_parts.h - what plan.c and plan_filter.c share
 *
 * Shape:  needs that no host can meet now are remembered for the length of one search: while it
 *         goes on, hosts only get fuller.
 * Units:  none.
 * Errors: none.
 * Memory: hopeless_clear; what it points to is the cluster's.
 * Source: plan.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PLAN_PARTS_H
#define FLYBALL_PLAN_PARTS_H

#include "coordinator/core/plan.h"

struct wants;

/* Zeroed to begin with. */
struct hopeless {
	size_t n, capacity;
	struct wants *list;
};

bool hopeless_has(const struct hopeless *hopeless, const struct cluster *c, const struct build *b);
void hopeless_add(struct hopeless *hopeless, const struct cluster *c, const struct build *b);
void hopeless_clear(struct hopeless *hopeless);

/* Builds that a host takes at once. */
size_t plan_slots(const struct host *h);
/* Could it be given one more, if that had no needs? */
bool plan_has_room(const struct host *h);

#endif
