/* Sums fade, so that what was seen long ago weighs little, and the difference of two readings
 * that are far apart in time is widened by how far a build drifts meanwhile.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/levels.h"

#include <math.h>
#include <string.h>

static const double USER_FADE_S = 120, STEPS_FADE_S = 900;
static const double USER_FLOOR = 0.01; /* of the mean: what one sample varies at least */
static const double CORRELATED = 2; /* neighbouring samples tell less than independent ones */
static const double DRIFT = 0.01; /* of the work, in a minute */
static const double INFLATION_VAR = 1; /* from none to all of what another step adds */
static const double INFLATION_VAR_LEAST = 0.02; /* no two phases are quite alike */
static const double INFLATION_SD_LEAST = 0.1;
static const double INFLATION_MOST = 1.5;
static const double COUNTED_SD = 0.02; /* instructions: waiting for each other takes some too */
static const double INFLATION_VAR_BLIND = 0.04; /* no steps are counted: user time must do */
static const double BLIND_S = 60;
static const double DISPERSION_LEAST = 0.05, DISPERSION_MOST = 4;

void
levels_clear(struct levels *levels)
{
	memset(levels->list, 0, sizeof levels->list);
	if (levels->inflation_var <= 0)
		levels->inflation_var = INFLATION_VAR;
	if (levels->dispersion_n <= 0) {
		levels->dispersion = 1; /* as of steps that begin at random */
		levels->dispersion_n = 4;
	}
}

const struct level *
levels_find(const struct levels *levels, int32_t limit)
{
	size_t i;

	for (i = 0; i < LEVELS_KEPT; i++)
		if (levels->list[i].limit == limit && limit > 0)
			return &levels->list[i];
	return NULL;
}

void
levels_count(struct levels *levels, bool counted)
{
	if (counted != levels->counted)
		levels_clear(levels);
	levels->counted = counted;
}

/* The one for this limit, in the place of the oldest when it is new. */
static struct level *
take(struct levels *levels, int32_t limit)
{
	struct level *oldest = &levels->list[0];
	size_t i;

	for (i = 0; i < LEVELS_KEPT; i++) {
		struct level *level = &levels->list[i];

		if (level->limit == limit)
			return level;
		if (level->limit == 0 || (oldest->limit != 0 && level->at.us < oldest->at.us))
			oldest = level;
	}
	*oldest = (struct level){ .limit = limit };
	return oldest;
}

double
level_user(const struct level *level)
{
	return level != NULL && level->user_s > 0 ? level->user / level->user_s : NAN;
}

double
level_steps(const struct level *level)
{
	return level != NULL && level->steps_s > 0 ? level->steps / level->steps_s : NAN;
}

static void
learn_dispersion(struct levels *levels, const struct level *level, double steps, double seconds)
{
	double mean = level_steps(level) * seconds, d;

	if (level->steps_s < 5 || !(mean > 0))
		return;
	d = (steps - mean) * (steps - mean) / mean;
	levels->dispersion_n = fmin(levels->dispersion_n + 1, 120);
	levels->dispersion += (d - levels->dispersion) / levels->dispersion_n;
	levels->dispersion = fmin(fmax(levels->dispersion, DISPERSION_LEAST), DISPERSION_MOST);
}

void
levels_add(
    struct levels *levels, int32_t limit, double user, double steps, double seconds, mono_us now)
{
	struct level *level = take(levels, limit);
	double fade;

	level->at = now;
	if (!isnan(user)) {
		fade = exp(-seconds / USER_FADE_S);
		level->user_s = level->user_s * fade + seconds;
		level->user = level->user * fade + user * seconds;
		level->user2 = level->user2 * fade + user * user * seconds;
	}
	if (steps >= 0) {
		levels->blind_s = steps > 0 ? 0 : levels->blind_s + seconds;
		learn_dispersion(levels, level, steps, seconds);
		fade = exp(-seconds / STEPS_FADE_S);
		level->steps_s = level->steps_s * fade + seconds;
		level->steps = level->steps * fade + steps;
	}
}

