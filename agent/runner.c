/* An attempt's truth is in its folder: an order alone is about to get its keeper; once a keeper has left
 * its socket or a log there, it is there or is lost; a result is the end. So the start of the agent, a
 * keeper's word and a keeper's death all lead to the same question, and asking it twice gives the same
 * answer.
 *
 * A keeper writes its result before it closes its socket; hence first the keeper is sought, then the
 * result: when there is neither, it was killed.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/runner_run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/os.h"
#include "agent/runner_place.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

enum {
	READS_A_TICK = 32, /* 8 MiB of one log, so that the loop goes on */
	ADOPT_TRIES = 3,
	BEGIN_TRIES = 50, /* for a keeper that our predecessor has just started to listen */
	BEGIN_PAUSE_MS = 100
};

struct runner *
runner_create(struct loop *loop, const struct config *config, const struct recipe_list *recipes,
    const struct spool *spool, const struct runner_callbacks *callbacks)
{
	struct runner *runner = mem_calloc(1, sizeof *runner);

	runner->loop = loop;
	runner->config = config;
	runner->recipes = recipes;
	runner->spool = spool;
	runner->callbacks = *callbacks;
	return runner;
}

static void
run_destroy(struct run *run)
{
	loop_remove(run->watch);
	keeper_client_destroy(run->keeper);
	progress_destroy(run->progress);
	free(run);
}

void
runner_destroy(struct runner *runner)
{
	if (runner == NULL)
		return;
	for (size_t i = 0; i < runner->nruns; i++)
		run_destroy(runner->runs[i]);
	for (size_t i = 0; i < runner->nsweeps; i++) {
		close(runner->sweeps[i].words_fd);
		free(runner->sweeps[i].path);
	}
	free(runner->runs);
	free(runner->sweeps);
	free(runner);
}

static struct run *
runner_find(const struct runner *runner, attempt_id id)
{
	for (size_t i = 0; i < runner->nruns; i++) {
		if (runner->runs[i]->order.start.id.n == id.n)
			return runner->runs[i];
	}
	return NULL;
}

static struct run *
add(struct runner *runner, const struct order *order)
{
	const struct recipe *recipe = recipe_find(runner->recipes, order->start.recipe);
	struct phase_mark marks[PHASES_MAX];
	struct run *run = mem_calloc(1, sizeof *run);

	run->runner = runner;
	run->order = *order;
	run->progress =
	    progress_create(recipe != NULL ? recipe->rules : NULL, order->start.expected_steps);
	run->nphases = spool_phases_read(runner->spool, order->start.id, marks, PHASES_MAX);
	progress_recall(run->progress, marks, run->nphases);
	run->status = (struct attempt_status){ .id = order->start.id,
		.fence = order->start.fence,
		.state = ATTEMPT_RUNNING,
		.percent = -1 };
	runner->runs =
	    mem_room(runner->runs, runner->nruns, &runner->runs_capacity, sizeof(struct run *));
	runner->runs[runner->nruns++] = run;
	return run;
}

void
runner_take_off(struct runner *runner, struct run *run)
{
	size_t i = 0;

	while (runner->runs[i] != run)
		i++;
	runner->runs[i] = runner->runs[--runner->nruns];
	run_destroy(run);
}

size_t
runner_living(const struct runner *runner)
{
	size_t n = 0;

	for (size_t i = 0; i < runner->nruns; i++)
		n += runner->runs[i]->keeper != NULL;
	return n;
}

/* ---- keepers ---- */

static void on_keeper(void *arg);

static void
watch(struct run *run, struct keeper_client *keeper)
{
	run->keeper = keeper;
	run->watch =
	    loop_fd_add(run->runner->loop, keeper_client_fd(keeper), LOOP_READ, on_keeper, run);
}

static void
unwatch(struct run *run)
{
	loop_remove(run->watch);
	run->watch = NULL;
	keeper_client_destroy(run->keeper);
	run->keeper = NULL;
}

/* A starved keeper may need more than one try; one that is dead fails at once. */
static void
seek_keeper(struct run *run)
{
	char *folder = spool_folder(run->runner->spool, run->order.start.id);
	struct message_attempt attempt;
	struct keeper_client *keeper = NULL;
	struct err err;
	bool there = false;

	for (int i = 0; i < ADOPT_TRIES && keeper == NULL && !there; i++) {
		keeper = keeper_client_adopt(folder, &err);
		if (keeper == NULL)
			(void)result_read(folder, &attempt, &there, &err);
	}
	free(folder);
	if (keeper != NULL)
		watch(run, keeper);
}

