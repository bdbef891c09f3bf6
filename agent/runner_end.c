/* What a run has come to. The log is read to its last byte before the end is told, so that steps and
 * phases are those of the whole log.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/runner_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/keeper_recipe.h"
#include "agent/os.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

enum { MARK_LINE_BYTES = 256, MARKS_A_TICK = 256 };

/* ---- what a log and the marks say ---- */

/* max_reads 0: to the end. */
void
run_read_log(struct run *run, int max_reads)
{
	struct runner *runner = run->runner;
	struct err err;
	size_t n;

	for (int i = 0; max_reads == 0 || i < max_reads; i++) {
		if (spool_log_read(runner->spool, run->order.start.id,
			progress_offset(run->progress), runner->buf, READ_BYTES, &n, &err) != 0) {
			log_throttled("log", "%s", err.text);
			return;
		}
		progress_feed(run->progress, runner->buf, n, run->status.elapsed_us);
		if (n < READ_BYTES)
			return;
	}
}

/* A line that is being written is left for the next time. */
void
run_read_marks(struct run *run)
{
	char *folder = spool_folder(run->runner->spool, run->order.start.id);
	char *path = mem_printf("%s/marks", folder);
	char line[MARK_LINE_BYTES];
	FILE *f = fopen(path, "re");

	free(path);
	free(folder);
	if (f == NULL)
		return;
	if (fseek(f, run->marks_at, SEEK_SET) == 0) {
		for (int i = 0; i < MARKS_A_TICK && fgets(line, sizeof line, f) != NULL; i++) {
			size_t n = strlen(line);

			if (n > 0 && n < sizeof line - 1 && line[n - 1] != '\n')
				break;
			run->marks_at = ftell(f);
			progress_mark(run->progress, line, run->status.elapsed_us);
		}
	}
	fclose(f);
}

void
run_keep_phases(struct run *run)
{
	const struct phase_mark *marks;
	struct err err;
	size_t n;

	marks = progress_marks(run->progress, &n);
	if (n <= run->nphases)
		return;
	run->nphases = n;
	if (spool_phases_write(run->runner->spool, run->order.start.id, marks, n, &err) != 0)
		log_throttled("phases", "%s; phases may lose their times at a restart", err.text);
}

/* ---- the end of an attempt ---- */

static void
sweep(struct runner *runner, const char *path)
{
	struct sweep sweep = { .path = mem_strdup(path) };
	struct err err;

	if (sweep_start(path, &sweep.pid, &sweep.words_fd, &err) != 0) {
		log_error("%s", err.text);
		free(sweep.path);
		return;
	}
	runner->sweeps = mem_room(
	    runner->sweeps, runner->nsweeps, &runner->sweeps_capacity, sizeof *runner->sweeps);
	runner->sweeps[runner->nsweeps++] = sweep;
}

void
runner_reap(struct runner *runner)
{
	char words[TEXT_SIZE];

	for (size_t i = 0; i < runner->nsweeps;) {
		struct sweep *s = &runner->sweeps[i];

		if (waitpid(s->pid, NULL, WNOHANG) == 0) {
			i++;
			continue;
		}
		sweep_words(s->words_fd, words, sizeof words);
		if (words[0] != '\0')
			log_error("the workspace %s is not wholly removed: %s", s->path, words);
		free(s->path);
		*s = runner->sweeps[--runner->nsweeps];
	}
}

/* Tells the owner; run is no more after that. */
void
run_finish(struct run *run, struct message_attempt *attempt)
{
	struct runner *runner = run->runner;
	const struct phase_mark *marks;

	if (attempt->status.elapsed_us > 0)
		run->status.elapsed_us = attempt->status.elapsed_us;
	run_read_marks(run);
	run_read_log(run, 0);
	progress_usage(run->progress, &attempt->result.usage); /* of phases seen only now */
	marks = progress_marks(run->progress, &attempt->result.nphases);
	attempt->result.phases = (struct phase_mark *)marks; /* borrowed, for the callback */
	attempt->status.id = run->order.start.id;
	attempt->status.fence = run->order.start.fence;
	attempt->status.state = ATTEMPT_ENDED;
	progress_show(run->progress, &attempt->status);
	if (attempt->result.outcome == OUTCOME_OK)
		attempt->status.percent = 100;
	attempt->status.log_bytes = spool_log_size(runner->spool, run->order.start.id);
	run_keep_phases(run);
	runner->callbacks.ended(runner->callbacks.arg, attempt);
	runner_take_off(runner, run);
}

/* The keeper is gone and has left no result: what it watched is ended, and that becomes the result. */
void
run_lose(struct run *run)
{
	struct message_attempt attempt = { .status = run->status,
		.result = { .outcome = OUTCOME_LOST, .usage = USAGE_UNKNOWN } };
	uint64_t n = run->order.start.id.n;
	char *folder = spool_folder(run->runner->spool, run->order.start.id);
	char *tag = mem_printf("FLYBALL_TAG=%s", run->order.tag);
	struct err err;
	bool dead = os_tagged_kill(tag, KILL_PATIENCE_S * SECOND_US, &err) == 0;

	snprintf(attempt.result.reason, sizeof attempt.result.reason,
	    "the keeper of attempt %" PRIu64
	    " is gone (killed, or the machine was restarted); %s%.200s",
	    n, dead ? "its processes were ended" : "not all its processes could be ended: ",
	    dead ? "" : err.text);
	attempt.result.real_us = run->status.elapsed_us;
	attempt.status.state = ATTEMPT_ENDED;
	attempt.status.running = 0;
	if (result_write(folder, &attempt, &err) != 0)
		log_error("%s", err.text);
	sweep(run->runner, run->order.work);
	free(tag);
	free(folder);
	run_finish(run, &attempt);
}

/* True when there is a result; then run is finished. */
bool
run_end_by_result(struct run *run)
{
	char *folder = spool_folder(run->runner->spool, run->order.start.id);
	struct message_attempt attempt;
	struct err err;
	bool there = false;

	if (result_read(folder, &attempt, &there, &err) != 0)
		log_error("%s", err.text);
	free(folder);
	if (there)
		run_finish(run, &attempt);
	return there;
}
