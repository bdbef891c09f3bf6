/* Memory is guarded here and not at the coordinator, since a host that swaps may not hear from it, and
 * because seconds count. A cut takes effect only as running steps end, and those still grow: so what is
 * judged is not the memory that is held now but the most that n steps may come to hold.
 *
 * Steps differ, and each grows while it lasts. One step holds `mean` on average over its life, with some
 * variance, both learned from what all hold together; n of them are a sum of n independent ones. They
 * hold n * mean, off by sqrt(n * variance). When they now hold more than that by d, the excess fades as
 * they end, while chance has its way more and more; at worst that makes
 *
 *     need(n) = n * mean + sqrt(d^2 + MARGIN^2 * n * variance)
 *
 * (of d e^-t + MARGIN sqrt(n variance (1 - e^-2t)) the largest over t, that of a process that returns to
 * its mean). The limit is the largest n whose need leaves the floor free.
 *
 * An excess that chance does not explain means that other steps than those known have begun. Then what
 * was known is forgotten, and what they hold is followed as it grows for as long as a step lasts.
 *
 * Free memory under the floor, or pages that come back from swap, are danger, however it came about:
 * 0.7 of what runs is left, at once and for a time.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/guard.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)

/* A kernel with less than 4 % free begins to steal program text and page cache that builds live by;
 * on a small host 256 MiB is what the system, agent and sshd need to stay usable, yet never more
 * than a quarter of all there is. */
static const int64_t floor_least_bytes = 256 * MIB;
enum { FLOOR_PERCENT = 4, FLOOR_MOST_PART = 4 };

/* Idle daemons fetch some pages when they wake; 256 pages of 4 KiB in a second are work waiting. */
static const double swap_in_bytes_s = 1 * MIB;

static const double cut_to = 0.7;

/* Until something is learned, steps are off from nothing by what a C compiler takes (50 to 150 MiB), or by
 * less on a host that is small, where that alone would leave it idle. It is never less than half of it,
 * since other programs come and go. */
static const int64_t deviation_first = 128 * MIB;
enum { DEVIATION_FIRST_PART = 64 };

/* In standard deviations. Steps are not of a normal law: one in some thousand holds ten times the mean,
 * and grows to it in a second; nothing but room helps. What each margin costs and saves stands in
 * docs/decisions/0011-guard.md. */
static const double margin = 5;

/* Steps that are new grow on a line, so what they are taken for is already on the safe side. */
static const double deviation_new = 0.5;

/* What is believed before anything is seen: eight steps of ten seconds. */
static const double first_steps = 8, first_life_s = 10;

enum {
	FADE_S = 60, /* what sums remember */
	FADE_SLOWLY_S = 240, /* a deviation takes more to tell than a mean */
	AHEAD_LEAST_S = 3, /* other programs do not end with steps */
	GROW_LIVES = 8, /* a part of a step's life: its growth has begun to show */
	CUT_AGAIN_S = 4,
	STALE_S = 3,
	GAP_S = 10 /* points further apart tell no rate */
};

/* What a step's readings say. */
struct memory {
	bool has_free, swaps;
	int64_t free_bytes, floor_bytes;
	double swap_in;
};

int64_t
guard_floor_bytes(int64_t memory_bytes)
{
	int64_t floor_bytes = memory_bytes / 100 * FLOOR_PERCENT;

	if (floor_bytes < floor_least_bytes)
		floor_bytes = floor_least_bytes;
	if (memory_bytes > 0 && floor_bytes > memory_bytes / FLOOR_MOST_PART)
		floor_bytes = memory_bytes / FLOOR_MOST_PART;
	return floor_bytes;
}

static bool
is_fresh(const struct load *load, enum load_reading reading)
{
	return load_has(load, reading) && load->readings[reading].age_us <= STALE_S * SECOND_US &&
	       load->readings[reading].value >= 0;
}

static struct memory
look(const struct guard_input *in)
{
	struct memory m = { .floor_bytes = guard_floor_bytes(in->memory_bytes) };

	if (is_fresh(in->load, LOAD_MEMORY_FREE)) {
		m.has_free = true;
		m.free_bytes = (int64_t)in->load->readings[LOAD_MEMORY_FREE].value;
	}
	if (is_fresh(in->load, LOAD_SWAP_IN)) {
		m.swap_in = in->load->readings[LOAD_SWAP_IN].value;
		m.swaps = m.swap_in > swap_in_bytes_s;
	}
	return m;
}

/* ---- what is learned ---- */

static double
step_mean(const struct guard *guard)
{
	return guard->sums.byte_s / guard->sums.step_s;
}

static double
step_variance(const struct guard *guard)
{
	return fmax(guard->sums.square_s / guard->sums.seconds, guard->variance_least);
}

static double
step_life(const struct guard *guard)
{
	return guard->sums.step_s / fmax(guard->sums.ended, 0.1);
}

