/* What an agent does, once a second: its guard looks, then it reports; what the core answers arrives a
 * moment later. The pool is looked at ten times a second, as agent/tokens.c does: a build is limited
 * when all it may run ran for more than 80 % of the second.
 *
 * A fixed limit stands for make -jN without Flyball, so no guard is beside it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/guard.h"
#include "coordinator/sim/brain.h"
#include "coordinator/sim/sensor.h"
#include "proto/base/mem.h"

enum { LOOKS_A_SECOND = 10, LIMITED_LOOKS = 8 };

#define ARRIVES_LOOKS 2 /* 0.2 s from a decision to the pool */
#define REST_S 30 /* between builds */

struct run {
	const struct work *work;
	struct run_options options;
	struct brain *brain;
	struct sensor sensor;
	/* of the build */
	struct model *model;
	struct guard guard;
	struct attempt_status status;
	struct load load;
	int32_t wanted, arriving, arrives_in; /* the core's limit; the next one; looks until then */
	int full; /* looks of this second at which all that may run ran */
	size_t phase;
};

/* ---- for people ------------------------------------------------------------------------- */

static void
show(const struct run *r, int32_t limit, const char *reason)
{
	const struct rates *now = model_rates(r->model);

	if (r->options.show == NULL)
		return;
	fprintf(r->options.show,
	    "%8.1f s  limit %3d  running %3d  phi %.3f  rate %6.2f  %s%s: %s\n",
	    model_now(r->model), limit, model_running(r->model),
	    now->of[RATE_SPIN] / r->work->scenario->host.threads, now->of[RATE_USEFUL],
	    model_swaps(r->model) ? "(swaps) " : "", r->status.phase, reason);
}

/* ---- a second --------------------------------------------------------------------------- */

/* The coordinator's limit or the guard's, whichever is less. */
static void
hold(struct run *r)
{
	int32_t guard = r->guard.limit, before = r->status.limit;

	r->status.limit = guard > 0 && guard < r->wanted ? guard : r->wanted;
	model_limit(r->model, r->status.limit);
	if (r->status.limit != before && r->status.limit == guard)
		show(r, guard, r->guard.reason);
}

static void
guard(struct run *r, int32_t running)
{
	struct guard_input in = { .now = brain_now(r->brain),
		.load = &r->load,
		.memory_bytes = (int64_t)(r->work->scenario->host.memory * 1073741824.0),
		.limit = r->wanted,
		.running = running,
		.begun = r->status.steps };

	if (r->options.fixed == 0)
		guard_step(&r->guard, &in);
}

static void
look(struct run *r)
{
	if (r->arrives_in > 0 && --r->arrives_in == 0) {
		r->wanted = r->arriving;
		hold(r);
	}
	brain_pass(r->brain, SECOND_US / LOOKS_A_SECOND);
	model_advance(r->model, 1.0 / LOOKS_A_SECOND);
	sensor_look(&r->sensor, r->model);
	r->full += model_running(r->model) >= r->status.limit;
}

static void
tell_status(struct run *r)
{
	struct attempt_status *s = &r->status;

	s->running = model_running(r->model);
	s->limited = r->full > LIMITED_LOOKS;
	s->steps = model_begun(r->model);
	s->elapsed_us = (int64_t)(model_now(r->model) * 1e6);
	r->full = 0;
	if (model_phase(r->model) == r->phase && s->phase[0] != '\0')
		return;
	r->phase = model_phase(r->model);
	mem_copy_text(s->phase, sizeof s->phase, r->work->scenario->phases[r->phase].name);
	show(r, s->limit, "a phase begins");
}

static void
second(struct run *r, int *changes)
{
	const char *reason;
	int32_t limit;

	for (int i = 0; i < LOOKS_A_SECOND && !model_done(r->model); i++)
		look(r);
	if (model_done(r->model))
		return;
	tell_status(r);
	sensor_fill(&r->sensor, r->model, &r->load);
	guard(r, model_running(r->model));
	hold(r);
	limit = brain_report(r->brain, &r->status, r->status.limit, &r->load, &reason);
	if (limit == 0)
		return;
	*changes += limit != r->wanted;
	show(r, limit, reason);
	r->arriving = limit;
	r->arrives_in = ARRIVES_LOOKS;
}

/* ---- a build ---------------------------------------------------------------------------- */

static void
begin(struct run *r)
{
	r->model = model_create(r->work);
	r->wanted = brain_build(r->brain, &r->status);
	r->arrives_in = r->full = 0;
	r->phase = 0;
	model_start(r->model, r->wanted);
	sensor_begin(&r->sensor);
}

static void
end(struct run *r)
{
	const struct scenario *s = r->work->scenario;
	struct attempt_result result = { .outcome = OUTCOME_OK };
	const struct rates *sums = &model_sums(r->model)->rates;

	r->status.state = ATTEMPT_ENDED;
	r->status.running = 0;
	result.real_us = r->status.elapsed_us = (int64_t)(model_now(r->model) * 1e6);
	result.usage.user_us = (int64_t)(sums->of[RATE_USER] * 1e6);
	result.usage.sys_us = (int64_t)(sums->of[RATE_SYSTEM] * 1e6);
	result.nphases = s->nphases;
	result.phases = mem_calloc(s->nphases, sizeof *result.phases);
	for (size_t i = 0; i < s->nphases; i++) {
		struct phase_mark *mark = &result.phases[i];

		mem_copy_text(mark->name, sizeof mark->name, s->phases[i].name);
		mark->at_us = (int64_t)(model_phase_at(r->model, i) * 1e6);
		mark->steps = model_phase_steps(r->model, i);
	}
	brain_ended(r->brain, &r->status, &result);
}

/* The host has nothing to do; reports go on. */
static void
rest(struct run *r)
{
	const char *reason;

	sensor_idle(&r->sensor, &r->load);
	r->wanted = 0;
	for (int i = 0; i < REST_S; i++) {
		brain_pass(r->brain, SECOND_US);
		guard(r, 0);
		brain_report(r->brain, NULL, 0, &r->load, &reason);
	}
}

static void
sum_up(const struct run *r, struct run_result *ret)
{
	size_t n = r->work->scenario->nphases;

	ret->seconds = model_done(r->model) ? model_now(r->model) : INFINITY;
	ret->swapping = model_sums(r->model)->swapping;
	ret->spin = model_sums(r->model)->rates.of[RATE_SPIN];
	for (size_t i = 0; i < n; i++) {
		double from = model_phase_at(r->model, i);
		double to = i + 1 < n ? model_phase_at(r->model, i + 1) : ret->seconds;

		ret->phases[i] = from < 0 || to < 0 ? INFINITY : to - from;
	}
}

struct run *
run_create(const struct work *work, const struct run_options *options)
{
	struct run *r = mem_calloc(1, sizeof *r);

	r->work = work;
	r->options = *options;
	r->brain = brain_create(work->scenario, options->fixed, options->record);
	sensor_init(&r->sensor, work->scenario, options->seed, options->perfect);
	rest(r);
	return r;
}

void
run_destroy(struct run *run)
{
	brain_destroy(run->brain);
	free(run);
}

void
run_build(struct run *run, struct run_result *ret_result)
{
	double stop_at = run->options.stop_at > 0 ? run->options.stop_at : INFINITY;

	memset(ret_result, 0, sizeof *ret_result);
	begin(run);
	show(run, run->wanted, "the build begins");
	while (!model_done(run->model) && model_now(run->model) < stop_at)
		second(run, &ret_result->changes);
	sum_up(run, ret_result);
	if (model_done(run->model)) {
		end(run);
		rest(run);
	}
	model_destroy(run->model);
}
