/* A host as JSON. A reading is null when the agent says that it is missing, and all are
 * null while the connection that gave them is gone: an old figure is never shown as today's.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/snapshot.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "coordinator/core/explain.h"
#include "coordinator/core/governor.h"
#include "coordinator/core/hold.h"
#include "coordinator/core/mode.h"
#include "coordinator/core/predict.h"
#include "coordinator/io/snapshot_law.h"

/* A reading's key, with its unit; whole: it counts bytes or tasks. */
static const struct {
	const char *key;
	bool whole;
} reading_keys[LOAD_READINGS] = {
	[LOAD_USER] = { "user_share", false },
	[LOAD_SYS] = { "sys_share", false },
	[LOAD_IDLE] = { "idle_share", false },
	[LOAD_IOWAIT] = { "iowait_share", false },
	[LOAD_STEAL] = { "steal_share", false },
	[LOAD_1] = { "load_1", false },
	[LOAD_5] = { "load_5", false },
	[LOAD_15] = { "load_15", false },
	[LOAD_RUNNING] = { "tasks_running", true },
	[LOAD_BLOCKED] = { "tasks_blocked", true },
	[LOAD_MEMORY_FREE] = { "memory_free_bytes", true },
	[LOAD_SWAP_IN] = { "swap_in_bytes_per_s", true },
	[LOAD_SWAP_OUT] = { "swap_out_bytes_per_s", true },
	[LOAD_DISK_FREE] = { "disk_free_bytes", true },
	[LOAD_SPIN] = { "spin_share", false },
	[LOAD_LOCK_SLEEP] = { "lock_sleep_share", false },
	[LOAD_RUN_WAIT] = { "run_wait_share", false },
	[LOAD_SWITCHES] = { "switches_per_s", false },
	[LOAD_THROTTLED] = { "throttled_share", false },
	[LOAD_FREQUENCY] = { "frequency_share", false },
	[LOAD_DISK_BUSY] = { "disk_busy_share", false },
	[LOAD_DISK_AWAIT] = { "disk_await_s", false },
	[LOAD_DIRTY] = { "dirty_bytes", true },
	[LOAD_NFS_LATENCY] = { "nfs_latency_s", false },
	[LOAD_NFS_RETRANSMITS] = { "nfs_retransmits_per_s", false },
	[LOAD_PRESSURE_CPU] = { "pressure_cpu_share", false },
	[LOAD_PRESSURE_MEMORY] = { "pressure_memory_share", false },
	[LOAD_PRESSURE_IO] = { "pressure_io_share", false },
	[LOAD_INSTRUCTIONS] = { "user_instructions_per_s", false },
};

/* NULL load: nothing is known. age_us: since the report came. */
static json_t *
readings(const struct load *load, int64_t age_us)
{
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < LOAD_READINGS; i++) {
		json_t *one = json_null();

		if (load != NULL && (load->missing >> i & 1) == 0 &&
		    isfinite(load->readings[i].value)) {
			const struct reading *r = &load->readings[i];

			one = json_pack("{s:o, s:I, s:I}", "value",
			    reading_keys[i].whole ? json_integer((json_int_t)r->value)
						  : json_real(r->value),
			    "window_us", (json_int_t)r->window_us, "age_us",
			    (json_int_t)r->age_us + age_us);
			assert(one != NULL);
		}
		json_object_set_new(json, reading_keys[i].key, one);
	}
	return json;
}

/* What an operator set, or null. */
static json_t *
hold(const struct order_hold *o, struct moment now)
{
	int64_t left = mono_since(now.mono, o->until);
	json_t *json;

	if (!o->set)
		return json_null();
	json = json_pack("{s:o, s:o, s:o, s:o, s:o}", "limit",
	    o->limit > 0 ? json_integer(o->limit) : json_null(), "who", snapshot_text(o->who),
	    "reason", snapshot_text(o->reason), "since", snapshot_time(o->since), "remaining_us",
	    o->duration_us > 0 ? json_integer(left > 0 ? left : 0) : json_null());
	assert(json != NULL);
	return json;
}

