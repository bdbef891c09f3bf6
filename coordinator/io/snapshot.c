/* What all of the snapshot shares, the cluster as a whole, and policies.
 *
 * Texts come from agents and operators, checked on the wire; but a sentence that was cut
 * to fit may end in half a character, so each is repaired on its way into JSON.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/snapshot.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/core/mode.h"
#include "proto/base/mem.h"
#include "proto/wire_text.h"

#define DAY_US (24 * HOUR_US)

json_t *
snapshot_text(const char *text)
{
	char *copy;
	json_t *json;

	if (text[0] == '\0')
		return json_null();
	copy = mem_strdup(text);
	wire_text_repair(copy);
	json = json_string(copy);
	assert(json != NULL);
	free(copy);
	return json;
}

json_t *
snapshot_time(wall_us at)
{
	char text[64];
	time_t seconds = (time_t)(at.us / SECOND_US);
	struct tm tm;
	size_t n;

	if (at.us <= 0 || gmtime_r(&seconds, &tm) == NULL)
		return json_null();
	n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof text - n, ".%03dZ", (int)(at.us % SECOND_US / 1000));
	return json_string(text);
}

char *
snapshot_dump(const json_t *json)
{
	char *text = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(6));

	assert(text != NULL);
	return text;
}

/* ---- status ----------------------------------------------------------------------------- */

static void
alarm_add(json_t *alarms, const char *kind, const char *name, const char *text)
{
	json_t *alarm = json_pack("{s:s, s:o, s:o}", "kind", kind, "object", snapshot_text(name),
	    "text", snapshot_text(text));

	assert(alarm != NULL);
	json_array_append_new(alarms, alarm);
}

static void
alarm_hosts(json_t *alarms, const struct cluster *c, struct moment now)
{
	char text[TEXT_SIZE + 256];
	size_t i;

	for (i = 0; i < c->nhosts; i++) {
		const struct host *h = c->hosts[i];

		if (h->state != HOST_SILENT && h->state != HOST_LOST)
			continue;
		snprintf(text, sizeof text,
		    "host %s is not responding: nothing was heard of it for %lld s%s%s", h->name,
		    (long long)(mono_since(h->seen, now.mono) / SECOND_US),
		    h->trouble[0] != '\0' ? "; " : "", h->trouble);
		alarm_add(alarms, host_state_name(h->state), h->name, text);
	}
}

/* An alarm of the law stays until an operator says what is to be done. */
static void
alarm_orders(json_t *alarms, const struct cluster *c)
{
	char text[TEXT_SIZE + 256];
	size_t i;

	for (i = 0; i < c->norders; i++) {
		const struct mode_order *order = &c->orders[i];

		if (strcmp(order->who, MODE_ALARM) != 0)
			continue;
		snprintf(text, sizeof text,
		    "host %s is only observed by the governor: %s; `flyball governor policy --host "
		    "%s --reason TEXT` lets it act again",
		    order->name, order->reason, order->name);
		alarm_add(alarms, "governor", order->name, text);
	}
}

/* In advise, what the law would do is put before operators. */
static json_t *
advice(const struct cluster *c)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < c->nhosts; i++) {
		const struct host *h = c->hosts[i];

		if (h->would > 0 && governor_mode_of_host(c, h, NULL) == GOVERNOR_ADVISE)
			json_array_append_new(
			    json, json_pack("{s:s, s:i, s:o, s:i, s:o}", "host", h->name, "limit",
				      (int)h->would, "reason", snapshot_text(h->would_reason),
				      "limit_now", (int)h->limit, "since",
				      snapshot_time(h->would_since)));
	}
	return json;
}

static void
alarm_builds(json_t *alarms, const struct cluster *c)
{
	char name[32], text[TEXT_SIZE];
	size_t i;

	for (i = 0; i < c->nopen; i++) {
		const struct build *b = cluster_find_build(c, c->open[i]);
		const struct attempt *a = build_live_attempt(c, b);

		if (a == NULL || !a->status.ungoverned)
			continue;
		snprintf(name, sizeof name, "%llu", (unsigned long long)b->id.n);
		snprintf(text, sizeof text,
		    "build %s, %s/%s on %s, is ungoverned: a make in it runs its own "
		    "-jN, so that limits do not bind it",
		    name, build_round(c, b)->branch, b->target, a->host);
		alarm_add(alarms, "ungoverned", name, text);
	}
}

/* Counts of hosts by state; of builds by state, those that ended since midnight UTC by verdict. */
static json_t *
count_hosts(const struct cluster *c, size_t *ret_up)
{
	int counts[HOST_ASLEEP + 1] = { 0 };
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < c->nhosts; i++)
		counts[c->hosts[i]->state]++;
	for (i = 0; i <= HOST_ASLEEP; i++)
		json_object_set_new(
		    json, host_state_name((enum host_state)i), json_integer(counts[i]));
	*ret_up = (size_t)counts[HOST_UP];
	return json;
}

