/* script.h - what happens to a world, as words; and what came out of it, as words
 *
 * Shape:  "hello a; run; plan; running a 1": commands apart by ";", each one event (the table in
 *         this file lists them). An attempt's number may carry a wrong fence: "1:9". What the
 *         last one gave is a text: facts as "+grant 1 a", effects as "start a 1", apart by ", ".
 * Units:  seconds.
 * Errors: an unknown command ends the test.
 * Memory: script_effects gives fresh memory.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SCRIPT_H
#define FLYBALL_SCRIPT_H

#include "tests/unit/world.h"

enum { WORDS_MAX = 8 };

struct words {
	size_t n;
	char word[WORDS_MAX][NAME_SIZE];
};

static inline long
word_number(const struct words *a, size_t i, long otherwise)
{
	return i < a->n ? strtol(a->word[i], NULL, 10) : otherwise;
}

/* An attempt as an agent speaks of it: "2", "2:7" with another fence than its own, "2g" granted,
 * "2e" ended; else running. */
static inline struct attempt_status
word_attempt(const struct world *w, const char *word)
{
	char *end;
	struct attempt_status s = { .state = ATTEMPT_RUNNING, .percent = -1 };
	const struct attempt *a;

	s.id.n = strtoul(word, &end, 10);
	a = cluster_find_attempt(w->c, s.id);
	s.fence = a != NULL ? a->fence : 1;
	if (*end == ':')
		s.fence = strtoul(end + 1, &end, 10);
	if (*end == 'g')
		s.state = ATTEMPT_GRANTED;
	else if (*end == 'e')
		s.state = ATTEMPT_ENDED;
	return s;
}

static inline void
play_hello(struct world *w, const struct words *a, struct event *e)
{
	size_t i;

	e->kind = EVENT_HELLO;
	e->facts = world_facts(e->host);
	e->nattempts = a->n - 2;
	e->attempts = mem_calloc(e->nattempts, sizeof *e->attempts);
	for (i = 2; i < a->n; i++)
		e->attempts[i - 2] = word_attempt(w, a->word[i]);
}

static inline void
play_report(struct world *w, const struct words *a, struct event *e)
{
	play_hello(w, a, e);
	free(e->facts->recipes);
	free(e->facts);
	e->facts = NULL;
	e->kind = EVENT_REPORT;
	e->load = mem_calloc(1, sizeof *e->load);
	e->load->missing = (1u << LOAD_READINGS) - 1;
}

static inline void
play_gone(struct world *w, const struct words *a, struct event *e)
{
	(void)w;
	(void)a;
	e->kind = EVENT_GONE;
}

static inline void
play_running(struct world *w, const struct words *a, struct event *e)
{
	e->kind = EVENT_ATTEMPT;
	e->nattempts = 1;
	e->attempts = mem_calloc(1, sizeof *e->attempts);
	e->attempts[0] = word_attempt(w, a->word[2]);
}

/* ended HOST ATTEMPT [OUTCOME] */
static inline void
play_ended(struct world *w, const struct words *a, struct event *e)
{
	int outcome = a->n > 3 ? OUTCOME_NONE : OUTCOME_OK;

	play_running(w, a, e);
	e->attempts[0].state = ATTEMPT_ENDED;
	while (a->n > 3 && strcmp(outcome_name((enum outcome)outcome), a->word[3]) != 0)
		if (++outcome > OUTCOME_LOST)
			world_die(w, "no such outcome");
	e->result = mem_calloc(1, sizeof *e->result);
	e->result->outcome = (enum outcome)outcome;
	e->result->real_us = 100 * SECOND_US;
	snprintf(e->result->reason, sizeof e->result->reason, "it was %s",
	    outcome_name((enum outcome)outcome));
}

/* run [TARGETS] [BRANCH] */
static inline void
play_run(struct world *w, const struct words *a, struct event *e)
{
	size_t i;

	(void)w;
	e->kind = EVENT_RUN;
	e->host[0] = '\0';
	world_name(e->branch, a->n > 2 ? a->word[2] : "main");
	e->nnames = (size_t)word_number(a, 1, 1);
	e->names = mem_calloc(e->nnames, NAME_SIZE);
	for (i = 0; i < e->nnames; i++)
		snprintf(e->names[i], NAME_SIZE, "t%zu", i + 1);
	e->request = 1;
}

static inline void
play_of_build(struct world *w, const struct words *a, struct event *e)
{
	bool whole = a->word[1][0] == 'r';

	(void)w;
	e->host[0] = '\0';
	e->kind = a->word[0][0] == 'c' ? EVENT_CANCEL : EVENT_RETRY;
	*(whole ? &e->round.n : &e->build.n) = strtoul(a->word[1] + whole, NULL, 10);
	e->request = 1;
	mem_copy_text(e->text, sizeof e->text, "no longer wanted");
}

