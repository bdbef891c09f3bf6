/* sensor.h - what an agent would read of a model host: late, rarely and not quite right
 *
 * Shape:  sensor_look each SENSOR_S of the model's time, before a report is filled; sensor_fill once
 *         a second. Locks are read as lockstat does it, or perfectly, once a second (perfect).
 * Units:  as units.h; seconds of the model.
 * Errors: none; what is not read is missing.
 * Memory: by value.
 * Source: docs/decisions/0010-model.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_SENSOR_H
#define FLYBALL_SIM_SENSOR_H

#include "coordinator/sim/model.h"
#include "coordinator/sim/random.h"

#define SENSOR_S 0.1

/* Locks, as the last window that was not lost showed them. */
struct lock_window {
	bool open;
	double opens; /* the next one */
	double from;
	struct rates at_open;
	double delivered_at; /* of what is under way; 0 nothing is */
	double spin_coming, sleep_coming;
	bool has;
	double spin, sleep, ended, ended_coming, length;
};

struct sensor {
	const struct scenario *scenario;
	struct dice dice;
	bool perfect; /* locks, each second */
	bool sees_lock_sleep;
	struct lock_window locks;
	struct rates last; /* sums at the last report */
	double last_at, swapping;
	double averages[3]; /* load */
};

void sensor_init(
    struct sensor *sensor, const struct scenario *scenario, uint64_t seed, bool perfect);
/* A build begins, with a model whose sums and time begin at 0. */
void sensor_begin(struct sensor *sensor);
void sensor_look(struct sensor *sensor, const struct model *m);
/* What came together since the last one. */
void sensor_fill(struct sensor *sensor, const struct model *m, struct load *ret_load);

/* What is read while nothing runs. */
void sensor_idle(const struct sensor *sensor, struct load *ret_load);

#endif
