/* The agent's half of the conversation. Whatever was promised survives the agent: an order is on
 * disk before START is acknowledged, a result is on disk before it is told, and neither is forgotten
 * before the coordinator has said that it is safe there. So every input may come twice.
 *
 * A coordinator that was restored from an old copy, or a second one, speaks with a lower epoch than
 * this agent has seen; it is not obeyed.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session_held.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

enum {
	REFUSED_RETRY_S = 30,
	HELLO_PATIENCE_S = 60,
	TICK_SLACK_MS = 200, /* a timer may come early or late by so much */
	BUSY_REPORT_S = 1, /* until a WELCOME says otherwise */
	IDLE_REPORT_S = 10
};

const char *
action_kind_name(enum action_kind kind)
{
	static const char *const names[] = { "send", "start", "refused", "limit", "cancel", "log",
		"forget", "keep", "reconnect", "say" };

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

static void say(struct session *session, bool urgent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
say(struct session *session, bool urgent, const char *format, ...)
{
	struct action *action = session_do(session, ACTION_SAY);
	va_list ap;

	action->urgent = urgent;
	va_start(ap, format);
	vsnprintf(action->text, sizeof action->text, format, ap);
	va_end(ap);
}

static struct message *
post(struct session *session, enum message_kind kind, bool reliable)
{
	struct action *action = session_do(session, ACTION_SEND);

	action->reliable = reliable;
	action->message.envelope.kind = kind;
	return &action->message;
}

/* ---- what is held ---- */

static struct held *
find(struct session *session, attempt_id id)
{
	for (size_t i = 0; i < session->nheld; i++) {
		if (session->held[i].start.id.n == id.n)
			return &session->held[i];
	}
	return NULL;
}

static struct held *
hold(struct session *session, const struct message_start *start)
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

static void
forget(struct session *session, struct held *held)
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

static void
keep(struct session *session)
{
	struct action *action = session_do(session, ACTION_KEEP);

	action->epoch = session->epoch;
	action->limit = session->limit;
}

/* ---- begin and end ---- */

static void *
copy_names(const void *names, size_t n)
{
	void *copy = mem_calloc(n + 1, NAME_SIZE);

	if (n > 0)
		memcpy(copy, names, n * NAME_SIZE);
	return copy;
}

struct session *
session_create(const struct host_facts *facts)
{
	struct session *session = mem_calloc(1, sizeof *session);

	session->facts = *facts;
	session->facts.labels = copy_names(facts->labels, facts->nlabels);
	session->facts.recipes = copy_names(facts->recipes, facts->nrecipes);
	session->report_busy_us = BUSY_REPORT_S * SECOND_US;
	session->report_idle_us = IDLE_REPORT_S * SECOND_US;
	session->load.missing = (UINT64_C(1) << LOAD_READINGS) - 1;
	return session;
}

void
session_destroy(struct session *session)
{
	if (session == NULL)
		return;
	for (size_t i = 0; i < session->nheld; i++)
		free(session->held[i].result.phases);
	free(session->facts.labels);
	free(session->facts.recipes);
	free(session->held);
	free(session->queue);
	free(session->listed);
	free(session);
}

void
session_recall(struct session *session, uint64_t epoch, int32_t limit)
{
	session->epoch = epoch;
	session->limit = limit;
}

void
session_adopt(
    struct session *session, const struct message_start *start, const struct attempt_status *status)
{
	struct held *held = hold(session, start);

	held->status = *status;
	held->status.id = start->id;
	held->status.fence = start->fence;
	held->limit = 0; /* not known: it will be told */
	held->begun = true;
}

/* ---- what is told ---- */

static void
tell_attempt(struct session *session, const struct held *held)
{
	struct message *m;

	if (!session->welcomed || held->unwanted)
		return;
	m = post(session, MESSAGE_ATTEMPT, true);
	m->attempt.status = held->status;
	m->attempt.result = held->result;
}

static struct attempt_status *
list_attempts(struct session *session, size_t *ret_n)
{
	free(session->listed);
	session->listed = mem_calloc(session->nheld + 1, sizeof *session->listed);
	for (size_t i = 0; i < session->nheld; i++)
		session->listed[i] = session->held[i].status;
	*ret_n = session->nheld;
	return session->listed;
}

static void
say_hello(struct session *session, mono_us now)
{
	struct message_hello *hello = &post(session, MESSAGE_HELLO, true)->hello;

	hello->version_min = PROTOCOL_VERSION_MIN;
	hello->version_max = PROTOCOL_VERSION;
	hello->host = session->facts;
	hello->attempts = list_attempts(session, &hello->nattempts);
	session->hello_at = now;
}

static void
report(struct session *session, mono_us now)
{
	struct message_report *r = &post(session, MESSAGE_REPORT, false)->report;

	memcpy(r->boot_id, session->facts.boot_id, sizeof r->boot_id);
	memcpy(r->start_id, session->facts.start_id, sizeof r->start_id);
	r->at = now;
	r->wall_offset_us = session->wall_offset_us;
	r->limit = session->limit;
	r->load = session->load;
	r->attempts = list_attempts(session, &r->nattempts);
	session->reported_at = now;
}

/* ---- the connection ---- */

void
session_connected(struct session *session, mono_us now)
{
	session->connected = true;
	session->welcomed = false;
	session->retry_at = (mono_us){ 0 };
	say_hello(session, now);
}

void
session_gone(struct session *session)
{
	session->connected = false;
	session->welcomed = false;
}

static void
welcome(struct session *session, mono_us now, const struct message_welcome *m)
{
	if (m->report_busy_us > 0)
		session->report_busy_us = m->report_busy_us;
	if (m->report_idle_us > 0)
		session->report_idle_us = m->report_idle_us;
	session->welcomed = true;
	session->retry_at = (mono_us){ 0 };
	say(session, false, "welcome as \"%s\" host=%s epoch=%" PRIu64 " attempts=%zu", m->host,
	    m->host, session->epoch, session->nheld);
	for (size_t i = 0; i < session->nheld; i++) {
		held_log_begin(&session->held[i], now);
		if (session->held[i].status.state == ATTEMPT_ENDED)
			tell_attempt(session, &session->held[i]);
	}
	report(session, now);
}

static void
refused(struct session *session, mono_us now, const struct message_refused *m)
{
	session->welcomed = false;
	session->retry_at = mono_add(now, REFUSED_RETRY_S * SECOND_US);
	say(session, true, "the coordinator refuses this host: %s; retrying in %d s", m->reason,
	    REFUSED_RETRY_S);
}

/* ---- starting ---- */

static void
end(struct session *session, mono_us now, struct held *held)
{
	held->status.state = ATTEMPT_ENDED;
	held->status.running = 0;
	held->status.limited = false;
	session_divide(session, now);
	if (held->unwanted) {
		forget(session, held);
		return;
	}
	tell_attempt(session, held);
	session_log_send(session, now, held);
}

static void
refuse(struct session *session, mono_us now, struct held *held, const char *reason)
{
	struct action *action;

	held->result.outcome = OUTCOME_REFUSED;
	mem_copy_text(held->result.reason, sizeof held->result.reason, reason);
	say(session, true, "attempt refused: %s attempt=%" PRIu64, reason, held->start.id.n);
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
	else if (m->need_memory_bytes > session->facts.memory_bytes)
		snprintf(reason, TEXT_SIZE,
		    "the build needs %" PRId64 " bytes of memory and this host has %" PRId64,
		    m->need_memory_bytes, session->facts.memory_bytes);
}

static void
set_limit(struct session *session, int32_t limit)
{
	if (limit < 1 || limit == session->limit)
		return;
	session->limit = limit < JOBS_MAX ? limit : JOBS_MAX;
	keep(session);
}

static void
start_again(struct session *session, const struct held *held, const struct message_start *m)
{
	if (m->fence == held->start.fence)
		tell_attempt(session, held);
	else
		say(session, true,
		    "START with fence %" PRIu64 " for an attempt held with fence %" PRIu64
		    ", ignoring attempt=%" PRIu64,
		    m->fence, held->start.fence, m->id.n);
}

static void
start(struct session *session, mono_us now, const struct message_start *m)
{
	struct held *held = find(session, m->id);
	struct action *action;
	char reason[TEXT_SIZE];

	if (held != NULL) {
		start_again(session, held, m);
		return;
	}
	set_limit(session, m->limit);
	object(session, m, reason);
	held = hold(session, m);
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
	struct held *held = find(session, id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
	say(session, false, "attempt began attempt=%" PRIu64 " branch=%s target=%s limit=%d", id.n,
	    held->start.branch, held->start.target, (int)held->limit);
	held->begun = true;
	held->status.limit = held->limit;
	tell_attempt(session, held);
	session_divide(session, now);
}

void
session_not_started(struct session *session, mono_us now, attempt_id id, const char *reason)
{
	struct held *held = find(session, id);

	if (held != NULL && held->status.state != ATTEMPT_ENDED)
		refuse(session, now, held, reason);
}

/* ---- commands ---- */

static void
cancel_unknown(struct session *session, const struct message_cancel *m)
{
	struct message_attempt *attempt = &post(session, MESSAGE_ATTEMPT, true)->attempt;

	attempt->status.id = m->id;
	attempt->status.fence = m->fence;
	attempt->status.state = ATTEMPT_ENDED;
	attempt->status.percent = -1;
	attempt->result.outcome = OUTCOME_LOST;
	snprintf(attempt->result.reason, sizeof attempt->result.reason,
	    "this agent does not know attempt %" PRIu64, m->id.n);
}

static void
cancel(struct session *session, const struct message_cancel *m)
{
	struct held *held = find(session, m->id);
	struct action *action;

	if (held == NULL) {
		cancel_unknown(session, m);
	} else if (m->fence != held->start.fence) {
		say(session, true,
		    "CANCEL with fence %" PRIu64 " for an attempt held with fence %" PRIu64
		    ", ignoring attempt=%" PRIu64,
		    m->fence, held->start.fence, m->id.n);
	} else if (held->status.state == ATTEMPT_ENDED) {
		tell_attempt(session, held);
	} else {
		say(session, false, "cancelling: %s attempt=%" PRIu64, m->reason, m->id.n);
		action = session_do(session, ACTION_CANCEL);
		action->id = m->id;
		mem_copy_text(action->text, sizeof action->text, m->reason);
	}
}

static void
limit(struct session *session, mono_us now, const struct message_limit *m)
{
	if (m->limit != session->limit)
		say(session, false, "limit %d -> %d: %s", (int)session->limit, (int)m->limit,
		    m->reason);
	set_limit(session, m->limit);
	session_divide(session, now);
	if (session->welcomed)
		report(session, now);
}

static void
log_have(struct session *session, mono_us now, const struct message_log_have *m)
{
	struct held *held = find(session, m->id);

	if (held == NULL)
		return;
	if (m->unwanted)
		held->unwanted = true;
	if (held->status.state == ATTEMPT_ENDED && (m->unwanted || m->complete)) {
		forget(session, held);
		return;
	}
	held_log_have(held, now, m->offset);
	session_log_send(session, now, held);
}

/* False for the voice of a coordinator that is no longer the one. */
static bool
is_of_this_epoch(struct session *session, const struct message *m)
{
	if (m->envelope.epoch < session->epoch) {
		say(session, true,
		    "a %s of epoch %" PRIu64 ", but epoch %" PRIu64
		    " has been seen: an older copy of the coordinator runs; ignoring",
		    message_kind_name(m->envelope.kind), m->envelope.epoch, session->epoch);
		return false;
	}
	if (m->envelope.epoch > session->epoch) {
		session->epoch = m->envelope.epoch;
		keep(session);
	}
	return true;
}

void
session_message(struct session *session, mono_us now, const struct message *m)
{
	if (m->envelope.kind == MESSAGE_REFUSED) {
		refused(session, now, &m->refused);
		return;
	}
	if (!is_of_this_epoch(session, m))
		return;
	switch (m->envelope.kind) {
	case MESSAGE_WELCOME:
		welcome(session, now, &m->welcome);
		break;
	case MESSAGE_START:
		start(session, now, &m->start);
		break;
	case MESSAGE_CANCEL:
		cancel(session, &m->cancel);
		break;
	case MESSAGE_LIMIT:
		limit(session, now, &m->limit);
		break;
	case MESSAGE_LOG_HAVE:
		log_have(session, now, &m->log_have);
		break;
	default:
		say(session, true, "a %s is nothing for an agent, ignoring",
		    message_kind_name(m->envelope.kind));
		break;
	}
}

/* ---- keepers and the clock ---- */

void
session_stat(struct session *session, mono_us now, attempt_id id, const struct attempt_status *s)
{
	struct held *held = find(session, id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
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
	struct held *held = find(session, attempt->status.id);

	if (held == NULL || held->status.state == ATTEMPT_ENDED)
		return;
	copy_result(held, attempt);
	say(session, false, "attempt ended attempt=%" PRIu64 " outcome=%s%s%s", held->start.id.n,
	    outcome_name(held->result.outcome), held->result.reason[0] != '\0' ? ": " : "",
	    held->result.reason);
	end(session, now, held);
}

static bool
is_due(mono_us last, mono_us now, int64_t period_us)
{
	return mono_since(last, now) >= period_us - TICK_SLACK_MS * 1000;
}

static void
check_connection(struct session *session, mono_us now)
{
	bool unanswered = session->connected && !session->welcomed && session->retry_at.us == 0 &&
			  mono_since(session->hello_at, now) >= HELLO_PATIENCE_S * SECOND_US;
	bool retry = session->retry_at.us != 0 && mono_since(session->retry_at, now) >= 0;

	if (unanswered)
		say(session, true,
		    "the coordinator has not answered HELLO for %d s; connecting anew",
		    HELLO_PATIENCE_S);
	if (!unanswered && !retry)
		return;
	session->retry_at = (mono_us){ 0 };
	session->connected = false;
	session_do(session, ACTION_RECONNECT);
}

void
session_tick(struct session *session, mono_us now, int64_t wall_offset_us, const struct load *load)
{
	bool busy = session_running(session) > 0;

	session->wall_offset_us = wall_offset_us;
	session->load = *load;
	check_connection(session, now);
	session_divide(session, now);
	for (size_t i = 0; i < session->nheld; i++) {
		held_log_tick(&session->held[i]);
		session_log_send(session, now, &session->held[i]);
	}
	if (session->welcomed && is_due(session->reported_at, now,
				     busy ? session->report_busy_us : session->report_idle_us))
		report(session, now);
}
