/* queue.h - what a host does while so many steps of one phase run on it
 *
 * Shape:  steps work, wait for the file server, and queue for one big lock: a closed queue with one
 *         server, in its stationary state. All rates follow from that.
 * Units:  rates in CPU-seconds a second, that is CPUs; the useful rate in work a second.
 * Errors: none.
 * Memory: none.
 * Source: the machine repairman: Feller, An Introduction to Probability Theory, I.XVII.7; docs/decisions/0010-model.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_QUEUE_H
#define FLYBALL_SIM_QUEUE_H

#include "coordinator/sim/scenario.h"

/* What goes on around the build. */
struct surroundings {
	double steal; /* share of all CPUs' time */
	double nfs; /* so many times slower than undisturbed */
};

enum rate {
	RATE_USEFUL, /* work done */
	RATE_INSTRUCTIONS, /* work that user mode does, by what steps take for it: by the model */
	RATE_USER,
	RATE_SYSTEM, /* with spin */
	RATE_STEAL,
	RATE_SPIN,
	RATE_LOCK_SLEEP, /* steps asleep for the lock */
	RATE_RUN_WAIT, /* steps that could run and have no CPU */
	RATE_RUNNABLE, /* steps that run or could */
	RATE_ASLEEP, /* steps that wait for the file server */
	RATE_SWITCHES, /* context switches */
	RATE_NFS, /* seconds a call takes; no rate, but averaged like one */
	RATES
};

struct rates {
	double of[RATES];
};

void queue_rates(const struct model_host *host, const struct model_phase *phase,
    const struct surroundings *around, int steps, struct rates *ret_rates);

#endif
