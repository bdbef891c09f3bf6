/* The host's limit among its builds. What a build could use is judged over some seconds, not by one
 * reading, or two builds whose needs alternate would trade tokens every second: one that was short
 * of tokens stays hungry for a while, one that is not wants its recent peak and one more.
 *
 * Taking comes before giving: a build is given no more than what the others have let go, so that
 * the host's limit holds while running steps end.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session_held.h"

#include <stdlib.h>

#include "proto/base/mem.h"

enum { MEMORY_S = 5 };

/* ---- of the host ---- */

int32_t
session_in_force(const struct session *session)
{
	int32_t guard = session->guard.limit;

	return guard > 0 && (session->limit < 1 || guard < session->limit) ? guard : session->limit;
}

static int32_t
running_steps(const struct session *session)
{
	int32_t sum = 0;

	for (size_t i = 0; i < session->nheld; i++) {
		if (session->held[i].status.state != ATTEMPT_ENDED)
			sum += session->held[i].status.running;
	}
	return sum;
}

bool
session_guard(struct session *session, mono_us now)
{
	struct guard *guard = &session->guard;
	int32_t held = guard->limit, before = session_in_force(session);
	const struct guard_input in = { .now = now,
		.load = &session->load,
		.memory_bytes = session->facts.memory_bytes,
		.limit = session->limit,
		.running = running_steps(session),
		.begun = session_steps(session) };

	guard_step(guard, &in);
	if (guard->limit != held && guard->limit > 0)
		session_say(session, held == 0 || guard->limit < held, "guard: %s", guard->reason);
	else if (guard->limit != held)
		session_say(session, false, "guard: memory suffices again; limit %d -> %d",
		    (int)held, (int)session->limit);
	return session_in_force(session) != before;
}

/* ---- the pause ---- */

void
held_pause(struct session *session, struct held *held, mono_us now)
{
	struct action *action;
	int64_t left_us = mono_since(now, session->pause_until);

	if (!session->pause_known || !held->begun || held->status.state == ATTEMPT_ENDED ||
	    (held->pause_told && held->paused == session->paused))
		return;
	held->pause_told = true;
	held->paused = session->paused;
	action = session_do(session, ACTION_PAUSE);
	action->id = held->start.id;
	action->paused = session->paused;
	if (session->paused && session->pause_until.us != 0)
		action->duration_us = left_us > 1 ? left_us : 1;
}

/* Said with each limit. A pause may be given anew with another end: keepers are told again. */
void
session_pause(struct session *session, mono_us now, bool paused, int64_t for_us)
{
	size_t i;

	if (paused != session->paused)
		session_say(
		    session, false, paused ? "paused by the coordinator" : "paused no longer");
	session->pause_known = true;
	session->paused = paused;
	session->pause_until = paused && for_us > 0 ? mono_add(now, for_us) : (mono_us){ 0 };
	for (i = 0; i < session->nheld; i++) {
		session->held[i].pause_told = session->held[i].pause_told && !paused;
		held_pause(session, &session->held[i], now);
	}
}

/* ---- of each build ---- */

void
held_appetite(struct held *held, mono_us now)
{
	if (held->status.limited)
		held->hungry_till = mono_add(now, MEMORY_S * SECOND_US);
	if (held->status.running >= held->peak ||
	    mono_since(held->peak_at, now) > MEMORY_S * SECOND_US) {
		held->peak = held->status.running;
		held->peak_at = now;
	}
}

static struct share
claim(const struct held *held, mono_us now)
{
	int32_t most = held->start.jobs_max;
	bool hungry = mono_since(now, held->hungry_till) > 0;

	if (most < 1 || most > JOBS_MAX)
		most = JOBS_MAX;
	return (struct share){ .most = most, .want = hungry ? most : held->peak + 1 };
}

/* What the other builds may run or still do run, whichever is more. */
static int32_t
taken_by_others(const struct session *session, const struct held *self)
{
	int32_t sum = 0;

	for (size_t i = 0; i < session->nheld; i++) {
		const struct held *other = &session->held[i];

		if (other == self || other->status.state == ATTEMPT_ENDED)
			continue;
		sum += other->status.running > other->limit ? other->status.running : other->limit;
	}
	return sum;
}

static void
tell(struct session *session, struct held *held, int32_t limit)
{
	struct action *action;

	if (limit == held->limit)
		return;
	held->limit = limit;
	if (!held->begun)
		return; /* ACTION_START carries it */
	action = session_do(session, ACTION_LIMIT);
	action->id = held->start.id;
	action->limit = limit;
}

static void
give(struct session *session, struct held *held, int32_t limit)
{
	int32_t free_now = session_in_force(session) - taken_by_others(session, held);

	if (limit > free_now)
		limit = free_now > held->limit ? free_now : held->limit;
	tell(session, held, limit < 1 ? 1 : limit);
}

void
session_divide(struct session *session, mono_us now)
{
	struct share *shares;
	struct held **live;
	int32_t *limits;
	size_t n = 0;

	if (session_in_force(session) < 1) /* nobody has said: what runs keeps what it has */
		return;
	shares = mem_calloc(session->nheld + 1, sizeof *shares);
	live = mem_calloc(session->nheld + 1, sizeof(struct held *));
	limits = mem_calloc(session->nheld + 1, sizeof *limits);
	for (size_t i = 0; i < session->nheld; i++) {
		if (session->held[i].status.state == ATTEMPT_ENDED)
			continue;
		shares[n] = claim(&session->held[i], now);
		live[n++] = &session->held[i];
	}
	session_share(session_in_force(session), shares, n, limits);
	for (size_t i = 0; i < n; i++) {
		if (limits[i] < live[i]->limit)
			tell(session, live[i], limits[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if (limits[i] > live[i]->limit)
			give(session, live[i], limits[i]);
	}
	free(shares);
	free(live);
	free(limits);
}
