/* A peer is one connection: its sequence numbers, what it has not acknowledged, and
 * when it was last heard.
 *
 * Invariants:
 * - Reliable messages leave in the order of their numbers; unsent points to the
 *   first that is to leave (again), all before it are under way.
 * - A full queue in libzmq (EAGAIN) leaves them in our list; nothing is dropped but
 *   soft messages, and those are counted.
 * - The receiver hands on number n + 1 only after n. It acknowledges what
 *   channel_acknowledge has covered, never what has merely come in.
 *
 * Lost messages are rare (a ROUTER's pipe that closes between two frames), so the
 * simplest repair is right: after a silence, all that is unacknowledged again.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel_internal.h"
#include "proto/wire.h"

enum { BLOCKED_RETRY_US = 5000 };

enum transmitted { TRANSMIT_DONE, TRANSMIT_BLOCKED, TRANSMIT_GONE };

static int
compare_ids(const void *a, const void *b)
{
	const struct peer *x = a, *y = b;

	if (x->id_size != y->id_size)
		return x->id_size < y->id_size ? -1 : 1;
	return memcmp(x->id, y->id, x->id_size);
}

/* ---- found by name ----------------------------------------------------------------------- */

static int
compare_names(const void *a, const void *b)
{
	const struct peer *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The tree has one of each name, and the others hang on it. */
static void
name_add(struct peer *peer)
{
	struct peer **found = tsearch(peer, &peer->channel->by_name, compare_names);

	if (found == NULL)
		abort();
	if (*found == peer)
		return;
	peer->same_name = (*found)->same_name;
	(*found)->same_name = peer;
}

static void
name_remove(struct peer *peer)
{
	struct channel *c = peer->channel;
	struct peer **found = tfind(peer, &c->by_name, compare_names), *other = *found;

	if (other == peer && peer->same_name == NULL) {
		tdelete(peer, &c->by_name, compare_names);
	} else if (other == peer) {
		*found = peer->same_name;
	} else {
		while (other->same_name != peer)
			other = other->same_name;
		other->same_name = peer->same_name;
	}
}

struct peer *
peer_find_named(struct channel *c, const char *name)
{
	struct peer key = { .name = (char *)name };
	struct peer **found = tfind(&key, &c->by_name, compare_names);

	return found != NULL ? *found : NULL;
}

/* ---- what is not acknowledged ------------------------------------------------------------ */

static void
unacknowledged_add(struct peer *peer)
{
	if (peer->unacknowledged)
		return;
	peer->unacknowledged = true;
	peer->next_unacknowledged = peer->channel->unacknowledged;
	peer->channel->unacknowledged = peer;
}

static void
unacknowledged_remove(struct peer *peer)
{
	struct peer **at = &peer->channel->unacknowledged;

	if (!peer->unacknowledged)
		return;
	while (*at != peer)
		at = &(*at)->next_unacknowledged;
	*at = peer->next_unacknowledged;
	peer->unacknowledged = false;
}

void
peer_acknowledge_all(struct channel *c)
{
	struct peer *peer;

	while ((peer = c->unacknowledged) != NULL) {
		unacknowledged_remove(peer);
		peer->ack_out = peer->seq_in;
		peer_send_ack(peer);
	}
}

/* ---- life -------------------------------------------------------------------------------- */

struct peer *
peer_create(
    struct channel *c, const uint8_t *id, size_t id_size, const char *name, const char *address)
{
	struct peer *peer = mem_calloc(1, sizeof *peer);

	peer->channel = c;
	peer->id_size = id_size;
	if (id_size > 0)
		memcpy(peer->id, id, id_size);
	peer->name = mem_strdup(name);
	peer->address = mem_strdup(address);
	peer->heard_at = peer->said_at = loop_now();
	peer->resend_delay_us = RESEND_FIRST_US;
	peer->next = c->peers;
	if (c->peers != NULL)
		c->peers->prev = peer;
	c->peers = peer;
	if (tsearch(peer, &c->by_id, compare_ids) == NULL)
		abort();
	name_add(peer);
	return peer;
}

struct peer *
peer_find(struct channel *c, const uint8_t *id, size_t id_size)
{
	struct peer key;
	struct peer **found;

	key.id_size = id_size;
	if (id_size > 0)
		memcpy(key.id, id, id_size);
	found = tfind(&key, &c->by_id, compare_ids);
	return found != NULL ? *found : NULL;
}

static void
free_outgoing(struct peer *peer)
{
	struct outgoing *o = peer->first;

	peer->first = o->next;
	if (peer->last == o)
		peer->last = NULL;
	if (peer->unsent == o)
		peer->unsent = o->next;
	peer->noutgoing--;
	free(o->bytes);
	free(o);
}

void
peer_drop(struct peer *peer, const char *why)
{
	struct channel *c = peer->channel;

	peer->dying = true; /* no sending from within the callback */
	if (!peer->silent && c->callbacks.gone != NULL)
		c->callbacks.gone(c->callbacks.arg, peer, why);
	tdelete(peer, &c->by_id, compare_ids);
	name_remove(peer);
	unacknowledged_remove(peer);
	if (peer->next != NULL)
		peer->next->prev = peer->prev;
	*(peer->prev != NULL ? &peer->prev->next : &c->peers) = peer->next;
	while (peer->first != NULL)
		free_outgoing(peer);
	free(peer->name);
	free(peer->address);
	free(peer);
}

void
peer_mark_gone(struct peer *peer, const char *why)
{
	if (peer->dying)
		return;
	peer->dying = true;
	mem_copy_text(peer->why, sizeof peer->why, why);
	channel_kick(peer->channel, 0);
}

/* ROUTER: the first frame is refused when the message cannot go, never the second. */
static enum transmitted
transmit(struct channel *c, const uint8_t *id, size_t id_size, const uint8_t *bytes, size_t nbytes)
{
	int rc;

	if (c->socket == NULL)
		return TRANSMIT_GONE;
	if (id_size > 0) {
		do
			rc = zmq_send(c->socket, id, id_size, ZMQ_SNDMORE | ZMQ_DONTWAIT);
		while (rc < 0 && errno == EINTR);
		if (rc < 0)
			return errno == EAGAIN ? TRANSMIT_BLOCKED : TRANSMIT_GONE;
	}
	do
		rc = zmq_send(c->socket, bytes, nbytes, ZMQ_DONTWAIT);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return errno == EAGAIN && id_size == 0 ? TRANSMIT_BLOCKED : TRANSMIT_GONE;
	return TRANSMIT_DONE;
}

static enum transmitted
transmit_peer(struct peer *peer, const uint8_t *bytes, size_t nbytes)
{
	enum transmitted t = transmit(peer->channel, peer->id, peer->id_size, bytes, nbytes);

	if (t == TRANSMIT_DONE)
		peer->said_at = loop_now();
	if (t == TRANSMIT_GONE)
		peer_mark_gone(peer, "the connection is closed");
	return t;
}

void
peer_flush(struct peer *peer)
{
	while (peer->unsent != NULL && !peer->dying) {
		struct outgoing *o = peer->unsent;
		enum transmitted t = transmit_peer(peer, o->bytes, o->nbytes);

		if (t == TRANSMIT_BLOCKED)
			channel_kick(peer->channel, BLOCKED_RETRY_US);
		if (t != TRANSMIT_DONE)
			return;
		if (o->sent)
			peer->channel->counts.resent++;
		else
			peer->channel->counts.sent++;
		o->sent = true;
		if (o == peer->first)
			peer->resend_at = mono_add(loop_now(), peer->resend_delay_us);
		peer->unsent = o->next;
	}
}

static void
append_outgoing(struct peer *peer, uint8_t *bytes, size_t nbytes)
{
	struct outgoing *o = mem_calloc(1, sizeof *o);

	o->seq = peer->seq_out;
	o->bytes = bytes;
	o->nbytes = nbytes;
	*(peer->last != NULL ? &peer->last->next : &peer->first) = o;
	peer->last = o;
	if (peer->unsent == NULL)
		peer->unsent = o;
	peer->noutgoing++;
}

static void
send_soft(struct peer *peer, uint8_t *bytes, size_t nbytes)
{
	if (transmit_peer(peer, bytes, nbytes) == TRANSMIT_DONE)
		peer->channel->counts.sent++;
	else
		peer->channel->counts.dropped_soft++;
	free(bytes);
}

int
peer_send(struct peer *peer, struct message *m, bool reliable, struct err *err)
{
	struct channel *c = peer->channel;
	uint8_t *bytes;
	size_t nbytes;

	if (peer->dying)
		return err_set(
		    err, "%s: the connection is gone; it will have to connect again", peer->name);
	if (reliable && peer->noutgoing >= OUTGOING_MAX)
		return err_set(err,
		    "%s: has not acknowledged %d messages; no more are taken for it", peer->name,
		    OUTGOING_MAX);
	m->envelope.version = PROTOCOL_VERSION;
	m->envelope.epoch = c->epoch;
	m->envelope.seq = reliable ? peer->seq_out + 1 : 0;
	m->envelope.ack = peer->ack_out;
	if (wire_encode(m, &bytes, &nbytes, err) != 0)
		return -1;
	if (nbytes > c->max_bytes) {
		free(bytes);
		return err_set(err, "%s: a %s message of %zu bytes; at most %zu can be sent",
		    peer->name, message_kind_name(m->envelope.kind), nbytes, c->max_bytes);
	}
	if (reliable) {
		peer->seq_out++;
		append_outgoing(peer, bytes, nbytes);
		peer_flush(peer);
	} else {
		send_soft(peer, bytes, nbytes);
	}
	return 0;
}

/* An acknowledgement is no soft message of a user's: it is owed until it has left. */
void
peer_send_ack(struct peer *peer)
{
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_ACK, peer->channel->epoch, 0,
				 peer->ack_out } };
	enum transmitted t;
	uint8_t *bytes;
	size_t nbytes;

	if (peer->dying || wire_encode(&m, &bytes, &nbytes, NULL) != 0)
		return;
	t = transmit_peer(peer, bytes, nbytes);
	free(bytes);
	peer->ack_owed = t == TRANSMIT_BLOCKED;
	if (peer->ack_owed)
		channel_kick(peer->channel, BLOCKED_RETRY_US);
}

