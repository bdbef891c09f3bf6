/* channel.h - messages between two ends over ZeroMQ, none lost in silence
 *
 * Shape:  a listening channel (ROUTER) has many peers, a connecting one (DEALER)
 *         has one. CURVE on TCP; on ipc:// the kernel's word for who connects
 *         (SO_PEERCRED), never an unauthenticated socket. A peer is one
 *         connection: a reconnect is a new peer, begun by its HELLO or REQUEST.
 *         A reliable message carries a sequence number and is sent again until
 *         acknowledged; the receiver hands each on once, in order. The
 *         acknowledgement goes out with channel_acknowledge, which the driver
 *         calls when what the message said is safe on disk.
 * Units:  times mono_us of this machine.
 * Errors: sending fails only when a peer has OUTGOING_MAX reliable messages
 *         waiting, or is gone; soft messages are dropped when a queue is full,
 *         and counted.
 * Memory: peers belong to the channel and live until the gone callback returns;
 *         a message handed to a callback lives until it returns.
 * Source: docs/protocol.md; ZeroMQ RFC 26, 27 (ZAP); the measured facts stand in
 *         docs/decisions/0002-zeromq-settings.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CHANNEL_H
#define FLYBALL_CHANNEL_H

#include <stddef.h>

#include "proto/base/err.h"
#include "proto/base/loop.h"
#include "proto/keys.h"
#include "proto/message.h"

/* One ZeroMQ context and one ZAP handler a process. */
struct hub;
struct channel;
struct peer;

/* Who is who: the name for a key (or for a uid on ipc), or NULL to refuse it. */
typedef const char *(*hub_key_name_f)(void *arg, const char *domain, const char *public_key);
typedef bool (*hub_uid_ok_f)(void *arg, const char *domain, unsigned uid);

struct hub *hub_create(struct loop *loop, hub_key_name_f key_name, hub_uid_ok_f uid_ok, void *arg);
void hub_destroy(struct hub *hub); /* after its channels */

struct channel_callbacks {
	/* A message of a peer, in order; soft ones as they come. */
	void (*message)(void *arg, struct peer *peer, struct message *m);
	/* The connection is gone or was silent for too long; connecting end: it will be tried again. */
	void (*gone)(void *arg, struct peer *peer, const char *why);
	/* Connecting end: the wire is up (again) and nothing has been said yet. */
	void (*connected)(void *arg, struct peer *peer);
	/* Something an operator should read: a handshake failed and why it may have. Throttled. */
	void (*trouble)(void *arg, const char *text);
	void *arg;
};

struct channel_listen_options {
	const char *endpoint; /* tcp://HOST:PORT or ipc://PATH (made 0660) */
	const char *domain; /* for ZAP: "agents", "operators" */
	const struct key_pair *keys; /* needed on tcp */
	size_t max_bytes; /* of a message */
};

struct channel *channel_listen(struct hub *hub, const struct channel_listen_options *options,
    const struct channel_callbacks *callbacks, struct err *err);

struct channel_connect_options {
	const char *endpoint;
	const struct key_pair *keys; /* NULL on ipc */
	const char *server_key; /* NULL on ipc */
	size_t max_bytes;
	int64_t jitter_us; /* reconnects are spread over 0..this */
};

struct channel *channel_connect(struct hub *hub, const struct channel_connect_options *options,
    const struct channel_callbacks *callbacks, struct err *err);

/* Without gone callbacks; not from within a callback. */
void channel_destroy(struct channel *channel);

/* Where it listens (the port that tcp://HOST:* became) or connects to. */
const char *channel_endpoint(const struct channel *channel);

/* The epoch that every later message carries in its envelope. */
void channel_set_epoch(struct channel *channel, uint64_t epoch);

/* m's envelope is filled in here; kind must be set. */
int channel_send(
    struct channel *channel, struct peer *peer, struct message *m, bool reliable, struct err *err);

/* Acknowledges all that has been handed to the message callback so far, of every peer. */
void channel_acknowledge(struct channel *channel);

/* Reliable messages to this peer that it has not acknowledged. */
size_t peer_outgoing(const struct peer *peer);
/* The name hub_key_name_f gave; on ipc "uid:N". */
const char *peer_name(const struct peer *peer);
const char *peer_address(const struct peer *peer);
/* For whoever uses the channel: something of its own a peer. */
void peer_set_user(struct peer *peer, void *user);
void *peer_user(const struct peer *peer);
/* Says REFUSED with the reason and forgets the peer, without the gone callback. The connecting
 * end hands a REFUSED on, calls gone and tries again later. */
void channel_refuse(struct channel *channel, struct peer *peer, const char *reason);

/* Ends all connections of this name, with REFUSED and the gone callback: its key is in no list now. */
void channel_revoke(struct channel *channel, const char *name, const char *reason);

struct channel_counts {
	uint64_t sent, received, resent, dropped_soft, refused, repeated;
};

void channel_counts_get(const struct channel *channel, struct channel_counts *ret_counts);

#endif