/* throttle, pin HOST LIMIT [SECONDS]; drain, pause HOST [SECONDS]; unthrottle, resume HOST */
static inline void
play_hold(struct world *w, const struct words *a, struct event *e)
{
	static const enum event_kind kinds[] = { EVENT_THROTTLE, EVENT_UNTHROTTLE, EVENT_PIN,
		EVENT_DRAIN, EVENT_PAUSE, EVENT_RESUME };
	bool limit;
	size_t i = 0;

	(void)w;
	while (strcmp(event_kind_name(kinds[i]), a->word[0]) != 0)
		i++;
	e->kind = kinds[i];
	limit = e->kind == EVENT_THROTTLE || e->kind == EVENT_PIN;
	e->limit = limit ? (int32_t)word_number(a, 2, 0) : 0;
	e->duration_us = word_number(a, limit ? 3 : 2, 0) * SECOND_US;
	e->request = 1;
	mem_copy_text(e->text, sizeof e->text, "noise");
}

/* governor MODE [SCOPE NAME]; governor policy [SCOPE NAME]: as flyball governor */
static inline void
play_governor(struct world *w, const struct words *a, struct event *e)
{
	int mode = GOVERNOR_OFF, scope = SCOPE_FARM;

	e->host[0] = '\0';
	e->kind = strcmp(a->word[1], "policy") == 0 ? EVENT_GOVERNOR_LIFT : EVENT_GOVERNOR;
	while (e->kind == EVENT_GOVERNOR &&
	       strcmp(governor_mode_name((enum governor_mode)mode), a->word[1]) != 0)
		if (++mode > GOVERNOR_ACT)
			world_die(w, "no such mode");
	while (a->n > 2 && strcmp(mode_scope_name((enum mode_scope)scope), a->word[2]) != 0)
		if (++scope > SCOPE_HOST)
			world_die(w, "no such scope");
	e->mode = (enum governor_mode)mode;
	e->scope = (enum mode_scope)scope;
	world_name(e->name, a->word[3]);
	e->request = 1;
	mem_copy_text(e->text, sizeof e->text, "trial");
}

/* grant BUILD HOST [BUILD HOST]: a plan that somebody made, good or not */
static inline void
play_grant(struct world *w, const struct words *a, struct event *e)
{
	size_t i;

	(void)w;
	e->kind = EVENT_PLAN;
	e->host[0] = '\0';
	e->nmoves = (a->n - 1) / 2;
	e->moves = mem_calloc(e->nmoves, sizeof *e->moves);
	for (i = 0; i < e->nmoves; i++) {
		e->moves[i].build.n = strtoul(a->word[1 + 2 * i], NULL, 10);
		world_name(e->moves[i].host, a->word[2 + 2 * i]);
	}
}

static inline void
play_plan(struct world *w, const struct words *a, struct event *e)
{
	(void)a;
	e->kind = EVENT_PLAN;
	plan_search(w->c, 100000, &e->moves, &e->nmoves);
}

/* policy BRANCH TARGETS RETRIES; gone_policy BRANCH */
static inline void
play_policy(struct world *w, const struct words *a, struct event *e)
{
	(void)w;
	e->host[0] = '\0';
	if (a->word[0][0] == 'g') {
		e->kind = EVENT_POLICY_GONE;
		world_name(e->branch, a->word[1]);
		return;
	}
	e->kind = EVENT_POLICY;
	e->policy =
	    world_policy(a->word[1], (size_t)word_number(a, 2, 1), (int32_t)word_number(a, 3, 1));
}

/* wait SECONDS: with ticks in between, and one at the end */
static inline void
play_wait(struct world *w, const struct words *a, struct event *e)
{
	world_run(w, word_number(a, 1, 1) * SECOND_US);
	e->host[0] = '\0';
	e->kind = EVENT_TICK;
}

/* stop SECONDS: the coordinator does not run for so long; then one tick */
static inline void
play_stop(struct world *w, const struct words *a, struct event *e)
{
	world_pass(w, word_number(a, 1, 1) * SECOND_US);
	e->host[0] = '\0';
	e->kind = EVENT_TICK;
}

static inline void
script_command(struct world *w, const struct words *a)
{
	static const struct {
		const char *name;
		void (*play)(struct world *, const struct words *, struct event *);
	} commands[] = {
		{ "hello", play_hello },
		{ "report", play_report },
		{ "gone", play_gone },
		{ "running", play_running },
		{ "ended", play_ended },
		{ "run", play_run },
		{ "cancel", play_of_build },
		{ "retry", play_of_build },
		{ "throttle", play_hold },
		{ "unthrottle", play_hold },
		{ "pin", play_hold },
		{ "drain", play_hold },
		{ "pause", play_hold },
		{ "resume", play_hold },
		{ "governor", play_governor },
		{ "grant", play_grant },
		{ "plan", play_plan },
		{ "policy", play_policy },
		{ "gone_policy", play_policy },
		{ "wait", play_wait },
		{ "stop", play_stop },
	};
	struct event e = { .who = "ann" };
	size_t i;

	if (strcmp(a->word[0], "restart") ==
	    0) { /* [SECONDS away] [SECONDS that the wall clock jumps] */
		world_restart(
		    w, word_number(a, 1, 10) * SECOND_US, word_number(a, 2, 0) * SECOND_US);
		return;
	}
	for (i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(a->word[0], commands[i].name) == 0)
			break;
	if (i == sizeof commands / sizeof commands[0])
		world_die(w, a->word[0]);
	if (a->n > 1)
		world_name(e.host, a->word[1]);
	commands[i].play(w, a, &e);
	world_step(w, &e);
	event_clear(&e);
}

