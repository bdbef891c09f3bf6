/* child.h - a shell command whose output is wanted, and that may never hold the agent
 *
 * Shape:  started once; its output and errors are gathered, bounded, and told in one call
 *         when it has ended, or when it was ended at its deadline or for printing too much.
 * Units:  microseconds.
 * Errors: told in a sentence by the call; starting fails with err.
 * Memory: start/stop; freed before the call is made, or by child_stop. Stopping ends the
 *         command with all that it started in its process group.
 * Source: posix_spawn(3), waitid(2).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CHILD_H
#define FLYBALL_CHILD_H

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/base/loop.h"

enum { CHILD_OUTPUT_BYTES = 16 * 1024 };

struct child;

/* text ends with a zero byte. why: "" for one that exited with 0; else text is what it printed. */
typedef void (*child_ended_f)(void *arg, const char *text, const char *why);

struct child *child_start(struct loop *loop, const char *command, int64_t patience_us,
    child_ended_f on_ended, void *arg, struct err *err);
void child_stop(struct child *child); /* NULL is fine; nothing is told */

#endif
