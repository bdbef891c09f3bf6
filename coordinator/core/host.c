/* A host's life: it says HELLO, reports, goes; operators hold it back. Its limit is set
 * by the governor after every event that has to do with it, and once a second.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "coordinator/core/governor.h"
#include "coordinator/core/hold.h"
#include "coordinator/core/lease.h"
#include "coordinator/core/turn.h"
#include "proto/base/mem.h"

/* True when what the agent says of its host is what we have. */
static bool
facts_same(const struct host *h, const struct host_facts *facts)
{
	struct text a = { 0 }, b = { 0 };
	bool same;

	codec_encode(&a, host_facts_fields, &h->facts);
	codec_encode(&b, host_facts_fields, facts);
	same = strcmp(a.text, b.text) == 0;
	free(a.text);
	free(b.text);
	return same;
}

static void
facts_take(struct turn *t)
{
	const struct event *e = t->event;
	const struct host *h = cluster_find_host(t->c, e->host);
	struct fact f = { .kind = FACT_HOST };

	if (h != NULL && facts_same(h, e->facts))
		return;
	memcpy(f.host, e->host, sizeof f.host);
	f.facts = mem_calloc(1, sizeof *f.facts);
	*f.facts = *e->facts;
	codec_own(host_facts_fields, f.facts);
	turn_fact(t, &f);
}

void
host_hello(struct turn *t)
{
	const struct event *e = t->event;
	struct effect *effect;
	struct host *h;

	if (e->host[0] == '\0' || e->facts == NULL || e->facts->start_id[0] == '\0') {
		turn_refuse(t, ANSWER_USAGE, "a HELLO without a host or its facts");
		return;
	}
	if (cluster_find_host(t->c, e->host) == NULL && t->c->nhosts == HOSTS_MAX) {
		turn_refuse(t, ANSWER_CONFLICT,
		    "host \"%s\" is one more than the %d that are supported", e->host, HOSTS_MAX);
		return;
	}
	facts_take(t);
	h = cluster_find_host(t->c, e->host);
	h->reported = false;
	lease_renew(t, h);
	effect = effects_add(t->effects, EFFECT_WELCOME);
	memcpy(effect->host, h->name, sizeof effect->host);
	build_reconcile(t, h);
	/* Whatever limit it kept while we were apart: from now on it is ours. */
	host_say_limit(t, h);
}

static void
gauges_take(struct host *h, const struct event *e)
{
	if (h->ngauges != e->ngauges) {
		free(h->gauges);
		h->gauges = e->ngauges > 0 ? mem_calloc(e->ngauges, sizeof *h->gauges) : NULL;
	}
	h->ngauges = e->ngauges;
	if (h->ngauges > 0)
		memcpy(h->gauges, e->gauges, h->ngauges * sizeof *h->gauges);
}

void
host_report(struct turn *t)
{
	const struct event *e = t->event;
	struct host *h = cluster_find_host(t->c, e->host);
	bool was_away = h != NULL && h->state != HOST_UP;
	size_t i;

	if (h == NULL || e->load == NULL) {
		turn_refuse(t, ANSWER_NOT_FOUND,
		    "a report of host \"%s\", which has not said HELLO", e->host);
		return;
	}
	lease_renew(t, h);
	h->reported = true;
	h->load = *e->load;
	h->load_at = e->at.mono;
	h->limit_reported = e->limit;
	h->guard = e->guard;
	memcpy(h->guard_reason, e->text, sizeof h->guard_reason);
	gauges_take(h, e);
	host_touch(t->c, h);
	/* Its connection never broke, so there is no HELLO that would tell what it still builds. */
	if (was_away)
		build_return(t, h);
	for (i = 0; i < e->nattempts; i++)
		build_status(t, h, &e->attempts[i]);
	adapt_phase(t, h);
	adapt_sample(t, h);
}

