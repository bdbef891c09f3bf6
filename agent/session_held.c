/* The queue of actions, and what is held. An action is filled in where it stands, so what it points to
 * must live until the driver has emptied the queue; nothing held is freed by what is queued behind it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session_held.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

const char *
action_kind_name(enum action_kind kind)
{
	static const char *const names[] = { "send", "start", "refused", "limit", "cancel", "log",
		"forget", "keep", "reconnect", "say", "pause" };

	_Static_assert(sizeof names / sizeof names[0] == ACTION_KINDS, "a name for each kind");
	return (unsigned)kind < ACTION_KINDS ? names[kind] : "?";
}

/* ---- the queue ---- */

struct action *
session_do(struct session *session, enum action_kind kind)
{
	struct action *action;

	session->queue = mem_room(
	    session->queue, session->nqueue, &session->queue_capacity, sizeof *session->queue);
	action = &session->queue[session->nqueue++];
	memset(action, 0, sizeof *action);
	action->kind = kind;
	return action;
}

bool
session_next(struct session *session, struct action *ret_action)
{
	if (session->queue_at == session->nqueue) {
		session->queue_at = session->nqueue = 0;
		return false;
	}
	*ret_action = session->queue[session->queue_at++];
	return true;
}

void
session_say(struct session *session, bool urgent, const char *format, ...)
{
	struct action *action = session_do(session, ACTION_SAY);
	va_list ap;

	action->urgent = urgent;
	va_start(ap, format);
	vsnprintf(action->text, sizeof action->text, format, ap);
	va_end(ap);
}

struct message *
session_post(struct session *session, enum message_kind kind, bool reliable)
{
	struct action *action = session_do(session, ACTION_SEND);

	action->reliable = reliable;
	action->message.envelope.kind = kind;
	return &action->message;
}

/* ---- what is held ---- */

struct held *
held_find(struct session *session, attempt_id id)
{
	for (size_t i = 0; i < session->nheld; i++) {
		if (session->held[i].start.id.n == id.n)
			return &session->held[i];
	}
	return NULL;
}

struct held *
session_hold(struct session *session, const struct message_start *start)
{
	struct held *held;

	session->held =
	    mem_room(session->held, session->nheld, &session->held_capacity, sizeof *session->held);
	held = &session->held[session->nheld++];
	memset(held, 0, sizeof *held);
	held->start = *start;
	held->status = (struct attempt_status){
		.id = start->id, .fence = start->fence, .state = ATTEMPT_RUNNING, .percent = -1
	};
	return held;
}

void
session_forget(struct session *session, struct held *held)
{
	size_t at = (size_t)(held - session->held);

	session_do(session, ACTION_FORGET)->id = held->start.id;
	free(held->result.phases);
	session->nheld--;
	memmove(held, held + 1, (session->nheld - at) * sizeof *held);
}

size_t
session_running(const struct session *session)
{
	size_t n = 0;

	for (size_t i = 0; i < session->nheld; i++)
		n += session->held[i].status.state != ATTEMPT_ENDED;
	return n;
}

int32_t
session_limit(const struct session *session)
{
	return session->limit;
}

int64_t
session_steps(const struct session *session)
{
	return session->steps;
}

void
session_keep(struct session *session)
{
	struct action *action = session_do(session, ACTION_KEEP);

	action->epoch = session->epoch;
	action->limit = session->limit;
}

void
session_set_limit(struct session *session, int32_t limit)
{
	if (limit < 1 || limit == session->limit)
		return;
	session->limit = limit < JOBS_MAX ? limit : JOBS_MAX;
	session_keep(session);
}

void
session_tell(struct session *session, const struct held *held)
{
	struct message *m;

	if (!session->welcomed || held->unwanted)
		return;
	m = session_post(session, MESSAGE_ATTEMPT, true);
	m->attempt.status = held->status;
	m->attempt.result = held->result;
}
