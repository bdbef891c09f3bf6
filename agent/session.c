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
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

enum {
	REFUSED_RETRY_S = 30,
	HELLO_PATIENCE_S = 60,
	TICK_SLACK_US = 200000, /* a timer may come early or late by so much */
	BUSY_REPORT_S = 1, /* until a WELCOME says otherwise */
	IDLE_REPORT_S = 10
};

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
	struct held *held = session_hold(session, start);

	held->status = *status;
	held->status.id = start->id;
	held->status.fence = start->fence;
	held->limit = 0; /* not known: it will be told */
	held->begun = true;
}

/* ---- what is told ---- */

/* What runs comes first: a message names ATTEMPTS_MAX at most, and one that has ended tells of itself. */
static struct attempt_status *
list_attempts(struct session *session, size_t *ret_n)
{
	size_t n = 0;

	free(session->listed);
	session->listed = mem_calloc(session->nheld + 1, sizeof *session->listed);
	for (int ended = 0; ended <= 1; ended++) {
		for (size_t i = 0; i < session->nheld; i++) {
			const struct attempt_status *s = &session->held[i].status;

			if ((s->state == ATTEMPT_ENDED) == ended)
				session->listed[n++] = *s;
		}
	}
	*ret_n = n < ATTEMPTS_MAX ? n : ATTEMPTS_MAX;
	return session->listed;
}

static void
say_hello(struct session *session, mono_us now)
{
	struct message_hello *hello = &session_post(session, MESSAGE_HELLO, true)->hello;

	hello->version_min = PROTOCOL_VERSION_MIN;
	hello->version_max = PROTOCOL_VERSION;
	hello->host = session->facts;
	hello->attempts = list_attempts(session, &hello->nattempts);
	session->hello_at = now;
}

static void
report(struct session *session, mono_us now)
{
	struct message_report *r = &session_post(session, MESSAGE_REPORT, false)->report;

	memcpy(r->boot_id, session->facts.boot_id, sizeof r->boot_id);
	memcpy(r->start_id, session->facts.start_id, sizeof r->start_id);
	r->at = now;
	r->wall_offset_us = session->wall_offset_us;
	r->limit = session_in_force(session);
	r->guard = session->guard.limit;
	memcpy(r->guard_reason, session->guard.reason, sizeof r->guard_reason);
	r->load = session->load;
	r->gauges = (struct gauge *)session->gauges; /* only read */
	r->ngauges = session->ngauges;
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
	session_say(session, false, "welcome as \"%s\" host=%s epoch=%" PRIu64 " attempts=%zu",
	    m->host, m->host, session->epoch, session->nheld);
	for (size_t i = 0; i < session->nheld; i++) {
		held_log_begin(&session->held[i], now);
		if (session->held[i].status.state == ATTEMPT_ENDED)
			session_tell(session, &session->held[i]);
	}
	report(session, now);
}

static void
refused(struct session *session, mono_us now, const struct message_refused *m)
{
	session->welcomed = false;
	session->retry_at = mono_add(now, REFUSED_RETRY_S * SECOND_US);
	session_say(session, true, "the coordinator refuses this host: %s; retrying in %d s",
	    m->reason, REFUSED_RETRY_S);
}

/* ---- commands ---- */

static void
limit(struct session *session, mono_us now, const struct message_limit *m)
{
	if (m->limit != session->limit)
		session_say(session, false, "limit %d -> %d: %s", (int)session->limit,
		    (int)m->limit, m->reason);
	session_pause(session, now, m->paused, m->pause_us);
	session_set_limit(session, m->limit);
	session_divide(session, now);
	if (session->welcomed)
		report(session, now);
}

/* False for the voice of a coordinator that is no longer the one. */
static bool
is_of_this_epoch(struct session *session, const struct message *m)
{
	if (m->envelope.epoch < session->epoch) {
		session_say(session, true,
		    "a %s of epoch %" PRIu64 ", but epoch %" PRIu64
		    " has been seen: an older copy of the coordinator runs; ignoring",
		    message_kind_name(m->envelope.kind), m->envelope.epoch, session->epoch);
		return false;
	}
	if (m->envelope.epoch > session->epoch) {
		session->epoch = m->envelope.epoch;
		session_keep(session);
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
		session_start(session, now, &m->start);
		break;
	case MESSAGE_CANCEL:
		session_cancel(session, &m->cancel);
		break;
	case MESSAGE_LIMIT:
		limit(session, now, &m->limit);
		break;
	case MESSAGE_LOG_HAVE:
		session_log_have(session, now, &m->log_have);
		break;
	default:
		session_say(session, true, "a %s is nothing for an agent, ignoring",
		    message_kind_name(m->envelope.kind));
		break;
	}
}

/* ---- the clock ---- */

static bool
is_due(mono_us last, mono_us now, int64_t period_us)
{
	return mono_since(last, now) >= period_us - TICK_SLACK_US;
}

static void
check_connection(struct session *session, mono_us now)
{
	bool unanswered = session->connected && !session->welcomed && session->retry_at.us == 0 &&
			  mono_since(session->hello_at, now) >= HELLO_PATIENCE_S * SECOND_US;
	bool retry = session->retry_at.us != 0 && mono_since(session->retry_at, now) >= 0;

	if (unanswered)
		session_say(session, true,
		    "the coordinator has not answered HELLO for %d s; connecting anew",
		    HELLO_PATIENCE_S);
	if (!unanswered && !retry)
		return;
	session->retry_at = (mono_us){ 0 };
	session->connected = false;
	session_do(session, ACTION_RECONNECT);
}

void
session_gauges(struct session *session, const struct gauge *gauges, size_t n)
{
	session->gauges = gauges;
	session->ngauges = n;
}

void
session_tick(struct session *session, mono_us now, int64_t wall_offset_us, const struct load *load)
{
	bool busy = session_running(session) > 0, changed;

	session->wall_offset_us = wall_offset_us;
	session->load = *load;
	check_connection(session, now);
	changed = session_guard(session, now);
	session_divide(session, now);
	for (size_t i = 0; i < session->nheld; i++) {
		held_log_tick(&session->held[i]);
		session_log_send(session, now, &session->held[i]);
	}
	if (session->welcomed &&
	    (changed || is_due(session->reported_at, now,
			    busy ? session->report_busy_us : session->report_idle_us)))
		report(session, now);
}
