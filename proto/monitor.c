/* A wrong key looks like a dead network unless somebody says otherwise: libzmq
 * closes the connection and tries again, in silence. Its monitor knows why; here
 * that is put into words, at both ends.
 *
 * A listening socket's events do not say who it was, but DISCONNECTED, which comes
 * right behind a failed handshake, has the descriptor, and so had ACCEPTED.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel_internal.h"

struct event {
	uint16_t number;
	int32_t value;
};

static bool
receive_event(void *monitor, struct event *e)
{
	uint8_t frame[6];
	char endpoint[256];

	if (zmq_recv(monitor, frame, sizeof frame, ZMQ_DONTWAIT) != (int)sizeof frame)
		return false;
	memcpy(&e->number, frame, sizeof e->number);
	memcpy(&e->value, frame + 2, sizeof e->value);
	return zmq_recv(monitor, endpoint, sizeof endpoint, ZMQ_DONTWAIT) >= 0;
}

const char *
plain_address(const char *address)
{
	return strncmp(address, "::ffff:", 7) == 0 ? address + 7 : address;
}

static void
note_accepted(struct channel *c, int fd)
{
	struct accepted *a = &c->accepted[c->naccepted++ % ACCEPTED];
	struct sockaddr_storage address;
	socklen_t size = sizeof address;

	a->fd = fd;
	if (getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
	    getnameinfo((struct sockaddr *)&address, size, a->address, sizeof a->address, NULL, 0,
		NI_NUMERICHOST) != 0)
		mem_copy_text(a->address, sizeof a->address, "somebody");
	if (c->ipc)
		mem_copy_text(a->address, sizeof a->address, "a local peer");
}

static const char *
accepted_address(const struct channel *c, int fd)
{
	for (unsigned i = 0; i < ACCEPTED; i++) {
		const struct accepted *a = &c->accepted[(c->naccepted - 1 - i) % ACCEPTED];

		if (a->fd == fd && a->address[0] != '\0')
			return plain_address(a->address);
	}
	return "somebody";
}

/* The listening end. A key that is not in the allow-list the ZAP handler has told already. */
static void
on_listen_event(struct channel *c, const struct event *e)
{
	char fingerprint[KEY_FINGERPRINT_SIZE];

	switch (e->number) {
	case ZMQ_EVENT_ACCEPTED:
		note_accepted(c, e->value);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
		key_fingerprint(c->keys.public_key, fingerprint);
		if (c->ipc)
			snprintf(c->failure, sizeof c->failure,
			    "does not speak ZeroMQ's protocol without keys (error %#x)",
			    (unsigned)e->value);
		else if (e->value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
			snprintf(c->failure, sizeof c->failure,
			    "expects another server key than %s, which is ours; give it our public "
			    "key",
			    fingerprint);
		else
			snprintf(c->failure, sizeof c->failure,
			    "came without a CURVE key, or speaks another protocol (error %#x)",
			    (unsigned)e->value);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		snprintf(c->failure, sizeof c->failure,
		    "%s, or does not speak Flyball's protocol: it broke the handshake off (%s)",
		    c->ipc ? "came with a key, which a local peer has not"
			   : "came without a CURVE key",
		    zmq_strerror(e->value));
		break;
	case ZMQ_EVENT_DISCONNECTED:
		c->disconnected = true;
		if (c->failure[0] != '\0') {
			c->counts.refused++;
			channel_trouble(c, "%s at %s %s", accepted_address(c, e->value),
			    c->endpoint, c->failure);
		}
		c->failure[0] = '\0';
		break;
	default:
		break;
	}
}

static void
fail_handshake(struct channel *c, const struct event *e)
{
	char ours[KEY_FINGERPRINT_SIZE], theirs[KEY_FINGERPRINT_SIZE], why[WHY_SIZE];

	key_fingerprint(c->keys.public_key, ours);
	key_fingerprint(c->server_key, theirs);
	if (c->ipc)
		snprintf(why, sizeof why, "%s refuses this user, or is no Flyball coordinator",
		    c->endpoint);
	else if (e->number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
		snprintf(why, sizeof why,
		    "%s refuses our key %s: it is not in the allow-list there; add it", c->endpoint,
		    ours);
	else
		snprintf(why, sizeof why,
		    "the handshake with %s failed: most likely its key is not %s, which is the "
		    "server key expected here; compare the fingerprints",
		    c->endpoint, theirs);
	channel_down(c, why);
}

static void
explain_unreachable(const struct channel *c, char why[WHY_SIZE])
{
	const char *path = c->endpoint + strlen("ipc://");

	if (c->ipc && access(path, F_OK) != 0)
		snprintf(why, WHY_SIZE, "%s: there is no such socket; is the coordinator running?",
		    path);
	else if (c->ipc && access(path, R_OK | W_OK) != 0)
		snprintf(why, WHY_SIZE,
		    "%s: this user may not use the socket; is it in the socket's group?", path);
	else
		snprintf(why, WHY_SIZE,
		    "%s cannot be reached: nobody listens there, or the network is down",
		    c->endpoint);
}

static void
on_connect_event(struct channel *c, const struct event *e)
{
	char why[WHY_SIZE];

	switch (e->number) {
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		channel_up(c);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		fail_handshake(c, e);
		break;
	case ZMQ_EVENT_DISCONNECTED:
		snprintf(why, sizeof why, "%s closed the connection", c->endpoint);
		channel_down(c, why);
		break;
	case ZMQ_EVENT_CLOSED:
		if (c->up)
			break;
		explain_unreachable(c, why);
		channel_down(c, why);
		break;
	default:
		break;
	}
}

static void
on_monitor(void *arg)
{
	struct channel *c = arg;
	struct event e;

	if (!receive_event(c->monitor, &e))
		return;
	if (c->listening)
		on_listen_event(c, &e);
	else
		on_connect_event(c, &e);
}

int
monitor_start(struct channel *c, struct err *err)
{
	char name[64];
	int linger = 0;

	snprintf(name, sizeof name, "inproc://monitor-%u", ++c->hub->monitors);
	if (zmq_socket_monitor(c->socket, name,
		ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
		    ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
		    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) !=
	    0)
		return err_set(
		    err, "%s: cannot be monitored: %s", c->endpoint, zmq_strerror(errno));
	c->monitor = zmq_socket(c->hub->context, ZMQ_PAIR);
	if (c->monitor == NULL || zmq_connect(c->monitor, name) != 0)
		return err_set(
		    err, "%s: cannot be monitored: %s", c->endpoint, zmq_strerror(errno));
	zmq_setsockopt(c->monitor, ZMQ_LINGER, &linger, sizeof linger);
	c->monitor_watch = loop_socket_add(c->hub->loop, c->monitor, on_monitor, c);
	return 0;
}

void
monitor_stop(struct channel *c)
{
	loop_remove(c->monitor_watch);
	c->monitor_watch = NULL;
	if (c->monitor != NULL)
		zmq_close(c->monitor);
	c->monitor = NULL;
}
