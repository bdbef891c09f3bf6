/* session.h - what an agent knows, and what it does when something happens
 *
 * Shape:  pure: no I/O and no clock. Inputs are messages, keepers' readings and the time;
 *         outputs are actions, in a queue that the driver empties after each input.
 *         An attempt is held from its START until the coordinator says LOG_HAVE with
 *         complete (result and log are both safe there) or unwanted.
 * Units:  mono_us of this machine.
 * Errors: none; what makes no sense becomes an ACTION_SAY and is ignored.
 * Memory: create/destroy. What an action points to is borrowed until the next input.
 * Source: docs/decisions/0007-agent.md; docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SESSION_H
#define FLYBALL_SESSION_H

#include "proto/message.h"

struct session;

enum action_kind {
	ACTION_SEND, /* message; reliable */
	ACTION_START, /* start, limit: keep the order, start a keeper; then session_started or
			     session_not_started */
	ACTION_REFUSED, /* start, text: keep it as a result, it is told already */
	ACTION_LIMIT, /* id, limit: of this build, for its keeper */
	ACTION_CANCEL, /* id, text */
	ACTION_LOG, /* id, fence, offset, nbytes, last: send that part of the log */
	ACTION_FORGET, /* id: remove all that is kept of it */
	ACTION_KEEP, /* epoch, limit (of the host): keep them on disk */
	ACTION_RECONNECT, /* the connection is of no use: make a new one */
	ACTION_SAY, /* text: one line for the log; urgent: a warning */
	ACTION_PAUSE, /* id, paused, duration_us: of this build, for its keeper */
	ACTION_KINDS
};

const char *action_kind_name(enum action_kind kind);

struct action {
	enum action_kind kind;
	bool reliable, last, urgent;
	attempt_id id;
	uint64_t fence, epoch;
	int32_t limit;
	int64_t offset, nbytes;
	bool paused;
	int64_t duration_us; /* 0: without end */
	struct message message;
	struct message_start start;
	char text[TEXT_SIZE];
};

/* facts is copied, its labels and recipes as well. */
struct session *session_create(const struct host_facts *facts);
void session_destroy(struct session *session);

/* What the last run of the agent kept; limit 0: none. */
void session_recall(struct session *session, uint64_t epoch, int32_t limit);
/* An attempt found at the start: it runs on (status), or has ended (then session_ended follows). */
void session_adopt(struct session *session, const struct message_start *start,
    const struct attempt_status *status);

void session_connected(struct session *session, mono_us now);
void session_gone(struct session *session);
void session_message(struct session *session, mono_us now, const struct message *m);

/* The answers to ACTION_START. */
void session_started(struct session *session, mono_us now, attempt_id id);
void session_not_started(struct session *session, mono_us now, attempt_id id, const char *reason);

/* A keeper's reading, with phase, steps, percent, serial and ungoverned from the log. */
void session_stat(
    struct session *session, mono_us now, attempt_id id, const struct attempt_status *s);
/* The attempt's keeper is gone, and this is the result; its log has status.log_bytes. */
void session_ended(struct session *session, mono_us now, const struct message_attempt *attempt);
/* The operator's gauges as they stand; borrowed until the next call. */
void session_gauges(struct session *session, const struct gauge *gauges, size_t n);
/* Once a second. */
void session_tick(
    struct session *session, mono_us now, int64_t wall_offset_us, const struct load *load);

/* The next thing to do; false when there is none. */
bool session_next(struct session *session, struct action *ret_action);

int32_t session_limit(const struct session *session); /* of the host */
int64_t session_steps(const struct session *session); /* begun since the start, all builds */
size_t session_running(const struct session *session); /* attempts that have not ended */

/* One build's claim on the host's limit. */
struct share {
	int32_t most; /* never more than this */
	int32_t want; /* what it could use now */
};

/* Divides the host's limit: one step each, even when that is more than the limit; then evenly up to
 * what each wants; then evenly up to the most. */
void session_share(int32_t host_limit, const struct share *shares, size_t n, int32_t *ret_limits);

#endif
