/* A run is a child (child.h): begin it, and say what came of it.
 *
 * Invariants: a run always ends in exactly one reading; the next one begins only after it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sense/child.h"
#include "agent/sense/lock_cost.h"
#include "agent/sense/lock_parse.h"
#include "proto/base/mem.h"

#define EVERY_MAX_US (10 * MINUTE_US) /* so far a source that costs too much backs off */

struct run {
	const struct lock_tool *tool;
	struct loop *loop;
	struct lock_settings settings;
	lock_reading_f on_reading;
	void *arg;

	struct loop_watch *next;
	struct child *child; /* NULL: none runs */
	mono_us began, before; /* before: when counters were read last */
	bool mend;

	struct lock_past *past;
	struct lock_cost cost;
};

/* ---- the reading ---- */

/* What the tool itself says comes first, since it is what can be mended. */
static void
explain_exit(const struct run *run, const struct child_result *result, struct lock_table *table)
{
	char why[TEXT_SIZE] = "it printed nothing", first[120];
	struct slice text = { result->text, result->n }, line = { "", 0 };
	int status = result->status;
	bool whole;

	if (!lock_text_reason(result->text, result->n, why, sizeof why)) {
		while (slice_line(&text, &line, &whole) && slice_trim(line).n == 0)
			continue;
		slice_copy(slice_trim(line), first, sizeof first);
		if (first[0] != '\0')
			snprintf(why, sizeof why, "it said \"%s\"", first);
	}
	if (WIFSIGNALED(status))
		snprintf(table->missing, sizeof table->missing,
		    "%s was killed by signal %d: %.300s", run->tool->source->name, WTERMSIG(status),
		    why);
	else
		snprintf(table->missing, sizeof table->missing,
		    "%s failed with exit code %d: %.300s", run->tool->source->name,
		    WEXITSTATUS(status), why);
}

/* In place of the reading, when the run was no good. */
static void
explain(const struct run *run, const struct child_result *result, struct lock_table *table)
{
	const char *name = run->tool->source->name;

	lock_table_clear(table);
	if (result->end == CHILD_LATE)
		snprintf(table->missing, sizeof table->missing,
		    "%s did not end within %d s after its window of %" PRId64
		    " s, and was ended: run it by "
		    "hand to see why",
		    name, TOOL_GRACE_S, run->settings.window_us / SECOND_US);
	else if (result->end == CHILD_LOUD)
		snprintf(table->missing, sizeof table->missing,
		    "the lock tool printed more than 1 MiB, and was ended: let it print less");
	else
		explain_exit(run, result, table);
}

static void
read_table(
    struct run *run, mono_us now, const struct child_result *result, struct lock_table *table)
{
	int32_t cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	int64_t window_us =
	    run->tool->goes_on ? mono_since(run->before, now) : run->settings.window_us;

	if (run->tool->goes_on)
		lock_text_parse_since(result->text, result->n, cpus, window_us, &run->past, table);
	else
		lock_text_parse(result->text, result->n, cpus, window_us, table);
	run->before = now;
	if (result->end != CHILD_EXITED || result->status != 0)
		explain(run, result, table);
	table->cpus = cpus;
	if (!run->tool->goes_on)
		table->age_us = mono_since(run->began, now) - table->window_us;
	if (table->age_us < 0)
		table->age_us = 0;
}

static int64_t
cpu_us(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * SECOND_US +
	       usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
}

static int64_t
every_us(const struct run *run)
{
	return run->settings.every_us > run->tool->every_min_us ? run->settings.every_us
								: run->tool->every_min_us;
}

static void
say(struct run *run, struct lock_table *table, const struct rusage *usage)
{
	int64_t period_us = every_us(run), took_us = mono_since(run->began, loop_now());

	if (took_us > period_us)
		period_us = took_us;
	mem_copy_text(table->source, sizeof table->source, run->tool->source->name);
	if (table->coverage[0] == '\0')
		mem_copy_text(table->coverage, sizeof table->coverage, run->tool->source->coverage);
	table->cost_cpu_ppm = (int64_t)((double)cpu_us(usage) * 1e6 / (double)period_us);
	table->cost_steps_ppm = run->tool->goes_on ? -1 : lock_cost_ppm(&run->cost);
	run->on_reading(run->arg, table);
	lock_table_clear(table);
}

