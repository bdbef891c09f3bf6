/* One report a second, with some noise on how CPU time is booked. Locks are read as lockstat(8) is run
 * from time to time: 2 s in each 30, told a second later, off by a tenth, and one reading in twenty
 * lost; the last one stands, with its age, until it is too old. When the first window opens has
 * nothing to do with when a build begins.
 *
 * NetBSD counts neither waits for a CPU, nor stolen time, nor waits for I/O.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/sensor.h"

#include <string.h>

#define WINDOW_S 2.0
#define EVERY_S 30.0
#define DELAY_S 1.0
#define STALE_S 62.0
#define LOST 0.05
#define LOCK_NOISE 0.1
#define CPU_NOISE 0.03
#define COUNTER_NOISE 0.01
#define INSTRUCTIONS 3e9 /* a second of work */
#define SWAP_BYTES 3e7 /* a second, while it swaps */
#define GIB 1073741824.0

enum { STREAM_SENSOR = 7 };

void
sensor_init(struct sensor *sensor, const struct scenario *scenario, uint64_t seed, bool perfect)
{
	*sensor = (struct sensor){ .scenario = scenario, .perfect = perfect };
	sensor->dice = dice_create(seed, STREAM_SENSOR);
	sensor->sees_lock_sleep = dice_unit(&sensor->dice) < scenario->host.lock_sleep_seen;
}

void
sensor_begin(struct sensor *sensor)
{
	memset(&sensor->last, 0, sizeof sensor->last);
	sensor->last_at = sensor->swapping = 0;
	sensor->locks = (struct lock_window){ .opens = dice_between(&sensor->dice, 0, EVERY_S) };
}

/* ---- locks ------------------------------------------------------------------------------ */

static double
cpus_of(const struct sensor *s, const struct rates *now, const struct rates *then, enum rate rate,
    double seconds)
{
	return (now->of[rate] - then->of[rate]) / seconds / s->scenario->host.threads;
}

static double
off_by(struct sensor *s, double value, double noise)
{
	return fmax(0, value * (1 + noise * dice_gauss(&s->dice)));
}

static void
close_window(struct sensor *s, const struct rates *sums, double now)
{
	struct lock_window *w = &s->locks;

	w->open = false;
	w->opens = w->from + EVERY_S;
	w->spin_coming =
	    off_by(s, cpus_of(s, sums, &w->at_open, RATE_SPIN, now - w->from), LOCK_NOISE);
	w->sleep_coming =
	    off_by(s, cpus_of(s, sums, &w->at_open, RATE_LOCK_SLEEP, now - w->from), LOCK_NOISE);
	w->ended_coming = now;
	w->delivered_at = dice_unit(&s->dice) < LOST ? 0 : now + DELAY_S;
}

static void
deliver(struct lock_window *w)
{
	w->has = true;
	w->spin = w->spin_coming;
	w->sleep = w->sleep_coming;
	w->ended = w->ended_coming;
	w->length = WINDOW_S;
	w->delivered_at = 0;
}

void
sensor_look(struct sensor *sensor, const struct model *m)
{
	const struct rates *sums = &model_sums(m)->rates;
	struct lock_window *w = &sensor->locks;
	double now = model_now(m) + SENSOR_S / 2; /* strides add up inexactly */

	if (w->delivered_at > 0 && now >= w->delivered_at)
		deliver(w);
	if (w->open && now >= w->from + WINDOW_S)
		close_window(sensor, sums, model_now(m));
	else if (!w->open && now >= w->opens) {
		w->open = true;
		w->from = model_now(m);
		w->at_open = *sums;
	}
}

static void
set(struct load *load, enum load_reading reading, double value, double window, double age)
{
	load->missing &= ~(UINT64_C(1) << reading);
	load->readings[reading] =
	    (struct reading){ value, (int64_t)(window * 1e6), (int64_t)(age * 1e6) };
}

static void
fill_locks(struct sensor *s, const struct rates *sums, double now, struct load *load)
{
	const struct lock_window *w = &s->locks;
	struct lock_window perfect = { .has = true, .ended = now, .length = now - s->last_at };

	if (s->perfect) {
		perfect.spin = cpus_of(s, sums, &s->last, RATE_SPIN, perfect.length);
		perfect.sleep = cpus_of(s, sums, &s->last, RATE_LOCK_SLEEP, perfect.length);
		w = &perfect;
	}
	if (!w->has || now - w->ended > STALE_S)
		return;
	set(load, LOAD_SPIN, w->spin, w->length, now - w->ended);
	if (s->sees_lock_sleep)
		set(load, LOAD_LOCK_SLEEP, w->sleep, w->length, now - w->ended);
}

/* ---- the rest --------------------------------------------------------------------------- */

static bool
counts_all(const struct sensor *s)
{
	return strcmp(s->scenario->host.os, "NetBSD") != 0;
}