void
peer_send_refused(struct channel *c, const uint8_t *id, size_t id_size, const char *reason)
{
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_REFUSED, c->epoch, 0, 0 } };
	uint8_t *bytes;
	size_t nbytes;

	mem_copy_text(m.refused.reason, sizeof m.refused.reason, reason);
	if (wire_encode(&m, &bytes, &nbytes, NULL) != 0)
		return;
	transmit(c, id, id_size, bytes, nbytes);
	free(bytes);
}

void
peer_take_ack(struct peer *peer, uint64_t ack)
{
	bool progress = false;

	while (peer->first != NULL && peer->first->sent && peer->first->seq <= ack) {
		free_outgoing(peer);
		progress = true;
	}
	if (!progress)
		return;
	peer->resend_delay_us = RESEND_FIRST_US;
	peer->resend_at = mono_add(loop_now(), RESEND_FIRST_US);
	peer_flush(peer);
}

bool
peer_take_seq(struct peer *peer, uint64_t seq)
{
	if (seq == 0)
		return true;
	if (seq == peer->seq_in + 1) {
		peer->seq_in = seq;
		unacknowledged_add(peer);
		return true;
	}
	if (seq > peer->seq_in)
		return false; /* one before it is missing: all will come again */
	peer->channel->counts.repeated++;
	if (seq <= peer->ack_out) {
		peer->ack_owed = true;
		channel_kick(peer->channel, 0);
	}
	return false;
}

void
peer_tick(struct peer *peer, mono_us now)
{
	if (peer->channel->listening && mono_since(peer->heard_at, now) > SILENCE_US) {
		peer_mark_gone(peer, "nothing was heard of it for 60 s");
		return;
	}
	if (peer->first != NULL && peer->first->sent && now.us >= peer->resend_at.us) {
		peer->resend_delay_us *= 2;
		if (peer->resend_delay_us > RESEND_MOST_US)
			peer->resend_delay_us = RESEND_MOST_US;
		peer->unsent = peer->first;
		peer_flush(peer);
	}
	if (!peer->channel->listening && mono_since(peer->said_at, now) >= KEEP_ALIVE_US)
		peer_send_ack(peer);
}

size_t
peer_outgoing(const struct peer *peer)
{
	return peer->noutgoing;
}

const char *
peer_name(const struct peer *peer)
{
	return peer->name;
}

const char *
peer_address(const struct peer *peer)
{
	return peer->address;
}

void
peer_set_user(struct peer *peer, void *user)
{
	peer->user = user;
}

void *
peer_user(const struct peer *peer)
{
	return peer->user;
}
