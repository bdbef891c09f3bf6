/* How an attempt ends. The result is written last: after the tree is empty, since a slot is free only
 * then; after the workspace is gone, since its room is promised to the next build; and again and
 * again, since a full disk must not lose what a build has come to.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum {
	GRACE_US = 5000000, /* between SIGTERM and SIGKILL */
	LINGER_US = 500000, /* for what a recipe left behind to end by itself */
	SOON_US = 50000,
	KILL_SLOWER_US = 1000000,
	STUBBORN_US = 60000000, /* then it is said that the tree does not go away */
	WRITE_EVERY_US = 1000000,
	FIRST_CLIENT_US = 5000000, /* for whoever started us to come, however short the build was */
	NAMES_BYTES = 200
};

void
keeper_stage_set(struct keeper *keeper, enum keeper_stage stage, mono_us now)
{
	if (stage != KEEPER_RUNNING)
		keeper_continue(keeper, now); /* so that it can end */
	keeper->stage = stage;
	keeper->stage_began = now;
}

void
keeper_reason_add(struct keeper *keeper, const char *format, ...)
{
	char *reason = keeper->attempt.result.reason;
	size_t used = strlen(reason);
	va_list ap;

	if (used > 0 && used + 2 < TEXT_SIZE) {
		mem_copy_text(reason + used, TEXT_SIZE - used, "; ");
		used += 2;
	}
	va_start(ap, format);
	vsnprintf(reason + used, TEXT_SIZE - used, format, ap);
	va_end(ap);
}

void
keeper_end_early(struct keeper *keeper, enum outcome outcome, mono_us now, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list ap;

	if (keeper->stage != KEEPER_RUNNING)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	keeper->attempt.result.outcome = outcome;
	keeper_reason_add(keeper, "%s", text);
	klog_note(&keeper->log, "%s: %s", outcome_name(outcome), text);
	tokens_stop(&keeper->pool.tokens);
	kill(-keeper->recipe, SIGTERM);
	keeper_stage_set(keeper, KEEPER_TERMINATING, now);
}

static void
begin_emptying(struct keeper *keeper, mono_us now, bool forced)
{
	tokens_stop(&keeper->pool.tokens);
	keeper->forced = forced;
	keeper->next_kill = forced ? now : mono_add(now, LINGER_US);
	keeper->next_complaint = mono_add(now, STUBBORN_US);
	keeper_stage_set(keeper, KEEPER_EMPTYING, now);
}

/* How many of the tree live, and the names of the first. */
static int
name_the_living(char *names, size_t size)
{
	struct os_process *list;
	size_t count, used = 0;
	int living = 0;

	names[0] = '\0';
	if (os_tree_list(getpid(), &list, &count, NULL) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (list[i].zombie)
			continue;
		if (used + sizeof list[i].name + 2 < size)
			used += (size_t)snprintf(
			    names + used, size - used, "%s%s", used > 0 ? ", " : "", list[i].name);
		living++;
	}
	free(list);
	return living;
}

static void
tell_of_leftovers(struct keeper *keeper)
{
	char names[NAMES_BYTES];
	int n = name_the_living(names, sizeof names);

	if (n == 0)
		return;
	klog_note(&keeper->log, "%d process%s left running and %s killed: %s", n,
	    n == 1 ? " was" : "es were", n == 1 ? "was" : "were", names);
	keeper_reason_add(keeper, "%d process%s left running by the recipe and %s killed: %s", n,
	    n == 1 ? " was" : "es were", n == 1 ? "was" : "were", names);
}

static void
tell_of_stubborn(struct keeper *keeper, mono_us now)
{
	char names[NAMES_BYTES];
	int n = name_the_living(names, sizeof names);

	if (keeper->next_complaint.us == mono_add(keeper->stage_began, STUBBORN_US).us) {
		klog_note(
		    &keeper->log, "%d processes cannot be killed, still trying: %s", n, names);
		keeper_reason_add(keeper, "processes could not be killed for a minute: %s", names);
	}
	fprintf(stderr, "processes cannot be killed, still trying count=%d names=%s\n", n, names);
	keeper->next_complaint = mono_add(now, STUBBORN_US);
}

static void
kill_rest(struct keeper *keeper, mono_us now)
{
	if (now.us < keeper->next_kill.us)
		return;
	if (!keeper->forced)
		tell_of_leftovers(keeper);
	keeper->forced = true;
	os_tree_kill(getpid(), 0, NULL);
	if (now.us >= keeper->next_complaint.us)
		tell_of_stubborn(keeper, now);
	keeper->next_kill = mono_add(
	    now, mono_since(keeper->stage_began, now) > SECOND_US * 5 ? KILL_SLOWER_US : SOON_US);
}

/* ---- the tree is empty ---- */

static void
judge_status(struct attempt_result *result, int status)
{
	if (WIFSIGNALED(status))
		result->exit_code = 128 + WTERMSIG(status);
	else
		result->exit_code = WEXITSTATUS(status);
	if (result->outcome != OUTCOME_NONE)
		return;
	result->outcome = WIFSIGNALED(status)      ? OUTCOME_SIGNAL
			  : result->exit_code != 0 ? OUTCOME_FAILED
						   : OUTCOME_OK;
}

