/* The connecting end makes a new socket for each attempt and lets libzmq try only
 * once: what was queued for the old connection then cannot slip into the new one in
 * front of its HELLO, the waiting times are ours, and a failed handshake is neither
 * repeated at once nor given up for ever.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel_internal.h"

enum { CONNECT_QUEUE = 256, RETRY_EXPONENT_MAX = 6 };

#define RETRY_FIRST_US (SECOND_US / 2)
#define RETRY_MOST_US (30 * SECOND_US)
#define ATTEMPT_US (15 * SECOND_US)

static int
open_connection(struct channel *c, struct err *err)
{
	c->socket = channel_make_socket(c, ZMQ_DEALER, CONNECT_QUEUE);
	if (c->socket == NULL)
		return err_set(
		    err, "%s: cannot make a socket: %s", c->endpoint, zmq_strerror(errno));
	channel_set_int(c->socket, ZMQ_IMMEDIATE, 1);
	channel_set_int(c->socket, ZMQ_RECONNECT_IVL, -1);
	if (!c->ipc) {
		channel_set_text(c->socket, ZMQ_CURVE_SERVERKEY, c->server_key);
		channel_set_text(c->socket, ZMQ_CURVE_PUBLICKEY, c->keys.public_key);
		channel_set_text(c->socket, ZMQ_CURVE_SECRETKEY, c->keys.secret_key);
	}
	if (monitor_start(c, err) != 0)
		return -1;
	if (zmq_connect(c->socket, c->endpoint) != 0)
		return err_set(
		    err, "%s: cannot connect there: %s", c->endpoint, zmq_strerror(errno));
	c->socket_watch = loop_socket_add(c->hub->loop, c->socket, channel_readable, c);
	loop_timer_reset(c->retry, ATTEMPT_US, 0);
	return 0;
}

static int64_t
random_up_to(int64_t most_us)
{
	uint32_t most_ms = (uint32_t)(most_us / 1000);

	return most_ms > 0 ? (int64_t)randombytes_uniform(most_ms) * 1000 : 0;
}

/* A lost connection was lost by all: the jitter keeps them from coming back at once. After
 * failed attempts they are spread already. */
static int64_t
retry_delay(struct channel *c, bool was_up)
{
	unsigned exponent = c->failures < RETRY_EXPONENT_MAX ? c->failures : RETRY_EXPONENT_MAX;
	int64_t delay = RETRY_FIRST_US << exponent;

	if (delay > RETRY_MOST_US)
		delay = RETRY_MOST_US;
	if (was_up && c->failures == 0)
		return delay + random_up_to(c->jitter_us);
	return delay + random_up_to(delay < c->jitter_us ? delay : c->jitter_us);
}

void
channel_up(struct channel *c)
{
	struct peer *peer;

	c->up = true;
	loop_timer_reset(c->retry, INT64_C(3650) * 24 * HOUR_US, 0);
	peer = peer_create(c, NULL, 0, "coordinator", c->endpoint);
	if (c->callbacks.connected != NULL)
		c->callbacks.connected(c->callbacks.arg, peer);
}

void
channel_down(struct channel *c, const char *why)
{
	bool was_up = c->up;
	int64_t delay;

	c->up = false;
	channel_close_socket(c);
	delay = retry_delay(c, was_up);
	c->failures++;
	loop_timer_reset(c->retry, delay, 0);
	channel_trouble(c, "%s; retrying", why);
	if (c->peers != NULL)
		peer_drop(c->peers, why);
}

/* The time for an attempt is over, or the time before the next one. */
static void
on_retry(void *arg)
{
	struct channel *c = arg;
	char why[WHY_SIZE];
	struct err err;

	if (c->up)
		return;
	if (c->socket != NULL) {
		snprintf(why, sizeof why,
		    "%s does not answer: is the name of the host right, and is it up?",
		    c->endpoint);
		channel_down(c, why);
		return;
	}
	if (open_connection(c, &err) != 0)
		channel_down(c, err.text);
}

struct channel *
channel_connect(struct hub *hub, const struct channel_connect_options *options,
    const struct channel_callbacks *callbacks, struct err *err)
{
	bool keys = options->keys != NULL && options->server_key != NULL;
	struct channel *c;

	if (channel_check_endpoint(options->endpoint, keys, err) != 0)
		return NULL;
	if (keys && !key_text_ok(options->server_key)) {
		err_set(err, "%s: the server key is damaged: 40 characters of Z85 were expected",
		    options->endpoint);
		return NULL;
	}
	c = channel_create(hub, options->endpoint, options->max_bytes, callbacks);
	c->retry = loop_timer_add(hub->loop, ATTEMPT_US, 0, on_retry, c);
	c->jitter_us = options->jitter_us;
	if (!c->ipc) {
		assert(options->keys != NULL);
		c->keys = *options->keys;
		mem_copy_text(c->server_key, sizeof c->server_key, options->server_key);
	}
	if (open_connection(c, err) != 0) {
		channel_destroy(c);
		return NULL;
	}
	return c;
}
