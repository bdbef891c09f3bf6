/* Steps differ by a lognormal law, as those of real builds do: many short ones, a few long ones. What
 * is drawn is scaled to the phase's work, so that seeds differ in shape and not in size.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/work.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/sim/random.h"
#include "proto/base/mem.h"

/* Compilers hardly call the kernel and installers do little else: sigma of the logarithm of a step's
 * share of system time. */
#define SYSTEM_SPREAD 0.5

/* Programs differ in how many instructions a second they run, those of one build less than most. */
#define INSTRUCTIONS_SPREAD 0.15

#define CHANGES_END (12 * 3600.0) /* stretches are drawn up to there */

enum { STREAM_WORK = 1, STREAM_INSTRUCTIONS = 2, STREAM_STRETCHES = 100 };

/* Of a step that begins when so much of its phase has: the mean is what the file says. */
static double
memory_of(const struct model_phase *p, double part, struct dice *dice)
{
	double mean = p->memory + (p->memory_last - p->memory) * part;
	double sigma = p->memory_spread;

	return mean * exp(sigma * dice_gauss(dice) - sigma * sigma / 2);
}

static double
user_of(const struct model_phase *p, struct dice *dice)
{
	double sigma = SYSTEM_SPREAD;
	double system = p->system * exp(sigma * dice_gauss(dice) - sigma * sigma / 2);

	return (1 - fmin(0.95, system)) / (1 - p->system);
}

static void
draw_phase(struct phase_drawn *d, const struct model_phase *p, struct dice *dice)
{
	double sum = 0;

	d->nsteps = (size_t)fmax(1, round(p->work / p->step));
	d->steps = mem_calloc(d->nsteps, sizeof *d->steps);
	for (size_t i = 0; i < d->nsteps; i++) {
		d->steps[i].work = exp(p->spread * dice_gauss(dice));
		d->steps[i].memory = memory_of(p, (double)i / (double)d->nsteps, dice);
		d->steps[i].user = user_of(p, dice);
		sum += d->steps[i].work;
	}
	for (size_t i = 0; i < d->nsteps; i++)
		d->steps[i].work *= p->work / sum;
	for (int i = 0; i < WIDTH_BLOCKS; i++)
		d->widths[i] = (int)round(dice_between_log(dice, p->width_low, p->width));
}

static void
draw_instructions(struct phase_drawn *d, struct dice *dice)
{
	double sigma = INSTRUCTIONS_SPREAD;

	for (size_t i = 0; i < d->nsteps; i++)
		d->steps[i].instructions = exp(sigma * dice_gauss(dice) - sigma * sigma / 2);
}

static int
compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

static void
add_change(struct work *w, double at, enum stretch_kind kind, double value)
{
	w->changes = mem_room(w->changes, w->nchanges, &w->changes_capacity, sizeof *w->changes);
	w->changes[w->nchanges++] = (struct change){ at, kind, value };
}

/* The first one is as likely to be under way as not to have begun. */
static void
draw_stretch(struct work *w, const struct model_stretch *s, struct dice *dice)
{
	double undisturbed = s->kind == STRETCH_NFS ? 1 : 0;
	double at = dice_between(dice, -s->lasts, s->every);

	while (at < CHANGES_END) {
		double lasts = s->lasts * dice_between(dice, 0.5, 1.5);

		add_change(w, fmax(0, at), s->kind, s->value);
		add_change(w, fmax(0, at + lasts), s->kind, undisturbed);
		at += lasts + s->every * dice_between(dice, 0.5, 1.5);
	}
}

void
work_draw(struct work *work, const struct scenario *scenario, uint64_t seed)
{
	struct dice dice = dice_create(seed, STREAM_WORK);

	memset(work, 0, sizeof *work);
	work->scenario = scenario;
	work->phases = mem_calloc(scenario->nphases, sizeof *work->phases);
	for (size_t i = 0; i < scenario->nphases; i++)
		draw_phase(&work->phases[i], &scenario->phases[i], &dice);
	dice = dice_create(seed, STREAM_INSTRUCTIONS);
	for (size_t i = 0; i < scenario->nphases; i++)
		draw_instructions(&work->phases[i], &dice);
	for (size_t i = 0; i < scenario->nstretches; i++) {
		dice = dice_create(seed, STREAM_STRETCHES + i);
		draw_stretch(work, &scenario->stretches[i], &dice);
	}
	if (work->nchanges > 0)
		qsort(work->changes, work->nchanges, sizeof *work->changes, compare_changes);
}

void
work_clear(struct work *work)
{
	for (size_t i = 0; i < work->scenario->nphases; i++)
		free(work->phases[i].steps);
	free(work->phases);
	free(work->changes);
	memset(work, 0, sizeof *work);
}
