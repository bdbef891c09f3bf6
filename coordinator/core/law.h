/* law.h - the law that finds a host's limit by what the builds there achieve
 *
 * Shape:  fed with one sample a report, it keeps a level (the limit it wants) and why. It
 *         compares levels by the work done at each: a trial of another level is kept when
 *         it does more, and is taken back when not. Waste (spinning) and idle CPUs say
 *         where to try first; waste far beyond the set point cuts without waiting.
 * Units:  levels in steps; shares 0..1 of all CPUs' time; rates a second.
 * Errors: cannot fail; NAN is a reading that is missing.
 * Memory: by value; zeroed to begin with, then law_begin.
 * Source: docs/decisions/0012-law.md; CUSUM after Page, Continuous inspection schemes,
 *         Biometrika 41 (1954); compass search after Hooke and Jeeves, JACM 8 (1961).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LAW_H
#define FLYBALL_LAW_H

#include "coordinator/core/levels.h"
#include "coordinator/core/waste.h"

/* Which part of the governor moved a limit. */
enum governor_level {
	LEVEL_START,
	LEVEL_OPERATOR,
	LEVEL_BOUNDS,
	LEVEL_GUARD,
	LEVEL_BAND,
	LEVEL_PROBE,
	LEVEL_MEMORY
};

const char *governor_level_name(enum governor_level level);

/* One report, all builds of the host together. */
struct law_sample {
	mono_us at;
	int32_t min, max; /* what policies allow */
	double set_point; /* what policies ask for, as a share of busy time; 0: it is learned */
	int32_t limit; /* in force */
	int32_t running;
	bool limited; /* a build could use more */
	bool acts; /* what the law wants is what is done */
	int64_t steps; /* begun, by the builds that are counted; -1 unknown */
	struct waste_sample waste;
	double nfs_latency_s, throttled;
};

/* What is known before a phase begins, and what is known at its end. */
struct law_memory {
	double n; /* phases it comes from; 0: nothing is known */
	double log_level; /* natural logarithm of the best level */
	double phi; /* waste at that level, as a share of busy time */
	double base; /* system time a unit of user time, without spinning; 0 unknown */
	double inflation, inflation_var; /* levels.h */
};

/* The readings behind a change of a limit; NAN where there was none. */
struct law_evidence {
	int32_t was; /* the limit before */
	int32_t running;
	bool limited;
	double user, sys, idle; /* shares of all CPUs */
	double spin; /* likewise */
	bool spin_estimated;
	double phi; /* waste as a share of busy time */
	double steps_rate; /* steps that end, a second, at the level in force */
};

enum law_state { LAW_OFF, LAW_BASE, LAW_TRIAL };

struct law {
	enum law_state state;
	int32_t level; /* wanted now */
	int32_t base; /* the best known: where a trial began and where it goes back to */
	enum governor_level by;
	char reason[TEXT_SIZE];
	/* what was seen */
	bool sampled; /* last is there */
	struct law_sample last;
	struct levels levels;
	struct waste waste;
	double step_s; /* a step's mean duration, NAN unknown */
	double steal, nfs_latency_s; /* what is usual here */
	mono_us changed_at, settled_at;
	double ended_since, since_s; /* steps and seconds of samples, since then */
	bool settled; /* since changed_at running has come under the limit */
	bool stirred; /* back from a wider level, whose waste may still be there */
	double cusum_up, cusum_down;
	/* what is tried */
	double phi_base; /* waste when the trial began */
	bool spun; /* in user mode, likewise */
	double phi_kept; /* waste at which fewer steps did less */
	double step; /* of the next trial, as a share of the level */
	bool searched; /* something hinted at a better level in this phase */
	bool hinted; /* so does what is tried now */
	int32_t undecided; /* the level of the last trial without a verdict */
	int momentum; /* the way of the last trial, when it was kept; else 0 */
	int32_t above, below; /* nearest levels that did no more than the base; 0: none is known */
	double wait_s;
	mono_us next_trial;
	bool calm; /* no waste when that was said */
	double trial_s; /* seconds of samples at the trial's level */
	double spent_s; /* work lost by trials without a hint, in seconds of it */
	double busy_s; /* seconds of samples in this phase */
	double chosen_s; /* of these, at a level that was the law's to choose */
	double wasted_s; /* of waste by fewer steps than the limit, in turn */
	double unfollowed_s; /* running steps above a limit that stood still, in turn */
	struct law_memory memory;
};

/* A phase begins with what is known of it, or (memory->n 0) where the level is, which is first
 * when the law was off. */
void law_begin(struct law *law, const struct law_memory *memory, int32_t first, mono_us now);
void law_end(struct law *law);
void law_step(struct law *law, const struct law_sample *sample);
/* What this phase has taught; false when it was too short to teach anything. */
bool law_learn(const struct law *law, struct law_memory *ret_memory);
/* Waste as a share of busy time above which the law looks for a narrower level. */
double law_set_point(const struct law *law);
struct law_evidence law_evidence(const struct law *law);
/* A sentence when what the law does has no effect and it should let go; else NULL. */
const char *law_alarm(const struct law *law);

#endif
