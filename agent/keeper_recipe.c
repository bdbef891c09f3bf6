/* A build must not depend on who started the agent, so its environment is made from nothing: PATH is
 * the agent's (that is where an operator puts compilers), all else is said here. Between fork and exec
 * only async-signal-safe calls are made; whatever fails there comes back through a pipe that a
 * successful exec closes.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_recipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { ENV_MAX = 32 };
static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/* ---- folders ---- */

/* Every folder above path, and path itself when last is true. */
static int
make_folders(const char *path, bool last)
{
	char *copy = mem_strdup(path);
	int rc = 0;

	for (char *p = copy + 1; rc == 0 && *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		rc = mkdir(copy, 0755) == 0 || errno == EEXIST ? 0 : -1;
		*p = '/';
	}
	if (rc == 0 && last)
		rc = mkdir(copy, 0755) == 0 || errno == EEXIST ? 0 : -1;
	free(copy);
	return rc;
}

int
workspace_make(const struct order *order, struct err *err)
{
	char *tmp;
	int rc;

	if (make_folders(order->out, true) != 0)
		return err_set_errno(err, errno, "the output folder %s cannot be made", order->out);
	if (make_folders(order->work, false) != 0)
		return err_set_errno(err, errno, "the workspace %s cannot be made", order->work);
	rmdir(order->work); /* an empty one is as good as none */
	if (mkdir(order->work, 0755) != 0)
		return err_set_errno(err, errno,
		    "the workspace %s cannot be made; an old one is never used again", order->work);
	tmp = mem_printf("%s/.tmp", order->work);
	rc = mkdir(tmp, 0700);
	if (rc != 0) {
		err_set_errno(err, errno, "%s cannot be made", tmp);
		rmdir(order->work);
	}
	free(tmp);
	return rc;
}

/* ---- environment ---- */

static void
make_environment(const struct order *o, const char *folder, char **env)
{
	const char *path = getenv("PATH");
	size_t n = 0;

	env[n++] = mem_printf("PATH=%s", path != NULL && *path != '\0' ? path : default_path);
	env[n++] = mem_printf("HOME=%s", o->work);
	env[n++] = mem_printf("TMPDIR=%s/.tmp", o->work);
	env[n++] = mem_strdup("LANG=C.UTF-8");
	env[n++] = mem_strdup("SHELL=/bin/sh");
	env[n++] = mem_printf("FLYBALL_TAG=%s", o->tag);
	env[n++] = mem_printf("FLYBALL_BRANCH=%s", o->start.branch);
	env[n++] = mem_printf("FLYBALL_TARGET=%s", o->start.target);
	env[n++] = mem_printf("FLYBALL_REVISION=%s", o->start.revision);
	env[n++] = mem_printf("FLYBALL_SOURCE=%s", o->source);
	env[n++] = mem_printf("FLYBALL_WORK=%s", o->work);
	env[n++] = mem_printf("FLYBALL_OUT=%s", o->out);
	env[n++] = mem_printf("FLYBALL_MARKS=%s/marks", folder);
	env[n++] = mem_printf("FLYBALL_LIMIT=%d", (int)o->limit);
	env[n++] = mem_printf("FLYBALL_CEILING=%d", (int)o->ceiling);
	/* As a make hands them to its own: docs/decisions/0008-gmake-flags.md. */
	env[n++] = mem_printf("FLYBALL_GMAKE_FLAGS= -j%d --jobserver-auth=%d,%d", (int)o->ceiling,
	    POOL_CHILD_READ, POOL_CHILD_WRITE);
	env[n++] = mem_printf(
	    "FLYBALL_BMAKE_JOBS=%d -J %d,%d", (int)o->ceiling, POOL_CHILD_READ, POOL_CHILD_WRITE);
	if (o->pool == POOL_FIFO)
		env[n++] = mem_printf("FLYBALL_FIFO=%s/fifo", folder);
	env[n] = NULL;
}

/* ---- the recipe's process ---- */

struct launch {
	const char *program, *work;
	char **env;
	int take_fd, return_fd, output_fd, trouble_fd;
	int niceness;
};

static void
reset_signals(void)
{
	sigset_t none;

	for (int signum = 1; signum < NSIG; signum++)
		signal(signum, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool
place_descriptors(const struct launch *l)
{
	int null = open("/dev/null", O_RDONLY);

	return null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	       dup2(l->output_fd, STDOUT_FILENO) >= 0 && dup2(l->output_fd, STDERR_FILENO) >= 0 &&
	       dup2(l->take_fd, POOL_CHILD_READ) >= 0 &&
	       dup2(l->return_fd, POOL_CHILD_WRITE) >= 0 && (null <= 2 || close(null) == 0);
}

static void __attribute__((noreturn)) become_recipe(const struct launch *l)
{
	char *argv[] = { (char *)l->program, (char *)"build", NULL };
	int trouble;

	reset_signals();
	setpriority(PRIO_PROCESS, 0, l->niceness);
	if (setsid() >= 0 && place_descriptors(l) && chdir(l->work) == 0)
		execve(l->program, argv, l->env);
	trouble = errno;
	(void)!write(l->trouble_fd, &trouble, sizeof trouble);
	_exit(127);
}

/* 0, or the errno that kept the child from becoming the recipe. */
static int
launch(struct launch *l, pid_t *ret_pid)
{
	int pipe_fds[2], trouble = 0;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return errno;
	l->trouble_fd = pipe_fds[1];
	*ret_pid = fork();
	if (*ret_pid == 0)
		become_recipe(l);
	if (*ret_pid < 0)
		trouble = errno;
	close(pipe_fds[1]);
	if (*ret_pid > 0 && read(pipe_fds[0], &trouble, sizeof trouble) != sizeof trouble)
		trouble = 0;
	close(pipe_fds[0]);
	return trouble;
}

int
recipe_start(const struct order *order, const struct pool *pool, const char *folder, int niceness,
    pid_t *ret_pid, int *ret_output_fd, struct err *err)
{
	char *env[ENV_MAX] = { NULL };
	struct launch l = { .program = order->program,
		.work = order->work,
		.env = env,
		.take_fd = pool->take_fd,
		.return_fd = pool->return_fd,
		.niceness = niceness };
	int output[2], trouble;

	if (pipe2(output, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "no pipe for the recipe's output");
	l.output_fd = output[1];
	make_environment(order, folder, env);
	trouble = launch(&l, ret_pid);
	for (size_t i = 0; env[i] != NULL; i++)
		free(env[i]);
	close(output[1]);
	if (trouble != 0) {
		close(output[0]);
		return err_set_errno(err, trouble, "the recipe %s cannot be run", order->program);
	}
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	*ret_output_fd = output[0];
	return 0;
}
