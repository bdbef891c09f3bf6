/* brain.h - the daemon's core, told what a coordinator would be told, with one host
 *
 * Shape:  brain_create, then for each build brain_build, brain_report once a second, brain_ended.
 *         What it wants of the host is the limit; all else it decides stays inside.
 * Units:  as units.h; time goes on from build to build.
 * Errors: an invariant that breaks, or a build that is not granted, ends the program: it is a bug.
 * Memory: brain_create/brain_destroy; pointers are borrowed until the next call.
 * Source: coordinator/io/driver.c does the same for real agents.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_BRAIN_H
#define FLYBALL_SIM_BRAIN_H

#include <stdio.h>

#include "coordinator/core/step.h"
#include "coordinator/sim/scenario.h"

struct brain;

/* fixed: the limit that is never moved; 0: the law acts. record: NULL or where to write all of it. */
struct brain *brain_create(const struct scenario *scenario, int fixed, FILE *record);
void brain_destroy(struct brain *b);

void brain_pass(struct brain *b, int64_t us);
mono_us brain_now(const struct brain *b);

/* A build is wanted and granted; its limit at the start. */
int32_t brain_build(struct brain *b, struct attempt_status *ret_status);
/* 0: the limit stays; else the new one, with its reason. */
int32_t brain_report(struct brain *b, const struct attempt_status *status, int32_t limit,
    const struct load *load, const char **ret_reason);
/* Takes the phases of the result over. */
void brain_ended(
    struct brain *b, const struct attempt_status *status, const struct attempt_result *result);

#endif
