/* Builds, their attempts and rounds as JSON.
 *
 * What an attempt came to (real, user, sys, outcome) is null until it ended: zero would
 * look like a figure. Ends and makespans are differences of wall-clock times, since they
 * must outlive a coordinator; they are shown and never decided by.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/snapshot.h"

#include <assert.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/core/explain.h"

static json_t *
number_or_null(bool known, int64_t n)
{
	return known ? json_integer(n) : json_null();
}

/* ---- attempts --------------------------------------------------------------------------- */

static int64_t
elapsed_us(const struct attempt *a, struct moment now)
{
	if (a->state == ATTEMPT_ENDED)
		return a->result.real_us;
	if (a->status_at.us > 0)
		return a->status.elapsed_us + mono_since(a->status_at, now.mono);
	return now.wall.us > a->granted_at.us ? now.wall.us - a->granted_at.us : 0;
}

/* The limit it has, or had at its end. */
static int32_t
limit_now(const struct cluster *c, const struct attempt *a)
{
	if (a->state != ATTEMPT_ENDED && a->status_at.us > 0 && a->status.limit > 0)
		return a->status.limit;
	if (a->state != ATTEMPT_ENDED)
		return cluster_find_host(c, a->host)->limit;
	return a->npath > 0 ? a->path[a->npath - 1].limit : 0;
}

/* Each limit once it changed: the marks of a host also stand for new reasons. */
static json_t *
limit_path(const struct attempt *a)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < a->npath; i++)
		if (i == 0 || a->path[i].limit != a->path[i - 1].limit)
			json_array_append_new(json, json_integer(a->path[i].limit));
	return json;
}

static json_t *
limit_changes(const struct attempt *a)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < a->npath; i++)
		if (i == 0 || a->path[i].limit != a->path[i - 1].limit)
			json_array_append_new(
			    json, json_pack("{s:o, s:i}", "at", snapshot_time(a->path[i].at),
				      "limit", (int)a->path[i].limit));
	return json;
}

/* What adds up while an attempt runs. */
static const struct {
	const char *name;
	size_t at;
} used_sums[] = {
	{ "user_us", offsetof(struct usage, user_us) },
	{ "sys_us", offsetof(struct usage, sys_us) },
	{ "minor_faults", offsetof(struct usage, minor_faults) },
	{ "major_faults", offsetof(struct usage, major_faults) },
	{ "blocks_in", offsetof(struct usage, blocks_in) },
	{ "blocks_out", offsetof(struct usage, blocks_out) },
	{ "voluntary_switches", offsetof(struct usage, voluntary_switches) },
	{ "involuntary_switches", offsetof(struct usage, involuntary_switches) },
};

enum { USED_SUMS = sizeof used_sums / sizeof used_sums[0] };

static int64_t
used_of(const struct usage *usage, size_t i)
{
	int64_t n;

	memcpy(&n, (const char *)usage + used_sums[i].at, sizeof n);
	return n;
}

/* null for -1: it cannot be told. */
static void
set_used(json_t *json, const char *name, int64_t n)
{
	json_object_set_new(json, name, number_or_null(n >= 0, n));
}

/* Two readings of a tree whose processes end meanwhile may differ the wrong way by a little. */
static void
set_phase_usage(json_t *json, const struct usage *from, const struct usage *to)
{
	for (size_t i = 0; i < USED_SUMS; i++) {
		int64_t a = used_of(from, i), b = used_of(to, i);

		set_used(json, used_sums[i].name, a < 0 || b < 0 ? -1 : b > a ? b - a : 0);
	}
	set_used(json, "max_resident_bytes", to->max_resident_bytes);
}

static json_t *
phases(const struct attempt_result *r, int64_t steps)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < r->nphases; i++) {
		const struct phase_mark *p = &r->phases[i];
		bool final = i + 1 == r->nphases;
		json_t *one = json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "phase",
		    snapshot_text(p->name), "source", p->source == MARK_RECIPE ? "recipe" : "log",
		    "at_us", (json_int_t)p->at_us, "took_us",
		    (json_int_t)((final ? r->real_us : p[1].at_us) - p->at_us), "steps",
		    (json_int_t)((final ? steps : p[1].steps) - p->steps), "log_offset",
		    (json_int_t)p->log_offset);

		assert(one != NULL);
		set_phase_usage(one, &p->usage, final ? &r->usage : &p[1].usage);
		json_array_append_new(json, one);
	}
	return json;
}