/* The keeper has said its last word, or died. */
static void
settle(struct run *run)
{
	if (run_end_by_result(run))
		return;
	unwatch(run);
	seek_keeper(run);
	if (run->keeper == NULL && !run_end_by_result(run))
		run_lose(run);
}

/* A phase has begun since the last reading. */
static void
ask_usage(struct run *run)
{
	struct err err;

	if (progress_wants_usage(run->progress) && keeper_client_ask_usage(run->keeper, &err) != 0)
		log_throttled("usage", "%s; it will be asked again", err.text);
}

static void
tell_reading(struct run *run)
{
	struct runner *runner = run->runner;

	run_read_marks(run);
	run_read_log(run, READS_A_TICK);
	run_keep_phases(run);
	ask_usage(run);
	progress_show(run->progress, &run->status);
	run->status.log_bytes = spool_log_size(runner->spool, run->order.start.id);
	runner->callbacks.stat(runner->callbacks.arg, run->order.start.id, &run->status);
}

static void
on_keeper(void *arg)
{
	struct run *run = arg;
	struct attempt_status status = run->status;

	status.ungoverned = false;
	switch (keeper_client_read(run->keeper, &status)) {
	case KEEPER_STAT:
		run->status = status;
		tell_reading(run);
		break;
	case KEEPER_USAGE:
		progress_usage(run->progress, keeper_client_usage(run->keeper));
		run->nphases = 0; /* those on disk have none yet */
		run_keep_phases(run);
		break;
	case KEEPER_ENDED:
	case KEEPER_GONE:
		settle(run);
		break;
	case KEEPER_NOTHING:
		break;
	}
}

static void
tell_cancel(struct run *run)
{
	struct err err;

	if (run->to_cancel && run->keeper != NULL) {
		run->to_cancel = keeper_client_cancel(run->keeper, run->cancel_reason, &err) != 0;
		if (run->to_cancel)
			log_throttled("cancel", "%s; it will be told again", err.text);
	}
}

void
runner_tick(struct runner *runner)
{
	struct err err;

	for (size_t i = 0; i < runner->nruns; i++) {
		struct run *run = runner->runs[i];

		tell_cancel(run);
		/* A keeper that cannot be told is about to be seen as gone. */
		if (run->keeper != NULL && keeper_client_ask(run->keeper, &err) != 0)
			log_throttled("ask", "%s", err.text);
	}
	runner_reap(runner);
}

void
runner_limit(struct runner *runner, attempt_id id, int32_t limit)
{
	struct run *run = runner_find(runner, id);
	struct err err;

	if (run == NULL || run->keeper == NULL)
		return;
	log_debug("limit of a build attempt=%" PRIu64 " limit=%d", id.n, (int)limit);
	if (keeper_client_limit(run->keeper, limit, &err) != 0)
		log_throttled("limit", "%s; it will be told again", err.text);
}

void
runner_pause(struct runner *runner, attempt_id id, bool paused, int64_t for_us)
{
	struct run *run = runner_find(runner, id);
	struct err err;
	int rc;

	if (run == NULL || run->keeper == NULL)
		return;
	rc = paused ? keeper_client_pause(run->keeper, for_us, &err)
		    : keeper_client_continue(run->keeper, &err);
	if (rc != 0)
		log_throttled("pause", "%s; it will be told again", err.text);
}

void
runner_cancel(struct runner *runner, attempt_id id, const char *reason)
{
	struct run *run = runner_find(runner, id);

	if (run == NULL)
		return;
	run->to_cancel = true;
	mem_copy_text(run->cancel_reason, sizeof run->cancel_reason, reason);
	tell_cancel(run);
}

/* ---- the start of an attempt ---- */

/* Two attempts never share a tag, not even those of two coordinators. */
static void
make_tag(char tag[UUID_SIZE], attempt_id id)
{
	uint64_t random = 0;

	while (getrandom(&random, sizeof random, 0) != sizeof random)
		continue;
	snprintf(tag, UUID_SIZE, "%" PRIu64 "-%016" PRIx64, id.n, random);
}

static struct keeper_client *
start_keeper(struct runner *runner, const struct order *order, const char *folder, struct err *err)
{
	char *tag = mem_printf("FLYBALL_TAG=%s", order->tag);
	struct keeper_client *keeper = keeper_client_start(runner->config->keeper, folder, err);

	/* One that began but was too slow to answer must not go on unseen. */
	if (keeper == NULL && (keeper = keeper_client_adopt(folder, NULL)) == NULL)
		(void)os_tagged_kill(tag, KILL_PATIENCE_S * SECOND_US, NULL);
	free(tag);
	return keeper;
}

