/* client.h - the connection to a coordinator: one request, one reply
 *
 * Shape:  client_ask blocks until the reply, or says why there is none in the reply's own words
 *         and status. A request that changes something goes out once: when its connection
 *         breaks, nobody here knows whether it was heard, and the reply says so. Where nobody
 *         listens it is tried again for two seconds.
 * Units:  durations in us.
 * Errors: as statuses: unreachable, denied, timed out.
 * Memory: requests own copies of their texts; a reply is the caller's (reply_clear).
 * Source: docs/protocol.md "Operators".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CLIENT_H
#define FLYBALL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/message.h"

struct request {
	struct message_request body;
	size_t capacity;
	bool once; /* it changes something */
};

void request_init(struct request *r, const char *verb, bool once);
void request_add(struct request *r, const char *key, const char *value); /* NULL value: nothing */
void request_add_number(struct request *r, const char *key, int64_t n);
void request_clear(struct request *r);

struct client;

struct client_options {
	const char *server; /* endpoint */
	const char *key; /* key file; NULL on ipc */
	const char *server_key; /* Z85 or a file; NULL on ipc */
	int64_t timeout_us;
};

struct client *client_create(const struct client_options *options, struct err *err);
void client_destroy(struct client *client);

/* ret_reply's status says what came of it. */
void client_ask(
    struct client *client, const struct request *request, struct message_reply *ret_reply);
void reply_clear(struct message_reply *reply);

/* Waits, with the connection kept alive; false when the operator pressed ^C. */
bool client_sleep(struct client *client, int64_t us);
/* From now on ^C ends client_sleep and client_ask instead of the process. */
void client_catch_interrupt(struct client *client);
bool client_interrupted(const struct client *client);

#endif
