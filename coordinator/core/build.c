/* A build's life: queued, granted to a host as an attempt, running, ended, done.
 *
 * Which results count: one of an attempt that lives, or of one that was given up while
 * nothing took its place. All others are "superseded": told so, and dropped. So never
 * do two results count for one build (docs/states.md "Attempt").
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "coordinator/core/plan.h"
#include "coordinator/core/turn.h"
#include "proto/base/mem.h"

static void
tell(struct turn *t, enum effect_kind kind, const char *host, attempt_id id, uint64_t fence,
    const char *text)
{
	struct effect *e = effects_add(t->effects, kind);

	memcpy(e->host, host, sizeof e->host);
	e->attempt = id;
	e->fence = fence;
	mem_copy_text(e->text, sizeof e->text, text);
}

/* ---- from an attempt's end to the build's ------------------------------------------------ */

static void
done(struct turn *t, struct build *b, enum verdict verdict, const char *reason)
{
	struct fact f = { .kind = FACT_DONE, .build = b->id, .verdict = verdict };

	mem_copy_text(f.text, sizeof f.text, reason);
	turn_fact(t, &f);
}

/* Is there a host, here now or not, that has not refused it and has what it needs? */
static bool
another_host_could(const struct cluster *c, const struct build *b)
{
	size_t i;

	for (i = 0; i < c->nhosts; i++) {
		enum filter filter = plan_filter(c, b, c->hosts[i], NULL);

		if (filter == FILTER_NONE || filter == FILTER_SLOTS || filter == FILTER_STATE ||
		    filter == FILTER_DISK || filter == FILTER_DRAINED)
			return true;
	}
	return false;
}

/* A host's fault is tried again elsewhere, as often as the policy allows. */
static void
settle_host_fault(struct turn *t, struct build *b, const struct attempt *a)
{
	size_t tried = b->nattempts - b->first_attempt;
	char reason[TEXT_SIZE];

	if (tried <= (size_t)build_target(t->c, b)->retries &&
	    (a->result.outcome == OUTCOME_LOST || another_host_could(t->c, b)))
		return;
	snprintf(reason, sizeof reason, "after %zu %s: %.400s", tried,
	    tried == 1 ? "attempt" : "attempts", a->result.reason);
	done(t, b, VERDICT_FAILED, reason);
}

static void
settle(struct turn *t, struct build *b, const struct attempt *a)
{
	char reason[TEXT_SIZE];

	if (a->result.outcome == OUTCOME_OK) {
		done(t, b, VERDICT_OK, "");
	} else if (b->cancel) {
		snprintf(reason, sizeof reason, "by %s: %.400s", b->cancel_who, b->cancel_reason);
		done(t, b, VERDICT_CANCELLED, reason);
	} else if (a->result.outcome == OUTCOME_LOST || a->result.outcome == OUTCOME_REFUSED ||
		   a->result.outcome == OUTCOME_CANCELLED) {
		settle_host_fault(t, b, a);
	} else {
		done(t, b, VERDICT_FAILED, a->result.reason);
	}
}

static void
end(struct turn *t, struct attempt *a, const struct attempt_status *status,
    const struct attempt_result *result)
{
	struct fact f = { .kind = FACT_ENDED, .attempt = a->id, .build = a->build };

	memcpy(f.host, a->host, sizeof f.host);
	f.status = mem_calloc(1, sizeof *f.status);
	f.result = mem_calloc(1, sizeof *f.result);
	*f.status = *status;
	*f.result = *result;
	codec_own(attempt_result_fields, f.result);
	turn_fact(t, &f);
	settle(t, cluster_find_build(t->c, a->build), a);
}

void
build_lost(struct turn *t, struct attempt *a, const char *reason)
{
	struct attempt_result result = { .outcome = OUTCOME_LOST };
	struct attempt_status status = a->status;

	mem_copy_text(result.reason, sizeof result.reason, reason);
	/* As far as it was heard of; wall clocks may have been set meanwhile. */
	result.real_us = a->status.elapsed_us;
	end(t, a, &status, &result);
}

/* ---- what agents say -------------------------------------------------------------------- */

/* The attempt that this host may speak of, or NULL: then it is told to drop it. */
static struct attempt *
attempt_of(struct turn *t, const struct host *h, const struct attempt_status *s)
{
	struct attempt *a = cluster_find_attempt(t->c, s->id);

	if (a != NULL && a->fence == s->fence && strcmp(a->host, h->name) == 0)
		return a;
	return NULL;
}

static void
superseded(struct turn *t, const struct attempt_status *s)
{
	if (s->state != ATTEMPT_ENDED)
		tell(t, EFFECT_CANCEL, t->event->host, s->id, s->fence,
		    "superseded: the coordinator has given this attempt up");
	tell(t, EFFECT_DROP, t->event->host, s->id, s->fence, "superseded");
}

