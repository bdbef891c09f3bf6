/* A compass search over whole numbers with noise: a trial is one other level, judged by the work
 * done there against the base. One that did more becomes the base, and the next goes further the
 * same way; one that did not is taken back, and the next is shorter, or goes the other way. When
 * neither neighbour is better the search rests, longer each time.
 *
 * Where a trial can only cost (no waste and no idle CPUs say that there is something to gain)
 * what trials have cost so far bounds it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/law_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PHI_STAR = 0.15; /* until a phase has taught its own */
static const double IDLE_ENOUGH = 0.1; /* of all CPUs, that more steps could use */
static const double BASE_S = 2; /* of samples at the base, before a trial */
static const double GAIN_UP = 0.02, LOSS_DOWN = 0.005; /* ln(work): kept from there on */
static const double HOPELESS = 0.03; /* so far below that it ends at once */
static const double TRIAL_S = 30, TRIAL_STEPS = 3; /* at most: seconds, or step durations */
static const double SHARP = 0.012; /* sd at which more samples tell nothing new */
static const double BUDGET = 0.004, BUDGET_S = 0.75; /* of the phase: what checks may cost */
static const double CHECK_STEP = 0.5; /* of a trial downwards that nothing hints at */
static const double INFLATES = 0.3; /* exponent from which idle CPUs are no promise */
/* Where user time grows with the level only steps tell, and few of them only wide trials apart. */
static const double INFLATED_STEP = 0.2;
static const double CHECK_STEPS = 40; /* that end in it, for a verdict */
static const double CHECK_S = 5; /* where user tells it at once */
static const double CROWDED = 0.4; /* of the CPUs busy */
static const double CHECK_WAIT_S = 300; /* at least, after a check in vain */
static const double WAIT_BETWEEN_S = 2, DROPPED_S = 15;
static const double UNJUDGED_S = 300; /* a trial without samples ends */

static int32_t
clamp(const struct law *law, double level)
{
	double asleep = law->waste.asleep;
	double cap = fmin(law->last.max, 2 * law->last.waste.threads + asleep);

	return (int32_t)fmax(fmax(1, law->last.min), fmin(lround(level), cap));
}

double
law_set_point(const struct law *law)
{
	if (law->last.set_point > 0)
		return law->last.set_point;
	return fmax(PHI_STAR, 1.5 * fmax(law->memory.phi, law->phi_kept));
}

bool
law_wasteful(const struct law *law)
{
	/* An estimate alone must say more than a reading. */
	double most =
	    law_set_point(law) * (law->waste.estimated && isnan(law->waste.scale) ? 2 : 1);

	return law->waste.phi > most;
}

/* The next one to try that way: not so far as one that did no better; the base: there is none. */
static int32_t
next_level(const struct law *law, int direction, double by)
{
	int32_t stop = direction > 0 ? law->above : law->below;
	double half = stop > 0 ? (stop - law->base) / 2.0 : direction * (double)JOBS_MAX;
	double to = law->base + direction * fmax(1, round(by));

	/* No use in trials that are much shorter than what was meant. */
	if (stop > 0 && fabs(half) < fmax(1, by / 3))
		return law->base;
	if (fabs(to - law->base) > fabs(half))
		to = law->base + (direction > 0 ? ceil(half) : floor(half));
	return clamp(law, to);
}

/* Down to as many steps as what is useful now could keep busy. */
static int32_t
useful_level(const struct law *law)
{
	/* One step alone wastes nothing and so tells nothing of waste: two do. */
	double by = law->base - fmax(2, ceil(law->waste.useful + law->waste.asleep));

	return next_level(law, -1, by > 1 ? by : law->base * law->step);
}

/* Memory and shared cores are not short while most CPUs are idle. */
static double
crowded(const struct law *law)
{
	double busy = law->last.waste.user + law->last.waste.sys;

	return isnan(busy) ? 1 : fmin(1, busy * busy / (CROWDED * CROWDED));
}

static bool
user_time_inflates(const struct law *law)
{
	return !law->levels.counted &&
	       crowded(law) * (law->levels.inflation - sqrt(law->levels.inflation_var)) > INFLATES;
}

/* Until steps can tell half of the work from all of it. */
static double
check_s(const struct law *law, const struct level *base)
{
	double rate = level_steps(base);

	if (law->levels.counted || !(rate > 0))
		return CHECK_S;
	return law_settle_s(law) + CHECK_STEPS * law->levels.dispersion / rate;
}

/* May a trial that nothing hints at cost what it will when all goes on as it seems? */
static bool
affordable(const struct law *law, int32_t level)
{
	const struct level *base = levels_find(&law->levels, law->base);
	double loss = log((double)law->base / level), seconds = check_s(law, base);

	/* A wide one is compared with a base that must be known as well. */
	if (!law->searched && !law->levels.counted &&
	    (base->steps_s < seconds || base->steps < 2 * CHECK_STEPS))
		return false;
	return law->spent_s + loss * seconds <=
	       BUDGET_S * law->last.waste.threads + BUDGET * law->busy_s;
}

