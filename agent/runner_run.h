/* runner_run.h - a run in the open; for runner*.c alone
 *
 * Shape:  struct runner and struct run, and what reads a log and ends a run (runner_end.c).
 * Units:  as runner.h.
 * Errors: logged.
 * Memory: owned by the runner.
 * Source: runner.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RUNNER_RUN_H
#define FLYBALL_RUNNER_RUN_H

#include <sys/types.h>

#include "agent/keeper_client.h"
#include "agent/runner.h"

enum { READ_BYTES = 256 * 1024, KILL_PATIENCE_S = 10 };

struct run {
	struct runner *runner;
	struct order order;
	struct keeper_client *keeper;
	struct loop_watch *watch;
	struct progress *progress;
	struct attempt_status status;
	bool to_cancel; /* and its keeper could not be told yet */
	char cancel_reason[TEXT_SIZE];
	size_t nphases; /* on disk */
	long marks_at; /* read of the marks file */
};

/* A workspace on its way out. */
struct sweep {
	char *path;
	pid_t pid;
	int words_fd;
};

struct runner {
	struct loop *loop;
	const struct config *config;
	const struct recipe_list *recipes;
	const struct spool *spool;
	struct runner_callbacks callbacks;
	struct run **runs; /* pointers: watches keep them */
	size_t nruns, runs_capacity;
	struct sweep *sweeps;
	size_t nsweeps, sweeps_capacity;
	char buf[READ_BYTES];
};

/* ---- runner.c ---- */

void runner_take_off(struct runner *runner, struct run *run); /* run is freed */

/* ---- runner_end.c ---- */

/* At most so many times READ_BYTES; 0: to the end. */
void run_read_log(struct run *run, int max_reads);
void run_read_marks(struct run *run);
/* Writes the phases when there are new ones. */
void run_keep_phases(struct run *run);

/* Each tells the owner and takes the run off. */
void run_finish(struct run *run, struct message_attempt *attempt);
void run_lose(struct run *run);
bool run_end_by_result(struct run *run); /* false: there is none */

/* Workspaces that have been removed meanwhile. */
void runner_reap(struct runner *runner);

#endif