/* Of ln(mean user), relative. */
static double
user_var(const struct level *level)
{
	double mean = level_user(level), var;

	if (level == NULL || !(mean > 0))
		return INFINITY;
	var = fmax(level->user2 / level->user_s - mean * mean, 0) / (mean * mean);
	return fmax(var, USER_FLOOR * USER_FLOOR) * CORRELATED / level->user_s;
}

static double
steps_var(const struct levels *levels, const struct level *level)
{
	if (level == NULL || !(level->steps_s > 0))
		return INFINITY;
	/* Half a step more: none in a while is a rate too, and a low one. */
	return levels->dispersion / (level->steps + 0.5);
}

static double
log_steps(const struct level *level)
{
	return log((level->steps + 0.5) / level->steps_s);
}

static double
drift_var(const struct level *a, const struct level *b, mono_us now)
{
	double age_s = (double)(mono_since(a->at, now) + mono_since(b->at, now)) / 1e6;

	return DRIFT * DRIFT * fabs(age_s) / 60;
}

/* What was learned holds above a knee and not below it: all of it for a wider level, somewhere
 * from nothing to all of it for a narrower one. */
static double
inflation_sd(const struct levels *levels)
{
	double var = levels->blind_s < BLIND_S ? levels->inflation_var : INFLATION_VAR_BLIND;

	return fmax(levels->inflation / 2, sqrt(var));
}

struct gain
levels_compare(
    const struct levels *levels, int32_t from, int32_t to, double crowded, bool spins, mono_us now)
{
	const struct level *a = levels_find(levels, from), *b = levels_find(levels, to);
	struct gain gain = { 0, INFINITY, 0, INFINITY };
	double wider = log((double)to / from), user, steps, spread, weight = 0, sum = 0;
	double inflation = levels->counted ? 0 : crowded * levels->inflation;

	if (a == NULL || b == NULL)
		return gain;
	steps = steps_var(levels, a) + steps_var(levels, b);
	spread = fmax(crowded * inflation_sd(levels), INFLATION_SD_LEAST) * wider;
	if (levels->counted)
		spread = COUNTED_SD * wider;
	user = user_var(a) + user_var(b);
	if (isfinite(user)) {
		gain.user = log(level_user(b) / level_user(a));
		gain.user_sd = sqrt(user + drift_var(a, b, now));
	}
	if (isfinite(user) && !spins) {
		user += spread * spread;
		sum += (gain.user - inflation * (wider > 0 ? 1 : 0.5) * wider) / user;
		weight += 1 / user;
	}
	if (isfinite(steps)) {
		sum += (log_steps(b) - log_steps(a)) / steps;
		weight += 1 / steps;
	}
	if (weight > 0) {
		gain.log = sum / weight;
		gain.sd = sqrt(1 / weight + drift_var(a, b, now));
	}
	return gain;
}

void
levels_learn(struct levels *levels, int32_t from, int32_t to)
{
	const struct level *a = levels_find(levels, from), *b = levels_find(levels, to);
	double wider = log((double)to / from), seen, var, k;

	if (a == NULL || b == NULL || from == to || levels->counted)
		return;
	var = (user_var(a) + user_var(b) + steps_var(levels, a) + steps_var(levels, b)) /
	      (wider * wider);
	if (!isfinite(var))
		return;
	seen = (log(level_user(b) / level_user(a)) - (log_steps(b) - log_steps(a))) / wider;
	/* More than that is no inflation: steps spin in user mode. */
	if (seen - 2 * sqrt(var) > INFLATION_MOST)
		return;
	k = levels->inflation_var / (levels->inflation_var + var);
	levels->inflation += k * (seen - levels->inflation);
	levels->inflation = fmin(fmax(0, levels->inflation), INFLATION_MOST);
	levels->inflation_var = fmax(levels->inflation_var * (1 - k), INFLATION_VAR_LEAST);
}