static void
runs(struct turn *t, struct attempt *a)
{
	struct fact f = { .kind = FACT_RUNNING, .attempt = a->id, .build = a->build };
	const struct build *b = cluster_find_build(t->c, a->build);

	memcpy(f.host, a->host, sizeof f.host);
	turn_fact(t, &f);
	if (b->cancel)
		tell(t, EFFECT_CANCEL, a->host, a->id, a->fence, b->cancel_reason);
}

void
build_attempt(struct turn *t)
{
	const struct event *e = t->event;
	struct host *h = cluster_find_host(t->c, e->host);
	const struct attempt_status *s = e->nattempts == 1 ? &e->attempts[0] : NULL;
	struct attempt *a = s != NULL && h != NULL ? attempt_of(t, h, s) : NULL;
	bool ended = s != NULL && s->state == ATTEMPT_ENDED;

	if (s == NULL || (ended && (e->result == NULL || e->result->outcome == OUTCOME_NONE))) {
		turn_refuse(
		    t, ANSWER_USAGE, "host \"%s\" says nothing usable of an attempt", e->host);
		return;
	}
	if (a == NULL) {
		turn_refuse(t, ANSWER_NOT_FOUND,
		    "host \"%s\" speaks of attempt %llu, which is not its own", e->host,
		    (unsigned long long)s->id.n);
		superseded(t, s);
		return;
	}
	lease_speak(t, h);
	if (a->state != ATTEMPT_ENDED || attempt_given_up(t->c, a)) {
		if (!ended && a->state != ATTEMPT_RUNNING)
			runs(t, a);
		else if (ended)
			end(t, a, s, e->result);
		if (ended)
			tell(t, EFFECT_KEPT, e->host, a->id, a->fence, "");
	} else if (ended && a->result.outcome == e->result->outcome) {
		tell(t, EFFECT_KEPT, e->host, a->id, a->fence,
		    ""); /* said again: the answer was lost */
	} else
		superseded(t, s);
}

void
build_status(struct turn *t, const struct host *h, const struct attempt_status *s)
{
	struct attempt *a = attempt_of(t, h, s);

	if (a == NULL || a->state == ATTEMPT_ENDED || s->state == ATTEMPT_ENDED)
		return;
	if (a->state == ATTEMPT_GRANTED && s->state == ATTEMPT_RUNNING)
		runs(t, a);
	a->status = *s;
	a->status_at = t->event->at.mono;
}

/* ---- after a HELLO ---------------------------------------------------------------------- */

static const struct attempt_status *
listed(const struct event *e, attempt_id id)
{
	size_t i;

	for (i = 0; i < e->nattempts; i++)
		if (e->attempts[i].id.n == id.n)
			return &e->attempts[i];
	return NULL;
}

/* Ours that the agent does not list: one that never reached it is sent again; one that ran is gone. */
static void
reconcile_ours(struct turn *t, const struct host *h)
{
	size_t i = 0;
	struct attempt *a;

	while ((a = host_live_attempt(t->c, h, i)) != NULL) {
		const struct attempt_status *s = listed(t->event, a->id);
		const struct build *b = cluster_find_build(t->c, a->build);

		if (s == NULL && (a->state == ATTEMPT_RUNNING || b->cancel)) {
			build_lost(t, a, "its agent no longer knows it");
			continue; /* one fewer now: the next has this place */
		}
		if (s == NULL)
			tell(t, EFFECT_START, h->name, a->id, a->fence, "");
		else if (b->cancel && s->state != ATTEMPT_ENDED)
			tell(t, EFFECT_CANCEL, h->name, a->id, a->fence, b->cancel_reason);
		i++;
	}
}

/* Theirs: those that run are taken on, or back; what nobody waits for is dropped. */
void
build_return(struct turn *t, const struct host *h)
{
	size_t i;

	for (i = 0; i < t->event->nattempts; i++) {
		const struct attempt_status *s = &t->event->attempts[i];
		struct attempt *a = attempt_of(t, h, s);

		if (a == NULL || (a->state == ATTEMPT_ENDED && !attempt_given_up(t->c, a) &&
				     s->state != ATTEMPT_ENDED))
			superseded(t, s);
		else if (s->state == ATTEMPT_ENDED)
			continue; /* it says so itself, with the result */
		else if (a->state != ATTEMPT_RUNNING)
			runs(t, a);
	}
}

void
build_reconcile(struct turn *t, const struct host *h)
{
	build_return(t, h);
	reconcile_ours(t, h);
}

