/* Sockets are made here, messages come in here, and time passes here.
 *
 * Invariants:
 * - A peer is freed only by peer_drop, and that is called only from the loop's own
 *   callbacks, never while a user's call holds the peer.
 * - What a peer's connection is worth is decided by libzmq's User-Id, never by
 *   what stands in a message.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel_internal.h"
#include "proto/wire.h"

enum { LISTEN_QUEUE = 64, BACKLOG = 4096 };

#define TROUBLE_SAME_US (60 * SECOND_US)
#define TROUBLE_ANY_US (10 * SECOND_US)
#define TICK_LATE_US (5 * SECOND_US)

#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93 /* libzmq 4.3 takes it; its header calls it a draft */
#endif

/* ---- words for the operator -------------------------------------------------------------- */

static uint64_t
hash_text(const char *s)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return h != 0 ? h : 1;
}

/* The same words once a minute, and no more than TROUBLES different ones in ten seconds. */
static bool
is_worth_telling(struct channel *c, const char *text)
{
	uint64_t hash = hash_text(text);
	mono_us now = loop_now();
	struct trouble *oldest = &c->troubles[0];

	for (size_t i = 0; i < TROUBLES; i++) {
		struct trouble *t = &c->troubles[i];

		if (t->hash == hash && mono_since(t->at, now) < TROUBLE_SAME_US)
			return false;
		if (t->at.us < oldest->at.us)
			oldest = t;
	}
	if (oldest->hash != 0 && mono_since(oldest->at, now) < TROUBLE_ANY_US)
		return false;
	*oldest = (struct trouble){ hash, now };
	return true;
}

