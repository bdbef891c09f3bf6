/* runner.h - the keepers of this host and what they keep
 *
 * Shape:  a run is an attempt with a keeper, or one that has just ended. The runner starts and
 *         adopts keepers, passes limits on, asks for readings, reads logs for progress, and
 *         tells the owner of readings and ends through callbacks.
 * Units:  as message.h.
 * Errors: what cannot be started is a sentence for the attempt's reason; the rest is logged.
 * Memory: create/destroy; keepers live on after destroy.
 * Source: docs/decisions/0003-keeper.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RUNNER_H
#define FLYBALL_RUNNER_H

#include "agent/recipe.h"
#include "agent/spool.h"
#include "proto/base/loop.h"

struct runner;

struct runner_callbacks {
	/* Found at the start; ended follows when it does not run any more. */
	void (*adopted)(
	    void *arg, const struct message_start *start, const struct attempt_status *status);
	/* A reading, with what the log says. */
	void (*stat)(void *arg, attempt_id id, const struct attempt_status *status);
	/* It is over; the log has its last byte. */
	void (*ended)(void *arg, const struct message_attempt *attempt);
	void *arg;
};

/* All pointers are borrowed and must outlive the runner. */
struct runner *runner_create(struct loop *loop, const struct config *config,
    const struct recipe_list *recipes, const struct spool *spool,
    const struct runner_callbacks *callbacks);
void runner_destroy(struct runner *runner);

/* Takes on all that the spool holds. */
int runner_adopt(struct runner *runner, struct err *err);

/* When this returns 0 the order is on disk and the keeper runs. */
int runner_start(
    struct runner *runner, const struct message_start *start, int32_t limit, struct err *err);

/* Of an attempt that does not run: nothing happens. */
void runner_limit(struct runner *runner, attempt_id id, int32_t limit);
/* Stops the build where it is, for_us or (0) without end; or lets it go on. */
void runner_pause(struct runner *runner, attempt_id id, bool paused, int64_t for_us);
void runner_cancel(struct runner *runner, attempt_id id, const char *reason);

/* Once a second: asks keepers for readings, reads what the logs have got. */
void runner_tick(struct runner *runner);

/* Nothing of the attempt is needed any more. */
void runner_forget(struct runner *runner, attempt_id id);

size_t runner_living(const struct runner *runner); /* keepers */

#endif