static void
set_holds(json_t *json, const struct host *h, struct moment now)
{
	int kind;

	for (kind = 0; kind < HOLDS; kind++)
		json_object_set_new(
		    json, hold_name((enum hold_kind)kind), hold(&h->holds[kind], now));
}

static json_t *
sharers(const struct cluster *c, const struct host *h)
{
	json_t *json = json_array();
	size_t i;

	for (i = 0; i < c->nhosts && host_shares_machine(c, h) != NULL; i++)
		if (c->hosts[i] != h && strcmp(c->hosts[i]->facts.boot_id, h->facts.boot_id) == 0)
			json_array_append_new(json, json_string(c->hosts[i]->name));
	return json;
}

static void
set_facts(json_t *json, const struct host *h)
{
	const struct host_facts *f = &h->facts;
	char class_name[NAME_SIZE];

	host_class(h, class_name);
	json_object_set_new(json, "class", snapshot_text(class_name));
	json_object_set_new(json, "agent_version", snapshot_text(f->agent_version));
	json_object_set_new(json, "os", snapshot_text(f->os));
	json_object_set_new(json, "release", snapshot_text(f->release));
	json_object_set_new(json, "arch", snapshot_text(f->arch));
	json_object_set_new(json, "cpu", snapshot_text(f->cpu));
	json_object_set_new(json, "threads", json_integer(f->threads));
	json_object_set_new(json, "memory_bytes", json_integer(f->memory_bytes));
	json_object_set_new(json, "slots", json_integer(f->slots));
	json_object_set_new(json, "labels", snapshot_names(f->nlabels, f->labels));
	json_object_set_new(json, "recipes", snapshot_names(f->nrecipes, f->recipes));
}

static void
set_limit(json_t *json, const struct host *h)
{
	bool set = h->limit > 0;

	json_object_set_new(json, "limit", set ? json_integer(h->limit) : json_null());
	json_object_set_new(json, "limit_level",
	    set ? json_string(governor_level_name(h->limit_level)) : json_null());
	json_object_set_new(json, "limit_reason", snapshot_text(h->limit_reason));
	json_object_set_new(json, "limit_since", snapshot_time(h->limit_since));
	json_object_set_new(json, "limit_reported",
	    h->reported && h->limit_reported > 0 ? json_integer(h->limit_reported) : json_null());
}

/* What the agent found by itself: its guard, which may hold it below the limit, and gauges. */
static void
set_agent(json_t *json, const struct host *h, int64_t age_us)
{
	json_t *gauges = json_array(), *guard = json_null();
	size_t i;

	if (h->reported && h->guard > 0) {
		guard = json_pack(
		    "{s:i, s:o}", "limit", (int)h->guard, "reason", snapshot_text(h->guard_reason));
		assert(guard != NULL);
	}
	for (i = 0; h->reported && i < h->ngauges; i++) {
		const struct gauge *g = &h->gauges[i];
		bool there = g->missing[0] == '\0' && isfinite(g->reading.value);

		json_array_append_new(gauges,
		    json_pack("{s:o, s:o, s:o, s:o}", "gauge", snapshot_text(g->name), "value",
			there ? json_real(g->reading.value) : json_null(), "age_us",
			there ? json_integer(g->reading.age_us + age_us) : json_null(), "missing",
			snapshot_text(g->missing)));
	}
	json_object_set_new(json, "guard", guard);
	json_object_set_new(json, "gauges", gauges);
}

/* Of busy CPU time: a machine that is half idle and spins all it works is in trouble. */
static void
set_spin(json_t *json, const struct host *h)
{
	json_t *spin = json_null();
	bool estimate;
	double share;

	if (governor_spin(h, &share, &estimate) && isfinite(share))
		spin = json_pack(
		    "{s:f, s:b}", "busy_share", share < 0 ? 0 : share, "estimate", (int)estimate);
	json_object_set_new(json, "spin", spin);
}

