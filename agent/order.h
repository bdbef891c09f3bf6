/* order.h - the files of an attempt's folder: what to do, and what came of it
 *
 * Shape:  text, a "key=value" a line; unknown keys are passed over, so that an agent
 *         N reads the files of a keeper N-1 and the other way round. The folder:
 *           order        written by the agent before the keeper starts
 *           keeper.sock  the keeper's socket, while it lives (keeper_client.h)
 *           log          what the recipe printed, both streams, as it came
 *           marks        phases the recipe itself told: FLYBALL_MARKS, a line each
 *           result       written last, atomically, when the process tree is empty
 *         A result without a keeper is the end of an attempt; neither is a lost one.
 * Units:  as message.h.
 * Errors: a file that is missing, cut or malformed is named with its line.
 * Memory: by value; nothing to free.
 * Source: docs/architecture.md "Keeper".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_ORDER_H
#define FLYBALL_ORDER_H

#include "proto/base/err.h"
#include "proto/message.h"

enum pool_kind {
	POOL_PIPES, /* two pipes: GNU make, BSD make */
	POOL_FIFO /* one named pipe: ninja 1.13 and later; shrinks slowly */
};

/* All that a keeper needs to know; start is as the coordinator sent it. */
struct order {
	struct message_start start;
	char program[SOURCE_SIZE]; /* the recipe's executable; run as "program build" */
	char source[SOURCE_SIZE]; /* absolute: the root and start.source */
	char work[SOURCE_SIZE]; /* this attempt's own workspace; made and removed by the keeper */
	char out[SOURCE_SIZE]; /* FLYBALL_OUT */
	char tag[UUID_SIZE]; /* in the environment of every process: FLYBALL_TAG */
	enum pool_kind pool;
	int32_t limit; /* of this build at the start */
	int32_t ceiling; /* the per-make cap handed to BSD make */
	int64_t log_cap_bytes;
};

int order_write(const char *folder, const struct order *order, struct err *err);
int order_read(const char *folder, struct order *ret_order, struct err *err);

/* A usage as numbers with spaces between, as the keeper says it and the agent keeps it. */
enum { USAGE_TEXT_SIZE = 256 };
void usage_print(const struct usage *usage, char *buf, size_t size);
/* What stands behind the numbers; NULL when they are not all there. */
const char *usage_parse(const char *text, struct usage *ret_usage);

/* The keeper's last word. status.phase, steps and percent are the agent's to fill in, from the
 * log. reason says what a person needs to know, "" for ok. */
int result_write(const char *folder, const struct message_attempt *attempt, struct err *err);
/* 0; -1 with err; *ret_there false (and 0) when there is none yet. */
int result_read(
    const char *folder, struct message_attempt *ret_attempt, bool *ret_there, struct err *err);

#endif