static json_t *
count_open(const struct cluster *c, int *ret_queued)
{
	int counts[BUILD_DONE] = { 0 };
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < c->nopen; i++)
		counts[build_state_get(c, cluster_find_build(c, c->open[i]))]++;
	for (i = 0; i < BUILD_DONE; i++)
		json_object_set_new(
		    json, build_state_name((enum build_state)i), json_integer(counts[i]));
	*ret_queued = counts[BUILD_QUEUED];
	return json;
}

static json_t *
count_today(const struct cluster *c, struct moment now)
{
	int64_t midnight = now.wall.us - now.wall.us % DAY_US;
	int counts[VERDICT_CANCELLED + 1] = { 0 };
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < c->nbuilds; i++)
		if (c->builds[i]->verdict != VERDICT_NONE && c->builds[i]->done_at.us >= midnight)
			counts[c->builds[i]->verdict]++;
	for (i = VERDICT_OK; i <= VERDICT_CANCELLED; i++)
		json_object_set_new(json, verdict_name((enum verdict)i), json_integer(counts[i]));
	return json;
}

static json_t *
rounds_open(const struct cluster *c, struct moment now)
{
	json_t *json = json_array();
	uint64_t last = 0;
	size_t i;

	/* Open builds are in order of id, and so are their rounds. */
	for (i = 0; i < c->nopen; i++) {
		const struct round *r = build_round(c, cluster_find_build(c, c->open[i]));

		if (r->id.n > last)
			json_array_append_new(json, snapshot_round_row(c, r, now));
		if (r->id.n > last)
			last = r->id.n;
	}
	return json;
}

static json_t *
branches(const struct cluster *c)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < c->nbranches; i++)
		json_array_append_new(
		    json, json_string(cluster_find_policy_version(c, c->branches[i])->branch));
	return json;
}

json_t *
snapshot_status(const struct cluster *c, struct moment now)
{
	json_t *alarms = json_array(), *json;
	json_t *hosts, *open;
	char text[TEXT_SIZE];
	size_t up;
	int queued;

	hosts = count_hosts(c, &up);
	open = count_open(c, &queued);
	alarm_hosts(alarms, c, now);
	alarm_orders(alarms, c);
	alarm_builds(alarms, c);
	if (queued > 0 && up == 0) {
		snprintf(text, sizeof text, "%d %s and no host is up", queued,
		    queued == 1 ? "build waits" : "builds wait");
		alarm_add(alarms, "no_host", "", text);
	}
	json = json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "now",
	    snapshot_time(now.wall), "epoch", (json_int_t)c->epoch, "hosts", hosts, "builds", open,
	    "today", count_today(c, now), "rounds", rounds_open(c, now), "branches", branches(c),
	    "advice", advice(c), "alarms", alarms);
	assert(json != NULL);
	return json;
}

/* ---- policies --------------------------------------------------------------------------- */

json_t *
snapshot_names(size_t n, char (*list)[NAME_SIZE])
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(json, snapshot_text(list[i]));
	return json;
}

static json_t *
positive(int64_t n)
{
	return n > 0 ? json_integer(n) : json_null();
}

static json_t *
target_json(const struct target *t)
{
	const struct needs *n = &t->needs;
	json_t *json = json_pack("{s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "target", t->name,
	    "timeout_us", positive(t->timeout_us), "stall_us", positive(t->stall_us), "retries",
	    (int)t->retries, "need_memory_bytes", positive(n->memory_bytes), "need_disk_bytes",
	    positive(n->disk_bytes), "need_os", snapshot_text(n->os), "need_release",
	    n->release_test == RELEASE_ANY
		? json_null()
		: json_sprintf("%s %s", release_test_name(n->release_test), n->release),
	    "need_labels", snapshot_names(n->nlabels, n->labels));

	assert(json != NULL);
	return json;
}

json_t *
snapshot_policy(const struct policy *p)
{
	json_t *targets = json_array(), *json;
	size_t i;

	for (i = 0; i < p->ntargets; i++)
		json_array_append_new(targets, target_json(&p->targets[i]));
	json = json_pack("{s:s, s:o, s:s, s:o, s:o, s:i, s:s, s:i, s:o, s:o, s:o, s:o}", "branch",
	    p->branch, "policy_version", positive((int64_t)p->version), "recipe", p->recipe,
	    "source", snapshot_text(p->source), "origin", snapshot_text(p->origin), "priority",
	    (int)p->priority, "governor", governor_mode_name(p->governor), "jobs_min",
	    (int)p->jobs_min, "jobs_max", positive(p->jobs_max), "jobs_start",
	    positive(p->jobs_start), "spin_target_share",
	    p->spin_target_ppm > 0 ? json_real(p->spin_target_ppm / 1e6) : json_null(), "targets",
	    targets);
	assert(json != NULL);
	return json;
}