/* ---- one run ---- */

static void
back_off(struct run *run)
{
	if (!lock_cost_too_high(&run->cost))
		return;
	run->settings.every_us = every_us(run) * 2;
	if (run->settings.every_us > EVERY_MAX_US)
		run->settings.every_us = EVERY_MAX_US;
}

static void
wait_for_next(struct run *run)
{
	int64_t delay_us;

	back_off(run);
	delay_us = every_us(run) - mono_since(run->began, loop_now());
	loop_timer_reset(run->next, delay_us > 0 ? delay_us : 0, 0);
}

static void
on_ended(void *arg, const struct child_result *result)
{
	struct run *run = arg;
	struct lock_table table;

	run->child = NULL;
	lock_cost_window(&run->cost, false);
	run->mend =
	    run->tool->mend_when != NULL &&
	    slice_find((struct slice){ result->text, result->n }, run->tool->mend_when, NULL);
	read_table(run, loop_now(), result, &table);
	say(run, &table, &result->usage);
	wait_for_next(run);
}

/* What is administrative is often not in a service's PATH. */
static int
begin(struct run *run)
{
	const char *mend = run->mend ? run->tool->mend : ":";
	const char *script = run->tool->script != NULL ? run->tool->script : run->settings.command;
	char *whole = mem_printf("PATH=$PATH:/usr/sbin:/sbin\n%s\n%s", mend, script);
	char window[24];
	const struct child_options options = { .command = whole,
		.argument = window,
		.output_max = TOOL_OUTPUT_BYTES + 1,
		.patience_us = run->settings.window_us + TOOL_GRACE_S * SECOND_US,
		.gently = true };
	int rc;

	snprintf(window, sizeof window, "%" PRId64, run->settings.window_us / SECOND_US);
	rc = child_start(run->loop, &options, on_ended, run, &run->child);
	free(whole);
	return rc;
}

static void
on_next(void *arg)
{
	struct run *run = arg;
	static const struct rusage none;
	struct lock_table table = { .cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN) };
	int rc;

	run->began = loop_now();
	rc = begin(run);
	if (rc == 0) {
		lock_cost_window(&run->cost, true);
		return;
	}
	snprintf(table.missing, sizeof table.missing, "%s cannot be started: %s",
	    run->tool->source->name, strerror(rc));
	say(run, &table, &none);
	wait_for_next(run);
}

/* ---- open and close ---- */

static bool
in_path(const char *program)
{
	const char *path = getenv("PATH");
	char *all = mem_printf("%s:/usr/sbin:/sbin", path != NULL ? path : "/usr/bin:/bin"),
	     *rest = NULL;
	bool there = false;

	for (char *s = strtok_r(all, ":", &rest); s != NULL && !there;
	     s = strtok_r(NULL, ":", &rest)) {
		char *file = mem_printf("%s/%s", s, program);

		there = access(file, X_OK) == 0;
		free(file);
	}
	free(all);
	return there;
}

void *
lock_tool_open(const struct lock_tool *tool, struct loop *loop,
    const struct lock_settings *settings, lock_reading_f on_reading, void *arg, struct err *err)
{
	struct run *run;

	if (tool->script == NULL && settings->command[0] == '\0') {
		err_set(
		    err, "lock_command is not set: name the program that prints a table of locks");
		return NULL;
	}
	if (tool->program != NULL && !in_path(tool->program)) {
		err_set(err, "there is no program %s here: it comes with %s", tool->program,
		    tool->home);
		return NULL;
	}
	if (tool->root && geteuid() != 0) {
		err_set(err, "%s may be used by root alone: run the agent as root", tool->program);
		return NULL;
	}
	run = mem_calloc(1, sizeof *run);
	run->tool = tool;
	run->loop = loop;
	run->settings = *settings;
	run->on_reading = on_reading;
	run->arg = arg;
	run->next = loop_timer_add(loop, 0, 0, on_next, run);
	return run;
}

void
lock_tool_close(void *self)
{
	struct run *run = self;

	if (run == NULL)
		return;
	child_stop(run->child);
	loop_remove(run->next);
	lock_past_destroy(run->past);
	free(run);
}

void
lock_tool_steps(void *self, int64_t steps)
{
	struct run *run = self;

	lock_cost_steps(&run->cost, loop_now(), steps);
}