/* Keys that rows and attempts have in common. */
static void
set_progress(json_t *json, const struct cluster *c, const struct attempt *a, struct moment now)
{
	const struct attempt_status *s = &a->status;
	bool ended = a->state == ATTEMPT_ENDED;
	int32_t limit = limit_now(c, a);

	json_object_set_new(json, "attempt", json_integer((json_int_t)a->id.n));
	json_object_set_new(json, "host", json_string(a->host));
	json_object_set_new(json, "phase", snapshot_text(s->phase));
	json_object_set_new(json, "percent", number_or_null(!ended && s->percent >= 0, s->percent));
	json_object_set_new(json, "steps", json_integer(s->steps));
	json_object_set_new(json, "steps_running", number_or_null(!ended, s->running));
	json_object_set_new(json, "elapsed_us", json_integer(elapsed_us(a, now)));
	json_object_set_new(json, "limit", number_or_null(limit > 0, limit));
	json_object_set_new(json, "limit_path", limit_path(a));
	json_object_set_new(json, "serial", json_boolean(s->serial));
	json_object_set_new(json, "ungoverned", json_boolean(s->ungoverned));
	json_object_set_new(json, "limited", ended ? json_null() : json_boolean(s->limited));
	json_object_set_new(json, "log_bytes", json_integer(s->log_bytes));
	json_object_set_new(json, "real_us", number_or_null(ended, a->result.real_us));
	set_used(json, "user_us", ended ? a->result.usage.user_us : -1);
	set_used(json, "sys_us", ended ? a->result.usage.sys_us : -1);
	set_used(json, "max_resident_bytes", ended ? a->result.usage.max_resident_bytes : -1);
}

static void
set_result(json_t *json, const struct attempt *a)
{
	const struct attempt_result *r = &a->result;
	bool ended = a->state == ATTEMPT_ENDED;

	json_object_set_new(
	    json, "outcome", ended ? json_string(outcome_name(r->outcome)) : json_null());
	json_object_set_new(json, "exit_code", number_or_null(ended, r->exit_code));
	json_object_set_new(json, "reason", snapshot_text(ended ? r->reason : ""));
	for (size_t i = 0; i < USED_SUMS; i++)
		set_used(json, used_sums[i].name, ended ? used_of(&r->usage, i) : -1);
	json_object_set_new(json, "log_dropped_bytes", number_or_null(ended, r->log_dropped_bytes));
	json_object_set_new(json, "phases", phases(r, a->status.steps));
}

static json_t *
attempt_json(const struct cluster *c, const struct attempt *a, struct moment now)
{
	const struct attempt_status *s = &a->status;
	json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I}}",
	    "attempt_state", attempt_state_name(a->state), "granted_at",
	    snapshot_time(a->granted_at), "ended_at", snapshot_time(a->ended_at), "limit_changes",
	    limit_changes(a), "tokens", "granted", (json_int_t)s->granted, "returned",
	    (json_int_t)s->returned, "drained", (json_int_t)s->drained, "lost", (json_int_t)s->lost,
	    "unclaimed", (json_int_t)s->unclaimed);

	assert(json != NULL);
	set_progress(json, c, a, now);
	set_result(json, a);
	return json;
}

/* ---- builds ----------------------------------------------------------------------------- */

static const struct attempt *
last_attempt(const struct cluster *c, const struct build *b)
{
	return b->nattempts > 0 ? cluster_find_attempt(c, b->attempts[b->nattempts - 1]) : NULL;
}

static json_t *
build_reason(const struct build *b, const struct attempt *a)
{
	char text[2 * TEXT_SIZE + 128];

	if (b->verdict != VERDICT_NONE)
		return snapshot_text(b->reason);
	if (b->cancel) {
		snprintf(text, sizeof text, "being cancelled by %s: %s", b->cancel_who,
		    b->cancel_reason);
		return snapshot_text(text);
	}
	if (a == NULL || a->state != ATTEMPT_ENDED)
		return json_null();
	snprintf(text, sizeof text, "queued again; attempt %llu on %s ended %s: %s",
	    (unsigned long long)a->id.n, a->host, outcome_name(a->result.outcome),
	    a->result.reason);
	return snapshot_text(text);
}

json_t *
snapshot_build_row(const struct cluster *c, const struct build *b, struct moment now)
{
	static const char *const of_attempt[] = { "attempt", "host", "phase", "percent", "steps",
		"steps_running", "elapsed_us", "limit", "limit_path", "serial", "ungoverned",
		"limited", "log_bytes", "real_us", "user_us", "sys_us", "max_resident_bytes" };
	const struct round *r = build_round(c, b);
	const struct attempt *a = last_attempt(c, b);
	size_t i;
	json_t *json = json_pack("{s:I, s:I, s:s, s:s, s:o, s:s, s:o, s:o, s:I, s:o, s:o}", "build",
	    (json_int_t)b->id.n, "round", (json_int_t)b->round.n, "branch", r->branch, "target",
	    b->target, "revision", snapshot_text(r->revision), "state",
	    build_state_name(build_state_get(c, b)), "verdict",
	    b->verdict != VERDICT_NONE ? json_string(verdict_name(b->verdict)) : json_null(),
	    "reason", build_reason(b, a), "nattempts", (json_int_t)b->nattempts, "queued_at",
	    snapshot_time(b->queued_at), "done_at", snapshot_time(b->done_at));

	assert(json != NULL);
	if (a != NULL)
		set_progress(json, c, a, now);
	else
		for (i = 0; i < sizeof of_attempt / sizeof of_attempt[0]; i++)
			json_object_set_new(json, of_attempt[i], json_null());
	return json;
}

