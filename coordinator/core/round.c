/* A round is all builds of one branch for one trigger. It keeps the policy it began
 * with: one that comes into force later is for later rounds.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "coordinator/core/turn.h"

static void
policy_in_force(struct turn *t)
{
	const struct policy *p = t->event->policy, *was = cluster_find_policy(t->c, p->branch);
	struct fact f = { .kind = FACT_POLICY };

	if (was != NULL && policy_equal(was, p))
		return;
	if (was == NULL && t->c->nbranches == BRANCHES_MAX) {
		turn_refuse(t, ANSWER_CONFLICT,
		    "branch \"%s\" is one more than the %d that are supported", p->branch,
		    BRANCHES_MAX);
		return;
	}
	f.policy = policy_dup(p);
	f.number = f.policy->version = t->c->npolicies + 1;
	memcpy(f.branch, p->branch, sizeof f.branch);
	turn_fact(t, &f);
}

void
round_policy(struct turn *t)
{
	struct fact f = { .kind = FACT_POLICY_GONE };

	if (t->event->kind == EVENT_POLICY) {
		if (t->event->policy != NULL)
			policy_in_force(t);
		return;
	}
	if (cluster_find_policy(t->c, t->event->branch) == NULL)
		return;
	memcpy(f.branch, t->event->branch, sizeof f.branch);
	turn_fact(t, &f);
}

/* Names asked for must be the policy's targets, each once. */
static bool
names_ok(struct turn *t, const struct policy *p)
{
	const struct event *e = t->event;
	size_t i, k;

	for (i = 0; i < e->nnames; i++) {
		if (policy_find_target(p, e->names[i]) == NULL) {
			turn_refuse(t, ANSWER_NOT_FOUND,
			    "branch \"%s\" has no target \"%s\": `flyball policy show "
			    "%s` lists them",
			    p->branch, e->names[i], p->branch);
			return false;
		}
		for (k = 0; k < i; k++)
			if (strcmp(e->names[i], e->names[k]) == 0) {
				turn_refuse(t, ANSWER_USAGE, "target \"%s\" is asked for twice",
				    e->names[i]);
				return false;
			}
	}
	return true;
}

static void
add_build(struct turn *t, round_id round, const char *target)
{
	struct fact f = { .kind = FACT_BUILD, .round = round };

	f.build.n = t->c->nbuilds + 1;
	memcpy(f.target, target, sizeof f.target);
	turn_fact(t, &f);
}

void
round_run(struct turn *t)
{
	const struct event *e = t->event;
	const struct policy *p = cluster_find_policy(t->c, e->branch);
	struct fact f = { .kind = FACT_ROUND };
	size_t i, n;

	if (p == NULL) {
		turn_refuse(t, ANSWER_NOT_FOUND,
		    "no policy for a branch \"%s\" is in force: `flyball status` "
		    "tells which are",
		    e->branch);
		return;
	}
	if (!names_ok(t, p))
		return;
	f.round.n = t->c->nrounds + 1;
	f.number = p->version;
	memcpy(f.branch, e->branch, sizeof f.branch);
	memcpy(f.revision, e->revision, sizeof f.revision);
	memcpy(f.who, e->who, sizeof f.who);
	memcpy(f.text, e->text, sizeof f.text);
	turn_fact(t, &f);
	n = e->nnames > 0 ? e->nnames : p->ntargets;
	for (i = 0; i < n; i++)
		add_build(t, f.round, e->nnames > 0 ? e->names[i] : p->targets[i].name);
	turn_reply(t, ANSWER_OK, f.round, "round %llu of %s: %zu %s", (unsigned long long)f.round.n,
	    e->branch, n, n == 1 ? "build" : "builds");
}
