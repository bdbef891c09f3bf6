/* A child is collected only when it has ended, which is asked without collecting it, so its process group
 * cannot be another's when it is killed. A shell that has closed its output and lives on is asked after
 * by a timer until the deadline.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { REAP_PAUSE_US = 20000 };

struct child {
	struct loop *loop;
	pid_t pid;
	int fd;
	int64_t patience_us;
	child_ended_f on_ended;
	void *arg;
	struct loop_watch *output, *deadline, *reap;
	size_t n;
	char text[CHILD_OUTPUT_BYTES + 1];
	char why[TEXT_SIZE];
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
static int
collect(pid_t pid)
{
	int status = 0;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static void
explain(struct child *child, int status)
{
	if (child->why[0] != '\0')
		return;
	if (WIFSIGNALED(status))
		snprintf(
		    child->why, sizeof child->why, "it was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		snprintf(child->why, sizeof child->why, "it failed with exit code %d",
		    WEXITSTATUS(status));
}

static void
on_reap(void *arg)
{
	struct child *child = arg, told;

	if (!has_ended(child->pid)) {
		loop_timer_reset(child->reap, REAP_PAUSE_US, 0);
		return;
	}
	explain(child, collect(child->pid));
	child->text[child->n] = '\0';
	told = *child;
	destroy(child);
	told.on_ended(told.arg, told.text, told.why);
}

static void
await_end(struct child *child)
{
	close_output(child);
	if (child->reap == NULL)
		child->reap = loop_timer_add(child->loop, 0, 0, on_reap, child);
}

static void
on_deadline(void *arg)
{
	struct child *child = arg;

	snprintf(child->why, sizeof child->why, "it did not end within %" PRId64 " s and was ended",
	    child->patience_us / SECOND_US);
	kill(-child->pid, SIGKILL);
	await_end(child);
}

static void
on_output(void *arg)
{
	struct child *child = arg;
	ssize_t got = read(child->fd, child->text + child->n, CHILD_OUTPUT_BYTES - child->n);

	if (got > 0)
		child->n += (size_t)got;
	if (child->n == CHILD_OUTPUT_BYTES) {
		snprintf(child->why, sizeof child->why, "it printed %d bytes or more and was ended",
		    (int)CHILD_OUTPUT_BYTES);
		kill(-child->pid, SIGKILL);
	} else if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) {
		return;
	}
	await_end(child);
}

/* A process group of its own, nothing on standard input, no signals of ours. */
static int
spawn_shell(const char *command, int output, pid_t *ret_pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
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
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	rc = posix_spawn(ret_pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return rc;
}

struct child *
child_start(struct loop *loop, const char *command, int64_t patience_us, child_ended_f on_ended,
    void *arg, struct err *err)
{
	struct child *child;
	int ends[2], rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "no pipe can be made");
		return NULL;
	}
	rc = spawn_shell(command, ends[1], &pid);
	close(ends[1]);
	if (rc != 0) {
		close(ends[0]);
		err_set_errno(err, rc, "/bin/sh cannot be started");
		return NULL;
	}
	child = mem_calloc(1, sizeof *child);
	*child = (struct child){ .loop = loop,
		.pid = pid,
		.fd = ends[0],
		.patience_us = patience_us,
		.on_ended = on_ended,
		.arg = arg };
	child->output = loop_fd_add(loop, child->fd, LOOP_READ, on_output, child);
	child->deadline = loop_timer_add(loop, patience_us, 0, on_deadline, child);
	return child;
}

void
child_stop(struct child *child)
{
	if (child == NULL)
		return;
	collect(child->pid);
	destroy(child);
}