/* What n steps may hold beyond their mean by chance. */
static double
chance(const struct guard *guard, int32_t n)
{
	return margin * sqrt(n * step_variance(guard));
}

static void
begin(struct guard *guard, const struct guard_input *in)
{
	double deviation = deviation_first;

	if (in->memory_bytes > 0)
		deviation = fmin(deviation, (double)in->memory_bytes / DEVIATION_FIRST_PART);
	guard->begun = true;
	guard->variance_least = pow(deviation / 2, 2);
	guard->sums = (struct guard_sums){ .step_s = first_steps * first_life_s,
		.ended = first_steps,
		.square_s = pow(deviation, 2) * first_life_s,
		.seconds = first_life_s };
}

/* Steps hold what is gone since none ran. What others have let go is free for steps too. An agent that
 * starts while steps run cannot tell until they have ended. */
static void
remember(struct guard *guard, const struct guard_input *in, const struct memory *m)
{
	if (!guard->begun && in->running < 1)
		begin(guard, in);
	if (in->running < 1 || m->free_bytes > guard->base_bytes)
		guard->base_bytes = m->free_bytes;
	if (guard->npoints > 0 && mono_since(guard->points[0].at, in->now) > GAP_S * SECOND_US)
		guard->npoints = 0;
	memmove(guard->points + 1, guard->points, sizeof guard->points - sizeof guard->points[0]);
	guard->points[0] = (struct guard_point){ in->now,
		(double)(guard->base_bytes - m->free_bytes), in->running, in->begun };
	if (guard->npoints < GUARD_WINDOW)
		guard->npoints++;
}

/* Bytes a second by which what steps hold rose lately. */
static double
rise(const struct guard *guard)
{
	const struct guard_point *now = guard->points, *then = now + guard->npoints - 1;

	return fmax(0, now->held_bytes - then->held_bytes) * SECOND_US /
	       (double)mono_since(then->at, now->at);
}

/* Steps unlike those known run: they are what they will have grown to when the first of them has ended.
 * More of them may begin as those known end, so the worst of that time is believed. */
static void
learn_anew(struct guard *guard)
{
	const struct guard_point *now = guard->points;
	double grows_s = (double)mono_since(now->at, guard->anew_until) / SECOND_US;
	double life = step_life(guard), mean;
	struct guard_sums *s = &guard->sums;

	mean = fmax((now->held_bytes + rise(guard) * grows_s) / now->running, step_mean(guard));
	s->square_s = fmax(step_variance(guard), pow(mean * deviation_new, 2)) * life;
	s->seconds = life;
	s->byte_s = mean * life / 2 * now->running;
	s->step_s = life / 2 * now->running;
	s->ended = now->running / 2.0;
}

/* The last second goes into the sums. */
static void
learn_more(struct guard *guard, double off, double seconds)
{
	const struct guard_point *now = guard->points, *then = now + 1;
	double fade = exp(-seconds / FADE_S), fade_slowly = exp(-seconds / FADE_SLOWLY_S);
	int64_t ended = now->begun - then->begun - (now->running - then->running);
	struct guard_sums *s = &guard->sums;

	s->byte_s = s->byte_s * fade + now->held_bytes * seconds;
	s->step_s = s->step_s * fade + now->running * seconds;
	s->ended = s->ended * fade + (ended > 0 ? (double)ended : 0);
	/* what is below the mean mirrors what is above: a mean that is late to fall is no variance */
	s->square_s = s->square_s * fade_slowly + 2 * pow(fmax(off, 0), 2) / now->running * seconds;
	s->seconds = s->seconds * fade_slowly + seconds;
}

static void
learn(struct guard *guard)
{
	const struct guard_point *now = guard->points, *then = now + 1;
	double off, seconds;

	if (!guard->begun || guard->npoints < 2 || now->running < 1)
		return;
	seconds = (double)mono_since(then->at, now->at) / SECOND_US;
	if (seconds <= 0)
		return;
	off = now->held_bytes - now->running * step_mean(guard);
	if (off > chance(guard, now->running))
		guard->anew_until =
		    mono_add(now->at, (int64_t)(fmax(step_life(guard), AHEAD_LEAST_S) * SECOND_US));
	if (mono_since(now->at, guard->anew_until) > 0)
		learn_anew(guard);
	else
		learn_more(guard, off, seconds);
}

/* ---- what fits ---- */

/* The most that n steps may come to hold; of those that run now a part, if they are more. */
static double
need(const struct guard *guard, int32_t n)
{
	const struct guard_point *now = guard->points;
	double excess = fmax(0, now->held_bytes - now->running * step_mean(guard));

	if (n < now->running)
		excess *= (double)n / now->running;
	return n * step_mean(guard) + hypot(excess, chance(guard, n));
}

