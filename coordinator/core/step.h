/* step.h - the state machine: one event in, a list of effects out
 *
 * Shape:  everything the coordinator decides is decided below this one function.
 * Units:  as units.h.
 * Errors: total: an event that makes no sense gives EFFECT_REFUSE or a reply, never a crash.
 * Memory: effects are added to the caller's list.
 * Source: docs/states.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_STEP_H
#define FLYBALL_STEP_H

#include "coordinator/core/effect.h"

void step(struct cluster *c, const struct event *event, struct effects *effects);

#endif
