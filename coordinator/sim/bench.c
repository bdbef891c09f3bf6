/* A law is compared with what a perfect operator would have set, in two strengths: the one fixed limit
 * that is best over all seeds, and the best one for each phase. Both know the future; the law does
 * not, so that a ratio under 1 against the first is possible where phases differ, and hardly
 * against the second.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/sim/fixed.h"
#include "coordinator/sim/queue.h"
#include "coordinator/sim/random.h"
#include "proto/base/mem.h"

enum { BUILDS = 4 /* cold, and three more: warm is the last */, SHAPE_SEEDS = 3 };

/* One figure over seeds. */
struct figure {
	int n;
	double sum, low, high;
};

static void
figure_add(struct figure *f, double value)
{
	f->low = f->n == 0 ? value : fmin(f->low, value);
	f->high = f->n == 0 ? value : fmax(f->high, value);
	f->sum += value;
	f->n++;
}

static double
figure_mean(const struct figure *f)
{
	return f->sum / f->n;
}

/* What the law took for one draw. */
struct taken {
	double cold, warm, cold_1hz, swapping;
	int changes; /* of the cold build */
};

static void
measure(const struct work *work, uint64_t seed, struct taken *ret)
{
	struct run_options options = { .seed = seed };
	struct run_result result;
	struct run *run = run_create(work, &options);

	memset(ret, 0, sizeof *ret);
	for (int i = 0; i < BUILDS; i++) {
		run_build(run, &result);
		if (i == 0) {
			ret->cold = result.seconds;
			ret->changes = result.changes;
		}
		ret->swapping = fmax(ret->swapping, result.swapping);
	}
	ret->warm = result.seconds;
	run_destroy(run);
	options.perfect = true;
	run = run_create(work, &options);
	run_build(run, &result);
	ret->cold_1hz = result.seconds;
	run_destroy(run);
}

/* ---- a scenario ------------------------------------------------------------------------- */

enum figures { COLD, WARM, ORACLE, WARM_ORACLE, THREADS, COLD_1HZ, CHANGES, FIGURES };

struct sheet {
	struct fixed fixed;
	struct taken *taken;
	struct figure figures[FIGURES];
	double swapping;
};

static void
compare(struct sheet *sheet, int seed)
{
	const struct fixed *f = &sheet->fixed;
	const struct taken *t = &sheet->taken[seed];
	double best = fixed_seconds(f, fixed_best(f, f->nphases), seed, f->nphases);
	double oracle = fixed_oracle(f, seed);

	figure_add(&sheet->figures[COLD], t->cold / best);
	figure_add(&sheet->figures[WARM], t->warm / best);
	figure_add(&sheet->figures[ORACLE], t->cold / oracle);
	figure_add(&sheet->figures[WARM_ORACLE], t->warm / oracle);
	figure_add(&sheet->figures[THREADS], fixed_seconds(f, 0, seed, f->nphases) / best);
	figure_add(&sheet->figures[COLD_1HZ], t->cold_1hz / best);
	figure_add(&sheet->figures[CHANGES], t->changes);
	sheet->swapping = fmax(sheet->swapping, t->swapping);
}

static bool
has_memory(const struct scenario *s)
{
	for (size_t i = 0; i < s->nphases; i++)
		if (s->phases[i].memory > 0)
			return true;
	return false;
}

static void
print(const struct scenario *s, const struct sheet *sheet, const struct bench_options *o, FILE *out)
{
	static const char *const names[] = { "cold_ratio", "warm_ratio", "oracle_ratio",
		"warm_oracle_ratio", "threads_ratio", "cold_ratio_1hz" };
	static const char *const spread[] = { "cold", "warm", "oracle" };
	const struct fixed *f = &sheet->fixed;

	fprintf(out, "governor scenario=%s", s->name);
	for (int i = COLD; i <= COLD_1HZ; i++)
		fprintf(out, " %s=%.3f", names[i], figure_mean(&sheet->figures[i]));
	if (has_memory(s))
		fprintf(out, " swap_s=%.1f", sheet->swapping);
	for (int i = COLD; i <= ORACLE; i++)
		fprintf(out, " %s_lo=%.3f %s_hi=%.3f", spread[i], sheet->figures[i].low, spread[i],
		    sheet->figures[i].high);
	fprintf(out, " best_j=%d best_s=%.0f changes=%.0f", f->limits[fixed_best(f, f->nphases)],
	    fixed_seconds(f, fixed_best(f, f->nphases), 0, f->nphases),
	    figure_mean(&sheet->figures[CHANGES]));
	fprintf(out, " phase_j=");
	for (size_t p = 0; p < f->nphases; p++)
		fprintf(out, "%s%d", p ? "," : "", f->limits[fixed_best(f, p)]);
	fprintf(out, " seeds=%d seed=%llu\n", o->seeds, (unsigned long long)o->seed);
	fflush(out);
}

