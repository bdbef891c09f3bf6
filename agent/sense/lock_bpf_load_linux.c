/* The agent waits, for whoever opens a source wants to know at once whether it works, and this is
 * done when the agent begins.
 *
 * Invariant: the helper has ended and is reaped when this returns, whatever it did.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_bpf_load.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/mem.h"

#define HELPER "flyball-lock-bpf"

enum { PATIENCE_MS = 10000 };

/* Of a build folder, where programs lie side by side. NULL: there is none. */
static char *
beside(void)
{
	char *self = realpath("/proc/self/exe", NULL);
	char *slash = self == NULL ? NULL : strrchr(self, '/');
	char *path = slash == NULL ? NULL : mem_printf("%.*s/" HELPER, (int)(slash - self), self);

	free(self);
	if (path != NULL && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *
helper_path(const char *helpers)
{
	char *path = helpers[0] == '\0' ? beside() : mem_printf("%s/" HELPER, helpers);

	return path != NULL ? path : mem_strdup(FLYBALL_LIBEXECDIR "/" HELPER);
}

/* The agent ignores SIGPIPE; the helper shall begin as any program does. */
static int
spawn(const char *path, int socket, pid_t *ret_pid, struct err *err)
{
	char *argv[] = { (char *)(uintptr_t)HELPER, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (rc != 0)
		return err_set_errno(err, rc,
		    "%s cannot be run, which loads the lock source \"bpf\": expected make install "
		    "to "
		    "have put it there",
		    path);
	return 0;
}

/* The descriptors that came along; false when they are not all there. */
static bool
take_fds(struct msghdr *message, int *ret_fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);

	if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(LOCK_BPF_FDS * sizeof(int)))
		return false;
	memcpy(ret_fds, CMSG_DATA(c), LOCK_BPF_FDS * sizeof(int));
	return true;
}

static int
receive(int socket, const char *path, int *ret_fds, struct err *err)
{
	struct lock_bpf_hello hello;
	struct iovec iov = { .iov_base = &hello, .iov_len = sizeof hello };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(LOCK_BPF_FDS * sizeof(int))];
	} control;
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control };
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	ssize_t n;

	if (poll(&ready, 1, PATIENCE_MS) <= 0)
		return err_set(err,
		    "%s loaded nothing within %d s: run it again when the host is less busy", path,
		    PATIENCE_MS / 1000);
	n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	if (n != (ssize_t)sizeof hello)
		return err_set(err,
		    "%s ended without a word: expected it to load a BPF program; its messages are "
		    "in "
		    "the agent's log",
		    path);
	hello.text[sizeof hello.text - 1] = '\0';
	if (hello.text[0] != '\0')
		return err_set(err, "%s", hello.text);
	if (!take_fds(&message, ret_fds))
		return err_set(
		    err, "%s is not of this version of the agent: install both anew", path);
	return 0;
}

int
lock_bpf_load(const char *helpers, int ret_fds[LOCK_BPF_FDS], struct err *err)
{
	char *path = helper_path(helpers);
	int ends[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		free(path);
		return err_set_errno(err, errno, "no socket for " HELPER);
	}
	rc = spawn(path, ends[1], &pid, err);
	close(ends[1]);
	if (rc == 0) {
		rc = receive(ends[0], path, ret_fds, err);
		if (rc != 0)
			kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	close(ends[0]);
	free(path);
	return rc;
}
