/* The life of an attempt: refused or started, cancelled, ended, and forgotten when the coordinator
 * needs nothing more of it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session_held.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

/* Leaves room in HELLO and REPORT for attempts that are refused. */
enum { HELD_MOST = ATTEMPTS_MAX - SLOTS_MAX };

/* ---- starting ---- */

static void
end(struct session *session, mono_us now, struct held *held)
{
	held->status.state = ATTEMPT_ENDED;
	held->status.running = 0;
	held->status.limited = false;
	session_divide(session, now);
	if (held->unwanted) {
		session_forget(session, held);
		return;
	}
	session_tell(session, held);
	session_log_send(session, now, held);
}

static void
refuse(struct session *session, mono_us now, struct held *held, const char *reason)
{
	struct action *action;

	held->result.outcome = OUTCOME_REFUSED;
	mem_copy_text(held->result.reason, sizeof held->result.reason, reason);
	session_say(
	    session, true, "attempt refused: %s attempt=%" PRIu64, reason, held->start.id.n);
	action = session_do(session, ACTION_REFUSED);
	action->id = held->start.id;
	action->start = held->start;
	mem_copy_text(action->text, sizeof action->text, reason);
	end(session, now, held);
}

/* What can be told without a look at the disk; "" when nothing stands against it. */
static void
object(const struct session *session, const struct message_start *m, char reason[TEXT_SIZE])
{
	bool known = false;

	reason[0] = '\0';
	for (size_t i = 0; i < session->facts.nrecipes; i++)
		known = known || strcmp(session->facts.recipes[i], m->recipe) == 0;
	if (!known)
		snprintf(reason, TEXT_SIZE,
		    "the recipe \"%s\" is not installed on this host, or is not executable or has "
		    "a "
		    "faulty .progress file (see the agent's log)",
		    m->recipe);
	else if (session_running(session) >= (size_t)session->facts.slots)
		snprintf(reason, TEXT_SIZE, "all %d slots of this host are taken",
		    (int)session->facts.slots);
	else if (session->nheld >= HELD_MOST)
		snprintf(reason, TEXT_SIZE,
		    "this host still keeps %zu attempts whose logs the coordinator has not taken: "
		    "see "
		    "why not in the coordinator's log",
		    session->nheld);
	else if (m->need_memory_bytes > session->facts.memory_bytes)
		snprintf(reason, TEXT_SIZE,
		    "the build needs %" PRId64 " bytes of memory and this host has %" PRId64,
		    m->need_memory_bytes, session->facts.memory_bytes);
}

static void
start_again(struct session *session, const struct held *held, const struct message_start *m)
{
	if (m->fence == held->start.fence)
		session_tell(session, held);
	else
		session_say(session, true,
		    "START with fence %" PRIu64 " for an attempt held with fence %" PRIu64
		    ", ignoring attempt=%" PRIu64,
		    m->fence, held->start.fence, m->id.n);
}

void
session_start(struct session *session, mono_us now, const struct message_start *m)
{
	struct held *held = held_find(session, m->id);
	struct action *action;
	char reason[TEXT_SIZE];

	if (held != NULL) {
		start_again(session, held, m);
		return;
	}
	session_set_limit(session, m->limit);
	object(session, m, reason);
	held = session_hold(session, m);
	held->log_moved_at = now;
	if (reason[0] != '\0') {
		refuse(session, now, held, reason);
		return;
	}
	held->hungry_till = mono_add(now, 5 * SECOND_US);
	held->limit = 1; /* until it has begun, so that what others let go comes first */
	session_divide(session, now);
	action = session_do(session, ACTION_START);
	action->id = m->id;
	action->start = *m;
	action->limit = held->limit;
}

