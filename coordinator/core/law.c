/* A sample counts when the builds were held by the limit, the limit was the one that is wanted, and
 * the steps that run had come under it: else it says nothing about this level. What a neighbour
 * or a server takes away (steal, a slow NFS) is not cured by fewer steps, so while it comes or
 * goes no sample counts either.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/law.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/core/law_internal.h"

static const double CUSUM_SLACK = 0.06, CUSUM_ALARM = 0.6; /* of ln(work) */
static const double KNOWN_S = 8; /* of samples, before a shift can be told */
static const double USUAL_S = 60; /* time constant of what is usual */
static const double SETTLE_STEPS = 2, SETTLE_MOST_S = 60;
static const double STIRRED = 0.05; /* more waste than before */
enum { STIRRED_S = 10 };
static const double WASTED_S = 4;
static const double SAMPLE_MOST_S = 15; /* a longer one spans too much */
static const double UNFOLLOWED_ALARM_S = 900;
static const double LEARN_LEAST_S = 10;
static const double MEMORY_MOST = 8; /* phases: older ones fade */

const char *
governor_level_name(enum governor_level level)
{
	static const char *const names[] = { "start", "operator", "bounds", "guard", "band",
		"probe", "memory" };

	return (unsigned)level < sizeof names / sizeof names[0] ? names[level] : "?";
}

static void
unsettle(struct law *law)
{
	law->settled = false;
	law->ended_since = law->since_s = 0;
}

void
law_say(struct law *law, enum governor_level by, int32_t level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(law->reason, sizeof law->reason, format, ap);
	va_end(ap);
	law->by = by;
	if (level == law->level)
		return;
	law->level = level;
	law->changed_at = law->last.at;
	law->stirred = false;
	unsettle(law);
}

void
law_forget(struct law *law)
{
	levels_clear(&law->levels);
	law->cusum_up = law->cusum_down = 0;
	law->step = LAW_STEP;
	law->above = law->below = 0;
	law->searched = false;
	law->momentum = 0;
	law->undecided = 0;
	law->phi_kept = 0;
	law->wait_s = LAW_WAIT_S;
	law->next_trial = law->last.at;
	law->calm = false;
}

/* ---- a phase begins and ends ------------------------------------------------------------ */

void
law_begin(struct law *law, const struct law_memory *memory, int32_t first, mono_us now)
{
	bool was_off = law->state == LAW_OFF;

	if (was_off)
		*law = (struct law){ .level = first, .step_s = NAN, .nfs_latency_s = NAN };
	law->last.at = now;
	law->changed_at = now;
	law->state = LAW_BASE;
	law->spent_s = law->busy_s = law->chosen_s = 0;
	law->memory = *memory;
	law_forget(law);
	waste_begin(&law->waste, memory->base > 0 ? memory->base : was_off ? 0 : law->waste.base);
	if (memory->n > 0) {
		law->levels.inflation = memory->inflation;
		law->levels.inflation_var = memory->inflation_var;
		law->step = 0; /* of one step */
		law->searched = true;
		law->next_trial = mono_add(now, (int64_t)(LAW_WAIT_S * 2 * memory->n) * SECOND_US);
		law_say(law, LEVEL_MEMORY, (int32_t)lround(exp(memory->log_level)),
		    "what did best in this phase before, over %.0f build%s", memory->n,
		    memory->n < 1.5 ? "" : "s");
	} else if (was_off) {
		law_say(law, LEVEL_START, law->level, "the first limit; nothing is learned yet");
	} else {
		law_say(law, LEVEL_MEMORY, law->base,
		    "a phase of which nothing is known: it begins where the last one was");
	}
	law->base = law->level;
}

void
law_end(struct law *law)
{
	law->state = LAW_OFF;
}

bool
law_learn(const struct law *law, struct law_memory *ret_memory)
{
	struct law_memory *m = ret_memory;
	double weight;

	if (law->state == LAW_OFF || law->chosen_s < LEARN_LEAST_S)
		return false;
	*m = law->memory;
	m->n = fmin(m->n + 1, MEMORY_MOST);
	weight = 1 / m->n;
	m->log_level += weight * (log(law->base) - m->log_level);
	if (!isnan(law->waste.phi))
		m->phi += weight * (law->waste.phi - m->phi);
	if (law->waste.base_known)
		m->base = law->waste.base;
	m->inflation = law->levels.inflation;
	m->inflation_var = law->levels.inflation_var;
	return true;
}

