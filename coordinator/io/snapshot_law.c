/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/io/snapshot_law.h"

#include <assert.h>
#include <math.h>

#include "coordinator/io/snapshot.h"

static json_t *
real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
levels(const struct law *law)
{
	json_t *list = json_array();
	bool counted = law->levels.counted;
	size_t i;

	for (i = 0; i < LEVELS_KEPT; i++) {
		const struct level *level = &law->levels.list[i];
		json_t *one;

		if (level->limit == 0)
			continue;
		one = json_pack("{s:i, s:o, s:o, s:o, s:o}", "limit", (int)level->limit,
		    "user_cpus", real(counted ? NAN : level_user(level)), "user_instructions_per_s",
		    real(counted ? level_user(level) * 1e9 : NAN), "steps_per_s",
		    real(level_steps(level)), "seconds", real(level->user_s));
		assert(one != NULL);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *
bound(int32_t level)
{
	return level > 0 ? json_integer(level) : json_null();
}

json_t *
snapshot_law(const struct host *h, struct moment now)
{
	const struct law *law = &h->law;
	int64_t next = mono_since(now.mono, law->next_trial);
	json_t *json;

	if (h->nlive == 0 || law->state == LAW_OFF)
		return json_null();
	json = json_pack(
	    "{s:s, s:i, s:i, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
	    "state", law->state == LAW_TRIAL ? "trial" : "base", "wants", (int)law->level, "base",
	    (int)law->base, "reason", snapshot_text(law->reason), "phase",
	    snapshot_text(h->adapt_key.phase), "waste_share_of_busy", real(law->waste.phi),
	    "waste_estimated", (int)law->waste.estimated, "set_point", real(law_set_point(law)),
	    "useful_cpus", real(law->waste.useful), "user_inflation", real(law->levels.inflation),
	    "no_better_above", bound(law->above), "no_better_below", bound(law->below), "step_s",
	    real(law->step_s), "next_trial_us",
	    law->state == LAW_TRIAL ? json_null() : json_integer(next > 0 ? next : 0),
	    "learned_from", (json_int_t)law->memory.n, "levels", levels(law));
	assert(json != NULL);
	return json;
}

json_t *
snapshot_changes(const struct host *h)
{
	json_t *list = json_array();
	size_t i;

	for (i = h->nchanges; i-- > 0;) {
		const struct limit_change *c = &h->changes[i];
		const struct law_evidence *e = &c->evidence;
		json_t *one = json_pack(
		    "{s:o, s:o, s:i, s:s, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "at",
		    snapshot_time(c->at), "was", bound(e->was), "limit", (int)c->limit, "level",
		    governor_level_name(c->level), "reason", snapshot_text(c->reason),
		    "steps_running", (int)e->running, "limited", (int)e->limited, "user_share",
		    real(e->user), "sys_share", real(e->sys), "idle_share", real(e->idle),
		    "spin_share", real(e->spin), "spin_estimated", (int)e->spin_estimated,
		    "waste_share_of_busy", real(e->phi), "steps_per_s", real(e->steps_rate));

		assert(one != NULL);
		json_array_append_new(list, one);
	}
	return list;
}
