/* keeper.h - supervises one attempt from its start until its process tree is empty
 *
 * Shape:  one loop over poll: the recipe's output, the token pool, the socket, dead children, time.
 *         Stages go one way:
 *             RUNNING -> (TERMINATING ->) EMPTYING -> SWEEPING -> WRITING -> DONE
 * Units:  as units.h.
 * Errors: what goes wrong with the attempt becomes its result; keeper_run itself cannot fail.
 * Memory: one keeper a process.
 * Source: docs/tokens.md "Keeper".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_H
#define FLYBALL_KEEPER_H

#include <signal.h>
#include <sys/types.h>

#include "agent/keeper_door.h"
#include "agent/keeper_log.h"
#include "agent/keeper_pool.h"
#include "agent/order.h"
#include "agent/keeper_recipe.h"
#include "agent/scan.h"

enum keeper_stage {
	KEEPER_RUNNING,
	KEEPER_TERMINATING, /* SIGTERM is sent; SIGKILL follows */
	KEEPER_EMPTYING, /* the recipe is dead; the tree must follow */
	KEEPER_SWEEPING, /* the workspace is being removed */
	KEEPER_WRITING, /* the result is being written; a full disk is waited for */
	KEEPER_DONE
};

struct keeper {
	/* given */
	const struct order *order;
	const char *folder; /* absolute; also the working directory */
	struct door *door;
	int niceness; /* of the recipe */
	sigset_t wait_mask; /* while polling */

	enum keeper_stage stage;
	mono_us started, stage_began;
	mono_us active; /* the last output or returned token */
	mono_us next_tick, next_kill, next_complaint;
	bool forced; /* EMPTYING by SIGKILL */
	bool made_work;

	pid_t recipe;
	bool recipe_ended, tree_empty;
	int recipe_status;
	int output_fd;
	struct klog log;

	struct pool pool;
	struct limited limited;
	bool is_limited;

	bool paused;
	bool pause_whole; /* all of the tree was told */
	mono_us paused_since, pause_until; /* until 0: without end */

	struct suspicion suspicion;
	bool ungoverned;
	mono_us last_scan, next_scan;

	pid_t sweeper;
	int sweeper_fd;

	struct message_attempt attempt; /* grows into the result */
};

void keeper_run(struct keeper *keeper);

/* keeper_scan.c: compares the tree with the ledger when it is time to. */
void keeper_scan(struct keeper *keeper, mono_us now);
/* An orphan was reaped, which is what a killed make leaves: look sooner. */
void keeper_scan_hint(struct keeper *keeper, mono_us now);

/* keeper_pause.c: SIGSTOP to the whole tree, for_us or (0) until it is told to go on; said again, it
 * takes that time from now. */
void keeper_pause(struct keeper *keeper, mono_us now, int64_t for_us);
void keeper_continue(struct keeper *keeper, mono_us now);
void keeper_pause_turn(struct keeper *keeper, mono_us now);
/* now, or while it is paused when that began: what durations are counted to. */
mono_us keeper_clock(const struct keeper *keeper, mono_us now);

/* keeper_end.c: from the last step to the result. */
void keeper_end_early(struct keeper *keeper, enum outcome outcome, mono_us now, const char *format,
    ...) __attribute__((format(printf, 4, 5)));
void keeper_reason_add(struct keeper *keeper, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void keeper_stage_set(struct keeper *keeper, enum keeper_stage stage, mono_us now);
void keeper_end(struct keeper *keeper, mono_us now);

/* keeper_usage.c: what the tree has used: what was waited for, and with what lives. */
void keeper_usage_dead(struct usage *ret_usage);
void keeper_usage_now(struct usage *ret_usage);

/* keeper.c */
mono_us keeper_now(void);
void keeper_take_output(struct keeper *keeper, mono_us now);

#endif
