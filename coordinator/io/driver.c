/* Order is everything here: a START must not leave before the grant is on the disk, or a
 * crash in between would grant the build twice.
 *
 * Soft facts (limits) wait up to a second for a hard one to be committed with; their effects do
 * not wait, since a limit that is lost in a crash is decided again.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/driver.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/plan.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

#define SOFT_COMMIT_US SECOND_US
#define RETRY_US SECOND_US

enum { PLAN_BUDGET = 100000, ROUNDS_A_TURN = 16, PENDING_MAX = 8 * HOSTS_MAX };

struct driver {
	struct store *store;
	struct record *record;
	struct driver_callbacks callbacks;
	struct cluster *cluster;
	struct effects pending; /* of this turn; those before `committed` are safe */
	size_t committed;
	struct loop_watch *turn, *tick;
	mono_us last_commit, retry_at;
	bool in_trouble;
	struct err trouble;
};

struct moment
driver_now(void)
{
	return (struct moment){ loop_now(), loop_wall() };
}

const struct cluster *
driver_cluster(const struct driver *driver)
{
	return driver->cluster;
}

const char *
driver_trouble(const struct driver *driver)
{
	return driver->in_trouble ? driver->trouble.text : NULL;
}

bool
driver_settled(const struct driver *d)
{
	size_t i;

	for (i = d->committed; i < d->pending.n; i++) {
		const struct fact *f = d->pending.list[i].fact;

		if (f != NULL && !fact_soft(f->kind))
			return false;
	}
	return true;
}

bool
driver_is_full(const struct driver *d)
{
	return d->in_trouble && d->pending.n >= PENDING_MAX;
}

/* ---- events ----------------------------------------------------------------------------- */

static bool
is_for_agent(const struct effect *e)
{
	return e->kind == EFFECT_WELCOME || e->kind == EFFECT_START || e->kind == EFFECT_CANCEL ||
	       e->kind == EFFECT_DROP || e->kind == EFFECT_KEPT || e->kind == EFFECT_LIMIT;
}

/* What waits for a connection that is no more: HELLO on the next one leads to all of it again. */
static void
forget_waiting(struct driver *d, const char *host)
{
	struct effects *p = &d->pending;
	size_t i, kept = d->committed;

	for (i = d->committed; i < p->n; i++)
		if (!is_for_agent(&p->list[i]) || strcmp(p->list[i].host, host) != 0)
			p->list[kept++] = p->list[i];
	p->n = kept;
}

/* That an event made no sense is no promise. */
static void
tell_refusals(struct driver *d, size_t first)
{
	struct effects *p = &d->pending;
	size_t i, kept = first;

	for (i = first; i < p->n; i++)
		if (p->list[i].kind == EFFECT_REFUSE)
			d->callbacks.effect(d->callbacks.arg, &p->list[i]);
		else
			p->list[kept++] = p->list[i];
	p->n = kept;
}

void
driver_event(struct driver *d, struct event *event)
{
	size_t first;

	if (event->kind == EVENT_HELLO || event->kind == EVENT_GONE)
		forget_waiting(d, event->host);
	first = d->pending.n;
	event->at = driver_now();
	step(d->cluster, event, &d->pending);
	record_step(d->record, event, &d->pending, first);
	tell_refusals(d, first);
}

/* ---- committing ------------------------------------------------------------------------- */

/* Facts from `committed` on; whether one of them may not wait. */
static size_t
gather(const struct driver *d, const struct fact **facts, bool *ret_hard)
{
	size_t i, n = 0;

	*ret_hard = false;
	for (i = d->committed; i < d->pending.n; i++) {
		const struct fact *f = d->pending.list[i].fact;

		if (f == NULL)
			continue;
		facts[n++] = f;
		*ret_hard = *ret_hard || !fact_soft(f->kind);
	}
	return n;
}

static void
commit_failed(struct driver *d, const struct err *err)
{
	if (!d->in_trouble)
		log_error("%s; effects wait, retrying every second", err->text);
	d->in_trouble = true;
	d->trouble = *err;
	d->retry_at = mono_add(loop_now(), RETRY_US);
}

static void
commit_succeeded(struct driver *d)
{
	if (d->in_trouble)
		log_notice("the journal can be written again");
	d->in_trouble = false;
	d->last_commit = loop_now();
}

