/* Memory is guarded here and not at the coordinator, since a host that swaps may not hear from it, and
 * because seconds count. A cut takes effect as running steps end, so there are three lines of defence:
 *
 *   growth  the limit does not rise while free memory is less than the floor, what the running steps
 *           may still take, and one step more. What they hold already is not asked for twice, or a
 *           host would never use more than half its memory.
 *   fall    free memory that will be at the floor within seconds if it falls on is cut for now.
 *   need    so is free memory under the floor, and pages that come back from swap.
 *
 * A cut is to 0.7 of what runs, or deeper where what is known of the steps says so. It is repeated when
 * danger lasts, but not below a quarter while steps end that began under the old limit, or one bad
 * moment would take all. After the hold the
 * limit grows by an eighth at a time up to the coordinator's, then the guard lets go.
 *
 * What a step takes is learned as the fall of free memory since the moment with the fewest steps, per
 * step that was added: an expectile of it, up fast and down slowly, stands for the 95th percentile.
 * It is the mean over all that run at a time, so that one huge linker among forty small compilers
 * does not count forty times.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/guard.h"

#include <inttypes.h>
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

/* A C compiler takes 50 to 150 MiB: what a step is taken for until something is learned. */
static const int64_t step_guess_bytes = 128 * MIB;

static const double cut_to = 0.7;

enum {
	CUT_MOST_PART = 4,
	CUT_AGAIN_S = 4, /* a cut is seen in the readings after some steps have ended */
	GROW_S = 2,
	GROW_PART = 8,
	AHEAD_S = 5, /* how far a fall is followed */
	AHEAD_KNOWN_S = 2, /* when all that runs is known to fit */
	STALE_S = 3,
	GAP_S = 10, /* points further apart tell no rate */
	CALM_S = 600 /* other programs come and go: what was calm then is not now */
};

/* 95 : 5, so that the tracker rests where one reading in twenty is much above it. */
static const double learn_up = 0.3, learn_down = 0.3 * 5 / 95;

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

static void
remember(struct guard *guard, const struct guard_input *in, const struct memory *m)
{
	if (!m->has_free ||
	    (guard->npoints > 0 && mono_since(guard->points[0].at, in->now) > GAP_S * SECOND_US))
		guard->npoints = 0;
	if (!m->has_free)
		return;
	memmove(guard->points + 1, guard->points, sizeof guard->points - sizeof guard->points[0]);
	guard->points[0] = (struct guard_point){ in->now, m->free_bytes, in->running };
	if (guard->npoints < GUARD_WINDOW)
		guard->npoints++;
	if (!guard->has_calm || in->running <= guard->calm.running ||
	    mono_since(guard->calm.at, in->now) > CALM_S * SECOND_US) {
		guard->calm = guard->points[0];
		guard->has_calm = true;
	}
}

static void
learn(struct guard *guard)
{
	int32_t more = guard->points[0].running - guard->calm.running;
	int64_t taken = guard->calm.free_bytes - guard->points[0].free_bytes;
	double gain, sample;

	if (guard->npoints == 0 || more < 1)
		return;
	sample = taken > 0 ? (double)taken / more : 0;
	if (guard->step_bytes == 0) {
		guard->step_bytes = (int64_t)sample;
		return;
	}
	gain = sample > (double)guard->step_bytes ? learn_up : learn_down;
	guard->step_bytes += (int64_t)(gain * (sample - (double)guard->step_bytes));
}

static int64_t
step_size(const struct guard *guard)
{
	return guard->step_bytes > 0 ? guard->step_bytes : step_guess_bytes;
}

/* What n steps may still take beyond what those that run hold now. */
static int64_t
still_to_come(const struct guard *guard, const struct memory *m, int32_t n)
{
	int64_t held = 0, all;

	if (guard->has_calm) {
		held = guard->calm.free_bytes - m->free_bytes;
		n -= guard->calm.running;
	}
	all = (int64_t)(n > 0 ? n : 0) * step_size(guard);
	return held < 0 ? all : all > held ? all - held : 0;
}

static bool
has_room(const struct guard *guard, const struct memory *m, int32_t n)
{
	return !m->has_free || m->free_bytes >= m->floor_bytes + still_to_come(guard, m, n);
}

/* ---- danger ---- */

/* Seconds until free memory is at the floor, as it fell lately; negative: it does not fall. */
static double
seconds_left(const struct guard *guard, const struct memory *m)
{
	const struct guard_point *old;
	double fall, window_s;

	if (guard->npoints < 2)
		return -1;
	old = &guard->points[guard->npoints - 1];
	window_s = (double)mono_since(old->at, guard->points[0].at) / SECOND_US;
	fall = (double)(old->free_bytes - m->free_bytes);
	if (window_s <= 0 || fall <= 0)
		return -1;
	return (double)(m->free_bytes - m->floor_bytes) / (fall / window_s);
}