/* The mode that holds and what says so, and what the law would do when that does not let it. */
static void
set_governor(json_t *json, const struct cluster *c, const struct host *h)
{
	const struct mode_order *order;
	enum governor_mode mode = governor_mode_of_host(c, h, &order);
	json_t *would = json_null();

	if (h->would > 0)
		would = json_pack("{s:i, s:o, s:o}", "limit", (int)h->would, "reason",
		    snapshot_text(h->would_reason), "since", snapshot_time(h->would_since));
	json_object_set_new(json, "governor", json_string(governor_mode_name(mode)));
	json_object_set_new(json, "governor_from",
	    order != NULL  ? json_string(mode_scope_name(order->scope))
	    : h->nlive > 0 ? json_string("policy")
			   : json_null());
	json_object_set_new(json, "governor_would", would);
}

static void
set_live(json_t *json, const struct cluster *c, const struct host *h, struct moment now)
{
	json_t *builds = json_array();
	const struct attempt *a;
	int64_t running = 0;
	size_t i;

	for (i = 0; (a = host_live_attempt(c, h, i)) != NULL; i++) {
		running += a->status.running;
		json_array_append_new(
		    builds, snapshot_build_row(c, cluster_find_build(c, a->build), now));
	}
	json_object_set_new(json, "builds", builds);
	json_object_set_new(
	    json, "steps_running", h->reported ? json_integer(running) : json_null());
}

json_t *
snapshot_host(const struct cluster *c, const struct host *h, struct moment now)
{
	int64_t age = mono_since(h->load_at, now.mono);
	json_t *json = json_object();

	json_object_set_new(json, "host", json_string(h->name));
	json_object_set_new(json, "state", json_string(host_state_name(h->state)));
	json_object_set_new(json, "silent_us",
	    h->state == HOST_ABSENT ? json_null() : json_integer(mono_since(h->seen, now.mono)));
	json_object_set_new(json, "shares_machine_with", sharers(c, h));
	json_object_set_new(json, "trouble", snapshot_text(h->trouble));
	set_holds(json, h, now);
	json_object_set_new(json, "readings", readings(h->reported ? &h->load : NULL, age));
	set_facts(json, h);
	set_limit(json, h);
	set_governor(json, c, h);
	set_agent(json, h, age);
	set_spin(json, h);
	set_live(json, c, h, now);
	return json;
}

json_t *
snapshot_explain_host(const struct cluster *c, const struct host *h, struct moment now)
{
	struct governor_input in;
	char sentence[TEXT_SIZE];
	json_t *json, *inputs;

	explain_limit(c, h, sentence, &in);
	inputs = json_pack("{s:i, s:I, s:s, s:o, s:i, s:o, s:o, s:o, s:b, s:b, s:i}", "threads",
	    (int)in.threads, "builds", (json_int_t)in.builds, "governor",
	    governor_mode_name(in.mode), "start",
	    in.start > 0 ? json_integer(in.start) : json_null(), "min", (int)in.min, "max",
	    in.max > 0 ? json_integer(in.max) : json_null(), "throttle",
	    in.throttled ? json_integer(in.throttle) : json_null(), "pin",
	    in.pinned ? json_integer(in.pin) : json_null(), "paused", (int)in.paused, "limited",
	    (int)in.limited, "steps_running", (int)in.running);
	json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "host", h->name, "state",
	    host_state_name(h->state), "explanation", snapshot_text(sentence), "inputs", inputs,
	    "readings", readings(in.load, in.load != NULL ? mono_since(h->load_at, now.mono) : 0),
	    "shares_machine_with", sharers(c, h));
	assert(json != NULL);
	set_holds(json, h, now);
	set_limit(json, h);
	set_governor(json, c, h);
	json_object_set_new(json, "law", snapshot_law(h, now));
	json_object_set_new(json, "changes", snapshot_changes(h));
	set_agent(json, h, mono_since(h->load_at, now.mono));
	set_spin(json, h);
	return json;
}
