/* session_held.h - the attempts a session holds; for session*.c alone
 *
 * Shape:  struct session in the open, and the parts its files give each other: the queue of
 *         actions and what is held (session_held.c), the life of an attempt (session_attempt.c),
 *         the sharing of the limit (session_limit.c), the way of a log (session_log.c).
 * Units:  as session.h.
 * Errors: none.
 * Memory: owned by the session.
 * Source: session.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SESSION_HELD_H
#define FLYBALL_SESSION_HELD_H

#include "agent/guard.h"
#include "agent/session.h"

struct held {
	struct message_start start;
	struct attempt_status status;
	struct attempt_result result; /* when the state is ATTEMPT_ENDED; phases are owned */
	bool unwanted; /* the coordinator does not want to hear of it */

	bool begun; /* has a keeper that can be told */
	int32_t limit; /* last told to its keeper */
	bool pause_told; /* its keeper knows whether it is paused */
	bool paused; /* as last told */
	mono_us hungry_till; /* was short of tokens a moment ago */
	int32_t peak; /* most steps at once lately */
	mono_us peak_at;

	int64_t log_have; /* the coordinator has all before */
	int64_t log_sent;
	bool log_asked; /* the coordinator will say where it is */
	bool last_sent;
	int last_tries; /* since the last tick: an answer may ask for the end again */
	mono_us log_moved_at; /* when log_have rose or sending began */
};

struct session {
	struct host_facts facts;
	uint64_t epoch;
	int32_t limit; /* the coordinator's, of the host; 0: nobody has said */
	struct guard guard;
	bool pause_known; /* the coordinator has said whether the host is paused */
	bool paused;
	mono_us pause_until; /* 0: without end */
	bool connected, welcomed;
	mono_us hello_at;
	mono_us retry_at; /* 0: none; when to make a new connection */
	int64_t report_busy_us, report_idle_us;
	mono_us reported_at;
	int64_t wall_offset_us;
	struct load load;
	const struct gauge *gauges; /* borrowed */
	size_t ngauges;
	int64_t steps; /* of all attempts, also of those that have ended */

	struct held *held;
	size_t nheld, held_capacity;

	struct action *queue;
	size_t nqueue, queue_capacity, queue_at;
	struct attempt_status *listed; /* what the last HELLO or REPORT points to */
};

/* ---- session_held.c ---- */

/* A fresh action at the end of the queue; valid until the next call. */
struct action *session_do(struct session *session, enum action_kind kind);
struct message *session_post(struct session *session, enum message_kind kind, bool reliable);
void session_say(struct session *session, bool urgent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct held *held_find(struct session *session, attempt_id id);
struct held *session_hold(struct session *session, const struct message_start *start);
void session_forget(struct session *session, struct held *held);

void session_keep(struct session *session); /* epoch and limit */
void session_set_limit(struct session *session, int32_t limit);
/* ATTEMPT, when there is somebody who wants to hear it. */
void session_tell(struct session *session, const struct held *held);

/* ---- session_attempt.c ---- */

void session_start(struct session *session, mono_us now, const struct message_start *m);
void session_cancel(struct session *session, const struct message_cancel *m);
void session_log_have(struct session *session, mono_us now, const struct message_log_have *m);

/* ---- session_limit.c ---- */

/* The limit that holds now: the coordinator's, or the guard's, which is less; 0: none. */
int32_t session_in_force(const struct session *session);
/* Once a second, before the division: judges the load; true when the limit in force is another. */
bool session_guard(struct session *session, mono_us now);
/* Brings each build's limit to its share; tells keepers what has changed. */
void session_divide(struct session *session, mono_us now);
/* The coordinator's word on whether the host is paused, and for how long (0: without end). */
void session_pause(struct session *session, mono_us now, bool paused, int64_t for_us);
/* Tells the keeper of one build, if it does not know. */
void held_pause(struct session *session, struct held *held, mono_us now);
/* A reading says what a build could use. */
void held_appetite(struct held *held, mono_us now);

/* ---- session_log.c ---- */

/* After a WELCOME: wait for the coordinator to say where it is. */
void held_log_begin(struct held *held, mono_us now);
void held_log_have(struct held *held, mono_us now, int64_t offset);
/* Once a second. */
void held_log_tick(struct held *held);
/* Sends what the window allows. */
void session_log_send(struct session *session, mono_us now, struct held *held);

#endif
