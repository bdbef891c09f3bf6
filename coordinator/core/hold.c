/* All that tells one hold from another stands in one table. A hold's end is counted on the
 * monotonic clock of this run; over a restart what is left goes by the wall clock.
 *
 * Throttle and pin are lifted by the same word, and so are drain and pause: who wants a host back
 * does not have to know which of the two it was.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/hold.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/core/turn.h"

#define HOLD_MAX_US (INT64_C(3660) * 24 * HOUR_US)

struct rule {
	const char *name, *word;
	bool limit; /* comes with one */
	bool closes; /* no new builds meanwhile */
	enum event_kind event, end_event;
	enum fact_kind set, lifted;
	const char *does, *ends; /* "host x ..." */
};

static const struct rule rules[HOLDS] = {
	[HOLD_DRAIN] = { "drain", "drained", false, true, EVENT_DRAIN, EVENT_RESUME, FACT_DRAIN,
	    FACT_RESUME, "takes no new builds", "takes builds again" },
	[HOLD_THROTTLE] = { "throttle", "throttled", true, false, EVENT_THROTTLE, EVENT_UNTHROTTLE,
	    FACT_THROTTLE, FACT_UNTHROTTLE, "is throttled", "is throttled no longer" },
	[HOLD_PIN] = { "pin", "pinned", true, false, EVENT_PIN, EVENT_UNTHROTTLE, FACT_PIN,
	    FACT_UNPIN, "is pinned", "is pinned no longer" },
	[HOLD_PAUSE] = { "pause", "paused", false, true, EVENT_PAUSE, EVENT_RESUME, FACT_PAUSE,
	    FACT_UNPAUSE, "is paused and its builds stand still", "is paused no longer" },
};

const char *
hold_name(enum hold_kind kind)
{
	return (unsigned)kind < HOLDS ? rules[kind].name : "?";
}

const char *
hold_word(enum hold_kind kind)
{
	return (unsigned)kind < HOLDS ? rules[kind].word : "?";
}

bool
hold_has_limit(enum hold_kind kind)
{
	return rules[kind].limit;
}

enum hold_kind
hold_of_fact(enum fact_kind fact, bool *ret_set)
{
	int kind;

	for (kind = 0; kind < HOLDS; kind++)
		if (fact == rules[kind].set || fact == rules[kind].lifted)
			break;
	*ret_set = kind < HOLDS && fact == rules[kind].set;
	return (enum hold_kind)kind;
}

const struct order_hold *
hold_closes(const struct host *h, enum hold_kind *ret_kind)
{
	int kind;

	for (kind = 0; kind < HOLDS; kind++)
		if (rules[kind].closes && h->holds[kind].set) {
			*ret_kind = (enum hold_kind)kind;
			return &h->holds[kind];
		}
	return NULL;
}

int64_t
hold_left_us(const struct order_hold *hold, mono_us now)
{
	int64_t left = mono_since(now, hold->until);

	if (hold->duration_us == 0)
		return 0;
	return left > 1 ? left : 1;
}

/* ---- set and lifted by operators -------------------------------------------------------- */

/* HOLDS: the event sets none, it lifts. */
static enum hold_kind
kind_of(const struct event *e)
{
	int kind;

	for (kind = 0; kind < HOLDS && rules[kind].event != e->kind; kind++)
		;
	return (enum hold_kind)kind;
}

static bool
values_ok(struct turn *t, const struct host *h)
{
	const struct event *e = t->event;
	enum hold_kind kind = kind_of(e);

	if (h == NULL) {
		turn_refuse(t, ANSWER_NOT_FOUND,
		    "no host \"%s\" is known: `flyball hosts` lists them", e->host);
		return false;
	}
	if (kind < HOLDS && rules[kind].limit && (e->limit < 1 || e->limit > JOBS_MAX)) {
		turn_refuse(t, ANSWER_USAGE, "a limit of %d: expected 1 to %d", e->limit, JOBS_MAX);
		return false;
	}
	if (e->duration_us < 0 || e->duration_us > HOLD_MAX_US) {
		turn_refuse(t, ANSWER_USAGE,
		    "a time of %lld s: expected at most ten years, or 0 for no end",
		    (long long)(e->duration_us / SECOND_US));
		return false;
	}
	return true;
}

