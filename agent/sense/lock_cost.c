/* Steps come in bursts, and a build is not as fast now as it was a minute ago; so one window says little.
 * Each is compared with its own neighbours, which takes the slow drift out, and the mean over many windows
 * counts only when it is more than two of its standard errors away from what would be too much.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_cost.h"

#include <math.h>

enum {
	WINDOWS_MIN = 8, /* before anything is said */
	WINDOWS_MAX = 128, /* then the older half is forgotten */
	STEPS_MIN = 20 /* outside of a window, to compare with */
};

static const double most = 0.01;

static void
learn(struct lock_cost *cost, double share)
{
	double away = share - cost->mean;

	if (cost->n >= WINDOWS_MAX) {
		cost->n /= 2;
		cost->squares /= 2;
	}
	cost->n++;
	cost->mean += away / cost->n;
	cost->squares += away * (share - cost->mean);
}

static void
compare(struct lock_cost *cost)
{
	int64_t steps = cost->before.steps + cost->behind.steps;
	int64_t us = cost->before.us + cost->behind.us;

	if (cost->within.us <= 0 || cost->before.us <= 0 || cost->behind.us <= 0 ||
	    steps < STEPS_MIN)
		return;
	learn(cost, 1 - ((double)cost->within.steps / (double)cost->within.us) /
			    ((double)steps / (double)us));
}

void
lock_cost_window(struct lock_cost *cost, bool begins)
{
	if (begins) {
		compare(cost);
		cost->before = cost->behind;
		cost->within = cost->behind = (struct lock_rate){ 0, 0 };
	}
	cost->inside = begins;
	cost->mixed = true;
}

void
lock_cost_steps(struct lock_cost *cost, mono_us now, int64_t steps)
{
	struct lock_rate *rate = cost->inside ? &cost->within : &cost->behind;

	if (cost->began && !cost->mixed && steps >= cost->steps && now.us > cost->at.us) {
		rate->steps += steps - cost->steps;
		rate->us += mono_since(cost->at, now);
	}
	cost->began = true;
	cost->mixed = false;
	cost->at = now;
	cost->steps = steps;
}

int64_t
lock_cost_ppm(const struct lock_cost *cost)
{
	if (cost->n < WINDOWS_MIN)
		return -1;
	return cost->mean > 0 ? (int64_t)(cost->mean * 1e6) : 0;
}

bool
lock_cost_too_high(struct lock_cost *cost)
{
	double error;

	if (cost->n < WINDOWS_MIN)
		return false;
	error = sqrt(cost->squares / (cost->n - 1) / cost->n);
	if (cost->mean - 2 * error <= most)
		return false;
	cost->n = cost->mean = cost->squares = 0;
	return true;
}