void
channel_trouble(struct channel *c, const char *format, ...)
{
	char text[WHY_SIZE + 128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (c->callbacks.trouble != NULL && is_worth_telling(c, text))
		c->callbacks.trouble(c->callbacks.arg, text);
}

/* ---- receiving --------------------------------------------------------------------------- */

/* What a peer said cannot be read: nothing after it could be trusted to be in order. */
static void
refuse_connection(
    struct channel *c, struct peer *peer, const uint8_t *id, size_t id_size, const char *reason)
{
	c->counts.refused++;
	if (c->listening)
		peer_send_refused(c, id, id_size, reason);
	if (!c->listening)
		channel_down(c, reason);
	else if (peer != NULL)
		peer_drop(peer, reason);
}

static void
replace_older(struct channel *c, const char *name)
{
	struct peer *peer;

	while ((peer = peer_find_named(c, name)) != NULL) {
		if (!peer->dying)
			peer_send_refused(c, peer->id, peer->id_size,
			    "a newer connection with the same key took its place; do two agents "
			    "use one key?");
		peer_drop(peer, peer->dying ? peer->why : "a newer connection took its place");
	}
}

/* Only HELLO and REQUEST begin a connection; an agent's HELLO ends its older one. */
static struct peer *
greet(struct channel *c, const uint8_t *id, size_t id_size, const struct message *m,
    const char *name, const char *address)
{
	enum message_kind kind = m->envelope.kind;

	if ((kind != MESSAGE_HELLO && kind != MESSAGE_REQUEST) || m->envelope.seq > 1) {
		refuse_connection(
		    c, NULL, id, id_size, "this connection has been forgotten here; connect again");
		return NULL;
	}
	if (kind == MESSAGE_HELLO)
		replace_older(c, name);
	return peer_create(c, id, id_size, name, address);
}

/* A refusal ends the connection at the connecting end too, once it has been read. */
static void
hand_on(struct channel *c, struct peer *peer, struct message *m)
{
	bool refused = !c->listening && m->envelope.kind == MESSAGE_REFUSED;
	char why[WHY_SIZE];

	c->counts.received++;
	if (refused)
		snprintf(why, sizeof why, "%s refused us: %s", c->endpoint, m->refused.reason);
	else if (!c->listening)
		c->failures = 0;
	c->callbacks.message(c->callbacks.arg, peer, m);
	if (refused)
		channel_down(c, why);
}

static void
take_message(struct channel *c, const uint8_t *id, size_t id_size, struct message *m,
    const char *name, const char *address)
{
	struct peer *peer = peer_find(c, id, id_size);

	if (peer == NULL)
		peer = greet(c, id, id_size, m, name, address);
	if (peer == NULL || peer->dying)
		return;
	if (strcmp(peer->name, name) != 0) {
		refuse_connection(c, peer, id, id_size, "the connection changed its name");
		return;
	}
	peer->heard_at = loop_now();
	peer_take_ack(peer, m->envelope.ack);
	if (m->envelope.kind != MESSAGE_ACK && peer_take_seq(peer, m->envelope.seq))
		hand_on(c, peer, m);
}

static void
take_bytes(struct channel *c, const uint8_t *id, size_t id_size, zmq_msg_t *payload)
{
	const char *name = c->listening ? zmq_msg_gets(payload, "User-Id") : "coordinator";
	const char *address =
	    c->listening && !c->ipc ? zmq_msg_gets(payload, "Peer-Address") : NULL;
	struct message m;
	struct err err;

	if (address == NULL)
		address = c->ipc ? "local" : c->listening ? "?" : c->endpoint;
	address = plain_address(address);
	if (name == NULL)
		return; /* no ZAP answer, no message: cannot be */
	if (wire_decode(zmq_msg_data(payload), zmq_msg_size(payload), c->max_bytes, &m, &err) !=
	    0) {
		channel_trouble(c, "%s at %s, refused: %s", name, address, err.text);
		refuse_connection(c, peer_find(c, id, id_size), id, id_size, err.text);
		return;
	}
	take_message(c, id, id_size, &m, name, address);
	message_clear(&m);
}

/* Takes all frames of one message; of more than were agreed, none. */
void
channel_readable(void *arg)
{
	struct channel *c = arg;
	uint8_t id[ROUTING_ID_MAX];
	int id_size = 0;
	zmq_msg_t payload;
	bool well_formed = true;

	if (c->listening) {
		id_size = zmq_recv(c->socket, id, sizeof id, ZMQ_DONTWAIT);
		if (id_size <= 0)
			return;
	}
	zmq_msg_init(&payload);
	if (zmq_msg_recv(&payload, c->socket, ZMQ_DONTWAIT) < 0) {
		zmq_msg_close(&payload);
		return;
	}
	while (zmq_msg_more(&payload)) {
		well_formed = false;
		if (zmq_msg_recv(&payload, c->socket, ZMQ_DONTWAIT) < 0)
			break;
	}
	if (well_formed)
		take_bytes(c, id, (size_t)id_size, &payload);
	else
		refuse_connection(c, peer_find(c, id, (size_t)id_size), id, (size_t)id_size,
		    "a message of one frame was expected");
	zmq_msg_close(&payload);
}

/* ---- time -------------------------------------------------------------------------------- */

static void
on_kick(void *arg)
{
	struct channel *c = arg;
	struct peer *peer, *next;

	c->kicked = false;
	for (peer = c->peers; peer != NULL; peer = next) {
		next = peer->next;
		peer_flush(peer);
		if (peer->ack_owed)
			peer_send_ack(peer);
		if (!peer->dying)
			continue;
		if (c->listening)
			peer_drop(peer, peer->why);
		else
			channel_down(c, peer->why);
	}
}

void
channel_kick(struct channel *c, int64_t delay_us)
{
	mono_us at = mono_add(loop_now(), delay_us);

	if (c->kicked && c->kick_at.us <= at.us)
		return;
	c->kicked = true;
	c->kick_at = at;
	loop_timer_reset(c->kick, delay_us, 0);
}

/* A process that was stopped must not take its own silence for that of its peers. That
 * somebody's connection has closed a ROUTER's monitor says, but not whose: a word to all
 * finds those that cannot be reached. */
static void
on_tick(void *arg)
{
	struct channel *c = arg;
	mono_us now = loop_now();
	int64_t late = mono_since(c->ticked_at, now) - TICK_US;

	c->ticked_at = now;
	for (struct peer *peer = c->peers; peer != NULL; peer = peer->next) {
		if (late > TICK_LATE_US)
			peer->heard_at = mono_add(peer->heard_at, late);
		if (!peer->dying)
			peer_tick(peer, now);
		if (c->disconnected && c->listening)
			peer_send_ack(peer);
	}
	c->disconnected = false;
}

/* ---- sockets ----------------------------------------------------------------------------- */

void
channel_set_int(void *socket, int option, int value)
{
	int rc = zmq_setsockopt(socket, option, &value, sizeof value);

	assert(rc == 0);
	(void)rc;
}

void
channel_set_text(void *socket, int option, const char *text)
{
	int rc = zmq_setsockopt(socket, option, text, strlen(text));

	assert(rc == 0);
	(void)rc;
}

/* docs/decisions/0002-zeromq-settings.md says why. */
void *
channel_make_socket(struct channel *c, int type, int queue)
{
	void *socket = zmq_socket(c->hub->context, type);
	int64_t max_bytes = (int64_t)c->max_bytes;
	int rc;

	if (socket == NULL)
		return NULL;
	channel_set_int(socket, ZMQ_LINGER, 0);
	channel_set_int(socket, ZMQ_SNDHWM, queue);
	channel_set_int(socket, ZMQ_RCVHWM, queue);
	channel_set_int(socket, ZMQ_IPV6, 1);
	channel_set_int(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
	channel_set_int(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS);
	channel_set_int(socket, ZMQ_HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS);
	channel_set_int(socket, ZMQ_HEARTBEAT_TTL, HEARTBEAT_TIMEOUT_MS);
	rc = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max_bytes, sizeof max_bytes);
	assert(rc == 0);
	(void)rc;
	return socket;
}

void
channel_close_socket(struct channel *c)
{
	loop_remove(c->socket_watch);
	c->socket_watch = NULL;
	if (c->socket != NULL) {
		zmq_socket_monitor(c->socket, NULL, 0);
		zmq_close(c->socket);
	}
	c->socket = NULL;
	monitor_stop(c);
}

struct channel *
channel_create(struct hub *hub, const char *endpoint, size_t max_bytes,
    const struct channel_callbacks *callbacks)
{
	struct channel *c = mem_calloc(1, sizeof *c);

	c->hub = hub;
	c->callbacks = *callbacks;
	c->endpoint = mem_strdup(endpoint);
	c->ipc = strncmp(endpoint, "ipc://", 6) == 0;
	c->max_bytes = max_bytes;
	c->ticked_at = loop_now();
	c->tick = loop_timer_add(hub->loop, TICK_US, TICK_US, on_tick, c);
	c->kick = loop_timer_add(hub->loop, 0, 0, on_kick, c);
	c->next = hub->channels;
	hub->channels = c;
	return c;
}

void
channel_destroy(struct channel *channel)
{
	struct channel **at;

	if (channel == NULL)
		return;
	for (at = &channel->hub->channels; *at != channel;)
		at = &(*at)->next;
	*at = channel->next;
	while (channel->peers != NULL) {
		channel->peers->silent = true;
		peer_drop(channel->peers, "");
	}
	channel_close_socket(channel);
	loop_remove(channel->tick);
	loop_remove(channel->kick);
	loop_remove(channel->retry);
	key_pair_clear(&channel->keys);
	free(channel->endpoint);
	free(channel->domain);
	free(channel);
}

int
channel_check_endpoint(const char *endpoint, bool keys, struct err *err)
{
	bool tcp = strncmp(endpoint, "tcp://", 6) == 0;

	if (!tcp && strncmp(endpoint, "ipc://", 6) != 0)
		return err_set(err, "%s: tcp://HOST:PORT or ipc://PATH was expected", endpoint);
	if (tcp && !keys)
		return err_set(
		    err, "%s: TCP needs keys; nothing is sent over it unencrypted", endpoint);
	return 0;
}

/* The ipc file is never open to others, not even for a moment. */
static int
bind_socket(struct channel *c, struct err *err)
{
	mode_t was = umask(0117);
	int rc = zmq_bind(c->socket, c->endpoint), errnum = errno;

	umask(was);
	if (rc == 0)
		return 0;
	if (errnum == EADDRINUSE)
		return err_set(
		    err, "%s: the address is in use; is another one running?", c->endpoint);
	return err_set(err, "%s: cannot listen there: %s", c->endpoint, zmq_strerror(errnum));
}

static void
learn_endpoint(struct channel *c)
{
	char endpoint[256];
	size_t size = sizeof endpoint;

	if (zmq_getsockopt(c->socket, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0)
		return;
	free(c->endpoint);
	c->endpoint = mem_strdup(endpoint);
}

struct channel *
channel_listen(struct hub *hub, const struct channel_listen_options *options,
    const struct channel_callbacks *callbacks, struct err *err)
{
	struct channel *c;

	if (channel_check_endpoint(options->endpoint, options->keys != NULL, err) != 0)
		return NULL;
	c = channel_create(hub, options->endpoint, options->max_bytes, callbacks);
	c->listening = true;
	c->domain = mem_strdup(options->domain);
	c->socket = channel_make_socket(c, ZMQ_ROUTER, LISTEN_QUEUE);
	if (c->socket == NULL) {
		err_set(err, "%s: cannot make a socket: %s", c->endpoint, zmq_strerror(errno));
		goto fail;
	}
	channel_set_int(c->socket, ZMQ_ROUTER_MANDATORY, 1);
	channel_set_int(c->socket, ZMQ_BACKLOG, BACKLOG);
	channel_set_text(c->socket, ZMQ_ZAP_DOMAIN, c->domain);
	channel_set_int(c->socket, ZMQ_ZAP_ENFORCE_DOMAIN, 1);
	if (!c->ipc) {
		assert(options->keys != NULL);
		c->keys = *options->keys;
		channel_set_int(c->socket, ZMQ_CURVE_SERVER, 1);
		channel_set_text(c->socket, ZMQ_CURVE_SECRETKEY, c->keys.secret_key);
	}
	if (monitor_start(c, err) != 0 || bind_socket(c, err) != 0)
		goto fail;
	learn_endpoint(c);
	c->socket_watch = loop_socket_add(hub->loop, c->socket, channel_readable, c);
	return c;
fail:
	channel_destroy(c);
	return NULL;
}

/* ---- what users call --------------------------------------------------------------------- */

void
channel_set_epoch(struct channel *channel, uint64_t epoch)
{
	channel->epoch = epoch;
}

const char *
channel_endpoint(const struct channel *channel)
{
	return channel->endpoint;
}

int
channel_send(
    struct channel *channel, struct peer *peer, struct message *m, bool reliable, struct err *err)
{
	assert(peer->channel == channel);
	return peer_send(peer, m, reliable, err);
}

void
channel_acknowledge(struct channel *channel)
{
	peer_acknowledge_all(channel);
}

void
channel_refuse(struct channel *channel, struct peer *peer, const char *reason)
{
	channel->counts.refused++;
	if (!peer->dying)
		peer_send_refused(channel, peer->id, peer->id_size, reason);
	peer->silent = true;
	peer_mark_gone(peer, reason);
}

void
channel_revoke(struct channel *channel, const char *name, const char *reason)
{
	struct peer *peer;

	for (peer = peer_find_named(channel, name); peer != NULL; peer = peer->same_name) {
		if (!peer->dying)
			peer_send_refused(channel, peer->id, peer->id_size, reason);
		peer_mark_gone(peer, reason);
	}
}

void
channel_counts_get(const struct channel *channel, struct channel_counts *ret_counts)
{
	*ret_counts = channel->counts;
}