/* How many steps fit, of so many at most; at least one. What is not known fits. */
static int32_t
fitting(const struct guard *guard, const struct memory *m, int32_t most)
{
	double room = (double)(guard->base_bytes - m->floor_bytes);

	if (!guard->begun)
		return INT32_MAX;
	while (most > 1 && need(guard, most) > room)
		most--;
	return most > 1 ? most : 1;
}

/* ---- the limit ---- */

/* True with why, in words. */
static bool
is_in_danger(const struct memory *m, char why[TEXT_SIZE])
{
	if (m->swaps) {
		snprintf(why, TEXT_SIZE, "swapping in %.0f MB/s", m->swap_in / MIB);
		return true;
	}
	if (!m->has_free || m->free_bytes >= m->floor_bytes)
		return false;
	snprintf(why, TEXT_SIZE, "free memory %" PRId64 " MB is under the floor of %" PRId64 " MB",
	    m->free_bytes / MIB, m->floor_bytes / MIB);
	return true;
}

static void
set_limit(struct guard *guard, const struct guard_input *in, int32_t limit)
{
	guard->limit = limit > 1 ? limit : 1;
	guard->set_at = in->now;
}

/* Another cut waits until the last one has taken effect and shows, and is not for pages that come back
 * to ample memory. */
static bool
may_cut(
    const struct guard *guard, const struct guard_input *in, const struct memory *m, int32_t fit)
{
	if (guard->limit == 0)
		return true;
	if (in->running > guard->limit ||
	    mono_since(guard->set_at, in->now) < CUT_AGAIN_S * SECOND_US)
		return false;
	return !m->has_free || m->free_bytes < m->floor_bytes || fit <= in->running;
}

static void
cut(struct guard *guard, const struct guard_input *in, int32_t in_force, int32_t fit,
    const char *why)
{
	int32_t base = in_force > 0 && in_force < in->running ? in_force : in->running;
	int32_t limit = (int32_t)(base * cut_to);

	set_limit(guard, in, limit < fit ? limit : fit);
	guard->hold_until = mono_add(in->now, GUARD_HOLD_S * SECOND_US);
	snprintf(guard->reason, sizeof guard->reason, "%.400s: limit %d -> %d for %d s", why,
	    (int)(base > 1 ? base : 1), (int)guard->limit, GUARD_HOLD_S);
}

static void
lower(struct guard *guard, const struct guard_input *in, const struct memory *m, int32_t in_force,
    int32_t fit)
{
	snprintf(guard->reason, sizeof guard->reason,
	    "%d steps that hold %.0f MB each on average may come to need %.0f MB, and %" PRId64
	    " MB are there for them: limit %d -> %d",
	    (int)in_force, step_mean(guard) / MIB, need(guard, in_force) / MIB,
	    (guard->base_bytes - m->floor_bytes) / MIB, (int)in_force, (int)fit);
	set_limit(guard, in, fit);
}

/* One step at a time, after the growth of the last one has begun to show. */
static void
recover(struct guard *guard, const struct guard_input *in, int32_t fit)
{
	double wait_s = guard->begun ? fmax(1, step_life(guard) / GROW_LIVES) : 1;

	if (mono_since(guard->hold_until, in->now) < 0 ||
	    (double)mono_since(guard->set_at, in->now) < wait_s * SECOND_US)
		return;
	if (in->limit > guard->limit) {
		if (fit <= guard->limit)
			return;
		set_limit(guard, in, guard->limit + 1);
		snprintf(guard->reason, sizeof guard->reason,
		    "memory recovers: back to %d of %d steps", (int)guard->limit, (int)in->limit);
	}
	if (guard->limit >= in->limit) {
		guard->limit = 0;
		guard->reason[0] = '\0';
	}
}

static int32_t
in_force_of(const struct guard *guard, const struct guard_input *in)
{
	int32_t limit = in->limit > 0 ? in->limit : 0;

	return guard->limit > 0 && (limit == 0 || guard->limit < limit) ? guard->limit : limit;
}

int32_t
guard_step(struct guard *guard, const struct guard_input *in)
{
	int32_t in_force = in_force_of(guard, in), fit = INT32_MAX;
	int32_t now = in_force > 0 ? in_force : in->running;
	struct memory m = look(in);
	char why[TEXT_SIZE];
	bool danger;

	if (m.has_free) {
		remember(guard, in, &m);
		learn(guard);
		fit = fitting(guard, &m, in->limit > now ? in->limit : now);
	}
	danger = is_in_danger(&m, why);
	if (danger && may_cut(guard, in, &m, fit))
		cut(guard, in, in_force, fit, why);
	else if (fit < now)
		lower(guard, in, &m, now, fit);
	else if (guard->limit > 0 && !danger)
		recover(guard, in, fit);
	return in_force_of(guard, in);
}
