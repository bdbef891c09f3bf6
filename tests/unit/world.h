/* world.h - a cluster, a clock and a journal: what tests of the core play with
 *
 * Shape:  world_step gives the core an event at the world's time, checks the cluster's invariants,
 *         and keeps the facts as the journal would: as lines. world_restart is a crash: the lines
 *         are applied to an empty cluster and it is booted, on whatever clocks the test gives.
 * Units:  as units.h.
 * Errors: a broken invariant, or a journal that gives another state, ends the test at once.
 * Memory: world_clear.
 * Source: docs/states.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WORLD_H
#define FLYBALL_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/lease.h"
#include "coordinator/core/plan.h"
#include "coordinator/core/step.h"
#include "proto/base/mem.h"
#include "tests/unit/tap.h"

#define WORLD_WALL INT64_C(1790000000000000) /* some day in 2026 */

struct world_line {
	char *text;
	bool soft;
};

struct world {
	struct cluster *c;
	struct moment now;
	struct effects effects; /* of the last step */
	size_t nlines, lines_capacity;
	struct world_line *lines; /* the journal */
	FILE *record; /* NULL: no recording */
	const char *name; /* of the row that is being played */
};

static inline void __attribute__((noreturn)) world_die(const struct world *w, const char *what)
{
	printf("Bail out! %s: %s\n", w->name, what);
	exit(1);
}

static inline void
world_record(struct world *w, const char *word, const struct text *line)
{
	if (w->record != NULL)
		fprintf(w->record, "%s %s\n", word, line->text);
}

static inline void
world_keep(struct world *w, const struct fact *fact)
{
	struct text t = { 0 };

	fact_encode(fact, &t);
	w->lines = mem_room(w->lines, w->nlines, &w->lines_capacity, sizeof *w->lines);
	w->lines[w->nlines++] = (struct world_line){ t.text, fact_soft(fact->kind) };
}

/* The event is the caller's to clear. */
static inline void
world_step(struct world *w, struct event *event)
{
	struct text t = { 0 };
	struct err err;
	size_t i;

	event->at = w->now;
	event_encode(event, &t);
	world_record(w, "event", &t);
	effects_clear(&w->effects);
	step(w->c, event, &w->effects);
	for (i = 0; i < w->effects.n; i++) {
		t.length = 0;
		effect_encode(&w->effects.list[i], &t);
		world_record(w, "effect", &t);
		if (w->effects.list[i].fact != NULL)
			world_keep(w, w->effects.list[i].fact);
	}
	free(t.text);
	if (cluster_check(w->c, &err) < 0)
		world_die(w, err.text);
}

static inline struct cluster *
world_replay(const struct world *w)
{
	struct cluster *c = cluster_create();
	struct fact fact;
	struct err err;
	size_t i;

	for (i = 0; i < w->nlines; i++) {
		if (fact_decode(w->lines[i].text, &fact, &err) < 0 ||
		    cluster_apply(c, &fact, &err) < 0)
			world_die(w, err.text);
		fact_clear(&fact);
	}
	return c;
}

/* What the journal gives must be what the core has. */
static inline void
world_compare(const struct world *w)
{
	struct cluster *again = world_replay(w);
	struct err err;

	if (!cluster_hard_equal(w->c, again, &err))
		world_die(w, err.text);
	cluster_destroy(again);
}

static inline void
world_boot(struct world *w)
{
	struct event boot = { .kind = EVENT_BOOT };

	world_step(w, &boot);
}

static inline void
world_init(struct world *w, const char *name)
{
	*w = (struct world){
		.c = cluster_create(), .name = name, .now = { { 1000 * SECOND_US }, { WORLD_WALL } }
	};
	world_boot(w);
}

static inline void
world_clear(struct world *w)
{
	size_t i;

	for (i = 0; i < w->nlines; i++)
		free(w->lines[i].text);
	free(w->lines);
	effects_clear(&w->effects);
	cluster_destroy(w->c);
}

static inline void
world_pass(struct world *w, int64_t us)
{
	w->now.mono.us += us;
	w->now.wall.us += us;
}

/* The coordinator runs for so long. The tick at the end is the caller's. */
static inline void
world_run(struct world *w, int64_t us)
{
	struct event tick = { .kind = EVENT_TICK };

	for (; us > AWAY_US; us -= AWAY_US) {
		world_pass(w, AWAY_US);
		world_step(w, &tick);
	}
	world_pass(w, us);
}

/* The coordinator dies and comes back: all that is left is the journal. */
static inline void
world_restart(struct world *w, int64_t away_us, int64_t wall_wrong_us)
{
	struct text t = { 0 };
	size_t i;

	cluster_destroy(w->c);
	w->c = world_replay(w);
	w->now.mono.us = 50 * SECOND_US; /* another boot, another count */
	w->now.wall.us += away_us + wall_wrong_us;
	for (i = 0; i < w->nlines; i++) {
		t.length = 0;
		text_add(&t, w->lines[i].text);
		world_record(w, "fact", &t);
	}
	free(t.text);
	world_boot(w);
}

/* ---- the events ------------------------------------------------------------------------- */

static inline void
world_name(char *buf, const char *name)
{
	mem_copy_text(buf, NAME_SIZE, name);
}

/* A host that could build anything, with two slots; each a machine of its own. */
static inline struct host_facts *
world_facts(const char *host)
{
	struct host_facts *f = mem_calloc(1, sizeof *f);

	snprintf(f->boot_id, sizeof f->boot_id, "boot-%.32s", host);
	snprintf(f->start_id, sizeof f->start_id, "start-%.32s", host);
	world_name(f->os, "Linux");
	world_name(f->release, "6.1");
	world_name(f->arch, "x86_64");
	f->threads = 4;
	f->memory_bytes = INT64_C(8) << 30;
	f->slots = 2;
	f->nrecipes = 1;
	f->recipes = mem_calloc(1, NAME_SIZE);
	world_name(f->recipes[0], "gmake");
	return f;
}

static inline struct policy *
world_policy(const char *branch, size_t ntargets, int32_t retries)
{
	struct policy *p = policy_create();
	size_t i;

	world_name(p->branch, branch);
	world_name(p->recipe, "gmake");
	p->jobs_min = 1;
	p->jobs_max = JOBS_MAX;
	p->ntargets = ntargets;
	p->targets = mem_calloc(ntargets, sizeof *p->targets);
	for (i = 0; i < ntargets; i++) {
		snprintf(p->targets[i].name, NAME_SIZE, "t%zu", i + 1);
		p->targets[i].retries = retries;
	}
	return p;
}

/* Takes the policy over. */
static inline void
world_set_policy(struct world *w, struct policy *policy)
{
	struct event e = { .kind = EVENT_POLICY, .policy = policy };

	world_step(w, &e);
	event_clear(&e);
}

/* What the driver does when a plan is asked for. */
static inline void
world_plan(struct world *w)
{
	struct event e = { .kind = EVENT_PLAN, .version = w->c->version };

	plan_search(w->c, 100000, &e.moves, &e.nmoves);
	world_step(w, &e);
	event_clear(&e);
}

#endif
