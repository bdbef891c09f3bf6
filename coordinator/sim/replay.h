/* replay.h - a recording of a coordinator's life, stepped again and compared to the letter
 *
 * Shape:  the facts that were in the journal are applied, each event is stepped, and each effect that
 *         comes out is compared with the line recorded; the invariants are checked after every event.
 * Units:  lines are counted from 1.
 * Errors: the first difference, a line that makes no sense or a broken invariant, with its line. That
 *         the recording was cut in its last line, or in the effects of its last event, is none.
 * Memory: replay_clear frees the lines of a difference.
 * Source: flyball-sim(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_REPLAY_H
#define FLYBALL_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "proto/base/err.h"

struct replay {
	size_t line; /* the last one read */
	size_t facts, events, effects;
	bool cut;
	char *expected, *got; /* of a difference; NULL: nothing there */
};

/* 0 when all of it was as recorded. */
int replay_run(struct replay *replay, FILE *file, struct err *err);
void replay_clear(struct replay *replay);

#endif
