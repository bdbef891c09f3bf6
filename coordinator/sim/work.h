/* work.h - what is drawn of a scenario by one seed: its steps and what goes on around it
 *
 * Shape:  the same for every limit and law that is tried with this seed, so that they compare in pairs.
 * Units:  as scenario.h.
 * Errors: none.
 * Memory: work_clear; the scenario is borrowed.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_WORK_H
#define FLYBALL_SIM_WORK_H

#include "coordinator/sim/scenario.h"

enum { WIDTH_BLOCKS = 20 }; /* a phase's width is drawn anew for each of so many parts of it */

struct step_drawn {
	double work, memory;
	double user; /* its user time, as a multiple of the phase's mean */
	double instructions; /* it runs for its user time, likewise */
};

struct phase_drawn {
	size_t nsteps;
	struct step_drawn *steps;
	int widths[WIDTH_BLOCKS];
};

/* From then on, until the next one. */
struct change {
	double at;
	enum stretch_kind kind;
	double value;
};

struct work {
	const struct scenario *scenario;
	struct phase_drawn *phases;
	size_t nchanges, changes_capacity;
	struct change *changes; /* in order of time */
};

void work_draw(struct work *work, const struct scenario *scenario, uint64_t seed);
void work_clear(struct work *work);

#endif
