/* Spinning in the kernel is booked as system time, so system time beyond what the work needs is
 * an upper bound of it; the rest of that excess is work that spinners slow down. A spin that
 * is booked as user time shows in true readings only.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/waste.h"

#include <math.h>

static const double BASE_ASSUMED = 0.35; /* a compile on a healthy kernel has 0.05 to 0.3 */
static const double SMOOTH_S = 2;
static const double FRESH_S = 3; /* a reading speaks of now for so long at least */
static const double USER_SPINS = 1.3; /* readings are not that exact */
static const double HEALTHY = 0.1; /* of busy time: with less, system time is the work's own */

void
waste_begin(struct waste *waste, double base)
{
	*waste = (struct waste){ .base = base > 0 ? base : BASE_ASSUMED,
		.base_known = base > 0,
		.scale = NAN,
		.reading_age_s = INFINITY,
		.spin = NAN,
		.phi = NAN,
		.useful = NAN };
}

static double
excess(const struct waste *waste, const struct waste_sample *s)
{
	return fmax(0, s->sys - waste->base * s->user);
}

static void
learn_base(struct waste *waste, double base, double weight)
{
	waste->base += (waste->base_known ? weight : 1) * (base - waste->base);
	waste->base_known = true;
}

/* Does it speak of now? */
static bool
fresh(const struct waste_sample *s, double steady_s)
{
	double window = isnan(s->spin_window_s) ? 0 : s->spin_window_s;

	return !isnan(s->spin) && s->spin_age_s <= fmax(FRESH_S, 2 * window) &&
	       s->spin_age_s + window <= steady_s;
}

/* A new reading tells how much of the excess is spinning, or that there is none. */
static void
take_reading(struct waste *waste, const struct waste_sample *s, bool is_fresh)
{
	double seen = excess(waste, s), least = HEALTHY * (s->user + s->sys);

	waste->in_user = s->spin > 2 * s->sys;
	/* What has ended since then says nothing of the system time there is now. */
	if (is_fresh)
		waste->user_spins =
		    s->spin > fmax(least, waste->base_known ? USER_SPINS * seen : s->sys);
	if (s->spin < least && s->user > 0)
		learn_base(waste, fmax(0, s->sys - s->spin) / s->user, 0.3);
	else if (seen > 0)
		waste->scale = fmin(1, s->spin / seen);
}

static double
spin_now(struct waste *waste, const struct waste_sample *s, double steady_s)
{
	waste->estimated = !fresh(s, steady_s);
	if (!waste->estimated)
		return s->spin;
	if (isnan(waste->scale) && !waste->base_known && isnan(s->user))
		return NAN;
	return excess(waste, s) * (isnan(waste->scale) ? 1 : waste->scale);
}

static double
useful_now(const struct waste *waste, const struct waste_sample *s)
{
	double useful = s->user + fmin(s->sys, waste->base * s->user);

	/* Where the spin is booked as user time, what is left of busy time is less. */
	if (!waste->estimated)
		useful = fmin(useful, s->user + s->sys - s->spin);
	return fmax(0, useful) * s->threads;
}

void
waste_add(struct waste *waste, const struct waste_sample *s, double seconds, double steady_s)
{
	double busy = s->user + s->sys, sleep = isnan(s->lock_sleep) ? 0 : s->lock_sleep, phi;

	if (isnan(busy))
		return;
	if (!isnan(s->spin) && s->spin_age_s < waste->reading_age_s)
		take_reading(waste, s, fresh(s, steady_s));
	waste->reading_age_s = isnan(s->spin) ? INFINITY : s->spin_age_s;
	waste->spin = spin_now(waste, s, steady_s);
	waste->useful = useful_now(waste, s);
	waste->asleep = s->idle > 0.05 ? fmax(0, s->running - busy * s->threads) : 0;
	phi = (waste->spin + sleep) / fmax(busy + sleep, 1e-6);
	if (isnan(phi) || isnan(waste->phi) || steady_s <= 0)
		waste->phi = phi;
	else
		waste->phi += (1 - exp(-seconds / SMOOTH_S)) * (phi - waste->phi);
}

void
waste_is_base(struct waste *waste, const struct waste_sample *s)
{
	if (s->user > 0 && !isnan(s->sys))
		learn_base(waste, s->sys / s->user, 1);
}

bool
waste_counts(const struct waste *waste, const struct waste_sample *s)
{
	return !isnan(s->instructions) && !waste->in_user;
}

double
waste_user(const struct waste *waste, const struct waste_sample *s)
{
	if (waste_counts(waste, s))
		return s->instructions / 1e9;
	if (!waste->in_user)
		return s->user * s->threads;
	return waste->estimated ? NAN : fmax(0, s->user + s->sys - s->spin) * s->threads;
}