struct law_evidence
law_evidence(const struct law *law)
{
	const struct law_sample *s = &law->last;
	bool seen = law->state != LAW_OFF && law->sampled;

	if (!seen)
		return (struct law_evidence){ .user = NAN,
			.sys = NAN,
			.idle = NAN,
			.spin = NAN,
			.phi = NAN,
			.steps_rate = NAN };
	return (struct law_evidence){ .running = s->running,
		.limited = s->limited,
		.user = s->waste.user,
		.sys = s->waste.sys,
		.idle = s->waste.idle,
		.spin = law->waste.spin,
		.spin_estimated = law->waste.estimated,
		.phi = law->waste.phi,
		.steps_rate = level_steps(levels_find(&law->levels, law->level)) };
}

const char *
law_alarm(const struct law *law)
{
	if (law->unfollowed_s > UNFOLLOWED_ALARM_S)
		return "more steps run than the limit allows, and have for 15 minutes: something "
		       "there does not take its tokens from the pool";
	return NULL;
}

/* ---- samples ---------------------------------------------------------------------------- */

/* Is something other than the limit at work now? What is usual moves slowly. */
static bool
disturbed(struct law *law, const struct law_sample *s, double seconds)
{
	double k = 1 - exp(-seconds / USUAL_S), latency = s->nfs_latency_s;
	bool yes = false;

	if (!isnan(s->waste.steal)) {
		yes = fabs(s->waste.steal - law->steal) > 0.05;
		law->steal += k * (s->waste.steal - law->steal);
	}
	if (!isnan(latency)) {
		if (isnan(law->nfs_latency_s))
			law->nfs_latency_s = latency;
		yes = yes || latency > 2 * law->nfs_latency_s || 2 * latency < law->nfs_latency_s;
		law->nfs_latency_s += k * (latency - law->nfs_latency_s);
	}
	return yes || s->throttled > 0.05;
}

static double
steady_s(const struct law *law, mono_us now)
{
	return law->settled ? (double)mono_since(law->settled_at, now) / 1e6 : 0;
}

static void
follow(struct law *law, const struct law_sample *s, double seconds)
{
	bool stands = mono_since(law->changed_at, s->at) > 60 * SECOND_US;

	if (mono_since(law->changed_at, s->at) > STIRRED_S * SECOND_US ||
	    !(law->waste.phi > law->phi_base + STIRRED))
		law->stirred = false;
	/* Also when an operator or the guard has moved it, and has let go. */
	if (s->running > s->limit || s->limit != law->level || law->stirred)
		unsettle(law);
	else if (!law->settled) {
		law->settled = true;
		law->settled_at = s->at;
	}
	law->unfollowed_s = stands && s->running > s->limit ? law->unfollowed_s + seconds : 0;
}

/* A step lasts as long as this level makes it, once some have ended at it; until then, as before. */
double
law_settle_s(const struct law *law)
{
	double step_s = law->step_s;

	if (law->ended_since > 0)
		step_s = fmin(step_s, law->level * law->since_s / law->ended_since);
	return isnan(law->step_s) ? 0 : fmin(SETTLE_STEPS * step_s, SETTLE_MOST_S);
}

/* Steps that ended in this sample; -1 when that cannot be told, or not yet. After a cut the steps
 * that still run are the long ones, after a rise the short ones end first: either way it takes
 * a while until those that end are like those that begin. */
static double
ended(struct law *law, const struct law_sample *s, double seconds)
{
	int64_t begun = s->steps - law->last.steps;
	double n;

	if (s->steps < 0 || law->last.steps < 0 || begun < 0)
		return -1;
	n = fmax(0, (double)(begun - (s->running - law->last.running)));
	law->ended_since += n;
	law->since_s += seconds;
	return law->since_s < law_settle_s(law) ? -1 : n;
}

