/* The law against small plants: what a level achieves is a function here, so that what it should
 * find is known.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/law.h"
#include "tests/unit/tap.h"

/* What running j steps gives, on a host of some threads. */
struct output {
	double user, sys, idle, spin; /* shares of all CPUs */
	double steps; /* that end, a second */
};

struct plant {
	const char *name;
	int32_t threads;
	struct output (*run)(int32_t threads, int32_t running);
	double step_s; /* running steps come under a lowered limit in about so long */
	int32_t best;
	double least; /* of the best level's work, in half an hour */
	bool counts; /* the hardware counts instructions */
};

struct course {
	const struct plant *plant;
	struct law law;
	struct law_sample s;
	double work, most; /* done, and at the best level */
	double reading_s; /* a true reading of spin each so many seconds; 0: none */
	double read_at, spin_read;
	double steal;
	bool limited;
	int32_t fixed; /* by policy; 0: it is not */
	double running, begun;
	int changes;
};

static uint64_t seed;

static double
noise(double sd)
{
	double sum = 0;
	int i;

	for (i = 0; i < 12; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
	}
	return (sum - 6) * sd;
}

static struct output
healthy(int32_t threads, int32_t running)
{
	double busy = fmin(running, threads) / (double)threads;

	return (struct output){ 0.9 * busy, 0.1 * busy, 1 - busy, 0, busy * threads / 3 };
}

/* A big lock: above 11 of 24 each further step makes all slower. */
static struct output
collapse(int32_t threads, int32_t running)
{
	double over = fmax(0, running - 11), busy = fmin(running, threads) / (double)threads;
	double useful = fmin(running, 11) / (1 + 0.05 * over) / threads;
	double lost = fmax(0, busy - useful);

	return (struct output){ 0.85 * useful, 0.15 * useful + lost, 1 - busy, 0.6 * lost,
		useful * threads / 3 };
}

/* Past half of the threads memory is the limit: user time grows, work does not. */
static struct output
bandwidth(int32_t threads, int32_t running)
{
	double knee = threads / 2.0, busy = fmin(running, threads) / (double)threads;
	double over = fmax(0, fmin(running, threads) - knee) / knee;

	return (struct output){ 0.95 * busy, 0.05 * busy, 1 - busy, 0,
		fmin(running, knee) * (1 - 0.15 * over) / 3 };
}

/* Steps sleep three quarters of their time. */
static struct output
sleepy(int32_t threads, int32_t running)
{
	double busy = fmin(1, running / 4.0 / threads);

	return (struct output){ 0.9 * busy, 0.1 * busy, 1 - busy, 0, busy * threads / 3 };
}

/* Steps sleep most of the time, and above 6 they spin, half of it in user mode. */
static struct output
cliff(int32_t threads, int32_t running)
{
	double busy = 0.23 * fmin(running, 6) / threads, lost = running > 6 ? 1 - busy : 0;

	return (struct output){ 0.5 * busy + 0.4 * lost, 0.5 * busy + 0.6 * lost, 1 - busy - lost,
		0.9 * lost, (running > 6 ? 3.0 : 1.0 * running) * 10 };
}

static const struct plant plants[] = {
	{ "a healthy host", 24, healthy, 3, 24, 0.99, false },
	{ "a big lock", 24, collapse, 3, 11, 0.95, false },
	{ "memory bandwidth", 32, bandwidth, 3, 16, 0.87, false }, /* 32 all the time: 0.85 */
	{ "steps that sleep", 8, sleepy, 3, 32, 0.9, false },
	{ "memory bandwidth, with counters", 32, bandwidth, 3, 16, 0.98, true },
	{ "sleepers before a cliff", 2, cliff, 0.3, 6, 0.93, false },
	{ "a healthy host with counters", 24, healthy, 3, 24, 0.99, true },
};

static void
begin(struct course *c, const struct plant *plant, int32_t first, const struct law_memory *memory)
{
	static const struct law_memory none;

	*c = (struct course){ .plant = plant, .reading_s = 30, .spin_read = NAN, .limited = true };
	c->running = first;
	law_begin(&c->law, memory != NULL ? memory : &none, first, (mono_us){ SECOND_US });
	c->s.at = (mono_us){ SECOND_US };
}

/* Steps go as they end, and come at once. */
static void
settle(struct course *c)
{
	if (c->running > c->law.level)
		c->running = fmax(c->law.level, c->running * (1 - 1 / c->plant->step_s));
	else
		c->running = c->law.level;
}

