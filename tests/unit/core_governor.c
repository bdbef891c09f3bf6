/* The limit that a host should have, and the sentence for it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#include "coordinator/core/governor.h"

struct given {
	const char *what;
	struct governor_input in;
	int32_t limit, would;
	enum governor_level level;
	const char *words;
};

#define ANN .throttled = true, .throttle_who = "ann", .throttle_reason = "noise"

#define BOB .pinned = true, .pin_who = "bob", .pin_reason = "trial"

static const struct given cases[] = {
	{ "a host without builds may run a step for each thread", { .threads = 8 }, 8, 8,
	    LEVEL_START, "one step for each of its threads" },
	{ "a host that does not say its threads may run one", { .threads = 0 }, 1, 1, LEVEL_START,
	    "" },
	{ "a host with more threads than a pipe holds tokens", { .threads = 4096 }, JOBS_MAX,
	    JOBS_MAX, LEVEL_START, "" },
	{ "policies say with how many to start",
	    { .threads = 8, .builds = 1, .start = 3, .min = 1, .max = 480 }, 3, 3, LEVEL_START,
	    "the start value of the policies of its builds" },
	{ "a policy's most bounds it", { .threads = 8, .builds = 1, .min = 1, .max = 6 }, 6, 6,
	    LEVEL_BOUNDS, "the policies of its builds allow 1 to 6, and 8 was wanted" },
	{ "a policy's least bounds it", { .threads = 2, .builds = 1, .min = 5, .max = 480 }, 5, 5,
	    LEVEL_BOUNDS, "the policies of its builds allow 5 to 480, and 2 was wanted" },
	{ "a most of 0 is none", { .threads = 8, .builds = 1 }, 8, 8, LEVEL_START, "" },
	{ "an operator's throttle bounds it, and is the reason",
	    { .threads = 8, ANN, .throttle = 2 }, 2, 8, LEVEL_OPERATOR,
	    "throttled by ann (noise); without that it would be 8" },
	{ "a throttle goes under a policy's least: operators come last",
	    { .threads = 8, .builds = 1, .min = 4, .max = 480, ANN, .throttle = 2 }, 2, 8,
	    LEVEL_OPERATOR, "throttled by ann" },
	{ "a throttle above the limit is no reason", { .threads = 8, ANN, .throttle = 9 }, 8, 8,
	    LEVEL_START, "one step" },
	{ "a throttle at the limit is none either", { .threads = 8, ANN, .throttle = 8 }, 8, 8,
	    LEVEL_START, "one step" },
	{ "a pin sets it to exactly that, above the policies' most too",
	    { .threads = 8, .builds = 1, .min = 1, .max = 6, BOB, .pin = 12 }, 12, 6,
	    LEVEL_OPERATOR, "pinned by bob (trial); without that it would be 6" },
	{ "a pin is in force whatever a throttle says",
	    { .threads = 8, ANN, .throttle = 2, BOB, .pin = 5 }, 5, 8, LEVEL_OPERATOR,
	    "pinned by bob (trial); without that it would be 8" },
	{ "never less than one", { .threads = 8, ANN, .throttle = 0 }, 1, 8, LEVEL_OPERATOR,
	    "throttled" },
	{ "readings and limited do not move the limit in this release",
	    { .threads = 8, .limit = 3, .limited = true, .running = 3, .mode = GOVERNOR_ACT }, 8, 8,
	    LEVEL_START, "" },
};

static void
test_table(void)
{
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct given *g = &cases[i];
		struct governor_decision d;

		governor_decide(&g->in, &d);
		ok(d.limit == g->limit && d.would == g->would && d.level == g->level &&
			strstr(d.reason, g->words) == d.reason,
		    "%s: %d (%s) \"%s\"", g->what, d.limit, governor_level_name(d.level), d.reason);
	}
}

/* What the input is made of, when two builds share a host. */
static void
test_input(void)
{
	struct governor_input in;
	struct policy *p;
	struct world w;

	world_init(&w, "two builds on a host");
	p = world_policy("one", 1, 1);
	p->jobs_start = 3;
	p->jobs_min = 2;
	p->jobs_max = 4;
	p->governor = GOVERNOR_ACT;
	world_set_policy(&w, p);
	p = world_policy("two", 1, 1);
	p->jobs_start = 5;
	p->jobs_max = 6;
	p->governor = GOVERNOR_OBSERVE;
	world_set_policy(&w, p);
	script_play(&w, "hello a; run 1 one; run 1 two");
	governor_input_get(w.c, w.c->hosts[0], &in);
	ok(in.builds == 0 && in.start == 0 && in.max == 0 && in.threads == 4,
	    "without builds no policy has a say");
	script_play(&w, "grant 1 a 2 a");
	governor_input_get(w.c, w.c->hosts[0], &in);
	ok(in.builds == 2, "both builds count");
	ok(in.start == 5, "the larger start is wanted");
	ok(in.min == 2 && in.max == 10, "the larger least binds, and the sum of the mosts");
	ok(in.mode == GOVERNOR_OBSERVE, "the more careful mode is in force");
	ok(in.load == NULL, "before its first report there is no reading");
	ok(w.c->hosts[0]->limit == 5, "and the host's limit is theirs");
	script_play(&w, "report a 1 2");
	w.c->now.mono.us += 7;
	governor_input_get(w.c, w.c->hosts[0], &in);
	ok(in.load == &w.c->hosts[0]->load && in.load_age_us == 7, "readings carry their age");
	script_play(&w, "ended a 1 ok; ended a 2 ok");
	ok(w.c->hosts[0]->limit == 4, "when they are done the limit is the host's own again");
	world_clear(&w);
}

/* START carries the limit, so it is decided before: the agent never starts at another. */
static void
test_limit_before_start(void)
{
	struct policy *p = world_policy("one", 1, 1);
	struct world w;
	char *effects;

	world_init(&w, "limit before start");
	p->jobs_start = 2;
	world_set_policy(&w, p);
	script_play(&w, "hello a; run 1 one; grant 1 a");
	effects = script_effects(&w);
	ok(strcmp(effects, "+grant 1 a, +limit a 2, limit a 2, start a 1") == 0,
	    "the limit of a build comes before its START: %s", effects);
	ok(w.c->attempts[0]->npath == 1 && w.c->attempts[0]->path[0].limit == 2,
	    "and its course begins with it");
	free(effects);
	world_clear(&w);
}

int
main(void)
{
	test_table();
	test_input();
	test_limit_before_start();
	return tap_done();
}
