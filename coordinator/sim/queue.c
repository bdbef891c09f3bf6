/* The state is n, the steps at the lock: one holds it and n - 1 wait. From n it goes up as those
 * outside arrive, and down as the holder leaves, so the stationary distribution is a product (birth and
 * death). Both ways depend on n: waiting steps take CPUs, slow the holder (holder) and, over
 * caches and buses, everybody else (rest). That is how collapse comes: past some number of steps,
 * more steps do less.
 *
 * The unit of work is one CPU-second: lock of it under the lock, the rest outside, and the sleep
 * that belongs to it. Only the shares matter, not how often the lock is taken.
 *
 * Where the time goes: work outside the lock is user time but for the kernel's share; slow memory and a
 * busy sibling thread make it longer, as user time, since a stalled CPU is a busy CPU. Work under
 * the lock, spinning, and what spinners slow others by is system time. A lock that sleeps costs no
 * CPU: its waiters are asleep, and what waiters slow the holder by is the way from one to the next,
 * while no CPU works.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/queue.h"

#include <math.h>
#include <string.h>

enum { PACE_ROUNDS = 36, CAP_ROUNDS = 30 };

#define SWITCHES_OF_WORK 150.0 /* a CPU-second of work: pipes, exits, small reads */
#define SWITCHES_OF_SLEEP 400.0 /* a second asleep at the file server */
#define LOCK_TAKEN 3000.0 /* times, a CPU-second of work */
#define SWITCHES_OF_WAIT 100.0 /* a second and step that has no CPU */

/* One state of the chain. */
struct state {
	double up, down; /* rates */
	double outside; /* steps on a CPU, or in want of one, outside the lock */
	double wanted, taken; /* CPUs */
	double speed; /* of a step that has or wants a CPU */
	double slowed; /* by how much those outside are, by waiters: 1 or more */
};

struct chain {
	const struct model_host *host;
	const struct model_phase *phase;
	double steal;
	double sleep; /* asleep for a unit of work */
};

/* How fast one thread works when so many are taken. */
static double
thread_speed(const struct model_host *h, double taken)
{
	if (taken <= h->cores)
		return 1;
	return (h->cores + (taken - h->cores) * h->smt_gain) / taken;
}

/* What the memory leaves of the speed of those that want so much work a second of it. */
static double
bandwidth_left(const struct model_host *h, const struct model_phase *p, double wanted)
{
	double over = wanted / h->bandwidth - 1;

	if (!p->on_bandwidth || h->bandwidth <= 0 || over <= 0)
		return 1;
	return (1 - h->bandwidth_drop * fmin(1, over)) / (1 + over);
}

/* How fast those outside come forward, if that is what decides how many of them are asleep. */
static double
try_pace(const struct chain *k, int steps, int n, double pace, struct state *s)
{
	const struct model_phase *p = k->phase;
	double busy = (1 - p->lock) * s->slowed / pace, full;

	s->outside = (steps - n) * busy / (busy + k->sleep);
	s->wanted = s->outside + (p->lock_kind == LOCK_SPIN ? n : fmin(n, 1));
	s->taken = fmin(s->wanted, k->host->threads);
	full = s->wanted > 0 ? thread_speed(k->host, s->taken) * s->taken / s->wanted : 1;
	s->speed = full * (1 - k->steal);
	return s->speed * bandwidth_left(k->host, p, s->outside * s->speed / s->slowed);
}

/* The pace depends on how many want a CPU, and that on the pace: halving finds where both agree. */
static void
settle(const struct chain *k, int steps, int n, struct state *s)
{
	const struct model_phase *p = k->phase;
	double waiting = n > 1 ? n - 1 : 0, low = 0, high = 1, pace;

	s->slowed = p->lock_kind == LOCK_SPIN ? 1 + p->rest * waiting : 1;
	pace = try_pace(k, steps, n, 1, s);
	for (int i = 0; k->sleep > 0 && i < PACE_ROUNDS; i++) {
		pace = (low + high) / 2;
		if (try_pace(k, steps, n, pace, s) > pace)
			low = pace;
		else
			high = pace;
	}
	s->up = s->outside * pace / ((1 - p->lock) * s->slowed);
	s->down = n > 0 ? s->speed / (p->lock * (1 + p->holder * waiting)) : 0;
}