/* True with why, in words. */
static bool
is_in_danger(const struct guard *guard, const struct guard_input *in, const struct memory *m,
    char why[TEXT_SIZE])
{
	bool known = guard->step_bytes > 0 && has_room(guard, m, in->running);
	double left;

	if (m->swaps) {
		snprintf(why, TEXT_SIZE, "swapping in %.0f MB/s", m->swap_in / MIB);
		return true;
	}
	if (!m->has_free)
		return false;
	if (m->free_bytes < m->floor_bytes) {
		snprintf(why, TEXT_SIZE,
		    "free memory %" PRId64 " MB is under the floor of %" PRId64 " MB",
		    m->free_bytes / MIB, m->floor_bytes / MIB);
		return true;
	}
	left = seconds_left(guard, m);
	if (in->running < 1 || left < 0 || left > (known ? AHEAD_KNOWN_S : AHEAD_S))
		return false;
	snprintf(why, TEXT_SIZE,
	    "free memory %" PRId64 " MB falls to the floor of %" PRId64 " MB within %.0f s",
	    m->free_bytes / MIB, m->floor_bytes / MIB, left + 1);
	return true;
}

/* ---- the limit ---- */

/* How many steps fit, by what is known; INT32_MAX when nothing is. */
static int32_t
fitting(const struct guard *guard, const struct memory *m)
{
	int64_t n;

	if (!m->has_free || !guard->has_calm || guard->step_bytes == 0)
		return INT32_MAX;
	n = (guard->calm.free_bytes - m->floor_bytes) / guard->step_bytes + guard->calm.running;
	return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

static void
cut(struct guard *guard, const struct guard_input *in, const struct memory *m, int32_t in_force,
    const char *why)
{
	int32_t base = in_force > 0 && in_force < in->running ? in_force : in->running;
	int32_t deep = fitting(guard, m), limit = (int32_t)(base * cut_to);

	if (guard->limit == 0 || in->running <= guard->limit)
		guard->cut_from = base; /* all that runs began under this limit */
	limit = limit < deep ? limit : deep;
	if (limit < guard->cut_from / CUT_MOST_PART)
		limit = guard->cut_from / CUT_MOST_PART;
	guard->limit = limit > 1 ? limit : 1;
	guard->cut_at = guard->grown_at = in->now;
	guard->hold_until = mono_add(in->now, GUARD_HOLD_S * SECOND_US);
	snprintf(guard->reason, sizeof guard->reason, "%.400s: limit %d -> %d for %d s", why,
	    (int)(base > 1 ? base : 1), (int)guard->limit, GUARD_HOLD_S);
}

/* A second cut waits until the first may be seen, and is not for pages that come back to ample memory. */
static bool
may_cut(const struct guard *guard, const struct guard_input *in, const struct memory *m)
{
	if (guard->limit == 0)
		return true;
	if (guard->limit == 1 || mono_since(guard->cut_at, in->now) < CUT_AGAIN_S * SECOND_US)
		return false;
	if (in->running > guard->limit && guard->limit <= guard->cut_from / CUT_MOST_PART)
		return false;
	return !m->has_free || !has_room(guard, m, in->running + 1);
}

static void
recover(struct guard *guard, const struct guard_input *in, const struct memory *m)
{
	int32_t more = guard->limit / GROW_PART > 1 ? guard->limit / GROW_PART : 1;

	if (mono_since(guard->hold_until, in->now) < 0 ||
	    mono_since(guard->grown_at, in->now) < GROW_S * SECOND_US)
		return;
	if (in->limit > guard->limit) {
		if (!has_room(guard, m, guard->limit + more))
			return;
		guard->limit += more;
		guard->grown_at = in->now;
	}
	snprintf(guard->reason, sizeof guard->reason,
	    "memory recovers: back to %d of %d steps, with room for the next of %" PRId64 " MB",
	    (int)guard->limit, (int)in->limit, step_size(guard) / MIB);
	if (guard->limit >= in->limit) {
		guard->limit = 0;
		guard->reason[0] = '\0';
	}
}

/* The coordinator may raise its limit while memory is short: then it stays where it was. */
static void
refuse_growth(struct guard *guard, const struct guard_input *in, const struct memory *m)
{
	if (guard->in_force < 1 || in->limit <= guard->in_force || guard->step_bytes == 0 ||
	    has_room(guard, m, in->limit))
		return;
	guard->limit = guard->in_force;
	guard->grown_at = guard->hold_until = in->now;
	snprintf(guard->reason, sizeof guard->reason,
	    "free memory %" PRId64 " MB has no room for more than %d steps of %" PRId64
	    " MB above the floor of %" PRId64 " MB",
	    m->free_bytes / MIB, (int)guard->limit, step_size(guard) / MIB, m->floor_bytes / MIB);
}

int32_t
guard_step(struct guard *guard, const struct guard_input *in)
{
	int32_t in_force = in->limit;
	struct memory m = look(in);
	char why[TEXT_SIZE];

	if (guard->limit > 0 && (in_force < 1 || guard->limit < in_force))
		in_force = guard->limit;
	remember(guard, in, &m);
	learn(guard);
	if (is_in_danger(guard, in, &m, why)) {
		if (may_cut(guard, in, &m))
			cut(guard, in, &m, in_force, why);
	} else if (guard->limit > 0) {
		recover(guard, in, &m);
	} else {
		refuse_growth(guard, in, &m);
	}
	in_force = in->limit > 0 ? in->limit : 0;
	if (guard->limit > 0 && (in_force == 0 || guard->limit < in_force))
		in_force = guard->limit;
	guard->in_force = in_force;
	return in_force;
}