void
bench_scenario(const struct scenario *scenario, const struct bench_options *options, FILE *out)
{
	struct sheet sheet = { .swapping = 0 };
	struct work work;

	fixed_init(&sheet.fixed, scenario, options->seeds);
	sheet.taken = mem_calloc((size_t)options->seeds, sizeof *sheet.taken);
	for (int i = 0; i < options->seeds; i++) {
		uint64_t seed = options->seed + (uint64_t)i;

		work_draw(&work, scenario, seed);
		fixed_measure(&sheet.fixed, &work, i);
		measure(&work, seed, &sheet.taken[i]);
		work_clear(&work);
	}
	for (int i = 0; i < options->seeds; i++)
		compare(&sheet, i);
	print(scenario, &sheet, options, out);
	fixed_clear(&sheet.fixed);
	free(sheet.taken);
}

/* ---- shapes ----------------------------------------------------------------------------- */

/* A lock of any kind that was ever seen, and some that were not. */
static void
draw_shape(struct scenario *s, uint64_t seed)
{
	struct dice dice = dice_create(seed, 3);
	struct model_phase *p = s->phases;

	s->host.threads = (int)round(dice_between_log(&dice, 8, 64));
	s->host.cores = s->host.threads;
	s->host.smt_gain = dice_between(&dice, 0.2, 0.5);
	if (dice_unit(&dice) < 0.5)
		s->host.cores = (s->host.threads + 1) / 2;
	p->lock = dice_between_log(&dice, 0.01, 0.3);
	p->holder = dice_between_log(&dice, 0.05, 2);
	p->rest = dice_between_log(&dice, 0.005, 0.3);
	p->width = (int)round(s->host.threads * dice_between_log(&dice, 1, 4));
	p->width_low = (int)round(p->width * dice_between(&dice, 0.5, 1));
	p->step = dice_between_log(&dice, 0.7, 5);
	p->system = fmin(0.9, p->lock + dice_between(&dice, 0.05, 0.15));
}

/* As much work as 30 minutes at the limit that does the most of it. */
static void
tabulate(struct scenario *s, int shape, FILE *table)
{
	const struct surroundings calm = { .nfs = 1 };
	double most = 0;

	for (int j = 1; j <= 2 * s->host.threads; j++) {
		struct rates r;

		queue_rates(&s->host, s->phases, &calm, j, &r);
		most = fmax(most, r.of[RATE_USEFUL]);
		if (table != NULL)
			fprintf(table, "%d,%d,%d,%.5f,%.4f,%.4f,%d,%d,%.4f,%.4f\n", shape,
			    s->host.threads, s->host.cores, s->phases->lock, s->phases->holder,
			    s->phases->rest, s->phases->width, j, r.of[RATE_SPIN] / s->host.threads,
			    r.of[RATE_USEFUL]);
	}
	s->phases->work = 1800 * most;
}

static double
shape_ratio(const struct scenario *s, uint64_t seed)
{
	struct figure figure = { 0 };
	struct taken taken[SHAPE_SEEDS];
	struct fixed fixed;
	int best;

	fixed_init(&fixed, s, SHAPE_SEEDS);
	for (int i = 0; i < SHAPE_SEEDS; i++) {
		struct work work;

		work_draw(&work, s, seed + (uint64_t)i);
		fixed_measure(&fixed, &work, i);
		measure(&work, seed + (uint64_t)i, &taken[i]);
		work_clear(&work);
	}
	best = fixed_best(&fixed, 1);
	for (int i = 0; i < SHAPE_SEEDS; i++)
		figure_add(&figure, taken[i].cold / fixed_seconds(&fixed, best, i, 1));
	fixed_clear(&fixed);
	return figure_mean(&figure);
}

void
bench_shapes(const struct bench_options *options, int shapes, FILE *table, FILE *out)
{
	struct model_phase phase = { .name = "build", .spread = 1 };
	struct scenario s = { .name = "shapes",
		.nphases = 1,
		.phases = &phase,
		.host = { .os = "NetBSD", .memory = 64 } };
	struct figure figure = { 0 };
	int worst = 0;

	if (table != NULL)
		fprintf(table, "shape,threads,cores,lock,holder,rest,width,j,phi,rate\n");
	for (int i = 1; i <= shapes; i++) {
		double high = figure.high;

		draw_shape(&s, options->seed + (uint64_t)i);
		tabulate(&s, i, table);
		figure_add(&figure, shape_ratio(&s, options->seed + (uint64_t)(i * SHAPE_SEEDS)));
		if (i == 1 || figure.high > high)
			worst = i;
	}
	fprintf(out,
	    "governor scenario=shapes mean_ratio=%.3f worst_ratio=%.3f best_ratio=%.3f "
	    "worst_shape=%d "
	    "shapes=%d builds=%d seed=%llu\n",
	    figure_mean(&figure), figure.high, figure.low, worst, shapes, shapes * SHAPE_SEEDS,
	    (unsigned long long)options->seed);
}