static void
wait_longer(struct law *law)
{
	law->next_trial = mono_add(law->last.at, (int64_t)(law->wait_s * 1e6));
	law->calm = !law_wasteful(law);
	law->wait_s = fmin((user_time_inflates(law) ? 4 : 2) * law->wait_s, LAW_WAIT_MOST_S);
}

/* Both neighbours did no better. */
static void
rest(struct law *law)
{
	law->above = law->below = 0;
	law->step = 0;
	wait_longer(law);
	law_say(law, law->by, law->base, "%d does the most work here of what was tried",
	    (int)law->base);
}

struct idea {
	int32_t level; /* the base: none */
	bool hinted;
	char why[128];
};

/* Waste comes first, then more of what has just helped, then idle CPUs. */
static struct idea
have_idea(const struct law *law)
{
	bool inflates = user_time_inflates(law);
	double by = law->base * fmax(law->step, inflates ? INFLATED_STEP : 0);
	struct idea idea = { .level = law->base };

	if (law_wasteful(law)) {
		idea.hinted = true;
		idea.level = law->step >= LAW_STEP ? useful_level(law) : next_level(law, -1, by);
		snprintf(idea.why, sizeof idea.why, "%.0f %% of the busy time %s lost to locks",
		    100 * law->waste.phi, law->waste.estimated ? "may be" : "is");
	}
	/* Where all CPUs are busy there is nothing that still more could use. */
	if (idea.level == law->base &&
	    (law->momentum < 0 || (law->momentum > 0 && law->last.waste.idle > IDLE_ENOUGH))) {
		idea.hinted =
		    law->momentum > 0 && law->above == 0 && law->last.waste.idle > IDLE_ENOUGH;
		idea.level = next_level(law, law->momentum, by);
		snprintf(idea.why, sizeof idea.why, "%s",
		    law->momentum > 0 ? "more did more"
		    : law->above > 0  ? "more did less"
				      : "fewer did more");
	}
	/* Idle CPUs are no promise there, but fewer steps may have been kept by chance. */
	if (idea.level == law->base && inflates) {
		idea.level = next_level(law, -1, by);
		if (idea.level == law->base && law->wait_s >= CHECK_WAIT_S)
			idea.level = next_level(law, 1, law->base);
		snprintf(idea.why, sizeof idea.why, "user time does not tell here");
	}
	if (idea.level == law->base && law->last.waste.idle > IDLE_ENOUGH && !inflates) {
		idea.hinted = law->above == 0;
		idea.level = next_level(law, 1, by);
		snprintf(idea.why, sizeof idea.why, "%.0f %% of the CPUs' time is idle",
		    100 * law->last.waste.idle);
	}
	if (idea.level == law->base && !inflates) {
		idea.hinted = false;
		idea.level = next_level(law, -1, law->searched ? by : law->base * CHECK_STEP);
		snprintf(idea.why, sizeof idea.why, "a check whether fewer do as much");
	}
	return idea;
}

void
law_trial_begin(struct law *law)
{
	const struct level *base = levels_find(&law->levels, law->base);
	struct idea idea;

	/* Waste that was not there when the search went to rest ends it. */
	bool is_time =
	    mono_since(law->next_trial, law->last.at) >= 0 || (law->calm && law_wasteful(law));

	if (base == NULL || base->user_s < BASE_S || !is_time)
		return;
	law->calm = false;
	idea = have_idea(law);
	if (idea.level == law->base) {
		rest(law);
		return;
	}
	if (!idea.hinted && idea.level < law->base && law->momentum == 0 &&
	    !user_time_inflates(law) && !affordable(law, idea.level))
		return;
	law->hinted = idea.hinted;
	law->searched = law->searched || idea.hinted;
	law->state = LAW_TRIAL;
	law->trial_s = 0;
	law->phi_base = isnan(law->waste.phi) ? 0 : law->waste.phi;
	law->spun = law->waste.user_spins;
	law_say(law, law_wasteful(law) ? LEVEL_BAND : LEVEL_PROBE, idea.level,
	    "%s: trying %d in place of %d", idea.why, (int)idea.level, (int)law->base);
}

/* ---- the verdict ------------------------------------------------------------------------ */

static void
keep(struct law *law, struct gain g)
{
	int32_t was = law->base;

	law->base = law->level;
	law->state = LAW_BASE;
	if (law->base > was)
		law->below = was;
	else
		law->above = was;
	/* A cut went to where waste said at once: on either side of it is as good a guess. */
	law->momentum = law->base > was ? 1 : law->by == LEVEL_BAND ? 0 : -1;
	law->searched = true;
	law->step = fmin(fmax(1.5 * law->step, 0.1), 0.5);
	law->wait_s = LAW_WAIT_S;
	law->spent_s = 0; /* it has paid */
	law->next_trial = law->last.at;
	law_say(law, law->by, law->level, "%d does %+.1f %% of the work that %d did: kept",
	    (int)law->level, 100 * expm1(g.log), (int)was);
}