/* False when effects must wait. */
static bool
commit(struct driver *d)
{
	const struct fact **facts;
	struct err err;
	bool hard, done = true;
	size_t n;

	if (d->in_trouble && mono_since(d->retry_at, loop_now()) < 0)
		return false;
	facts = mem_calloc(d->pending.n - d->committed, sizeof(const struct fact *));
	n = gather(d, facts, &hard);
	if (n > 0 &&
	    (hard || d->in_trouble || mono_since(d->last_commit, loop_now()) > SOFT_COMMIT_US)) {
		done = store_append(d->store, facts, n, &err) == 0;
		if (done) {
			commit_succeeded(d);
			d->committed = d->pending.n;
		} else
			commit_failed(d, &err);
	}
	free(facts);
	return done;
}

/* ---- effects ---------------------------------------------------------------------------- */

static void
plan(struct driver *d, uint64_t version)
{
	struct event event = { .kind = EVENT_PLAN, .version = version };

	plan_search(d->cluster, PLAN_BUDGET, &event.moves, &event.nmoves);
	driver_event(d, &event);
	free(event.moves);
}

/* Carries out what is there now; uncommitted soft facts stay in the list for a later commit. */
static void
carry_out(struct driver *d)
{
	struct effects now = d->pending, soft = { 0 };
	size_t i;

	memset(&d->pending, 0, sizeof d->pending);
	for (i = 0; i < now.n; i++) {
		struct effect *e = &now.list[i];

		if (e->kind == EFFECT_PLAN)
			plan(d, e->version);
		else if (e->kind != EFFECT_FACT)
			d->callbacks.effect(d->callbacks.arg, e);
		else if (i >= d->committed) {
			effects_add(&soft, EFFECT_FACT)->fact = e->fact;
			e->fact = NULL;
		}
	}
	d->committed = 0;
	effects_clear(&now);
	/* Soft facts that wait come before what the effects have led to. */
	for (i = 0; i < d->pending.n; i++) {
		*effects_add(&soft, d->pending.list[i].kind) = d->pending.list[i];
		d->pending.list[i].fact = NULL;
	}
	effects_clear(&d->pending);
	d->pending = soft;
}

static bool
has_work(const struct driver *d)
{
	size_t i;

	for (i = 0; i < d->pending.n; i++)
		if (d->pending.list[i].kind != EFFECT_FACT ||
		    !fact_soft(d->pending.list[i].fact->kind))
			return true;
	return d->pending.n > 0 && mono_since(d->last_commit, loop_now()) > SOFT_COMMIT_US;
}

static void
end_of_turn(void *arg)
{
	struct driver *d = arg;
	int rounds = 0;

	while (has_work(d) && rounds++ < ROUNDS_A_TURN) {
		if (!commit(d))
			return;
		carry_out(d);
	}
	if (!d->in_trouble)
		d->callbacks.committed(d->callbacks.arg);
	record_flush(d->record);
}

static void
tick(void *arg)
{
	struct event event = { .kind = EVENT_TICK };

	driver_event(arg, &event);
}

/* ---- life ------------------------------------------------------------------------------- */

struct driver *
driver_create(struct loop *loop, struct store *store, struct record *record,
    const struct driver_callbacks *callbacks)
{
	struct driver *d = mem_calloc(1, sizeof *d);

	d->store = store;
	d->record = record;
	d->callbacks = *callbacks;
	d->cluster = cluster_create();
	d->turn = loop_turn_add(loop, end_of_turn, d);
	d->tick = loop_timer_add(loop, SECOND_US, SECOND_US, tick, d);
	return d;
}

static int
load(struct driver *d, struct err *err)
{
	struct fact fact;
	int rc;

	if (store_rewind(d->store, err) < 0)
		return -1;
	while ((rc = store_next(d->store, &fact, err)) == 1) {
		rc = cluster_apply(d->cluster, &fact, err);
		record_fact(d->record, &fact);
		fact_clear(&fact);
		if (rc < 0)
			return err_prefix(err, "the journal is damaged");
	}
	return rc;
}

int
driver_start(struct driver *d, struct err *err)
{
	struct event event = { .kind = EVENT_BOOT };

	if (load(d, err) < 0)
		return -1;
	driver_event(d, &event);
	/* The new epoch must be on the disk before anyone can hear of it. */
	if (!commit(d)) {
		*err = d->trouble;
		return -1;
	}
	return 0;
}

void
driver_destroy(struct driver *d)
{
	if (d == NULL)
		return;
	if (d->pending.n > d->committed)
		commit(d);
	loop_remove(d->turn);
	loop_remove(d->tick);
	effects_clear(&d->pending);
	cluster_destroy(d->cluster);
	free(d);
}
