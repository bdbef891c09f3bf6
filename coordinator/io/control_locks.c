/* Tables of locks: the last ones of a host, or what a build's added up to. A share is null where
 * what it is a share of is not known.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>

#include "coordinator/io/control_ask.h"
#include "coordinator/io/locks.h"
#include "coordinator/io/snapshot.h"

static json_t *
share(double part, double whole)
{
	return whole > 0 ? json_real(part / whole) : json_null();
}

static json_t *
rows_json(const struct lock_table *table)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < table->nrows; i++) {
		const struct lock_row *row = &table->rows[i];
		int64_t total = row->kind == LOCK_SPIN ? table->spin_ns : table->sleep_ns;
		json_t *json =
		    json_pack("{s:o, s:o, s:s, s:I, s:I, s:o}", "lock", snapshot_text(row->lock),
			"caller", snapshot_text(row->caller), "kind", lock_kind_name(row->kind),
			"count", (json_int_t)row->count, "wait_ns", (json_int_t)row->wait_ns,
			"total_share", share((double)row->wait_ns, (double)total));

		assert(json != NULL);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *
kind_json(bool has, int64_t count, int64_t ns, double cpu_us, double busy_us)
{
	json_t *json;

	if (!has)
		return json_null();
	json = json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)count, "wait_ns",
	    (json_int_t)ns, "cpu_share", share((double)ns / 1e3, cpu_us), "busy_share",
	    share((double)ns / 1e3, busy_us));
	assert(json != NULL);
	return json;
}

static json_t *
cost(int64_t ppm)
{
	return ppm >= 0 ? json_real((double)ppm / 1e6) : json_null();
}

/* cpu_us, busy_us: CPU time that passed in the windows, and in use. */
static json_t *
table_json(const struct lock_table *t, double cpu_us, double busy_us)
{
	json_t *json = json_pack("{s:o, s:o, s:o, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "source",
	    snapshot_text(t->source), "missing", snapshot_text(t->missing), "coverage",
	    snapshot_text(t->coverage), "window_us", (json_int_t)t->window_us, "cpus", (int)t->cpus,
	    "cost_cpu_share", cost(t->cost_cpu_ppm), "cost_steps_share", cost(t->cost_steps_ppm),
	    "spin", kind_json(t->has_spin, t->spin_count, t->spin_ns, cpu_us, busy_us), "sleep",
	    kind_json(t->has_sleep, t->sleep_count, t->sleep_ns, cpu_us, 0), "rows", rows_json(t));

	assert(json != NULL);
	return json;
}

static enum control_result
locks_answer(struct ask *ask, json_t *json, json_t *sources)
{
	json_object_set_new(json, "sources", sources);
	return answer_json(ask, json);
}

static enum control_result
of_host(struct ask *ask, const struct host *h)
{
	json_t *list = json_array(), *one;
	const struct lock_seen *seen = NULL;
	size_t i, n = 0;

	if (ask->context->locks != NULL)
		seen = locks_of_host(ask->context->locks, h->name, &n);
	for (i = 0; i < n; i++) {
		const struct lock_table *t = &seen[i].table;
		double cpu_us = (double)t->window_us * t->cpus;

		one = table_json(t, cpu_us, seen[i].busy * cpu_us);
		json_object_set_new(one, "age_us",
		    json_integer(t->age_us + mono_since(seen[i].at, ask->context->now.mono)));
		json_array_append_new(list, one);
	}
	return locks_answer(ask, json_pack("{s:s}", "host", h->name), list);
}

static json_t *
sum_json(const struct lock_sum *sum)
{
	json_t *json = table_json(&sum->table, (double)sum->cpu_us, (double)sum->busy_us);

	/* The last window's reason is no reason for the others. */
	if (sum->tables > 0)
		json_object_set_new(json, "missing", json_null());
	json_object_set_new(json, "last_missing", snapshot_text(sum->table.missing));
	json_object_set_new(json, "windows", json_integer(sum->tables));
	json_object_set_new(json, "windows_missing", json_integer(sum->tables_missing));
	json_object_set_new(json, "builds_at_once", json_integer(sum->builds_max));
	return json;
}

/* The last attempt: what it had while it ran, also after its end. */
static enum control_result
of_build(struct ask *ask, const struct build *b)
{
	const struct attempt *a = NULL;
	const struct lock_sum *sums = NULL;
	json_t *list = json_array(), *json;
	size_t i, n = 0;
	struct err err;

	if (b->nattempts > 0)
		a = cluster_find_attempt(ask->c, b->attempts[b->nattempts - 1]);
	if (a != NULL && ask->context->locks != NULL &&
	    locks_of_attempt(ask->context->locks, a->id, &sums, &n, &err) < 0) {
		json_decref(list);
		return answer(ask, REPLY_FAILED, "%s", err.text);
	}
	for (i = 0; i < n; i++)
		json_array_append_new(list, sum_json(&sums[i]));
	json = json_pack("{s:I, s:s, s:s}", "build", (json_int_t)b->id.n, "branch",
	    build_round(ask->c, b)->branch, "target", b->target);
	assert(json != NULL);
	json_object_set_new(
	    json, "attempt", a != NULL ? json_integer((json_int_t)a->id.n) : json_null());
	json_object_set_new(json, "host", a != NULL ? json_string(a->host) : json_null());
	json_object_set_new(json, "elapsed_us",
	    a == NULL ? json_null()
		      : json_integer(a->state == ATTEMPT_ENDED && a->result.real_us > 0
					 ? a->result.real_us
					 : a->status.elapsed_us));
	return locks_answer(ask, json, list);
}

enum control_result
show_locks(struct ask *ask)
{
	const char *host = arg_get(ask, "host"), *build = arg_get(ask, "build");
	const struct build *b;
	const struct host *h;

	if ((host == NULL) == (build == NULL))
		return answer(ask, REPLY_USAGE, "one host, or --build BUILD, was expected");
	if (host != NULL) {
		h = find_host(ask, host);
		return h != NULL ? of_host(ask, h) : CONTROL_ANSWERED;
	}
	b = find_build(ask, build);
	return b != NULL ? of_build(ask, b) : CONTROL_ANSWERED;
}
