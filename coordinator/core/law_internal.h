/* law_internal.h - what law.c and law_trial.c share
 *
 * Shape:  law.c takes samples in, law_trial.c decides what to try and what came of it.
 * Units:  as law.h.
 * Errors: none.
 * Memory: none.
 * Source: law.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LAW_INTERNAL_H
#define FLYBALL_LAW_INTERNAL_H

#include "coordinator/core/law.h"

static const double LAW_WAIT_S = 20, LAW_WAIT_MOST_S = 1200;
static const double LAW_STEP = 0.25; /* of a first trial in a phase of which nothing is known */

void law_say(struct law *law, enum governor_level by, int32_t level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Tries something when it is time to. */
void law_trial_begin(struct law *law);
/* Judges the trial that runs. */
void law_trial_judge(struct law *law);
/* Ends a trial that cannot be judged. */
void law_trial_drop(struct law *law, const char *why);
/* How long after a change steps do not count yet. */
double law_settle_s(const struct law *law);
bool law_wasteful(const struct law *law);
/* What was known of levels no longer holds. */
void law_forget(struct law *law);

#endif
