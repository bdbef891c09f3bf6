/* All running steps are of one phase (a barrier lies between phases) and share alike, so each comes
 * forward as fast as any other. One clock of work counts what each has had, a step ends when the
 * clock has passed its begin by its work, and a heap knows which is the next: from event to event
 * nothing is rounded, and a build of 20,000 steps takes milliseconds.
 *
 * Memory grows as a step comes forward, up to its size at RAMP of its work. What no longer fits is
 * swapped, and the more of it there is, the slower is everything, until enough has ended.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

#define RAMP 0.6
#define SWAP_SLOWS 150.0 /* for each part of memory that is wanted beyond all there is */
#define SWAP_SLOWS_MOST 30.0
#define LOOK_S 0.1 /* at memory, so often */

struct running_step {
	double begin, end; /* by the clock of work */
	double memory, user, instructions;
};

struct model {
	const struct work *work;
	double now, clock;
	int limit, running;
	double user; /* sum over running steps: what tells their user time from the phase's mean */
	double instructions; /* likewise */
	struct running_step heap[JOBS_MAX + 1]; /* from 1, the next to end first */
	size_t phase, next; /* step of the phase that begins next */
	int64_t begun;
	double *entered; /* phases; -1 not yet */
	int64_t *entered_steps;
	bool done, swaps;
	double memory_used;
	size_t nchanged; /* changes that are in force */
	struct surroundings around;
	bool known[JOBS_MAX + 1]; /* rates by running steps, in this phase and these surroundings */
	struct rates rates[JOBS_MAX + 1];
	struct rates slow; /* while it swaps */
	struct model_sums sums;
};

/* ---- the heap --------------------------------------------------------------------------- */

static void
swap_steps(struct running_step *a, struct running_step *b)
{
	struct running_step c = *a;

	*a = *b;
	*b = c;
}

static void
heap_add(struct model *m, struct running_step step)
{
	int i = ++m->running;

	m->user += step.user;
	m->instructions += step.instructions;
	m->heap[i] = step;
	for (; i > 1 && m->heap[i].end < m->heap[i / 2].end; i /= 2)
		swap_steps(&m->heap[i], &m->heap[i / 2]);
}

static void
heap_remove_first(struct model *m)
{
	int i = 1, least;

	m->user -= m->heap[1].user;
	m->instructions -= m->heap[1].instructions;
	m->heap[1] = m->heap[m->running--];
	for (;;) {
		least = i;
		for (int child = 2 * i; child <= 2 * i + 1 && child <= m->running; child++)
			if (m->heap[child].end < m->heap[least].end)
				least = child;
		if (least == i)
			return;
		swap_steps(&m->heap[i], &m->heap[least]);
		i = least;
	}
}

/* ---- rates ------------------------------------------------------------------------------ */

static void
forget_rates(struct model *m)
{
	memset(m->known, 0, sizeof m->known);
}

/* Everything waits for the disk: less of all is done, and CPUs are idle. */
static const struct rates *
slowed(struct model *m, const struct rates *rates)
{
	double over = m->memory_used / m->work->scenario->host.memory - 1;
	double slower = fmin(SWAP_SLOWS_MOST, 1 + SWAP_SLOWS * over);

	m->slow = *rates;
	for (int i = 0; i < RATES; i++)
		m->slow.of[i] /= slower;
	m->slow.of[RATE_ASLEEP] = m->running * (1 - 1 / slower);
	m->slow.of[RATE_NFS] = rates->of[RATE_NFS];
	return &m->slow;
}

static const struct rates *
rates_now(struct model *m)
{
	const struct scenario *s = m->work->scenario;
	int n = m->running;

	if (!m->known[n]) {
		queue_rates(&s->host, &s->phases[m->phase], &m->around, n, &m->rates[n]);
		m->known[n] = true;
	}
	return m->swaps ? slowed(m, &m->rates[n]) : &m->rates[n];
}

static void
take_changes(struct model *m)
{
	const struct work *w = m->work;

	for (; m->nchanged < w->nchanges && w->changes[m->nchanged].at <= m->now; m->nchanged++) {
		const struct change *c = &w->changes[m->nchanged];

		*(c->kind == STRETCH_STEAL ? &m->around.steal : &m->around.nfs) = c->value;
		forget_rates(m);
	}
}

/* ---- steps ------------------------------------------------------------------------------ */

static int
width_now(const struct model *m)
{
	const struct phase_drawn *d = &m->work->phases[m->phase];

	return d->widths[m->next * WIDTH_BLOCKS / (d->nsteps + 1)];
}

static void
begin_steps(struct model *m)
{
	const struct phase_drawn *d = &m->work->phases[m->phase];

	while (m->next < d->nsteps && m->running < m->limit && m->running < width_now(m)) {
		const struct step_drawn *s = &d->steps[m->next++];

		heap_add(m, (struct running_step){ m->clock, m->clock + s->work, s->memory, s->user,
				s->user * s->instructions });
		m->begun++;
	}
}