static void
set(struct turn *t, struct host *h, enum hold_kind kind)
{
	const struct event *e = t->event;
	struct fact f = { .kind = rules[kind].set,
		.limit = rules[kind].limit ? e->limit : 0,
		.duration_us = e->duration_us };
	char limit[16] = "", until[48] = "";

	memcpy(f.host, h->name, sizeof f.host);
	memcpy(f.who, e->who, sizeof f.who);
	memcpy(f.text, e->text, sizeof f.text);
	turn_fact(t, &f);
	h->holds[kind].until = mono_add(e->at.mono, e->duration_us);
	host_limits(t);
	if (kind == HOLD_PAUSE)
		host_say_limit(t, h);
	if (rules[kind].limit)
		snprintf(limit, sizeof limit, " to %d", e->limit);
	if (e->duration_us > 0)
		snprintf(
		    until, sizeof until, " for %lld s", (long long)(e->duration_us / SECOND_US));
	turn_reply(t, ANSWER_OK, (round_id){ 0 },
	    "host %s %s%s%s; its limit is %d, builds on it: %zu", h->name, rules[kind].does, limit,
	    until, h->limit, h->nlive);
}

static void
lift(struct turn *t, struct host *h, enum hold_kind kind, const char *who, const char *why)
{
	struct fact f = { .kind = rules[kind].lifted };

	memcpy(f.host, h->name, sizeof f.host);
	snprintf(f.who, sizeof f.who, "%s", who);
	snprintf(f.text, sizeof f.text, "%s", why);
	turn_fact(t, &f);
	if (kind == HOLD_PAUSE)
		host_say_limit(t, h);
}

/* "a is not drained or paused" */
static void
refuse_to_lift(struct turn *t, const struct host *h)
{
	char words[64] = "";
	int kind;

	for (kind = 0; kind < HOLDS; kind++)
		if (rules[kind].end_event == t->event->kind)
			snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
			    words[0] != '\0' ? " or " : "", rules[kind].word);
	turn_refuse(t, ANSWER_CONFLICT, "host \"%s\" is not %s", h->name, words);
}

static void
lift_all(struct turn *t, struct host *h)
{
	const struct event *e = t->event;
	char words[128] = "";
	int kind;

	for (kind = 0; kind < HOLDS; kind++) {
		if (rules[kind].end_event != e->kind || !h->holds[kind].set)
			continue;
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s",
		    words[0] != '\0' ? " and " : "", rules[kind].ends);
		lift(t, h, (enum hold_kind)kind, e->who, e->text);
	}
	if (words[0] == '\0') {
		refuse_to_lift(t, h);
		return;
	}
	host_limits(t);
	turn_reply(
	    t, ANSWER_OK, (round_id){ 0 }, "host %s %s; its limit is %d", h->name, words, h->limit);
}

void
hold_event(struct turn *t)
{
	struct host *h = cluster_find_host(t->c, t->event->host);
	enum hold_kind kind = kind_of(t->event);

	if (!values_ok(t, h))
		return;
	if (kind < HOLDS)
		set(t, h, kind);
	else
		lift_all(t, h);
}

/* ---- time ------------------------------------------------------------------------------- */

void
hold_tick(struct turn *t, struct host *h)
{
	char why[64];
	int kind;

	for (kind = 0; kind < HOLDS; kind++) {
		const struct order_hold *hold = &h->holds[kind];

		if (!hold->set || hold->duration_us == 0 ||
		    mono_since(hold->until, t->event->at.mono) < 0)
			continue;
		snprintf(why, sizeof why, "its time of %lld s was over",
		    (long long)(hold->duration_us / SECOND_US));
		lift(t, h, (enum hold_kind)kind, "clock", why);
	}
}

/* What is left of a hold after a restart: by the wall clock, the only one that went on, but
 * never more than it was given, however wrong that clock is. */
static void
boot(struct turn *t, struct order_hold *hold)
{
	int64_t left = hold->duration_us - (t->event->at.wall.us - hold->since.us);

	if (left < 0)
		left = 0;
	if (left > hold->duration_us)
		left = hold->duration_us;
	hold->until = mono_add(t->event->at.mono, left);
}

void
hold_boot(struct turn *t, struct host *h)
{
	int kind;

	for (kind = 0; kind < HOLDS; kind++)
		boot(t, &h->holds[kind]);
}
