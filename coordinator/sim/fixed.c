/* Every limit up to two steps a thread is tried, and sparser ones above where steps sleep, since they
 * need no CPU then. One that takes several times as long as the best so far is given up: it
 * is the best nowhere, or its phases that ended say so. The one step a thread runs to its end: it is a
 * figure of its own.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/fixed.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/mem.h"

#define HOPELESS 4.0
#define SPARSE 1.06

static bool
sleeps(const struct scenario *s)
{
	for (size_t i = 0; i < s->nphases; i++)
		if (s->phases[i].sleep > 0)
			return true;
	return false;
}

void
fixed_init(struct fixed *f, const struct scenario *scenario, int seeds)
{
	int threads = scenario->host.threads, most = (sleeps(scenario) ? 6 : 2) * threads;

	f->nphases = scenario->nphases;
	f->seeds = seeds;
	f->nlimits = 0;
	f->limits[f->nlimits++] = threads;
	for (int j = 1; j <= most && j <= JOBS_MAX;) {
		if (j != threads)
			f->limits[f->nlimits++] = j;
		j = j < 2 * threads ? j + 1 : (int)ceil(j * SPARSE);
	}
	f->seconds =
	    mem_calloc((size_t)f->nlimits * (size_t)seeds * (f->nphases + 1), sizeof *f->seconds);
}

void
fixed_clear(struct fixed *f)
{
	free(f->seconds);
}

static double *
place(const struct fixed *f, int limit, int seed, size_t phase)
{
	size_t row = (size_t)limit * (size_t)f->seeds + (size_t)seed;

	return &f->seconds[row * (f->nphases + 1) + phase];
}

double
fixed_seconds(const struct fixed *f, int limit, int seed, size_t phase)
{
	return *place(f, limit, seed, phase);
}

void
fixed_measure(struct fixed *f, const struct work *work, int seed)
{
	struct run_options options = { .seed = 1 };
	double best = INFINITY;

	for (int i = 0; i < f->nlimits; i++) {
		struct run_result result;
		struct run *run;

		options.fixed = f->limits[i];
		options.stop_at = i > 0 ? HOPELESS * best : 0;
		run = run_create(work, &options);
		run_build(run, &result);
		run_destroy(run);
		for (size_t p = 0; p < f->nphases; p++)
			*place(f, i, seed, p) = result.phases[p];
		*place(f, i, seed, f->nphases) = result.seconds;
		best = fmin(best, result.seconds);
	}
}

static double
mean(const struct fixed *f, int limit, size_t phase)
{
	double sum = 0;

	for (int s = 0; s < f->seeds; s++)
		sum += fixed_seconds(f, limit, s, phase);
	return sum / f->seeds;
}

int
fixed_best(const struct fixed *f, size_t phase)
{
	double least = INFINITY;
	int best = 0;

	for (int i = 0; i < f->nlimits; i++) {
		double m = mean(f, i, phase);

		if (m < least) {
			least = m;
			best = i;
		}
	}
	return best;
}

double
fixed_oracle(const struct fixed *f, int seed)
{
	double sum = 0;

	for (size_t p = 0; p < f->nphases; p++)
		sum += fixed_seconds(f, fixed_best(f, p), seed, p);
	return sum;
}