/* Does more waste than so many set points come with the wider level, and was not there before? */
static bool
over_cliff(const struct law *law, double times)
{
	double most = law_set_point(law);

	return law->level > law->base && law->waste.phi > times * most && law->phi_base < most;
}

static void
take_back(struct law *law, struct gain g)
{
	int32_t tried = law->level;
	bool wider = tried > law->base;
	bool cliff = over_cliff(law, 1); /* that is why, and the base is on its right side */

	law->state = LAW_BASE;
	/* More steps that do less: it is fewer that may do more. */
	law->momentum = wider && !cliff && g.log + 2 * g.sd < 0 ? -1 : 0;
	if (!law->hinted)
		law->spent_s += fmax(0, -expm1(g.log)) * law->trial_s;
	if (wider) {
		law->above = tried;
	} else {
		if (law->waste.estimated)
			waste_is_base(&law->waste, &law->last.waste);
		law->phi_kept = fmax(law->phi_kept, law->phi_base);
		if (law->searched)
			law->below = tried;
	}
	law->next_trial = mono_add(law->last.at, (int64_t)(WAIT_BETWEEN_S * 1e6));
	if (!law->searched)
		law->wait_s = fmax(law->wait_s, CHECK_WAIT_S);
	if (!law->searched || cliff)
		wait_longer(law);
	law_say(law, law->by, law->base, "%d did %+.1f %% of the work that %d does: taken back",
	    (int)tried, 100 * expm1(g.log), (int)law->base);
	law->stirred = wider;
}

void
law_trial_drop(struct law *law, const char *why)
{
	law->state = LAW_BASE;
	law->next_trial = mono_add(law->last.at, (int64_t)(DROPPED_S * 1e6));
	law_say(law, law->by, law->base, "back to %d, unjudged: %s", (int)law->base, why);
}

enum verdict_now { NOT_YET, KEEP, TAKE_BACK, UNDECIDED };

/* More steps at once never make a step need less user time, so what user time says bounds the
 * work: from above for a wider level, from below for a narrower one. */
static enum verdict_now
verdict(const struct law *law, const struct gain *g)
{
	bool up = law->level > law->base;
	bool inflates = user_time_inflates(law);
	double need = inflates ? 0 : up ? GAIN_UP : -LOSS_DOWN;
	double most =
	    law_settle_s(law) + fmax(TRIAL_S, isnan(law->step_s) ? 0 : TRIAL_STEPS * law->step_s);
	double sure = law->hinted ? 1 : 2;

	if (up && g->user + 1.5 * g->user_sd < need)
		return TAKE_BACK;
	/* What is lost there is not worth a sure verdict. */
	if (over_cliff(law, 2) && !law->waste.estimated && law->trial_s >= 2 &&
	    g->log - g->sd < need)
		return TAKE_BACK;
	if (!up && law->trial_s >= 2 && g->user - g->user_sd > need)
		return KEEP;
	if (g->log + (law->hinted ? 1.5 : 3) * g->sd < need - HOPELESS)
		return TAKE_BACK;
	if (law->searched && !inflates && law->trial_s >= 2 && g->log - sure * g->sd > need)
		return KEEP;
	if (law->trial_s < most && g->sd > SHARP)
		return NOT_YET;
	/* Where only steps tell, either may be right and neither costs more to try: the likelier one. */
	if (g->log - (inflates ? 0 : 0.5 * sure * g->sd) > need)
		return KEEP;
	return g->log + 0.5 * g->sd > need && law->undecided != law->level ? UNDECIDED : TAKE_BACK;
}

void
law_trial_judge(struct law *law)
{
	int32_t from = law->base, to = law->level;
	bool spins = law->spun || law->waste.user_spins;
	struct gain g = levels_compare(&law->levels, from, to, crowded(law), spins, law->last.at);
	enum verdict_now v = law->trial_s < 1 || !isfinite(g.sd) ? NOT_YET : verdict(law, &g);

	if (v == UNDECIDED) {
		/* What it is compared with was seen for a short while: more of that, then again. */
		law_trial_drop(law, "it may do more, and may not");
		law->undecided = to;
	} else if (v == NOT_YET && mono_since(law->changed_at, law->last.at) > UNJUDGED_S * 1e6)
		law_trial_drop(law, "too few readings of it");
	else if (v == KEEP)
		keep(law, g);
	else if (v == TAKE_BACK)
		take_back(law, g);
	if (v != NOT_YET && !law_wasteful(law) && !spins)
		levels_learn(&law->levels, from, to);
}
