/* channel_internal.h - what hub.c, peer.c, monitor.c and channel.c share
 *
 * Shape:  a hub has channels, a channel has peers. peer.c knows sequence numbers,
 *         monitor.c puts libzmq's events into words, channel.c joins them.
 * Units:  mono_us.
 * Errors: as channel.h.
 * Memory: as channel.h.
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CHANNEL_INTERNAL_H
#define FLYBALL_CHANNEL_INTERNAL_H

#include "proto/channel.h"

enum { ROUTING_ID_MAX = 255, TROUBLES = 16, ACCEPTED = 64, ADDRESS_SIZE = 64, WHY_SIZE = 640 };

#define HEARTBEAT_MS 15000
#define HEARTBEAT_TIMEOUT_MS 45000
#define HANDSHAKE_MS 5000
#define KEEP_ALIVE_US (15 * SECOND_US)
#define SILENCE_US (60 * SECOND_US)
#define RESEND_FIRST_US (2 * SECOND_US)
#define RESEND_MOST_US (30 * SECOND_US)
#define TICK_US SECOND_US

struct hub {
	struct loop *loop;
	void *context;
	void *zap;
	struct loop_watch *zap_watch;
	hub_key_name_f key_name;
	hub_uid_ok_f uid_ok;
	void *arg;
	struct channel *channels;
	unsigned monitors; /* for their names */
};

/* A reliable message until it is acknowledged. */
struct outgoing {
	struct outgoing *next;
	uint64_t seq;
	bool sent;
	size_t nbytes;
	uint8_t *bytes;
};

struct peer {
	struct channel *channel;
	struct peer *next, *prev;
	struct peer *same_name; /* another one */
	struct peer *next_unacknowledged;
	bool unacknowledged; /* is in the channel's list */
	size_t id_size; /* 0 on the connecting end */
	uint8_t id[ROUTING_ID_MAX];
	char *name, *address;
	void *user;
	bool dying, silent; /* to be forgotten soon; silent: without the gone callback */
	char why[WHY_SIZE];

	uint64_t seq_out; /* the last one given */
	struct outgoing *first, *last;
	struct outgoing *unsent; /* the first that is (again) to be sent */
	size_t noutgoing;
	mono_us resend_at;
	int64_t resend_delay_us;

	uint64_t seq_in; /* the last handed on */
	uint64_t ack_out; /* the last acknowledged */
	bool ack_owed;
	mono_us heard_at, said_at;
};

/* What the monitor of a listening socket knows of who came last. */
struct accepted {
	int fd;
	char address[ADDRESS_SIZE];
};

struct trouble {
	uint64_t hash;
	mono_us at;
};

struct channel {
	struct hub *hub;
	struct channel *next;
	struct channel_callbacks callbacks;
	bool listening, ipc;
	char *endpoint, *domain;
	struct key_pair keys;
	char server_key[KEY_TEXT_SIZE];
	size_t max_bytes;
	int64_t jitter_us;

	void *socket, *monitor;
	struct loop_watch *socket_watch, *monitor_watch, *tick, *kick;
	bool kicked;
	mono_us kick_at, ticked_at;
	uint64_t epoch;
	struct channel_counts counts;

	struct peer *peers;
	void *by_id, *by_name; /* of tsearch(3) */
	struct peer *unacknowledged; /* those that said more than was acknowledged */

	/* connecting end */
	struct loop_watch *retry;
	bool up;
	unsigned failures; /* attempts in a row that came to nothing */

	struct trouble troubles[TROUBLES];
	struct accepted accepted[ACCEPTED];
	unsigned naccepted;
	bool disconnected; /* some peer, since the last tick */
	char failure[WHY_SIZE]; /* of a handshake, until its DISCONNECTED names the address */
};

/* An IPv4 address that an IPv6 socket shows as ::ffff:1.2.3.4, without that. */
const char *plain_address(const char *address);

/* channel.c */
void channel_trouble(struct channel *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Wakes the channel after delay_us to do what could not be done at once. */
void channel_kick(struct channel *c, int64_t delay_us);
int channel_check_endpoint(const char *endpoint, bool keys, struct err *err);
/* In the hub's list, without a socket. */
struct channel *channel_create(struct hub *hub, const char *endpoint, size_t max_bytes,
    const struct channel_callbacks *callbacks);
/* With what all sockets have set; queue: messages to and from one peer. NULL: errno. */
void *channel_make_socket(struct channel *c, int type, int queue);
void channel_set_int(void *socket, int option, int value);
void channel_set_text(void *socket, int option, const char *text);
void channel_close_socket(struct channel *c);
/* A message is there: loop_f for a channel. */
void channel_readable(void *arg);

/* connect.c: the connecting end, by its monitor. */
void channel_up(struct channel *c);
void channel_down(struct channel *c, const char *why);

/* monitor.c */
int monitor_start(struct channel *c, struct err *err);
void monitor_stop(struct channel *c);

/* peer.c */
struct peer *peer_create(
    struct channel *c, const uint8_t *id, size_t id_size, const char *name, const char *address);
struct peer *peer_find(struct channel *c, const uint8_t *id, size_t id_size);
/* One of those with this name, or NULL. */
struct peer *peer_find_named(struct channel *c, const char *name);
/* Unlinks and frees it; the gone callback first, unless the peer is silent. */
void peer_drop(struct peer *peer, const char *why);
/* To be dropped soon, when no caller holds it any more. */
void peer_mark_gone(struct peer *peer, const char *why);
int peer_send(struct peer *peer, struct message *m, bool reliable, struct err *err);
void peer_flush(struct peer *peer);
void peer_take_ack(struct peer *peer, uint64_t ack);
/* True when the message is to be handed on. */
bool peer_take_seq(struct peer *peer, uint64_t seq);
void peer_send_ack(struct peer *peer);
/* All that was handed on, of every peer. */
void peer_acknowledge_all(struct channel *c);
void peer_tick(struct peer *peer, mono_us now);
/* REFUSED to a connection that may have no peer. */
void peer_send_refused(struct channel *c, const uint8_t *id, size_t id_size, const char *reason);

#endif
