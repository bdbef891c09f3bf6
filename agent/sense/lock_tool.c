/* A run is: begin (a shell in a process group of its own, output and errors in one pipe), read until the
 * pipe ends, collect the shell by wait4, which tells what CPU time it took, and say what came of it. A
 * deadline ends the group at whatever point that is. The loop is never held: a shell that has closed its
 * output and lives on is asked after by a timer.
 *
 * Invariants: pid > 0 from begin until wait4 has taken it, so that a kill never meets another process; a
 * run always ends in exactly one reading; the next one begins only after it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sense/lock_cost.h"
#include "agent/sense/lock_parse.h"
#include "proto/base/mem.h"

enum { REAP_PAUSE_US = 20000, CHUNK_BYTES = 16384, END_TRIES = 50, END_PAUSE_MS = 10 };

#define EVERY_MAX_US (10 * MINUTE_US) /* so far a source that costs too much backs off */

struct run {
	const struct lock_tool *tool;
	struct loop *loop;
	struct lock_settings settings;
	lock_reading_f on_reading;
	void *arg;

	struct loop_watch *next, *deadline, *reap, *output;
	pid_t pid; /* 0: none runs */
	int fd;
	mono_us began, before; /* before: when counters were read last */
	char *text;
	size_t n, capacity;
	char failed[TEXT_SIZE]; /* why this run is no good; "": so far it is */
	bool mend;

	struct lock_past *past;
	struct lock_cost cost;
};

/* ---- the reading ---- */

/* What the tool itself says comes first, since it is what can be mended. */
static void
explain_exit(const struct run *run, int status, struct lock_table *table)
{
	char why[TEXT_SIZE] = "it printed nothing", first[120];
	struct slice text = { run->text, run->n }, line = { "", 0 };
	bool whole;

	if (!lock_text_reason(run->text != NULL ? run->text : "", run->n, why, sizeof why)) {
		while (slice_line(&text, &line, &whole) && slice_trim(line).n == 0)
			continue;
		slice_copy(slice_trim(line), first, sizeof first);
		if (first[0] != '\0')
			snprintf(why, sizeof why, "it said \"%s\"", first);
	}
	lock_table_clear(table);
	if (WIFSIGNALED(status))
		snprintf(table->missing, sizeof table->missing,
		    "%s was killed by signal %d: %.300s", run->tool->source->name, WTERMSIG(status),
		    why);
	else
		snprintf(table->missing, sizeof table->missing,
		    "%s failed with exit code %d: %.300s", run->tool->source->name,
		    WEXITSTATUS(status), why);
}

static void
read_table(struct run *run, mono_us now, int status, struct lock_table *table)
{
	int32_t cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	int64_t window_us =
	    run->tool->goes_on ? mono_since(run->before, now) : run->settings.window_us;
	const char *text = run->text != NULL ? run->text : "";

	if (run->tool->goes_on)
		lock_text_parse_since(text, run->n, cpus, window_us, &run->past, table);
	else
		lock_text_parse(text, run->n, cpus, window_us, table);
	run->before = now;
	if (run->failed[0] == '\0' && status != 0)
		explain_exit(run, status, table);
	if (run->failed[0] != '\0') {
		lock_table_clear(table);
		mem_copy_text(table->missing, sizeof table->missing, run->failed);
	}
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
tell(struct run *run, int status, const struct rusage *usage)
{
	mono_us now = loop_now();
	struct lock_table table;
	int64_t period_us = every_us(run);

	if (mono_since(run->began, now) > period_us)
		period_us = mono_since(run->began, now);
	read_table(run, now, status, &table);
	mem_copy_text(table.source, sizeof table.source, run->tool->source->name);
	if (table.coverage[0] == '\0')
		mem_copy_text(table.coverage, sizeof table.coverage, run->tool->source->coverage);
	table.cost_cpu_ppm = (int64_t)((double)cpu_us(usage) * 1e6 / (double)period_us);
	table.cost_steps_ppm = run->tool->goes_on ? -1 : lock_cost_ppm(&run->cost);
	run->on_reading(run->arg, &table);
	lock_table_clear(&table);
}

/* ---- one run ---- */

static void
drop_watch(struct loop_watch **watch)
{
	loop_remove(*watch);
	*watch = NULL;
}

static void
close_output(struct run *run)
{
	drop_watch(&run->output);
	if (run->fd >= 0)
		close(run->fd);
	run->fd = -1;
}

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
end_run(struct run *run, int status, const struct rusage *usage)
{
	int64_t delay_us;

	run->pid = 0;
	close_output(run);
	drop_watch(&run->deadline);
	drop_watch(&run->reap);
	lock_cost_window(&run->cost, false);
	run->mend = run->tool->mend_when != NULL && run->n > 0 &&
		    slice_find((struct slice){ run->text, run->n }, run->tool->mend_when, NULL);
	tell(run, status, usage);
	free(run->text);
	run->text = NULL;
	run->n = run->capacity = 0;
	back_off(run);
	delay_us = every_us(run) - mono_since(run->began, loop_now());
	loop_timer_reset(run->next, delay_us > 0 ? delay_us : 0, 0);
}

/* The shell has ended, and is left uncollected: so its group still has its number. */
static bool
has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid == pid;
}