void
session_started(struct session *session, mono_us now, attempt_id id)
{
	struct held *held = held_find(session, id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
	session_say(session, false,
	    "attempt began attempt=%" PRIu64 " branch=%s target=%s limit=%d", id.n,
	    held->start.branch, held->start.target, (int)held->limit);
	held->begun = true;
	held->status.limit = held->limit;
	held_pause(session, held, now);
	session_tell(session, held);
	session_divide(session, now);
}

void
session_not_started(struct session *session, mono_us now, attempt_id id, const char *reason)
{
	struct held *held = held_find(session, id);

	if (held != NULL && held->status.state != ATTEMPT_ENDED)
		refuse(session, now, held, reason);
}

/* ---- cancelling ---- */

static void
cancel_unknown(struct session *session, const struct message_cancel *m)
{
	struct message_attempt *attempt = &session_post(session, MESSAGE_ATTEMPT, true)->attempt;

	attempt->status.id = m->id;
	attempt->status.fence = m->fence;
	attempt->status.state = ATTEMPT_ENDED;
	attempt->status.percent = -1;
	attempt->result.outcome = OUTCOME_LOST;
	snprintf(attempt->result.reason, sizeof attempt->result.reason,
	    "this agent does not know attempt %" PRIu64, m->id.n);
}

void
session_cancel(struct session *session, const struct message_cancel *m)
{
	struct held *held = held_find(session, m->id);
	struct action *action;

	if (held == NULL) {
		cancel_unknown(session, m);
	} else if (m->fence != held->start.fence) {
		session_say(session, true,
		    "CANCEL with fence %" PRIu64 " for an attempt held with fence %" PRIu64
		    ", ignoring attempt=%" PRIu64,
		    m->fence, held->start.fence, m->id.n);
	} else if (held->status.state == ATTEMPT_ENDED) {
		session_tell(session, held);
	} else {
		session_say(session, false, "cancelling: %s attempt=%" PRIu64, m->reason, m->id.n);
		action = session_do(session, ACTION_CANCEL);
		action->id = m->id;
		mem_copy_text(action->text, sizeof action->text, m->reason);
	}
}

/* ---- readings and the end ---- */

void
session_stat(struct session *session, mono_us now, attempt_id id, const struct attempt_status *s)
{
	struct held *held = held_find(session, id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
	if (s->steps > held->status.steps)
		session->steps += s->steps - held->status.steps;
	held->status = *s;
	held->status.id = id;
	held->status.fence = held->start.fence;
	held->status.state = ATTEMPT_RUNNING; /* until its result is here */
	held->limit = s->limit; /* if it differs, it will be told again */
	held_appetite(held, now);
	session_divide(session, now);
	session_log_send(session, now, held);
}

static void
copy_result(struct held *held, const struct message_attempt *attempt)
{
	size_t n = attempt->result.nphases;

	free(held->result.phases);
	held->status = attempt->status;
	held->status.id = held->start.id;
	held->status.fence = held->start.fence;
	held->result = attempt->result;
	held->result.phases = mem_calloc(n + 1, sizeof *held->result.phases);
	if (n > 0)
		memcpy(
		    held->result.phases, attempt->result.phases, n * sizeof *held->result.phases);
}

void
session_ended(struct session *session, mono_us now, const struct message_attempt *attempt)
{
	struct held *held = held_find(session, attempt->status.id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
	copy_result(held, attempt);
	session_say(session, false, "attempt ended attempt=%" PRIu64 " outcome=%s%s%s",
	    held->start.id.n, outcome_name(held->result.outcome),
	    held->result.reason[0] != '\0' ? ": " : "", held->result.reason);
	end(session, now, held);
}

void
session_log_have(struct session *session, mono_us now, const struct message_log_have *m)
{
	struct held *held = held_find(session, m->id);

	if (held == NULL)
		return;
	if (m->unwanted)
		held->unwanted = true;
	if (held->status.state == ATTEMPT_ENDED && (m->unwanted || m->complete)) {
		session_forget(session, held);
		return;
	}
	held_log_have(held, now, m->offset);
	session_log_send(session, now, held);
}