json_t *
snapshot_build(const struct cluster *c, const struct build *b, struct moment now)
{
	json_t *json = snapshot_build_row(c, b, now), *attempts = json_array();
	struct explain_host_row *rows;
	char sentence[TEXT_SIZE];
	size_t i, n;

	for (i = 0; i < b->nattempts; i++)
		json_array_append_new(
		    attempts, attempt_json(c, cluster_find_attempt(c, b->attempts[i]), now));
	json_object_set_new(json, "attempts", attempts);
	explain_build(c, b, sentence, &rows, &n);
	free(rows);
	json_object_set_new(json, "explanation", snapshot_text(sentence));
	return json;
}

json_t *
snapshot_explain_build(const struct cluster *c, const struct build *b)
{
	struct explain_host_row *rows;
	char sentence[TEXT_SIZE];
	json_t *hosts = json_array(), *json;
	size_t i, n;

	explain_build(c, b, sentence, &rows, &n);
	for (i = 0; i < n; i++)
		json_array_append_new(hosts,
		    json_pack("{s:s, s:b, s:o, s:o}", "host", rows[i].host, "here",
			(int)rows[i].here, "filter",
			rows[i].filter != FILTER_NONE ? json_string(filter_name(rows[i].filter))
						      : json_null(),
			"reason", snapshot_text(rows[i].reason)));
	free(rows);
	json = json_pack("{s:I, s:s, s:s, s:s, s:o, s:o}", "build", (json_int_t)b->id.n, "branch",
	    build_round(c, b)->branch, "target", b->target, "state",
	    build_state_name(build_state_get(c, b)), "explanation", snapshot_text(sentence),
	    "hosts", hosts);
	assert(json != NULL);
	return json;
}

/* ---- rounds ----------------------------------------------------------------------------- */

struct tally {
	int state[BUILD_DONE];
	int verdict[VERDICT_CANCELLED + 1];
	bool over;
	wall_us over_at; /* when the last build was done */
};

static struct tally
tally(const struct cluster *c, const struct round *r)
{
	struct tally t = { .over = true, .over_at = r->at };
	size_t i;

	for (i = 0; i < r->nbuilds; i++) {
		const struct build *b = cluster_find_build(c, r->builds[i]);

		if (b->verdict == VERDICT_NONE) {
			t.state[build_state_get(c, b)]++;
			t.over = false;
			continue;
		}
		t.verdict[b->verdict]++;
		if (b->done_at.us > t.over_at.us)
			t.over_at = b->done_at;
	}
	return t;
}

static json_t *
tally_json(const struct tally *t)
{
	json_t *json = json_object();
	int i;

	for (i = 0; i < BUILD_DONE; i++)
		json_object_set_new(
		    json, build_state_name((enum build_state)i), json_integer(t->state[i]));
	for (i = VERDICT_OK; i <= VERDICT_CANCELLED; i++)
		json_object_set_new(
		    json, verdict_name((enum verdict)i), json_integer(t->verdict[i]));
	return json;
}

static enum verdict
round_verdict(const struct tally *t)
{
	if (!t->over)
		return VERDICT_NONE;
	if (t->verdict[VERDICT_FAILED] > 0)
		return VERDICT_FAILED;
	return t->verdict[VERDICT_CANCELLED] > 0 ? VERDICT_CANCELLED : VERDICT_OK;
}

json_t *
snapshot_round_row(const struct cluster *c, const struct round *r, struct moment now)
{
	struct tally t = tally(c, r);
	enum verdict verdict = round_verdict(&t);
	int64_t end = t.over ? t.over_at.us : now.wall.us;
	json_t *json = json_pack(
	    "{s:I, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:s, s:o, s:o, s:I, s:o}", "round",
	    (json_int_t)r->id.n, "branch", r->branch, "revision", snapshot_text(r->revision), "who",
	    snapshot_text(r->who), "why", snapshot_text(r->why), "policy_version",
	    (json_int_t)r->policy, "at", snapshot_time(r->at), "over_at",
	    t.over ? snapshot_time(t.over_at) : json_null(), "state", t.over ? "over" : "running",
	    "verdict", verdict != VERDICT_NONE ? json_string(verdict_name(verdict)) : json_null(),
	    "makespan_us", number_or_null(t.over, end - r->at.us), "elapsed_us",
	    (json_int_t)(end > r->at.us ? end - r->at.us : 0), "counts", tally_json(&t));

	assert(json != NULL);
	return json;
}

json_t *
snapshot_round(const struct cluster *c, const struct round *r, struct moment now)
{
	json_t *json = snapshot_round_row(c, r, now), *builds = json_array();
	size_t i;

	for (i = 0; i < r->nbuilds; i++)
		json_array_append_new(
		    builds, snapshot_build_row(c, cluster_find_build(c, r->builds[i]), now));
	json_object_set_new(json, "builds", builds);
	return json;
}