/* With what the shell has left behind. */
static void
collect(pid_t pid, int *ret_status, struct rusage *ret_usage)
{
	kill(-pid, SIGKILL);
	while (wait4(pid, ret_status, 0, ret_usage) < 0 && errno == EINTR)
		continue;
}

static void
on_reap(void *arg)
{
	struct run *run = arg;
	struct rusage usage = { 0 };
	int status = 0;

	if (!has_ended(run->pid)) {
		loop_timer_reset(run->reap, REAP_PAUSE_US, 0);
		return;
	}
	collect(run->pid, &status, &usage);
	end_run(run, status, &usage);
}

/* The output is of no more use, or has ended. */
static void
await_end(struct run *run)
{
	close_output(run);
	if (run->reap == NULL)
		run->reap = loop_timer_add(run->loop, 0, 0, on_reap, run);
}

static void
fail(struct run *run, const char *why)
{
	mem_copy_text(run->failed, sizeof run->failed, why);
	kill(-run->pid, SIGKILL);
	await_end(run);
}

/* A gentle end first: a script may have to put something back. */
static void
on_deadline(void *arg)
{
	struct run *run = arg;
	char why[TEXT_SIZE];

	if (run->failed[0] != '\0') {
		fail(run, run->failed);
		return;
	}
	snprintf(why, sizeof why,
	    "%s did not end within %d s after its window of %" PRId64
	    " s, and was ended: run it by "
	    "hand to see why",
	    run->tool->source->name, TOOL_GRACE_S, run->settings.window_us / SECOND_US);
	mem_copy_text(run->failed, sizeof run->failed, why);
	kill(-run->pid, SIGTERM);
	loop_timer_reset(run->deadline, SECOND_US, 0);
}

static void
on_output(void *arg)
{
	struct run *run = arg;
	ssize_t got;

	if (run->capacity - run->n < CHUNK_BYTES) {
		size_t capacity = run->capacity + run->capacity / 2 + CHUNK_BYTES;

		run->text = mem_grow(run->text, run->capacity, capacity, 1);
		run->capacity = capacity;
	}
	got = read(run->fd, run->text + run->n, CHUNK_BYTES);
	if (got > 0)
		run->n += (size_t)got;
	if (run->n > TOOL_OUTPUT_BYTES)
		fail(
		    run, "the lock tool printed more than 1 MiB, and was ended: let it print less");
	else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		await_end(run);
}

static int
spawn_shell(const char *script, const char *window, int output, pid_t *ret_pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, (char *)"sh", (char *)window,
		NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(
	    &attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	rc = posix_spawn(ret_pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* What is administrative is often not in a service's PATH. */
static int
begin(struct run *run)
{
	const char *mend = run->mend ? run->tool->mend : ":";
	const char *script = run->tool->script != NULL ? run->tool->script : run->settings.command;
	char *whole = mem_printf("PATH=$PATH:/usr/sbin:/sbin\n%s\n%s", mend, script);
	char window[24];
	int ends[2], rc;

	snprintf(window, sizeof window, "%" PRId64, run->settings.window_us / SECOND_US);
	rc = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
	if (rc == 0) {
		rc = spawn_shell(whole, window, ends[1], &run->pid);
		close(ends[1]);
		run->fd = ends[0];
		if (rc != 0) {
			close_output(run);
			run->pid = 0;
		}
	}
	free(whole);
	return rc;
}

static void
on_next(void *arg)
{
	struct run *run = arg;
	static const struct rusage none;
	int rc;

	run->began = loop_now();
	run->failed[0] = '\0';
	rc = begin(run);
	lock_cost_window(&run->cost, true);
	if (rc != 0) {
		snprintf(run->failed, sizeof run->failed, "%s cannot be started: %s",
		    run->tool->source->name, strerror(rc));
		end_run(run, 0, &none);
		return;
	}
	run->output = loop_fd_add(run->loop, run->fd, LOOP_READ, on_output, run);
	run->deadline = loop_timer_add(
	    run->loop, run->settings.window_us + TOOL_GRACE_S * SECOND_US, 0, on_deadline, run);
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
	run->fd = -1;
	run->next = loop_timer_add(loop, 0, 0, on_next, run);
	return run;
}

static void
end_group(pid_t pid)
{
	struct rusage usage;
	int status;

	kill(-pid, SIGTERM);
	for (int i = 0; i < 2 * END_TRIES && !has_ended(pid); i++) {
		if (i == END_TRIES)
			kill(-pid, SIGKILL);
		poll(NULL, 0, END_PAUSE_MS);
	}
	if (has_ended(pid))
		collect(pid, &status, &usage);
}

void
lock_tool_close(void *self)
{
	struct run *run = self;

	if (run == NULL)
		return;
	if (run->pid > 0)
		end_group(run->pid);
	close_output(run);
	loop_remove(run->next);
	loop_remove(run->deadline);
	loop_remove(run->reap);
	lock_past_destroy(run->past);
	free(run->text);
	free(run);
}

void
lock_tool_steps(void *self, int64_t steps)
{
	struct run *run = self;

	lock_cost_steps(&run->cost, loop_now(), steps);
}
