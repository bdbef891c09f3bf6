/* No call here waits: neither a client that is stuck nor one that talks without end may keep the keeper
 * from relaying tokens. The socket is bound by its bare name from within the folder, since the path
 * of a folder may be longer than a socket address.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/base/mem.h"

static const char socket_name[] = "keeper.sock";
enum { MESSAGE_BYTES = 2048, BACKLOG = 8 };

int
door_open(struct door *door, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int rc;

	for (int i = 0; i < DOOR_CLIENTS; i++)
		door->clients[i] = -1;
	door->next = 0;
	door->greeted = false;
	door->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door->listen_fd < 0)
		return err_set_errno(err, errno, "no local socket");
	mem_copy_text(address.sun_path, sizeof address.sun_path, socket_name);
	unlink(socket_name);
	mask = umask(0177);
	rc = bind(door->listen_fd, (struct sockaddr *)&address, sizeof address);
	umask(mask);
	if (rc != 0 || listen(door->listen_fd, BACKLOG) != 0) {
		err_set_errno(err, errno, "%s cannot be made in this folder", socket_name);
		close(door->listen_fd);
		return -1;
	}
	return 0;
}

static void
forget(struct door *door, int client)
{
	close(door->clients[client]);
	door->clients[client] = -1;
}

void
door_close(struct door *door)
{
	unlink(socket_name);
	close(door->listen_fd);
	for (int i = 0; i < DOOR_CLIENTS; i++) {
		if (door->clients[i] >= 0)
			forget(door, i);
	}
}

static int
place_for(struct door *door)
{
	int place;

	for (int i = 0; i < DOOR_CLIENTS; i++) {
		if (door->clients[i] < 0)
			return i;
	}
	place = door->next;
	door->next = (door->next + 1) % DOOR_CLIENTS;
	forget(door, place);
	return place;
}

void
door_accept(struct door *door)
{
	int fd = accept4(door->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		door->clients[place_for(door)] = fd;
}

void
door_say(struct door *door, int client, const char *text)
{
	if (door->clients[client] >= 0)
		(void)!send(door->clients[client], text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void
door_say_all(struct door *door, const char *text)
{
	for (int i = 0; i < DOOR_CLIENTS; i++)
		door_say(door, i, text);
}

/* Whatever version a client speaks, ours is said, and version 1 is understood by all. */
static void
greet(struct door *door, int client)
{
	char text[64];

	snprintf(text, sizeof text, "hello %d %d", PROTOCOL_VERSION, (int)getpid());
	door_say(door, client, text);
	door->greeted = true;
}

static void
understand(struct door *door, int client, const char *text, struct door_message *m)
{
	char *end;
	long n;

	if (strncmp(text, "hello ", 6) == 0) {
		greet(door, client);
	} else if (strncmp(text, "limit ", 6) == 0) {
		n = strtol(text + 6, &end, 10);
		if (end == text + 6)
			return;
		m->word = DOOR_LIMIT;
		m->limit = n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : (int)n;
	} else if (strncmp(text, "cancel ", 7) == 0) {
		m->word = DOOR_CANCEL;
		mem_copy_text(m->reason, sizeof m->reason, text + 7);
	} else if (strncmp(text, "pause ", 6) == 0) {
		long long us = strtoll(text + 6, &end, 10);

		if (end == text + 6)
			return;
		m->word = DOOR_PAUSE;
		m->duration_us = us > 0 ? us : 0;
	} else if (strcmp(text, "continue") == 0) {
		m->word = DOOR_CONTINUE;
	} else if (strcmp(text, "stat") == 0) {
		m->word = DOOR_STAT;
	} else if (strcmp(text, "usage") == 0) {
		m->word = DOOR_USAGE;
	}
}

bool
door_read(struct door *door, int client, struct door_message *ret_message)
{
	char text[MESSAGE_BYTES];
	ssize_t n = recv(door->clients[client], text, sizeof text - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return false;
	if (n <= 0) {
		forget(door, client);
		return false;
	}
	text[n] = '\0';
	*ret_message = (struct door_message){ .word = DOOR_NOTHING };
	understand(door, client, text, ret_message);
	return true;
}
