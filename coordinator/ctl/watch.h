/* watch.h - showing a verb's answer again and again
 *
 * Shape:  on a terminal it is drawn over the one before; else they follow each other, an empty
 *         line between.
 * Units:  as args.h.
 * Errors: a coordinator that does not answer is waited for; other failures end it with their
 *         exit code.
 * Memory: none kept.
 * Source: watch(1); ECMA-48 for what the terminal is told.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WATCH_H
#define FLYBALL_WATCH_H

#include "coordinator/ctl/session.h"

/* Until ^C: EXIT_INTERRUPTED. */
int watch(struct session *s);

#endif