static void
book(const struct chain *k, int steps, int n, const struct state *s, double weight, struct rates *r)
{
	const struct model_phase *p = k->phase;
	double share = s->wanted > 0 ? weight * s->taken / s->wanted : 0;
	double own = share * (1 - k->steal), waiting = n > 1 ? n - 1 : 0;
	double system = p->system > p->lock ? (p->system - p->lock) / (1 - p->lock) : 0;
	double outside = own * s->outside / s->slowed, holder = n > 0 ? own : 0;

	if (p->lock_kind == LOCK_SLEEP)
		holder /= 1 + p->holder * waiting;
	r->of[RATE_USER] += outside * (1 - system);
	r->of[RATE_SYSTEM] += outside * system + own * s->outside - outside + holder;
	r->of[RATE_STEAL] += share * s->wanted * k->steal;
	if (p->lock_kind == LOCK_SPIN) {
		r->of[RATE_SYSTEM] += own * waiting;
		r->of[RATE_SPIN] += own * waiting;
	} else
		r->of[RATE_LOCK_SLEEP] += weight * waiting;
	r->of[RATE_RUN_WAIT] += weight * (s->wanted - s->taken);
	r->of[RATE_RUNNABLE] += weight * s->wanted;
	r->of[RATE_ASLEEP] += weight * (steps - n - s->outside);
	r->of[RATE_USEFUL] += weight * (n > 0 ? s->down : p->lock > 0 ? 0 : s->up);
	if (p->lock_kind == LOCK_SLEEP && n > 1)
		r->of[RATE_SWITCHES] += 2 * LOCK_TAKEN * weight * s->down;
}

static void
chain_rates(const struct chain *k, int steps, struct rates *r)
{
	struct state states[JOBS_MAX + 1];
	double weights[JOBS_MAX + 1], sum = 1;
	int most = k->phase->lock > 0 ? steps : 0;

	memset(r, 0, sizeof *r);
	weights[0] = 1;
	for (int n = 0; n <= most; n++) {
		settle(k, steps, n, &states[n]);
		if (n == 0)
			continue;
		weights[n] = weights[n - 1] * states[n - 1].up / states[n].down;
		sum += weights[n];
		if (sum > 1e200) { /* all that counts is their ratio */
			for (int i = 0; i <= n; i++)
				weights[i] *= 1e-200;
			sum *= 1e-200;
		}
	}
	for (int n = 0; n <= most; n++)
		book(k, steps, n, &states[n], weights[n] / sum, r);
	r->of[RATE_SWITCHES] += SWITCHES_OF_WORK * r->of[RATE_USEFUL] +
				SWITCHES_OF_SLEEP * r->of[RATE_ASLEEP] +
				SWITCHES_OF_WAIT * r->of[RATE_RUN_WAIT];
}

/* A file server that cannot feed so many lets them wait: the sleep at which it just can. */
static void
wait_for_server(struct chain *k, int steps, double most, struct rates *r)
{
	double low = k->sleep, high = low + steps / most;

	for (int i = 0; i < CAP_ROUNDS; i++) {
		k->sleep = (low + high) / 2;
		chain_rates(k, steps, r);
		if (r->of[RATE_USEFUL] > most)
			low = k->sleep;
		else
			high = k->sleep;
	}
}

void
queue_rates(const struct model_host *host, const struct model_phase *phase,
    const struct surroundings *around, int steps, struct rates *ret_rates)
{
	double undisturbed = phase->sleep / (1 - phase->sleep);
	struct chain k = { host, phase, around->steal, undisturbed * around->nfs };

	memset(ret_rates, 0, sizeof *ret_rates);
	if (steps < 1) {
		ret_rates->of[RATE_NFS] = host->nfs_latency * around->nfs;
		return;
	}
	chain_rates(&k, steps, ret_rates);
	if (phase->sleep > 0 && host->nfs > 0 &&
	    ret_rates->of[RATE_USEFUL] > host->nfs / around->nfs)
		wait_for_server(&k, steps, host->nfs / around->nfs, ret_rates);
	ret_rates->of[RATE_NFS] =
	    host->nfs_latency * (undisturbed > 0 ? k.sleep / undisturbed : around->nfs);
}