static void
remove_order(const char *folder)
{
	char *path = mem_printf("%s/order", folder);

	if (unlink(path) != 0 && errno != ENOENT)
		log_error("%s cannot be removed errno=%d", path, errno);
	free(path);
}

int
runner_start(
    struct runner *runner, const struct message_start *start, int32_t limit, struct err *err)
{
	const struct recipe *recipe = recipe_find(runner->recipes, start->recipe);
	struct keeper_client *keeper = NULL;
	struct order order;
	char *folder;

	if (recipe == NULL)
		return err_set(
		    err, "the recipe \"%s\" is not installed on this host", start->recipe);
	if (place_order(runner->config, recipe, start, limit, &order, err) != 0 ||
	    spool_add(runner->spool, start->id, err) != 0)
		return -1;
	make_tag(order.tag, start->id);
	folder = spool_folder(runner->spool, start->id);
	if (order_write(folder, &order, err) == 0)
		keeper = start_keeper(runner, &order, folder, err);
	if (keeper == NULL)
		remove_order(folder); /* or it would begin when the agent starts again */
	free(folder);
	if (keeper == NULL)
		return -1;
	watch(add(runner, &order), keeper);
	return 0;
}

/* ---- the start of the agent ---- */

static bool
has_file(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

/* The agent died between the order and its keeper: nothing has been built, and the attempt can have
 * its keeper now. When there is one after all, it locks ours out, and will listen in a moment. */
static void
begin_again(struct run *run)
{
	struct runner *runner = run->runner;
	char *folder = spool_folder(runner->spool, run->order.start.id);
	struct keeper_client *keeper = NULL;
	struct err err;

	if (!has_file(folder, "keeper.sock") && !has_file(folder, "log")) {
		keeper = keeper_client_start(runner->config->keeper, folder, &err);
		for (int i = 0; keeper == NULL && i < BEGIN_TRIES; i++) {
			poll(NULL, 0, BEGIN_PAUSE_MS);
			keeper = keeper_client_adopt(folder, NULL);
		}
		if (keeper == NULL)
			log_error("%s", err.text);
	}
	free(folder);
	if (keeper != NULL)
		watch(run, keeper);
}

/* No order: either it never began and was never acknowledged, or it was refused and has a result. */
static void
adopt_without_order(struct runner *runner, attempt_id id, const char *folder)
{
	struct order order = { .start.id = id };
	struct message_attempt attempt;
	struct err err;
	bool there = false;

	if (result_read(folder, &attempt, &there, &err) != 0)
		log_error("%s", err.text);
	if (there) {
		order.start.fence = attempt.status.fence;
		runner->callbacks.adopted(runner->callbacks.arg, &order.start, &attempt.status);
		run_finish(add(runner, &order), &attempt);
	} else if (spool_remove(runner->spool, id, &err) != 0) {
		log_error("%s", err.text);
	}
}

static void
adopt(struct runner *runner, attempt_id id)
{
	char *folder = spool_folder(runner->spool, id);
	struct order order;
	struct run *run;
	struct err err;

	if (!has_file(folder, "order")) {
		adopt_without_order(runner, id, folder);
	} else if (order_read(folder, &order, &err) != 0 || order.start.id.n != id.n) {
		log_error("%s; leaving %s alone", err.text, folder);
	} else {
		run = add(runner, &order);
		runner->callbacks.adopted(runner->callbacks.arg, &order.start, &run->status);
		seek_keeper(run);
		if (run->keeper == NULL && !run_end_by_result(run))
			begin_again(run);
		if (runner_find(runner, id) == NULL)
			log_notice("result found attempt=%" PRIu64, id.n);
		else if (run->keeper != NULL)
			log_notice("keeper adopted attempt=%" PRIu64, id.n);
		else
			run_lose(run);
	}
	free(folder);
}

int
runner_adopt(struct runner *runner, struct err *err)
{
	attempt_id *ids;
	size_t n;

	if (spool_list(runner->spool, &ids, &n, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		adopt(runner, ids[i]);
	free(ids);
	return 0;
}

void
runner_forget(struct runner *runner, attempt_id id)
{
	struct err err;

	if (spool_remove(runner->spool, id, &err) != 0)
		log_error("%s", err.text);
}
