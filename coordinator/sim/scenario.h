/* scenario.h - one kind of host and one kind of build, as a file says
 *
 * Shape:  a host, the phases of a build one after the other, and stretches of time in which
 *         something else changes the host. What is drawn (steps, stretches) is not here.
 * Units:  work in CPU-seconds of an undisturbed core, times in seconds, memory in GiB, shares 0..1.
 * Errors: -1 and a sentence with file and line.
 * Memory: scenario_clear.
 * Source: flyball-sim(1) "SCENARIOS".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_SCENARIO_H
#define FLYBALL_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/core/cluster.h"
#include "proto/base/err.h"

struct model_host {
	char os[NAME_SIZE];
	int threads, cores;
	double smt_gain; /* what a second thread adds to a core */
	double memory; /* without what the system itself takes */
	double bandwidth; /* work a second that the memory feeds; 0 no bound */
	double bandwidth_drop; /* part of it that is lost when twice as much is wanted */
	double nfs; /* work a second that the file server feeds; 0 no bound */
	double nfs_latency; /* of a call, undisturbed */
	bool counters; /* the hardware counts instructions, and one may read them */
	double lock_sleep_seen; /* share of seeds in which waits for sleeping locks can be read */
};

struct model_phase {
	char name[NAME_SIZE];
	double work;
	int width, width_low; /* steps that can run at once; drawn between the two as it goes on */
	double step, spread; /* mean work of a step, and sigma of its logarithm */
	double system; /* share of work that is the kernel's */
	enum lock_kind lock_kind;
	double lock; /* share of work that is done under the one big lock */
	double holder; /* by how much each waiting step slows the one that holds the lock */
	double rest; /* by how much each waiting step slows those outside of it */
	double sleep; /* share of an undisturbed step's time that it waits for the file server */
	double memory, memory_last; /* of a step at its most, at the phase's begin and its end */
	double memory_spread; /* sigma of its logarithm */
	bool on_bandwidth; /* its work outside the lock is bound by the memory's bandwidth */
};

enum stretch_kind { STRETCH_STEAL, STRETCH_NFS, STRETCH_KINDS };

struct model_stretch {
	enum stretch_kind kind;
	double value; /* steal: share taken; nfs: so many times slower */
	double every, lasts; /* mean times from one's end to the next, and from begin to end */
};

struct scenario {
	char name[NAME_SIZE];
	struct model_host host;
	size_t nphases;
	struct model_phase *phases;
	size_t nstretches;
	struct model_stretch *stretches;
};

int scenario_read(const char *path, struct scenario *ret_scenario, struct err *err);
void scenario_clear(struct scenario *scenario);

#endif