void
host_gone(struct turn *t)
{
	struct host *h = cluster_find_host(t->c, t->event->host);

	if (h == NULL || h->state != HOST_UP)
		return;
	h->state = HOST_SILENT;
	h->reported = false;
	mem_copy_text(h->trouble, sizeof h->trouble, t->event->text);
	t->changed = true;
}

void
host_tick(struct turn *t)
{
	size_t i;

	for (i = 0; i < t->c->nhosts; i++) {
		struct host *h = t->c->hosts[i];

		hold_tick(t, h);
		host_touch(t->c, h); /* readings grow old */
	}
}

void
host_boot(struct turn *t)
{
	size_t i;

	t->c->lease_grace_until = mono_add(t->event->at.mono, LEASE_US);
	for (i = 0; i < t->c->nhosts; i++) {
		struct host *h = t->c->hosts[i];

		h->state = HOST_ABSENT;
		h->lease_until = t->c->lease_grace_until;
		hold_boot(t, h);
	}
}

/* ---- the limit -------------------------------------------------------------------------- */

void
host_say_limit(struct turn *t, const struct host *h)
{
	const struct order_hold *pause = &h->holds[HOLD_PAUSE];
	struct effect *e;

	if (h->limit == 0)
		return;
	e = effects_add(t->effects, EFFECT_LIMIT);
	memcpy(e->host, h->name, sizeof e->host);
	e->limit = h->limit;
	memcpy(e->text, h->limit_reason, sizeof e->text);
	e->paused = pause->set;
	e->duration_us = pause->set ? hold_left_us(pause, t->event->at.mono) : 0;
}

/* Told when it changes, in modes that leave it at that. What an operator holds a host to is no
 * opinion of the law's. */
static void
host_would(
    struct turn *t, struct host *h, enum governor_mode mode, const struct governor_decision *d)
{
	bool held = mode == GOVERNOR_OBSERVE || mode == GOVERNOR_ADVISE;
	int32_t would = held && d->level != LEVEL_OPERATOR && d->would != d->limit ? d->would : 0;
	struct effect *e;

	if (would == h->would)
		return;
	h->would = would;
	h->would_since = t->event->at.wall;
	memcpy(h->would_reason, d->would_reason, sizeof h->would_reason);
	if (would == 0)
		return;
	e = effects_add(t->effects, EFFECT_WOULD);
	memcpy(e->host, h->name, sizeof e->host);
	e->limit = would;
	memcpy(e->text, d->would_reason, sizeof e->text);
}

static void
host_limit(struct turn *t, struct host *h)
{
	struct fact f = { .kind = FACT_LIMIT };
	struct governor_decision d;
	struct governor_input in;

	adapt_phase(t, h);
	governor_input_get(t->c, h, &in);
	governor_decide(&in, &d);
	host_would(t, h, in.mode, &d);
	if (d.limit == h->limit && strcmp(d.reason, h->limit_reason) == 0)
		return;
	f.evidence = mem_calloc(1, sizeof *f.evidence);
	*f.evidence = law_evidence(&h->law);
	f.evidence->was = h->limit;
	f.limit = d.limit;
	f.number = d.level;
	memcpy(f.host, h->name, sizeof f.host);
	memcpy(f.text, d.reason, sizeof f.text);
	turn_fact(t, &f);
	host_say_limit(t, h);
}

static int
compare_hosts(const void *x, const void *y)
{
	const struct host *const *a = x, *const *b = y;

	return strcmp((*a)->name, (*b)->name);
}

/* In the order of names, as all that is decided for several hosts. A limit that is set touches no
 * host, so the list does not grow meanwhile. */
void
host_limits(struct turn *t)
{
	struct cluster *c = t->c;
	size_t i;

	if (c->ntouched > 1)
		qsort(c->touched, c->ntouched, sizeof(struct host *), compare_hosts);
	for (i = 0; i < c->ntouched; i++) {
		c->touched[i]->touched = false;
		host_limit(t, c->touched[i]);
	}
	c->ntouched = 0;
}
