/* keeper_door.h - the keeper's socket: agents come, ask and steer
 *
 * Shape:  a SOCK_SEQPACKET socket ./keeper.sock for this user alone; a message is a line of words
 *         as in keeper_client.h. Several clients may be there; the oldest gives way.
 * Units:  none.
 * Errors: only opening can fail. A client that does not read loses what does not fit; one
 *         that says what is not understood is passed over.
 * Memory: open/close.
 * Source: docs/tokens.md "Keeper".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_DOOR_H
#define FLYBALL_KEEPER_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/limits.h"

enum { DOOR_CLIENTS = 8 };

struct door {
	int listen_fd;
	int clients[DOOR_CLIENTS]; /* -1: free */
	int next; /* whose place is taken when all are */
	bool greeted; /* some client has ever said hello */
};

enum door_word {
	DOOR_NOTHING,
	DOOR_LIMIT,
	DOOR_CANCEL,
	DOOR_STAT,
	DOOR_USAGE,
	DOOR_PAUSE,
	DOOR_CONTINUE
};

struct door_message {
	enum door_word word;
	int limit;
	int64_t duration_us; /* of a pause; 0: without end */
	char reason[TEXT_SIZE];
};

int door_open(struct door *door, struct err *err);
void door_close(struct door *door); /* and removes the socket */
void door_accept(struct door *door);
/* One message of a client; false when there is none. A client that left is forgotten. */
bool door_read(struct door *door, int client, struct door_message *ret_message);
void door_say(struct door *door, int client, const char *text);
void door_say_all(struct door *door, const char *text);

#endif
