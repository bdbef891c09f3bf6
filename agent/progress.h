/* progress.h - what a build's log says of how far it is
 *
 * Shape:  pure: rules come from the text of a recipe's .progress file, bytes of a log go in,
 *         phases, steps, per cent and make's own warnings come out. Lines:
 *           # comment            pool fifo|pipes
 *           phase REGEX          group 1 is the phase's name
 *           step REGEX           a line that matches is a step begun
 *           once REGEX           the same, but a line that comes again is none
 *           percent REGEX        group 1 of group 2; without a group 2 it is the per cent
 *         REGEX is a POSIX extended one, the rest of the line.
 * Units:  at_us since the attempt began; offsets are bytes of the log.
 * Errors: "FILE:LINE: sentence". A log cannot make it fail: a line is judged by its first
 *         PROGRESS_LINE_BYTES, a zero byte counts as '?'.
 * Memory: create/destroy; rules are borrowed by the progress made from them.
 * Source: flyball-recipe(7); GNU make 4.2 to 4.4, src/main.c, for its warnings.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PROGRESS_H
#define FLYBALL_PROGRESS_H

#include "agent/order.h"

enum { PROGRESS_LINE_BYTES = 4096, PROGRESS_RULES_MAX = 64 };

struct progress_rules;
struct progress;

/* path is what errors call the text. */
struct progress_rules *progress_rules_parse(const char *path, const char *text, struct err *err);
void progress_rules_destroy(struct progress_rules *rules);
enum pool_kind progress_rules_pool(const struct progress_rules *rules);

/* expected_steps: by history; 0 unknown. */
struct progress *progress_create(const struct progress_rules *rules, int64_t expected_steps);
void progress_destroy(struct progress *progress);

/* The next bytes of the log, in order. */
void progress_feed(struct progress *progress, const char *bytes, size_t n, int64_t at_us);
/* A line that the recipe wrote to its FLYBALL_MARKS: "phase NAME". Others are passed over. */
void progress_mark(struct progress *progress, const char *line, int64_t at_us);
/* The marks of an earlier reading of the same log: one that comes again keeps its time. */
void progress_recall(struct progress *progress, const struct phase_mark *marks, size_t n);

/* Whether there are marks without a usage, and what the attempt has used by now: theirs. */
bool progress_wants_usage(const struct progress *progress);
void progress_usage(struct progress *progress, const struct usage *usage);

int64_t progress_offset(const struct progress *progress); /* bytes fed */
/* The first so many marks, at most PHASES_MAX; borrowed. */
const struct phase_mark *progress_marks(const struct progress *progress, size_t *ret_n);

/* Fills in phase, steps, percent, serial; ungoverned is only ever raised. percent stays
 * below 100: only a result says that it is done. */
void progress_show(const struct progress *progress, struct attempt_status *status);

#endif
