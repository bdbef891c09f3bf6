/* waste.h - how much of the busy CPU time is lost to locks, also between readings of it
 *
 * Shape:  fed once a report. A true reading holds while it is fresh; between readings the
 *         spinning is estimated from system time that user time does not explain, corrected by
 *         the last true reading, and says that it is an estimate.
 * Units:  shares 0..1 of all CPUs' time; phi is a share of busy time.
 * Errors: NAN where nothing is known.
 * Memory: by value; zeroed to begin with, then waste_begin.
 * Source: docs/architecture.md "Lock sources".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WASTE_H
#define FLYBALL_WASTE_H

#include <stdbool.h>
#include <stdint.h>

struct waste_sample {
	int32_t threads;
	int32_t running; /* steps */
	double user, sys, idle, steal; /* idle with those that wait for disks */
	double spin, spin_age_s, spin_window_s; /* the newest true reading */
	double lock_sleep;
	double instructions; /* in user mode, a second; NAN where nothing counts them */
};

struct waste {
	double base; /* system time a unit of user time, without spinning */
	bool base_known; /* it was seen, not assumed */
	double scale; /* true reading over its estimate; NAN none yet */
	bool
	    in_user; /* the last reading was more than system time: this spin is booked as user time */
	bool
	    user_spins; /* in part at least: it was more than system time can hold beside the work's */
	double reading_age_s; /* of the last sample, to notice a new reading */
	double spin; /* now, of all CPUs' time; NAN unknown */
	double phi; /* now, smoothed; NAN unknown */
	bool estimated; /* no fresh reading stands behind it */
	double useful; /* CPUs' worth of useful work now; NAN unknown */
	double asleep; /* steps that sleep for other things than CPUs */
};

/* base 0: not known. */
void waste_begin(struct waste *waste, double base);
/* steady_s: for how long this level has been in force with as many steps; a reading whose window
 * began before speaks of another one. */
void waste_add(
    struct waste *waste, const struct waste_sample *sample, double seconds, double steady_s);
/* User time that does work, in CPUs, or what was done of it in 10^9 instructions a second;
 * NAN when that cannot be told now. */
double waste_user(const struct waste *waste, const struct waste_sample *sample);
/* Are instructions what tells? Not where spinning runs them too. */
bool waste_counts(const struct waste *waste, const struct waste_sample *sample);
/* System time as it is now is what this work needs: fewer steps did not lower it. */
void waste_is_base(struct waste *waste, const struct waste_sample *sample);

#endif
