/* A host's law is fed here, with one sample a report, and told when a phase begins: another one
 * of its build, or another build. What the phase before has taught is then a fact.
 *
 * With several builds at once the host is judged as a whole and nothing is learned for any of
 * them: their phases mix, and the mixture will not come again.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <math.h>
#include <string.h>

#include "coordinator/core/governor.h"
#include "coordinator/core/memory.h"
#include "coordinator/core/predict.h"
#include "coordinator/core/turn.h"
#include "proto/base/mem.h"

/* ---- phases ----------------------------------------------------------------------------- */

static struct adapt_key
key_now(const struct cluster *c, const struct host *h)
{
	const struct attempt *a = host_live_attempt(c, h, 0);
	struct adapt_key key = { .attempts = h->nlive };

	if (a == NULL)
		return key;
	key.first = a->id;
	if (h->nlive > 1)
		return key;
	memcpy(key.branch, build_policy(c, cluster_find_build(c, a->build))->branch, NAME_SIZE);
	memcpy(key.phase, a->status.phase, NAME_SIZE);
	return key;
}

static bool
key_same(const struct adapt_key *a, const struct adapt_key *b)
{
	return a->attempts == b->attempts && a->first.n == b->first.n &&
	       strcmp(a->branch, b->branch) == 0 && strcmp(a->phase, b->phase) == 0;
}

static void
learn_as(struct turn *t, const char *class, const char *branch, const char *phase,
    const struct law_memory *law)
{
	struct fact f = { .kind = FACT_LEARNED };

	f.learned = mem_calloc(1, sizeof *f.learned);
	mem_copy_text(f.learned->class, NAME_SIZE, class);
	mem_copy_text(f.learned->branch, NAME_SIZE, branch);
	mem_copy_text(f.learned->phase, NAME_SIZE, phase);
	f.learned->law = *law;
	turn_fact(t, &f);
}

static void
learn(struct turn *t, const struct host *h)
{
	const struct adapt_key *key = &h->adapt_key;
	char class[NAME_SIZE];
	struct law_memory law;

	if (key->branch[0] == '\0' || !law_learn(&h->law, &law))
		return;
	host_class(h, class);
	if (key->phase[0] != '\0')
		learn_as(t, class, key->branch, key->phase, &law);
	learn_as(t, class, key->branch, "", &law);
	learn_as(t, class, "", "", &law);
}

/* What is known of other phases helps with all but the level, which it can only begin with. */
static void
begin(struct turn *t, struct host *h)
{
	const struct adapt_key *key = &h->adapt_key;
	struct law_memory known = { 0 };
	const struct memory *m;
	struct governor_input in;
	char class[NAME_SIZE];
	int32_t first;

	host_class(h, class);
	governor_input_get(t->c, h, &in);
	first = in.start > 0 ? in.start : in.threads;
	m = memory_nearest(t->c, class, key->branch, key->phase);
	if (m != NULL) {
		known = m->law;
		if (in.start == 0)
			first = (int32_t)lround(exp(known.log_level));
		if (in.start > 0 || strcmp(m->branch, key->branch) != 0 ||
		    strcmp(m->phase, key->phase) != 0)
			known.n = 0;
	}
	law_begin(&h->law, &known, first, t->event->at.mono);
}

void
adapt_phase(struct turn *t, struct host *h)
{
	struct adapt_key key = key_now(t->c, h);

	if (key_same(&key, &h->adapt_key))
		return;
	learn(t, h);
	/* The next build begins with what is learned of it, not where the last one was. */
	if (key.attempts == 0 || key.first.n != h->adapt_key.first.n)
		law_end(&h->law);
	h->adapt_key = key;
	if (key.attempts > 0)
		begin(t, h);
}

/* ---- samples ---------------------------------------------------------------------------- */

static double
reading_of(const struct load *load, enum load_reading reading)
{
	return load_has(load, reading) ? load->readings[reading].value : NAN;
}

static double
seconds(int64_t us)
{
	return (double)us / 1e6;
}

static struct waste_sample
waste_of(const struct host *h, int32_t running)
{
	const struct load *load = &h->load;
	const struct reading *spin = &load->readings[LOAD_SPIN];
	double iowait = reading_of(load, LOAD_IOWAIT);

	return (struct waste_sample){ .threads = h->facts.threads,
		.running = running,
		.user = reading_of(load, LOAD_USER),
		.sys = reading_of(load, LOAD_SYS),
		.idle = reading_of(load, LOAD_IDLE) + (isnan(iowait) ? 0 : iowait),
		.steal = reading_of(load, LOAD_STEAL),
		.spin = reading_of(load, LOAD_SPIN),
		.spin_age_s = seconds(spin->age_us),
		.spin_window_s = seconds(spin->window_us),
		.lock_sleep = reading_of(load, LOAD_LOCK_SLEEP),
		.instructions = reading_of(load, LOAD_INSTRUCTIONS) };
}

void
adapt_sample(struct turn *t, struct host *h)
{
	struct law_sample s = { .at = t->event->at.mono };
	struct governor_input in;
	const struct attempt *a;
	const char *alarm;
	size_t i;

	if (h->nlive == 0)
		return;
	governor_input_get(t->c, h, &in);
	for (i = 0; (a = host_live_attempt(t->c, h, i)) != NULL; i++)
		s.steps += a->status.steps;
	s.min = in.min > 0 ? in.min : 1;
	s.max = in.max > 0 ? in.max : JOBS_MAX;
	s.set_point = in.spin_target_ppm / 1e6;
	s.limit = h->limit_reported;
	s.running = in.running;
	s.limited = in.limited && !in.paused;
	s.acts = in.mode == GOVERNOR_ACT;
	s.waste = waste_of(h, in.running);
	s.nfs_latency_s = reading_of(&h->load, LOAD_NFS_LATENCY);
	s.throttled = reading_of(&h->load, LOAD_THROTTLED);
	law_step(&h->law, &s);
	alarm = law_alarm(&h->law);
	if (alarm != NULL && in.mode == GOVERNOR_ACT)
		host_alarm(t, h, alarm);
}