static void
second(struct course *c)
{
	const struct plant *p = c->plant;
	int32_t was = c->law.level, running;
	struct output o;
	double ran = c->running;

	settle(c);
	running = (int32_t)ceil(c->running);
	o = p->run(p->threads, running);
	c->begun += fmax(0, o.steps * (1 - c->steal) + noise(sqrt(o.steps))) + c->running - ran;
	c->s.at = mono_add(c->s.at, SECOND_US);
	if (c->reading_s > 0 && (double)c->s.at.us / 1e6 - c->read_at >= c->reading_s) {
		c->read_at = (double)c->s.at.us / 1e6;
		c->spin_read = o.spin * (1 + noise(0.1));
	}
	c->s.min = c->fixed > 0 ? c->fixed : 1;
	c->s.max = c->fixed > 0 ? c->fixed : 480;
	c->s.limit = c->law.level;
	c->s.running = running;
	c->s.limited = c->limited;
	c->s.acts = true;
	c->s.steps = (int64_t)c->begun;
	c->s.nfs_latency_s = c->s.throttled = NAN;
	c->s.waste = (struct waste_sample){ .threads = p->threads,
		.running = running,
		.user = o.user * (1 - c->steal) * (1 + noise(0.03)),
		.sys = o.sys * (1 - c->steal) * (1 + noise(0.03)),
		.idle = o.idle * (1 - c->steal),
		.steal = c->steal,
		.spin = c->spin_read,
		.spin_age_s = (double)c->s.at.us / 1e6 - c->read_at + 1,
		.spin_window_s = 2,
		.lock_sleep = NAN,
		.instructions = p->counts ? 1e9 * o.steps * (1 - c->steal) : NAN };
	c->work += o.steps * (1 - c->steal);
	c->most += p->run(p->threads, p->best).steps * (1 - c->steal);
	law_step(&c->law, &c->s);
	if (getenv("LAW_SHOW") != NULL && was != c->law.level)
		printf("# %3lld s %d -> %d %s\n", (long long)c->s.at.us / SECOND_US, was,
		    c->law.level, c->law.reason);
	c->changes += was != c->law.level;
}

static void
run(struct course *c, int seconds)
{
	while (seconds-- > 0)
		second(c);
}

static const struct plant *
plant(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof plants / sizeof plants[0]; i++)
		if (strcmp(plants[i].name, name) == 0)
			return &plants[i];
	abort();
}

/* ---- tests ------------------------------------------------------------------------------ */

static void
finds_the_best_level(void)
{
	size_t i;

	for (i = 0; i < sizeof plants / sizeof plants[0]; i++) {
		const struct plant *p = &plants[i];
		struct course c;

		begin(&c, p, p->threads, NULL);
		run(&c, 1800);
		ok(c.work > p->least * c.most,
		    "%s: %.1f %% of the best level's work in 30 minutes, %d "
		    "changes, at %d in the end (best %d)",
		    p->name, 100 * c.work / c.most, c.changes, (int)c.law.level, (int)p->best);
	}
}

static void
harms_no_healthy_host(void)
{
	struct course c;

	begin(&c, plant("a healthy host"), 24, NULL);
	run(&c, 1800);
	ok(c.work > 0.99 * c.most, "less than one part in a hundred is lost: %.2f %%",
	    100 * (1 - c.work / c.most));
}

static void
adapts_on_nothing_that_is_not_limited(void)
{
	struct course c;

	begin(&c, plant("a big lock"), 24, NULL);
	c.limited = false;
	run(&c, 600);
	ok(c.law.level == 24 && c.changes == 0, "builds that could not use more teach nothing");
}

static void
is_not_fooled_by_a_neighbour(void)
{
	struct course c;
	int i;

	begin(&c, plant("a healthy host"), 24, NULL);
	for (i = 0; i < 10; i++) {
		run(&c, 120);
		c.steal = i % 2 ? 0 : 0.4;
	}
	ok(c.work > 0.97 * c.most,
	    "time stolen by a neighbour is not cured by fewer steps: %.2f %% "
	    "lost",
	    100 * (1 - c.work / c.most));
}

static void
remembers(void)
{
	struct law_memory known;
	struct course c;

	begin(&c, plant("a big lock"), 24, NULL);
	run(&c, 1800);
	ok(law_learn(&c.law, &known) && known.n == 1, "half an hour teaches something");
	begin(&c, plant("a big lock"), 24, &known);
	ok(abs(c.law.level - 11) <= 1, "the next build begins at %d", (int)c.law.level);
	run(&c, 1800);
	ok(c.work > 0.98 * c.most, "and does %.1f %% of the best", 100 * c.work / c.most);
}

/* Levels are far apart there, and all beyond the cliff is lost: so neither may take long. */
static void
climbs_to_the_edge_of_a_cliff(void)
{
	struct course c;

	begin(&c, plant("sleepers before a cliff"), 2, NULL);
	c.reading_s = 2;
	run(&c, 60);
	ok(c.work > 0.65 * c.most && c.law.base >= 5 && c.law.base <= 6,
	    "from 2 to %d in a minute, with %.1f %% of the work", (int)c.law.base,
	    100 * c.work / c.most);
	ok(c.law.levels.inflation < 0.5, "spinning in user mode is no inflation: %.2f",
	    c.law.levels.inflation);
}

static void
learns_nothing_from_a_fixed_level(void)
{
	struct law_memory known;
	struct course c;

	begin(&c, plant("a big lock"), 20, NULL);
	c.fixed = 20;
	run(&c, 600);
	ok(c.law.level == 20 && !law_learn(&c.law, &known),
	    "what an operator fixed was not found to be good");
}

static void
works_without_readings_of_spin(void)
{
	struct course c;

	begin(&c, plant("a big lock"), 24, NULL);
	c.reading_s = 0;
	run(&c, 1800);
	ok(c.work > 0.93 * c.most, "system time and the work done say enough: %.1f %%",
	    100 * c.work / c.most);
}

int
main(void)
{
	const char *given = getenv("SEED");

	seed = given != NULL ? strtoull(given, NULL, 0) : 20181030;
	printf("# SEED=%llu\n", (unsigned long long)seed);
	finds_the_best_level();
	harms_no_healthy_host();
	adapts_on_nothing_that_is_not_limited();
	is_not_fooled_by_a_neighbour();
	remembers();
	climbs_to_the_edge_of_a_cliff();
	learns_nothing_from_a_fixed_level();
	works_without_readings_of_spin();
	return tap_done();
}
