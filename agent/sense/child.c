/* A child is collected only when it has ended, which is asked without collecting it, so its process group
 * cannot be another's when it is killed. A shell that has closed its output and lives on is asked after
 * by a timer until the deadline. Output and errors share a pipe; CPU time is wait4's.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "proto/base/mem.h"

enum { REAP_PAUSE_US = 20000, CHUNK_BYTES = 16384, END_TRIES = 50, END_PAUSE_MS = 10 };

struct child {
	struct loop *loop;
	pid_t pid;
	int fd;
	bool gently;
	size_t output_max, capacity;
	child_ended_f on_ended;
	void *arg;
	struct loop_watch *output, *deadline, *reap;
	char *text;
	struct child_result result;
};

static void
close_output(struct child *child)
{
	loop_remove(child->output);
	child->output = NULL;
	if (child->fd >= 0)
		close(child->fd);
	child->fd = -1;
}

static void
destroy(struct child *child)
{
	close_output(child);
	loop_remove(child->deadline);
	loop_remove(child->reap);
	free(child->text);
	free(child);
}

static bool
has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid == pid;
}

/* With what it has left behind in its group. */
static void
collect(struct child *child)
{
	struct child_result *r = &child->result;

	kill(-child->pid, SIGKILL);
	while (wait4(child->pid, &r->status, 0, &r->usage) < 0 && errno == EINTR)
		continue;
}

/* The one that was told about it may start another at once. */
static void
on_reap(void *arg)
{
	struct child *child = arg;

	if (!has_ended(child->pid)) {
		loop_timer_reset(child->reap, REAP_PAUSE_US, 0);
		return;
	}
	collect(child);
	child->result.text = child->text;
	child->on_ended(child->arg, &child->result);
	destroy(child);
}

static void
await_end(struct child *child)
{
	close_output(child);
	if (child->reap == NULL)
		child->reap = loop_timer_add(child->loop, 0, 0, on_reap, child);
}

static void
put_down(struct child *child, enum child_end end)
{
	child->result.end = end;
	kill(-child->pid, SIGKILL);
	await_end(child);
}

static void
on_deadline(void *arg)
{
	struct child *child = arg;

	if (!child->gently || child->result.end != CHILD_EXITED) {
		put_down(child, child->result.end == CHILD_EXITED ? CHILD_LATE : child->result.end);
		return;
	}
	child->result.end = CHILD_LATE;
	kill(-child->pid, SIGTERM);
	loop_timer_reset(child->deadline, SECOND_US, 0);
}

/* A zero byte always fits behind what is there. */
static void
make_room(struct child *child)
{
	size_t capacity = child->capacity + child->capacity / 2 + CHUNK_BYTES;

	if (child->capacity > child->result.n + 1)
		return;
	child->text = mem_grow(child->text, child->capacity, capacity, 1);
	child->capacity = capacity;
}

static void
on_output(void *arg)
{
	struct child *child = arg;
	struct child_result *r = &child->result;
	size_t room;
	ssize_t got;

	make_room(child);
	room = child->capacity - r->n - 1;
	if (room > child->output_max - r->n)
		room = child->output_max - r->n;
	got = read(child->fd, child->text + r->n, room);
	if (got > 0)
		r->n += (size_t)got;
	if (r->n == child->output_max)
		put_down(child, CHILD_LOUD);
	else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		await_end(child);
}

static int
spawn_shell(const struct child_options *options, int output, pid_t *ret_pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)options->command, (char *)"sh",
		(char *)options->argument, NULL };
	posix_spawn_file_actions_t files;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	rc = spawn_apart(POSIX_SPAWN_SETPGROUP, "/bin/sh", argv, &files, ret_pid);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int
child_start(struct loop *loop, const struct child_options *options, child_ended_f on_ended,
    void *arg, struct child **ret_child)
{
	struct child *child;
	int ends[2], rc;
	pid_t pid;

	*ret_child = NULL;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	rc = spawn_shell(options, ends[1], &pid);
	close(ends[1]);
	if (rc != 0) {
		close(ends[0]);
		return rc;
	}
	child = mem_calloc(1, sizeof *child);
	*child = (struct child){ .loop = loop,
		.pid = pid,
		.fd = ends[0],
		.gently = options->gently,
		.output_max = options->output_max,
		.on_ended = on_ended,
		.arg = arg };
	make_room(child);
	child->output = loop_fd_add(loop, child->fd, LOOP_READ, on_output, child);
	child->deadline = loop_timer_add(loop, options->patience_us, 0, on_deadline, child);
	*ret_child = child;
	return 0;
}

void
child_explain(
    const struct child_options *options, const struct child_result *result, char ret_why[TEXT_SIZE])
{
	ret_why[0] = '\0';
	if (result->end == CHILD_LATE)
		snprintf(ret_why, TEXT_SIZE, "it did not end within %" PRId64 " s and was ended",
		    options->patience_us / SECOND_US);
	else if (result->end == CHILD_LOUD)
		snprintf(ret_why, TEXT_SIZE, "it printed %zu bytes or more and was ended",
		    options->output_max);
	else if (WIFSIGNALED(result->status))
		snprintf(
		    ret_why, TEXT_SIZE, "it was killed by signal %d", WTERMSIG(result->status));
	else if (WEXITSTATUS(result->status) != 0)
		snprintf(
		    ret_why, TEXT_SIZE, "it failed with exit code %d", WEXITSTATUS(result->status));
}

/* Bounded: what cannot even be killed now must not hold the agent at its end. */
void
child_stop(struct child *child)
{
	int tries = child != NULL && child->gently ? 0 : END_TRIES;

	if (child == NULL)
		return;
	kill(-child->pid, child->gently ? SIGTERM : SIGKILL);
	for (; tries < 2 * END_TRIES && !has_ended(child->pid); tries++) {
		if (tries == END_TRIES)
			kill(-child->pid, SIGKILL);
		poll(NULL, 0, END_PAUSE_MS);
	}
	if (has_ended(child->pid))
		collect(child);
	destroy(child);
}