static void
enter_phase(struct model *m, size_t phase)
{
	m->phase = phase;
	m->next = 0;
	m->entered[phase] = m->now;
	m->entered_steps[phase] = m->begun;
	m->memory_used = 0;
	m->swaps = false;
	forget_rates(m);
}

static void
end_steps(struct model *m)
{
	while (m->running > 0 && m->heap[1].end <= m->clock)
		heap_remove_first(m);
	if (m->running > 0 || m->next < m->work->phases[m->phase].nsteps)
		return;
	if (m->phase + 1 == m->work->scenario->nphases)
		m->done = true;
	else
		enter_phase(m, m->phase + 1);
}

static void
look_at_memory(struct model *m)
{
	double sum = 0;

	for (int i = 1; i <= m->running; i++) {
		const struct running_step *s = &m->heap[i];
		double part = (m->clock - s->begin) / (s->end - s->begin) / RAMP;

		sum += s->memory * fmin(1, part);
	}
	m->memory_used = sum;
	m->swaps = sum > m->work->scenario->host.memory;
}

/* ---- time ------------------------------------------------------------------------------- */

static void
pass(struct model *m, const struct rates *rates, double seconds)
{
	double user = rates->of[RATE_USER] * (m->user / m->running - 1) * seconds;
	double of_user = 1 - m->work->scenario->phases[m->phase].system;

	for (int i = 0; i < RATES; i++)
		m->sums.rates.of[i] += rates->of[i] * seconds;
	m->sums.rates.of[RATE_USER] += user;
	m->sums.rates.of[RATE_SYSTEM] -= user;
	m->sums.rates.of[RATE_INSTRUCTIONS] +=
	    rates->of[RATE_USEFUL] * of_user * m->instructions / m->running * seconds;
	if (m->swaps)
		m->sums.swapping += seconds;
	m->now += seconds;
}

/* Up to the next event, at most so long. */
static double
stride(struct model *m, double seconds)
{
	const struct work *w = m->work;
	const struct rates *rates;
	double pace;

	take_changes(m);
	begin_steps(m);
	rates = rates_now(m);
	pace = rates->of[RATE_USEFUL] / m->running;
	if (m->nchanged < w->nchanges && w->changes[m->nchanged].at - m->now < seconds)
		seconds = w->changes[m->nchanged].at - m->now;
	if ((m->heap[1].end - m->clock) / pace <= seconds) {
		seconds = (m->heap[1].end - m->clock) / pace;
		m->clock = m->heap[1].end;
	} else
		m->clock += pace * seconds;
	pass(m, rates, seconds);
	end_steps(m);
	return seconds;
}

void
model_advance(struct model *m, double seconds)
{
	double left = seconds;

	while (left > 1e-9 && !m->done) {
		if (m->work->scenario->phases[m->phase].memory > 0) {
			look_at_memory(m);
			left -= stride(m, fmin(left, LOOK_S));
		} else
			left -= stride(m, left);
	}
}

void
model_limit(struct model *m, int limit)
{
	m->limit = limit < 1 ? 1 : limit > JOBS_MAX ? JOBS_MAX : limit;
}

void
model_start(struct model *m, int limit)
{
	model_limit(m, limit);
	enter_phase(m, 0);
}

struct model *
model_create(const struct work *work)
{
	struct model *m = mem_calloc(1, sizeof *m);
	size_t n = work->scenario->nphases;

	m->work = work;
	m->around.nfs = 1;
	m->entered = mem_calloc(n, sizeof *m->entered);
	m->entered_steps = mem_calloc(n, sizeof *m->entered_steps);
	for (size_t i = 0; i < n; i++)
		m->entered[i] = -1;
	return m;
}

void
model_destroy(struct model *m)
{
	free(m->entered);
	free(m->entered_steps);
	free(m);
}

/* ---- what can be asked ------------------------------------------------------------------ */

bool
model_done(const struct model *m)
{
	return m->done;
}

double
model_now(const struct model *m)
{
	return m->now;
}

int
model_running(const struct model *m)
{
	return m->running;
}

int64_t
model_begun(const struct model *m)
{
	return m->begun;
}

size_t
model_phase(const struct model *m)
{
	return m->phase;
}

double
model_phase_at(const struct model *m, size_t phase)
{
	return m->entered[phase];
}

int64_t
model_phase_steps(const struct model *m, size_t phase)
{
	return m->entered_steps[phase];
}

double
model_memory_free(const struct model *m)
{
	return fmax(0, m->work->scenario->host.memory - m->memory_used);
}

bool
model_swaps(const struct model *m)
{
	return m->swaps;
}

const struct rates *
model_rates(struct model *m)
{
	return rates_now(m);
}

const struct model_sums *
model_sums(const struct model *m)
{
	return &m->sums;
}