/* ---- what operators want ---------------------------------------------------------------- */

static void
cancel_one(struct turn *t, struct build *b)
{
	struct fact f = { .kind = FACT_CANCEL, .build = b->id };
	const struct attempt *a = build_live_attempt(t->c, b);
	char reason[TEXT_SIZE];

	memcpy(f.who, t->event->who, sizeof f.who);
	memcpy(f.text, t->event->text, sizeof f.text);
	turn_fact(t, &f);
	snprintf(reason, sizeof reason, "by %s: %.400s", b->cancel_who, b->cancel_reason);
	if (a != NULL)
		tell(t, EFFECT_CANCEL, a->host, a->id, a->fence, reason);
	else
		done(t, b, VERDICT_CANCELLED, reason);
}

/* Calls f for the event's build, or for each of its round's that `wanted` says; how many. */
static size_t
for_each(
    struct turn *t, bool (*wanted)(const struct build *), void (*f)(struct turn *, struct build *))
{
	struct round *r = cluster_find_round(t->c, t->event->round);
	struct build *b = cluster_find_build(t->c, t->event->build);
	size_t i, n = 0;

	if (b != NULL && wanted(b)) {
		f(t, b);
		return 1;
	}
	for (i = 0; b == NULL && r != NULL && i < r->nbuilds; i++) {
		b = cluster_find_build(t->c, r->builds[i]);
		if (wanted(b)) {
			f(t, b);
			n++;
		}
		b = NULL;
	}
	return n;
}

static bool
can_cancel(const struct build *b)
{
	return b->verdict == VERDICT_NONE && !b->cancel;
}

static bool
is_there(struct turn *t)
{
	const struct event *e = t->event;

	if (e->build.n != 0 ? cluster_find_build(t->c, e->build) != NULL
			    : cluster_find_round(t->c, e->round) != NULL)
		return true;
	turn_refuse(t, ANSWER_NOT_FOUND, "there is no %s %llu", e->build.n ? "build" : "round",
	    (unsigned long long)(e->build.n ? e->build.n : e->round.n));
	return false;
}

void
build_cancel(struct turn *t)
{
	size_t n;

	if (!is_there(t))
		return;
	n = for_each(t, can_cancel, cancel_one);
	if (n == 0)
		turn_refuse(t, ANSWER_CONFLICT,
		    "nothing to cancel: it is done, or being cancelled already");
	else
		turn_reply(t, ANSWER_OK, (round_id){ 0 }, "%zu %s cancelled", n,
		    n == 1 ? "build" : "builds");
}

static bool
can_retry(const struct build *b)
{
	return b->verdict == VERDICT_FAILED || b->verdict == VERDICT_CANCELLED;
}

static void
retry_one(struct turn *t, struct build *b)
{
	struct fact f = { .kind = FACT_RETRY, .build = b->id };

	memcpy(f.who, t->event->who, sizeof f.who);
	turn_fact(t, &f);
}

void
build_retry(struct turn *t)
{
	size_t n;

	if (!is_there(t))
		return;
	n = for_each(t, can_retry, retry_one);
	if (n == 0)
		turn_refuse(t, ANSWER_CONFLICT,
		    "nothing to retry: only what failed or was cancelled can be, and is not yet");
	else
		turn_reply(t, ANSWER_OK, (round_id){ 0 }, "%zu %s queued again", n,
		    n == 1 ? "build" : "builds");
}

/* ---- carrying a plan out ---------------------------------------------------------------- */

static void
grant(struct turn *t, const struct build *b, const struct host *h)
{
	struct fact f = { .kind = FACT_GRANT, .build = b->id, .number = t->c->epoch };

	f.attempt.n = t->c->nattempts + 1;
	f.fence = t->c->nattempts ? t->c->attempts[t->c->nattempts - 1]->fence + 1 : 1;
	memcpy(f.host, h->name, sizeof f.host);
	turn_fact(t, &f);
	/* The limit first: START carries it. */
	host_limits(t);
	tell(t, EFFECT_START, h->name, f.attempt, f.fence, "");
}

void
build_plan(struct turn *t)
{
	size_t i;

	t->c->plan_wanted = false;
	t->c->plans++;
	for (i = 0; i < t->event->nmoves; i++) {
		const struct plan_move *move = &t->event->moves[i];
		const struct build *b = cluster_find_build(t->c, move->build);
		const struct host *h = cluster_find_host(t->c, move->host);

		/* The plan was made for an earlier state: what no longer holds is left for the next. */
		if (b != NULL && h != NULL && build_state_get(t->c, b) == BUILD_QUEUED &&
		    plan_filter(t->c, b, h, NULL) == FILTER_NONE)
			grant(t, b, h);
	}
}
