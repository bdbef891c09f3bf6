/* record.h - a recording: every event given to step() and what came out, bit-exact
 *
 * Shape:  text: "flyball-recording 1", then a line each: "fact ..." for what the journal held at the
 *         start, "event ..." for each event, followed by "effect ..." for each of its effects.
 *         flyball-sim replays it to the letter.
 * Units:  as event.h.
 * Errors: a recording that cannot be written stops, says so once, and harms nothing else.
 * Memory: record_open/record_close; NULL is a recording that is not wanted.
 * Source: flyball-sim(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RECORD_H
#define FLYBALL_RECORD_H

#include "coordinator/core/effect.h"
#include "proto/base/err.h"

struct record;

/* A new file; one that is there is refused. */
struct record *record_open(const char *path, struct err *err);
void record_close(struct record *record);
void record_fact(struct record *record, const struct fact *fact);
/* The event and those of its effects from index first on. */
void record_step(
    struct record *record, const struct event *event, const struct effects *effects, size_t first);
/* To the kernel: once a turn. */
void record_flush(struct record *record);

#endif
