/* child.h - a shell command whose output is wanted, and that may never hold the agent
 *
 * Shape:  started once; its output and errors are gathered, bounded, and told in one call
 *         when it has ended, or when it was ended at its deadline or for printing too much.
 * Units:  microseconds.
 * Errors: told by the call; starting gives errno's value.
 * Memory: start/stop; freed when the call returns, or by child_stop. Stopping ends the
 *         command with all that it started in its process group.
 * Source: posix_spawn(3), waitid(2).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CHILD_H
#define FLYBALL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "proto/base/loop.h"

struct child_options {
	const char *command;
	const char *argument; /* its $1; NULL: none */
	size_t output_max; /* bytes from which it prints too much */
	int64_t patience_us;
	bool gently; /* SIGTERM first: it may have to put something back */
};

enum child_end { CHILD_EXITED, CHILD_LATE, CHILD_LOUD };

struct child_result {
	enum child_end end;
	int status; /* as wait(2)'s */
	struct rusage usage;
	const char *text; /* ends with a zero byte; borrowed for the call */
	size_t n;
};

struct child;

typedef void (*child_ended_f)(void *arg, const struct child_result *result);

/* 0, or why it cannot be started. */
int child_start(struct loop *loop, const struct child_options *options, child_ended_f on_ended,
    void *arg, struct child **ret_child);
/* In a sentence's middle, "" for one that exited with 0. */
void child_explain(const struct child_options *options, const struct child_result *result,
    char ret_why[TEXT_SIZE]);
void child_stop(struct child *child); /* NULL is fine; nothing is told */

#endif
