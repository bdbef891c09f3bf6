/* The keeper makes itself independent (keeper_main.c): what is spawned here is a short-lived parent,
 * which ends with 0 once the keeper listens, or says on keeper.err why it cannot. So no child is left
 * for the agent to reap, and a keeper that was started and one that was adopted are the same thing.
 *
 * A socket's path may hold about 100 bytes while folders may be longer, so a long one is reached by
 * changing into its folder for the length of one connect; the agent has one thread.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "proto/base/mem.h"

enum {
	WORD_BYTES = 2048, /* the longest message either way */
	START_PATIENCE_MS = 10000,
	HELLO_PATIENCE_MS = 5000,
	REAP_PAUSE_MS = 5
};

struct keeper_client {
	int fd;
	char *folder;
	struct usage usage; /* as last told */
};

/* ---- starting ---- */

static int64_t
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What the keeper said before it gave up, in one line. */
static void
read_complaint(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (f == NULL)
		return;
	if (fgets(buf, (int)size, f) != NULL)
		buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
}

static int
spawn_in(pid_t *ret_pid, const char *program, const char *folder, const char *complaints)
{
	char *argv[] = { (char *)"flyball-keeper", (char *)folder, NULL };
	posix_spawn_file_actions_t files;
	int rc;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(
	    &files, STDERR_FILENO, complaints, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	rc = spawn_apart(POSIX_SPAWN_SETSID, program, argv, &files, ret_pid);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* True when the parent half of the keeper ended well: then its child listens. */
static bool
wait_until_it_listens(pid_t pid)
{
	int64_t end = clock_ms() + START_PATIENCE_MS;
	int status = 0;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (got < 0 && errno != EINTR)
			return true; /* someone else has reaped it; connecting will tell */
		if (clock_ms() >= end)
			break;
		poll(NULL, 0, REAP_PAUSE_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return false;
}

static int
start(const char *program, const char *folder, const char *complaints, struct err *err)
{
	char why[ERR_TEXT_SIZE / 2];
	pid_t pid;
	int rc = spawn_in(&pid, program, folder, complaints);

	if (rc != 0)
		return err_set_errno(err, rc, "%s cannot be started for %s", program, folder);
	if (wait_until_it_listens(pid))
		return 0;
	read_complaint(complaints, why, sizeof why);
	return err_set(err, "the keeper for %s did not start: %s", folder,
	    why[0] != '\0' ? why : "it said nothing; see keeper.err there");
}

/* ---- connecting ---- */

static int
connect_here(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int rc;

	if (!mem_copy_text(address.sun_path, sizeof address.sun_path, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	do {
		rc = connect(fd, (struct sockaddr *)&address, sizeof address);
	} while (rc != 0 && errno == EINTR);
	return rc;
}

static int
connect_from_folder(int fd, const char *folder)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = -1, errnum;

	if (here < 0)
		return -1;
	if (chdir(folder) == 0)
		rc = connect_here(fd, "keeper.sock");
	errnum = errno;
	if (fchdir(here) != 0 && rc == 0) {
		errnum = errno;
		rc = -1;
	}
	close(here);
	errno = errnum;
	return rc;
}

static int
connect_to(int fd, const char *folder, struct err *err)
{
	char *path = mem_printf("%s/keeper.sock", folder);
	int rc = connect_here(fd, path);

	if (rc != 0 && errno == ENAMETOOLONG)
		rc = connect_from_folder(fd, folder);
	if (rc != 0)
		err_set_errno(err, errno, "no keeper lives in %s", folder);
	free(path);
	return rc;
}

static int say(struct keeper_client *client, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int
say(struct keeper_client *client, struct err *err, const char *format, ...)
{
	char text[WORD_BYTES];
	va_list ap;
	ssize_t sent;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	do {
		sent = send(client->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return err_set_errno(err, errno, "the keeper in %s could not be told \"%.60s\"",
		    client->folder, text);
	return 0;
}

static int
shake_hands(struct keeper_client *client, struct err *err)
{
	struct pollfd wait = { .fd = client->fd, .events = POLLIN };
	char text[WORD_BYTES] = "";
	ssize_t n = -1;
	int rc;

	if (say(client, err, "hello %d", PROTOCOL_VERSION) != 0)
		return -1;
	do {
		rc = poll(&wait, 1, HELLO_PATIENCE_MS);
	} while (rc < 0 && errno == EINTR);
	if (rc > 0)
		n = recv(client->fd, text, sizeof text - 1, MSG_DONTWAIT);
	if (n < 6 || strncmp(text, "hello ", 6) != 0)
		return err_set(err, "the keeper in %s does not answer within %d s", client->folder,
		    HELLO_PATIENCE_MS / 1000);
	return 0;
}

struct keeper_client *
keeper_client_adopt(const char *folder, struct err *err)
{
	struct keeper_client *client;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		err_set_errno(err, errno, "no socket for the keeper in %s", folder);
		return NULL;
	}
	client = mem_calloc(1, sizeof *client);
	client->fd = fd;
	client->folder = mem_strdup(folder);
	if (connect_to(fd, folder, err) != 0 || shake_hands(client, err) != 0) {
		keeper_client_destroy(client);
		return NULL;
	}
	return client;
}

struct keeper_client *
keeper_client_start(const char *keeper_program, const char *folder, struct err *err)
{
	char *complaints = mem_printf("%s/keeper.err", folder);
	int rc = start(keeper_program, folder, complaints, err);

	free(complaints);
	return rc == 0 ? keeper_client_adopt(folder, err) : NULL;
}

void
keeper_client_destroy(struct keeper_client *client)
{
	if (client == NULL)
		return;
	close(client->fd);
	free(client->folder);
	free(client);
}

int
keeper_client_fd(const struct keeper_client *client)
{
	return client->fd;
}

/* ---- talking ---- */

int
keeper_client_limit(struct keeper_client *client, int limit, struct err *err)
{
	return say(client, err, "limit %d", limit);
}

int
keeper_client_cancel(struct keeper_client *client, const char *reason, struct err *err)
{
	return say(client, err, "cancel %.*s", TEXT_SIZE - 1, reason);
}

int
keeper_client_pause(struct keeper_client *client, int64_t for_us, struct err *err)
{
	return say(client, err, "pause %lld", (long long)for_us);
}

int
keeper_client_continue(struct keeper_client *client, struct err *err)
{
	return say(client, err, "continue");
}

int
keeper_client_ask(struct keeper_client *client, struct err *err)
{
	return say(client, err, "stat");
}

int
keeper_client_ask_usage(struct keeper_client *client, struct err *err)
{
	return say(client, err, "usage");
}

const struct usage *
keeper_client_usage(const struct keeper_client *client)
{
	return &client->usage;
}

static void
take_pair(struct attempt_status *status, const char *key, const char *value)
{
	const struct {
		const char *key;
		int64_t *at;
	} numbers[] = {
		{ "granted", &status->granted },
		{ "returned", &status->returned },
		{ "drained", &status->drained },
		{ "lost", &status->lost },
		{ "unclaimed", &status->unclaimed },
		{ "elapsed_us", &status->elapsed_us },
		{ "log_bytes", &status->log_bytes },
	};
	int64_t n = strtoll(value, NULL, 10);

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (strcmp(key, numbers[i].key) == 0)
			*numbers[i].at = n;
	}
	if (strcmp(key, "state") == 0)
		status->state = strcmp(value, "running") == 0 ? ATTEMPT_RUNNING : ATTEMPT_ENDED;
	else if (strcmp(key, "limit") == 0)
		status->limit = (int32_t)n;
	else if (strcmp(key, "running") == 0)
		status->running = (int32_t)n;
	else if (strcmp(key, "limited") == 0)
		status->limited = n != 0;
	else if (strcmp(key, "ungoverned") == 0)
		status->ungoverned = n != 0;
}

static void
take_stat(struct attempt_status *status, char *text)
{
	char *save = NULL;

	for (char *pair = strtok_r(text, " ", &save); pair != NULL;
	     pair = strtok_r(NULL, " ", &save)) {
		char *value = strchr(pair, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		take_pair(status, pair, value);
	}
}

enum keeper_word
keeper_client_read(struct keeper_client *client, struct attempt_status *ret_status)
{
	char text[WORD_BYTES];
	ssize_t n;

	do {
		n = recv(client->fd, text, sizeof text - 1, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? KEEPER_NOTHING : KEEPER_GONE;
	if (n == 0)
		return KEEPER_GONE;
	text[n] = '\0';
	if (strcmp(text, "ended") == 0)
		return KEEPER_ENDED;
	if (strncmp(text, "usage ", 6) == 0)
		return usage_parse(text + 6, &client->usage) != NULL ? KEEPER_USAGE
								     : KEEPER_NOTHING;
	if (strncmp(text, "stat ", 5) != 0)
		return KEEPER_NOTHING;
	take_stat(ret_status, text + 5);
	return KEEPER_STAT;
}