/* Noise moves time between the modes; together they are all there is. */
static void
fill_cpu(struct sensor *s, const struct rates *sums, double seconds, struct load *load)
{
	double user = off_by(s, cpus_of(s, sums, &s->last, RATE_USER, seconds), CPU_NOISE);
	double system = off_by(s, cpus_of(s, sums, &s->last, RATE_SYSTEM, seconds), CPU_NOISE);
	double steal = off_by(s, cpus_of(s, sums, &s->last, RATE_STEAL, seconds), CPU_NOISE);
	double asleep = cpus_of(s, sums, &s->last, RATE_ASLEEP, seconds);
	double busy = user + system + steal, idle, iowait;

	if (busy > 1) {
		user /= busy;
		system /= busy;
		steal /= busy;
		busy = 1;
	}
	idle = 1 - busy;
	iowait = counts_all(s) ? fmin(idle, off_by(s, asleep, CPU_NOISE)) : 0;
	set(load, LOAD_USER, user, seconds, 0);
	set(load, LOAD_SYS, system, seconds, 0);
	set(load, LOAD_IDLE, idle - iowait, seconds, 0);
	if (!counts_all(s))
		return;
	set(load, LOAD_IOWAIT, iowait, seconds, 0);
	set(load, LOAD_STEAL, steal, seconds, 0);
	set(load, LOAD_RUN_WAIT, cpus_of(s, sums, &s->last, RATE_RUN_WAIT, seconds), seconds, 0);
}

static void
fill_instructions(struct sensor *s, const struct rates *sums, double seconds, struct load *load)
{
	double done = sums->of[RATE_INSTRUCTIONS] - s->last.of[RATE_INSTRUCTIONS];

	set(load, LOAD_INSTRUCTIONS, off_by(s, INSTRUCTIONS * done / seconds, COUNTER_NOISE),
	    seconds, 0);
}

static void
fill_tasks(struct sensor *s, const struct rates *sums, double seconds, struct load *load)
{
	double threads = s->scenario->host.threads;
	double runnable = threads * cpus_of(s, sums, &s->last, RATE_RUNNABLE, seconds);
	double asleep = threads * cpus_of(s, sums, &s->last, RATE_ASLEEP, seconds);
	double waiting = threads * cpus_of(s, sums, &s->last, RATE_LOCK_SLEEP, seconds);
	double tasks = runnable + (counts_all(s) ? asleep + waiting : 0);
	static const double spans[] = { 60, 300, 900 };

	for (int i = 0; i < 3; i++) {
		s->averages[i] += (tasks - s->averages[i]) * (1 - exp(-seconds / spans[i]));
		set(load, (enum load_reading)(LOAD_1 + i), s->averages[i], 0, 0);
	}
	set(load, LOAD_RUNNING, round(runnable), 0, 0);
	set(load, LOAD_BLOCKED, round(asleep), 0, 0);
	set(load, LOAD_SWITCHES, threads * cpus_of(s, sums, &s->last, RATE_SWITCHES, seconds),
	    seconds, 0);
}

static void
fill_nfs(struct sensor *s, const struct rates *sums, double seconds, struct load *load)
{
	double latency = s->scenario->host.threads * cpus_of(s, sums, &s->last, RATE_NFS, seconds);

	if (s->scenario->host.nfs_latency <= 0)
		return;
	set(load, LOAD_NFS_LATENCY, off_by(s, latency, LOCK_NOISE), seconds, 0);
	set(load, LOAD_NFS_RETRANSMITS, 0, seconds, 0);
}

void
sensor_fill(struct sensor *sensor, const struct model *m, struct load *ret_load)
{
	const struct model_sums *sums = model_sums(m);
	double now = model_now(m), seconds = now - sensor->last_at;
	double swapped = (sums->swapping - sensor->swapping) / seconds * SWAP_BYTES;

	memset(ret_load, 0, sizeof *ret_load);
	ret_load->missing = (UINT64_C(1) << LOAD_READINGS) - 1;
	fill_cpu(sensor, &sums->rates, seconds, ret_load);
	if (sensor->scenario->host.counters)
		fill_instructions(sensor, &sums->rates, seconds, ret_load);
	fill_tasks(sensor, &sums->rates, seconds, ret_load);
	fill_nfs(sensor, &sums->rates, seconds, ret_load);
	fill_locks(sensor, &sums->rates, now, ret_load);
	set(ret_load, LOAD_MEMORY_FREE, model_memory_free(m) * GIB, 0, 0);
	set(ret_load, LOAD_SWAP_IN, swapped, seconds, 0);
	set(ret_load, LOAD_SWAP_OUT, swapped, seconds, 0);
	sensor->last = sums->rates;
	sensor->last_at = now;
	sensor->swapping = sums->swapping;
}

void
sensor_idle(const struct sensor *sensor, struct load *ret_load)
{
	memset(ret_load, 0, sizeof *ret_load);
	ret_load->missing = (UINT64_C(1) << LOAD_READINGS) - 1;
	set(ret_load, LOAD_IDLE, 1, 1, 0);
	set(ret_load, LOAD_USER, 0, 1, 0);
	set(ret_load, LOAD_SYS, 0, 1, 0);
	set(ret_load, LOAD_MEMORY_FREE, sensor->scenario->host.memory * GIB, 0, 0);
	set(ret_load, LOAD_SWAP_IN, 0, 1, 0);
}
