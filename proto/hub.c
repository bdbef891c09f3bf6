/* The one ZeroMQ context of a process and its ZAP handler: libzmq asks it, for each
 * connection and before any message of it is read, whether the key (or, on ipc, the
 * uid that the kernel names) may come in, and under which name.
 *
 * Invariants:
 * - No answer but 200 lets anybody in, and 200 is given only for a key or uid that
 *   the user's callback knows. NULL is answered only for a domain that has an ipc
 *   channel: a TCP socket is a CURVE server and never asks with NULL.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel_internal.h"

/* A ZAP request; all text but the key is ended by a zero byte. */
enum { FRAME_SIZE = 256, CURVE_KEY_BYTES = 32 };

struct zap_request {
	char version[FRAME_SIZE], id[FRAME_SIZE], domain[FRAME_SIZE], address[FRAME_SIZE];
	char identity[FRAME_SIZE], mechanism[FRAME_SIZE], credentials[FRAME_SIZE];
	size_t id_size, credentials_size;
};

/* A frame that does not fit is cut, and then fits no name or key. */
static bool
receive_frame(void *socket, char buf[FRAME_SIZE], size_t *ret_size)
{
	int n = zmq_recv(socket, buf, FRAME_SIZE - 1, ZMQ_DONTWAIT);
	int more = 0;
	size_t size = sizeof more;

	if (n < 0)
		return false;
	if (n > FRAME_SIZE - 1)
		n = FRAME_SIZE - 1;
	buf[n] = '\0';
	if (ret_size != NULL)
		*ret_size = (size_t)n;
	return zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) == 0 && more;
}

static bool
receive_request(void *zap, struct zap_request *r)
{
	char rest[FRAME_SIZE];
	bool more;

	memset(r, 0, sizeof *r);
	more = receive_frame(zap, r->version, NULL) && receive_frame(zap, r->id, &r->id_size) &&
	       receive_frame(zap, r->domain, NULL) && receive_frame(zap, r->address, NULL) &&
	       receive_frame(zap, r->identity, NULL) && receive_frame(zap, r->mechanism, NULL) &&
	       receive_frame(zap, r->credentials, &r->credentials_size);
	while (more)
		more = receive_frame(zap, rest, NULL);
	return strcmp(r->version, "1.0") == 0;
}

static void
send_reply(
    void *zap, const struct zap_request *r, const char *status, const char *text, const char *name)
{
	zmq_send(zap, "1.0", 3, ZMQ_SNDMORE);
	zmq_send(zap, r->id, r->id_size, ZMQ_SNDMORE);
	zmq_send(zap, status, strlen(status), ZMQ_SNDMORE);
	zmq_send(zap, text, strlen(text), ZMQ_SNDMORE);
	zmq_send(zap, name, strlen(name), ZMQ_SNDMORE);
	zmq_send(zap, "", 0, 0);
}

static struct channel *
find_channel(struct hub *hub, const char *domain, bool ipc)
{
	struct channel *c = hub->channels;

	while (c != NULL && !(c->listening && c->ipc == ipc && strcmp(c->domain, domain) == 0))
		c = c->next;
	return c;
}

static void
answer_curve(struct hub *hub, const struct zap_request *r)
{
	struct channel *c = find_channel(hub, r->domain, false);
	char key[KEY_TEXT_SIZE], fingerprint[KEY_FINGERPRINT_SIZE];
	const char *name = NULL;

	if (c == NULL || r->credentials_size != CURVE_KEY_BYTES) {
		send_reply(hub->zap, r, "400", "no such domain, or no key", "");
		return;
	}
	zmq_z85_encode(key, (const uint8_t *)r->credentials, CURVE_KEY_BYTES);
	name = hub->key_name(hub->arg, r->domain, key);
	if (name != NULL) {
		send_reply(hub->zap, r, "200", "OK", name);
		return;
	}
	key_fingerprint(key, fingerprint);
	c->counts.refused++;
	channel_trouble(c,
	    "%s: key %s is not in the allow-list of the %s, refused; if it is to come in, add its "
	    "public key there",
	    plain_address(r->address), fingerprint, r->domain);
	send_reply(hub->zap, r, "400", "this key is not in the allow-list", "");
}

/* libzmq puts what SO_PEERCRED says behind the address of an ipc peer: ":UID:GID:PID". */
static bool
find_uid(const char *address, unsigned *ret_uid)
{
	const char *at = strchr(address, ':');
	unsigned uid, gid, pid;
	char end;

	if (at == NULL || sscanf(at, ":%u:%u:%u%c", &uid, &gid, &pid, &end) != 3)
		return false;
	*ret_uid = uid;
	return true;
}

static void
answer_null(struct hub *hub, const struct zap_request *r)
{
	struct channel *c = find_channel(hub, r->domain, true);
	char name[32];
	unsigned uid;

	if (c == NULL || !find_uid(r->address, &uid)) {
		send_reply(hub->zap, r, "400", "only a local peer may come without a key", "");
		return;
	}
	if (!hub->uid_ok(hub->arg, r->domain, uid)) {
		c->counts.refused++;
		channel_trouble(c, "%s: uid %u may not use it, refused", c->endpoint, uid);
		send_reply(hub->zap, r, "400", "this user may not use the socket", "");
		return;
	}
	snprintf(name, sizeof name, "uid:%u", uid);
	send_reply(hub->zap, r, "200", "OK", name);
}

static void
on_zap(void *arg)
{
	struct hub *hub = arg;
	struct zap_request r;

	if (!receive_request(hub->zap, &r))
		send_reply(hub->zap, &r, "500", "not understood", "");
	else if (strcmp(r.mechanism, "CURVE") == 0 && hub->key_name != NULL)
		answer_curve(hub, &r);
	else if (strcmp(r.mechanism, "NULL") == 0 && hub->uid_ok != NULL)
		answer_null(hub, &r);
	else
		send_reply(hub->zap, &r, "400", "this mechanism is not taken", "");
}

struct hub *
hub_create(struct loop *loop, hub_key_name_f key_name, hub_uid_ok_f uid_ok, void *arg)
{
	struct hub *hub = mem_calloc(1, sizeof *hub);
	int linger = 0, rc;

	rc = sodium_init(); /* for the jitter */
	assert(rc >= 0);
	hub->loop = loop;
	hub->key_name = key_name;
	hub->uid_ok = uid_ok;
	hub->arg = arg;
	hub->context = zmq_ctx_new();
	hub->zap = zmq_socket(hub->context, ZMQ_REP);
	assert(hub->zap != NULL);
	zmq_setsockopt(hub->zap, ZMQ_LINGER, &linger, sizeof linger);
	rc = zmq_bind(hub->zap, "inproc://zeromq.zap.01");
	assert(rc == 0);
	(void)rc;
	hub->zap_watch = loop_socket_add(loop, hub->zap, on_zap, hub);
	return hub;
}

void
hub_destroy(struct hub *hub)
{
	if (hub == NULL)
		return;
	assert(hub->channels == NULL);
	loop_remove(hub->zap_watch);
	zmq_close(hub->zap);
	zmq_ctx_term(hub->context);
	free(hub);
}