static void
explain_status(struct keeper *keeper)
{
	const struct attempt_result *result = &keeper->attempt.result;

	if (result->outcome == OUTCOME_FAILED)
		keeper_reason_add(keeper, "the recipe exited with %d", (int)result->exit_code);
	else if (result->outcome == OUTCOME_SIGNAL)
		keeper_reason_add(keeper, "the recipe died by signal %d (%s)",
		    (int)result->exit_code - 128, strsignal(result->exit_code - 128));
}

static void
settle_books(struct keeper *keeper)
{
	struct attempt_status *status = &keeper->attempt.status;
	const struct tokens *tokens = &keeper->pool.tokens;

	pool_finish(&keeper->pool);
	status->limit = tokens->limit;
	status->granted = tokens->granted;
	status->returned = tokens->returned;
	status->drained = tokens->drained;
	status->lost = tokens->lost;
	if (tokens->extra > 0)
		keeper_reason_add(keeper,
		    "%" PRId64
		    " tokens came back that nobody had taken: a step writes to the jobserver",
		    tokens->extra);
}

static void
begin_sweeping(struct keeper *keeper, mono_us now)
{
	struct attempt_result *result = &keeper->attempt.result;

	keeper_take_output(keeper, now);
	if (keeper->output_fd >= 0)
		close(keeper->output_fd);
	keeper->output_fd = -1;
	if (keeper->recipe > 0)
		judge_status(result, keeper->recipe_status);
	explain_status(keeper);
	keeper_usage_dead(&result->usage); /* the tree is empty: of all of it */
	result->real_us = mono_since(keeper->started, now);
	settle_books(keeper);
	keeper->attempt.status.ungoverned = keeper->ungoverned;
	keeper->attempt.status.elapsed_us = result->real_us;
	keeper_stage_set(keeper, KEEPER_SWEEPING, now);
	if (keeper->made_work) {
		struct err err;

		if (sweep_start(keeper->order->work, &keeper->sweeper, &keeper->sweeper_fd, &err) !=
		    0)
			keeper_reason_add(keeper, "%s", err.text);
	}
}

static void
finish_sweeping(struct keeper *keeper, mono_us now)
{
	char words[ERR_TEXT_SIZE];

	if (keeper->sweeper > 0)
		return;
	if (keeper->sweeper_fd >= 0) {
		sweep_words(keeper->sweeper_fd, words, sizeof words);
		if (words[0] != '\0')
			keeper_reason_add(keeper, "the workspace %s is not all gone: %s",
			    keeper->order->work, words);
		keeper->sweeper_fd = -1;
	}
	keeper->next_tick = now;
	keeper_stage_set(keeper, KEEPER_WRITING, now);
}

static void
note_disk(struct keeper *keeper)
{
	if (keeper->log.disk_errno != 0)
		keeper_reason_add(keeper,
		    "the log could not be written for a while: %s; what is missing is marked in it",
		    strerror(keeper->log.disk_errno));
	keeper->log.disk_errno = 0;
}

/* Nobody will ever read a result there: its attempt was given up, and all that was kept of it. */
static bool
folder_is_gone(void)
{
	struct stat facts;

	return stat(".", &facts) == 0 && facts.st_nlink == 0;
}

static void
write_result(struct keeper *keeper, mono_us now)
{
	struct message_attempt *attempt = &keeper->attempt;
	struct err err;

	if (now.us < keeper->next_tick.us)
		return;
	if (!keeper->door->greeted && mono_since(keeper->started, now) < FIRST_CLIENT_US) {
		keeper->next_tick = mono_add(now, SOON_US);
		return;
	}
	keeper->next_tick = mono_add(now, WRITE_EVERY_US);
	if (!klog_finish(&keeper->log))
		return;
	note_disk(keeper);
	attempt->status.state = ATTEMPT_ENDED;
	attempt->status.log_bytes = keeper->log.file_bytes;
	attempt->result.log_dropped_bytes = keeper->log.dropped;
	if (result_write(".", attempt, &err) != 0 && !folder_is_gone()) {
		fprintf(stderr, "%s, retrying in 1 s\n", err.text);
		return;
	}
	door_say_all(keeper->door, "ended");
	keeper_stage_set(keeper, KEEPER_DONE, now);
}

void
keeper_end(struct keeper *keeper, mono_us now)
{
	if (keeper->stage == KEEPER_RUNNING && keeper->recipe_ended)
		begin_emptying(keeper, now, false);
	if (keeper->stage == KEEPER_TERMINATING &&
	    (keeper->recipe_ended || mono_since(keeper->stage_began, now) >= GRACE_US))
		begin_emptying(keeper, now, true);
	if (keeper->stage == KEEPER_EMPTYING && keeper->tree_empty)
		begin_sweeping(keeper, now);
	if (keeper->stage == KEEPER_EMPTYING)
		kill_rest(keeper, now);
	if (keeper->stage == KEEPER_SWEEPING)
		finish_sweeping(keeper, now);
	if (keeper->stage == KEEPER_WRITING)
		write_result(keeper, now);
}