static inline void
script_play(struct world *w, const char *script)
{
	while (*script != '\0') {
		struct words a = { 0 };

		for (;;) {
			size_t n;

			script += strspn(script, " ");
			n = strcspn(script, " ;");
			if (n == 0)
				break;
			memcpy(a.word[a.n++], script, n);
			script += n;
		}
		script += *script == ';';
		if (a.n > 0)
			script_command(w, &a);
	}
	world_compare(w);
}

/* ---- what came out ---------------------------------------------------------------------- */

typedef unsigned long long ull;

static inline void
say_fact(struct text *t, const struct fact *f)
{
	text_printf(t, "+%s", fact_kind_name(f->kind));
	switch (f->kind) {
	case FACT_GRANT:
		text_printf(t, " %llu %s", (ull)f->attempt.n, f->host);
		break;
	case FACT_RUNNING:
		text_printf(t, " %llu", (ull)f->attempt.n);
		break;
	case FACT_ENDED:
		text_printf(t, " %llu %s", (ull)f->attempt.n, outcome_name(f->result->outcome));
		break;
	case FACT_DONE:
		text_printf(t, " %llu %s", (ull)f->build.n, verdict_name(f->verdict));
		break;
	case FACT_GOVERNOR:
		text_printf(t, " %s%s%s %s", mode_scope_name(f->scope), f->name[0] ? " " : "",
		    f->name, governor_mode_name(f->mode));
		break;
	case FACT_GOVERNOR_LIFTED:
		text_printf(
		    t, " %s%s%s", mode_scope_name(f->scope), f->name[0] ? " " : "", f->name);
		break;
	case FACT_LIMIT:
	case FACT_THROTTLE:
	case FACT_PIN:
		text_printf(t, " %s %d", f->host, f->limit);
		break;
	default:
		if (f->host[0] != '\0')
			text_printf(t, " %s", f->host);
		else
			text_printf(t, " %llu",
			    (ull)(f->build.n   ? f->build.n
				  : f->round.n ? f->round.n
					       : f->number));
	}
}

static inline char *
script_effects(const struct world *w)
{
	static const char *const answers[] = { "ok", "failed", "usage", "not found", "denied", "?",
		"conflict" };
	struct text t = { 0 };
	size_t i;

	text_add(&t, "");
	for (i = 0; i < w->effects.n; i++) {
		const struct effect *e = &w->effects.list[i];

		text_add(&t, i ? ", " : "");
		if (e->fact != NULL)
			say_fact(&t, e->fact);
		else if (e->kind == EFFECT_REPLY)
			text_printf(&t, "reply %s", answers[e->answer]);
		else if (e->kind == EFFECT_LIMIT)
			text_printf(
			    &t, "limit %s %d%s", e->host, e->limit, e->paused ? " paused" : "");
		else if (e->attempt.n != 0)
			text_printf(&t, "%s %s %llu", effect_kind_name(e->kind), e->host,
			    (ull)e->attempt.n);
		else
			text_printf(&t, "%s%s%s", effect_kind_name(e->kind), e->host[0] ? " " : "",
			    e->host);
	}
	return t.text;
}

/* Each build: its state, or its verdict. */
static inline char *
script_builds(const struct world *w)
{
	struct text t = { 0 };
	size_t i;

	text_add(&t, "");
	for (i = 0; i < w->c->nbuilds; i++) {
		const struct build *b = w->c->builds[i];

		text_printf(&t, "%s%s", i ? " " : "",
		    b->verdict != VERDICT_NONE ? verdict_name(b->verdict)
					       : build_state_name(build_state_get(w->c, b)));
	}
	return t.text;
}

/* ---- tables ----------------------------------------------------------------------------- */

struct row {
	const char *id; /* of the line of docs/states.md that it proves; NULL none */
	const char *what;
	const char *before; /* all but the last event */
	const char *event; /* the last */
	const char *expect; /* its effects */
	const char *builds; /* their states then */
};

static inline void
row_play(const struct row *row, const char *setting)
{
	struct world w;
	char *effects, *builds;
	bool good;

	world_init(&w, row->what);
	script_play(&w, setting);
	script_play(&w, row->before);
	script_play(&w, row->event);
	effects = script_effects(&w);
	builds = script_builds(&w);
	good = strcmp(effects, row->expect) == 0 && strcmp(builds, row->builds) == 0;
	ok(good, "%s%s%s", row->id ? row->id : "", row->id ? ": " : "", row->what);
	if (!good)
		printf("#   effects: %s\n#  expected: %s\n#    builds: %s\n#  expected: %s\n",
		    effects, row->expect, builds, row->builds);
	free(effects);
	free(builds);
	world_clear(&w);
}

#endif
