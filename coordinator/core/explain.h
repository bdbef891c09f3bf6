/* explain.h - why a limit is what it is, why a build waits, why it runs where it runs
 *
 * Shape:  sentences for people, from the same functions that decide.
 * Units:  in the sentences.
 * Errors: cannot fail.
 * Memory: added to the caller's text; lists are fresh memory (free).
 * Source: flyball(1) "explain".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_EXPLAIN_H
#define FLYBALL_EXPLAIN_H

#include "coordinator/core/governor.h"
#include "coordinator/core/plan.h"
#include "coordinator/core/predict.h"

struct explain_host_row {
	char host[NAME_SIZE];
	enum filter filter;
	char reason[TEXT_SIZE]; /* why not, or how long it is expected to take there */
	bool here; /* it runs there */
};

/* One sentence about the build as a whole, and a row a host. */
void explain_build(const struct cluster *c, const struct build *b, char ret_sentence[TEXT_SIZE],
    struct explain_host_row **ret_rows, size_t *ret_nrows);

/* The rule that made the limit, and its inputs. */
void explain_limit(const struct cluster *c, const struct host *h, char ret_sentence[TEXT_SIZE],
    struct governor_input *ret_input);

#endif