static void
learn_step(struct law *law)
{
	double rate = level_steps(levels_find(&law->levels, law->level));

	if (rate > 0)
		law->step_s = law->level / rate;
}

/* Has what this level achieves shifted by itself? Then the build does something else now. */
static void
watch_shift(struct law *law, double user)
{
	const struct level *level = levels_find(&law->levels, law->level);
	double shift;

	if (level == NULL || level->user_s < KNOWN_S || !(user > 0))
		return;
	shift = log(user / level_user(level));
	law->cusum_up = fmax(0, law->cusum_up + shift - CUSUM_SLACK);
	law->cusum_down = fmax(0, law->cusum_down - shift - CUSUM_SLACK);
	if (law->cusum_up < CUSUM_ALARM && law->cusum_down < CUSUM_ALARM)
		return;
	law_forget(law);
	law_say(law, law->by, law->level,
	    "the work done at %d has changed by itself: what was learned is learned again",
	    (int)law->level);
}

/* Policies may be stricter than what was learned, or have become so. */
static void
stay_in_bounds(struct law *law, const struct law_sample *s)
{
	int32_t level = law->level > s->max ? s->max : law->level < s->min ? s->min : law->level;

	if (level == law->level)
		return;
	law->state = LAW_BASE;
	law->last = *s;
	law_say(law, law->by, level, "policies allow %d to %d", (int)s->min, (int)s->max);
	law->base = level;
}

/* A build may waste time with all the steps it has, which are fewer than the limit: then what
 * it runs is where to begin. A limit that nothing reaches is not missed. */
static void
come_down(struct law *law, const struct law_sample *s, double seconds)
{
	bool all = s->running > 1 && s->running < law->level && law_wasteful(law);

	law->wasted_s = all ? law->wasted_s + seconds : 0;
	if (law->state != LAW_BASE || law->wasted_s < WASTED_S)
		return;
	law_forget(law);
	law_say(law, LEVEL_BAND, s->running,
	    "%.0f %% of the busy time %s lost to locks by %d steps, all there are",
	    100 * law->waste.phi, law->waste.estimated ? "may be" : "is", (int)s->running);
	law->base = law->level;
	law->settled = true;
	law->settled_at = s->at;
	law->wasted_s = 0;
}

static void
count(struct law *law, const struct law_sample *s, double seconds)
{
	double user = waste_user(&law->waste, &s->waste) / (1 - fmin(law->steal, 0.9));

	levels_count(&law->levels, waste_counts(&law->waste, &s->waste));
	if (law->state == LAW_BASE)
		watch_shift(law, user);
	levels_add(&law->levels, law->level, user, ended(law, s, seconds), seconds, s->at);
	law->busy_s += seconds;
	/* A level that an operator fixed is no level that was found to be good. */
	if (s->acts && s->min < s->max)
		law->chosen_s += seconds;
	if (law->state == LAW_TRIAL)
		law->trial_s += seconds;
	learn_step(law);
}

/* Does this sample speak of the level that is wanted? */
static bool
speaks(struct law *law, const struct law_sample *s, double seconds)
{
	bool was_settled = law->settled, calm = !disturbed(law, s, seconds);

	follow(law, s, seconds);
	if (law->state == LAW_TRIAL && !calm)
		law_trial_drop(law, "what else goes on there is no time to compare");
	return calm && s->limited && was_settled && law->settled && seconds < SAMPLE_MOST_S;
}

void
law_step(struct law *law, const struct law_sample *s)
{
	double seconds = law->sampled ? (double)mono_since(law->last.at, s->at) / 1e6 : 0;
	bool counts = false;

	if (law->state == LAW_OFF || seconds < 0)
		return;
	stay_in_bounds(law, s);
	if (seconds > 0) {
		counts = speaks(law, s, seconds);
		waste_add(&law->waste, &s->waste, seconds, steady_s(law, s->at));
		if (counts)
			count(law, s, seconds);
	}
	law->sampled = true;
	law->last = *s;
	come_down(law, s, seconds);
	if (law->state == LAW_TRIAL)
		law_trial_judge(law);
	if (law->state == LAW_BASE && counts)
		law_trial_begin(law);
}
