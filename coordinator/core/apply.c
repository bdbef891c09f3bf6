/* Hard state changes in cluster_apply and nowhere else, and applying never decides:
 * that is what makes the journal a record of promises rather than of inputs.
 *
 * Each kind checks that the fact fits before it changes anything, so that a damaged
 * journal is refused with the fact that shows it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/cluster_place.h"
#include "coordinator/core/fields.h"
#include "coordinator/core/hold.h"
#include "coordinator/core/mode.h"
#include "proto/base/mem.h"

static int
misfit(const struct fact *f, const char *why, struct err *err)
{
	return err_set(err,
	    "a fact \"%s\" does not fit the state before it: %s (round %llu, build %llu, "
	    "attempt %llu, host \"%s\")",
	    fact_kind_name(f->kind), why, (unsigned long long)f->round.n,
	    (unsigned long long)f->build.n, (unsigned long long)f->attempt.n, f->host);
}

static int
apply_epoch(struct cluster *c, const struct fact *f, struct err *err)
{
	if (f->number <= c->epoch)
		return misfit(f, "epochs grow", err);
	c->epoch = f->number;
	return 0;
}

static int
apply_policy(struct cluster *c, const struct fact *f, struct err *err)
{
	size_t i;

	if (f->policy == NULL || f->policy->version != c->npolicies + 1)
		return misfit(f, "policy versions count up", err);
	c->policies =
	    mem_room(c->policies, c->npolicies, &c->policies_capacity, sizeof(struct policy *));
	c->policies[c->npolicies++] = policy_dup(f->policy);
	i = cluster_branch_place(c, f->policy->branch);
	if (i == c->nbranches || strcmp(cluster_branch_name(c, i), f->policy->branch) != 0) {
		c->branches =
		    mem_room(c->branches, c->nbranches, &c->branches_capacity, sizeof(uint64_t));
		memmove(
		    &c->branches[i + 1], &c->branches[i], (c->nbranches - i) * sizeof(uint64_t));
		c->nbranches++;
	}
	c->branches[i] = f->policy->version;
	return 0;
}

static int
apply_policy_gone(struct cluster *c, const struct fact *f, struct err *err)
{
	size_t i = cluster_branch_place(c, f->branch);

	if (i == c->nbranches || strcmp(cluster_branch_name(c, i), f->branch) != 0)
		return misfit(f, "no such branch", err);
	c->nbranches--;
	memmove(&c->branches[i], &c->branches[i + 1], (c->nbranches - i) * sizeof(uint64_t));
	return 0;
}

static struct host *
host_make(struct cluster *c, const char *name)
{
	struct host *h = cluster_find_host(c, name);
	size_t i = cluster_host_place(c, name);

	if (h != NULL)
		return h;
	c->hosts = mem_room(c->hosts, c->nhosts, &c->hosts_capacity, sizeof(struct host *));
	memmove(&c->hosts[i + 1], &c->hosts[i], (c->nhosts - i) * sizeof(struct host *));
	c->nhosts++;
	h = c->hosts[i] = mem_calloc(1, sizeof *h);
	mem_copy_text(h->name, sizeof h->name, name);
	return h;
}

static int
apply_host(struct cluster *c, const struct fact *f, struct err *err)
{
	struct host *h;

	if (f->facts == NULL || f->host[0] == '\0')
		return misfit(f, "a host needs a name and facts", err);
	h = host_make(c, f->host);
	codec_clear(host_facts_fields, &h->facts);
	h->facts = *f->facts;
	codec_own(host_facts_fields, &h->facts);
	host_touch(c, h);
	return 0;
}

static void
hold_set(struct order_hold *hold, const struct fact *f)
{
	memset(hold, 0, sizeof *hold);
	hold->set = true;
	hold->limit = f->limit;
	hold->duration_us = f->duration_us;
	hold->since = f->at;
	memcpy(hold->who, f->who, sizeof hold->who);
	memcpy(hold->reason, f->text, sizeof hold->reason);
}

static int
apply_hold(struct cluster *c, const struct fact *f, struct err *err)
{
	struct host *h = cluster_find_host(c, f->host);
	bool set;
	enum hold_kind kind = hold_of_fact(f->kind, &set);

	if (h == NULL)
		return misfit(f, "no such host", err);
	if (set)
		hold_set(&h->holds[kind], f);
	else
		memset(&h->holds[kind], 0, sizeof h->holds[kind]);
	host_touch(c, h);
	return 0;
}

static int
apply_round(struct cluster *c, const struct fact *f, struct err *err)
{
	struct round *r;

	if (f->round.n != c->nrounds + 1)
		return misfit(f, "rounds count up", err);
	if (cluster_find_policy_version(c, f->number) == NULL)
		return misfit(f, "no such policy version", err);
	c->rounds = mem_room(c->rounds, c->nrounds, &c->rounds_capacity, sizeof(struct round *));
	r = c->rounds[c->nrounds++] = mem_calloc(1, sizeof *r);
	r->id = f->round;
	r->policy = f->number;
	r->at = f->at;
	memcpy(r->branch, f->branch, sizeof r->branch);
	memcpy(r->revision, f->revision, sizeof r->revision);
	memcpy(r->who, f->who, sizeof r->who);
	memcpy(r->why, f->text, sizeof r->why);
	return 0;
}

static void
open_add(struct cluster *c, build_id id)
{
	size_t i = c->nopen;

	c->open = mem_room(c->open, c->nopen, &c->open_capacity, sizeof(build_id));
	while (i > 0 && c->open[i - 1].n > id.n) {
		c->open[i] = c->open[i - 1];
		i--;
	}
	c->open[i] = id;
	c->nopen++;
}

static void
open_remove(struct cluster *c, build_id id)
{
	size_t i = 0;

	while (c->open[i].n != id.n)
		i++;
	c->nopen--;
	memmove(&c->open[i], &c->open[i + 1], (c->nopen - i) * sizeof(build_id));
}

static int
apply_build(struct cluster *c, const struct fact *f, struct err *err)
{
	struct round *r = cluster_find_round(c, f->round);
	struct build *b;

	if (r == NULL || f->build.n != c->nbuilds + 1)
		return misfit(f, "builds count up in a round", err);
	if (policy_find_target(c->policies[r->policy - 1], f->target) == NULL)
		return misfit(f, "no such target", err);
	c->builds = mem_room(c->builds, c->nbuilds, &c->builds_capacity, sizeof(struct build *));
	b = c->builds[c->nbuilds++] = mem_calloc(1, sizeof *b);
	b->id = f->build;
	b->round = f->round;
	b->queued_at = f->at;
	memcpy(b->target, f->target, sizeof b->target);
	r->builds = mem_room(r->builds, r->nbuilds, &r->builds_capacity, sizeof(build_id));
	r->builds[r->nbuilds++] = b->id;
	open_add(c, b->id);
	return 0;
}

static void
path_add(struct attempt *a, wall_us at, int32_t limit)
{
	if (a->npath > 0 && a->path[a->npath - 1].at.us == at.us)
		a->npath--; /* set twice in one step: only the last was ever in force */
	if (a->npath == LIMIT_PATH_MAX) {
		memmove(&a->path[1], &a->path[2], (LIMIT_PATH_MAX - 2) * sizeof *a->path);
		a->npath--;
	}
	a->path = mem_room(a->path, a->npath, &a->path_capacity, sizeof *a->path);
	a->path[a->npath++] = (struct limit_mark){ at, limit };
}

static void
live_add(struct cluster *c, const struct attempt *a)
{
	struct host *h = cluster_find_host(c, a->host);
	size_t i = h->nlive;

	h->live = mem_room(h->live, h->nlive, &h->live_capacity, sizeof *h->live);
	for (; i > 0 && cluster_find_attempt(c, h->live[i - 1])->build.n > a->build.n; i--)
		h->live[i] = h->live[i - 1];
	h->live[i] = a->id;
	h->nlive++;
	host_touch(c, h);
}

static void
live_remove(struct cluster *c, const struct attempt *a)
{
	struct host *h = cluster_find_host(c, a->host);
	size_t i = 0;

	while (h->live[i].n != a->id.n)
		i++;
	h->nlive--;
	memmove(&h->live[i], &h->live[i + 1], (h->nlive - i) * sizeof *h->live);
	host_touch(c, h);
}

static int
apply_grant(struct cluster *c, const struct fact *f, struct err *err)
{
	struct build *b = cluster_find_build(c, f->build);
	struct host *h = cluster_find_host(c, f->host);
	struct attempt *a;

	if (b == NULL || h == NULL || f->attempt.n != c->nattempts + 1)
		return misfit(
		    f, "attempts count up, of a build that is there, on a known host", err);
	if (build_state_get(c, b) != BUILD_QUEUED)
		return misfit(f, "the build is not queued", err);
	if (c->nattempts > 0 && f->fence <= c->attempts[c->nattempts - 1]->fence)
		return misfit(f, "fences grow", err);
	c->attempts =
	    mem_room(c->attempts, c->nattempts, &c->attempts_capacity, sizeof(struct attempt *));
	a = c->attempts[c->nattempts++] = mem_calloc(1, sizeof *a);
	a->id = f->attempt;
	a->build = f->build;
	a->epoch = f->number;
	a->fence = f->fence;
	a->granted_at = f->at;
	a->status = (struct attempt_status){ .id = a->id, .fence = a->fence, .percent = -1 };
	memcpy(a->host, f->host, sizeof a->host);
	if (h->limit > 0)
		path_add(a, f->at, h->limit);
	b->attempts =
	    mem_room(b->attempts, b->nattempts, &b->attempts_capacity, sizeof(attempt_id));
	b->attempts[b->nattempts++] = a->id;
	live_add(c, a);
	return 0;
}

static bool
attempt_may_go_on(const struct cluster *c, const struct attempt *a)
{
	return a->state != ATTEMPT_ENDED || attempt_given_up(c, a);
}

static int
apply_running(struct cluster *c, const struct fact *f, struct err *err)
{
	struct attempt *a = cluster_find_attempt(c, f->attempt);

	if (a == NULL || !attempt_may_go_on(c, a))
		return misfit(f, "the attempt is not live", err);
	codec_clear(attempt_result_fields, &a->result);
	memset(&a->result, 0, sizeof a->result);
	a->ended_at.us = 0;
	if (a->state == ATTEMPT_ENDED)
		live_add(c, a);
	a->state = a->status.state = ATTEMPT_RUNNING;
	return 0;
}

static struct lesson *
lesson_make(struct cluster *c, const char *branch, const char *target)
{
	size_t i = cluster_lesson_place(c, branch, target);
	struct lesson *lesson;

	if (cluster_find_lesson(c, branch, target) != NULL)
		return &c->lessons[i];
	c->lessons = mem_room(c->lessons, c->nlessons, &c->lessons_capacity, sizeof *c->lessons);
	lesson = &c->lessons[i];
	memmove(lesson + 1, lesson, (c->nlessons - i) * sizeof *lesson);
	c->nlessons++;
	memset(lesson, 0, sizeof *lesson);
	mem_copy_text(lesson->branch, sizeof lesson->branch, branch);
	mem_copy_text(lesson->target, sizeof lesson->target, target);
	return lesson;
}

static void
learn(struct cluster *c, const struct attempt *a)
{
	const struct build *b = cluster_find_build(c, a->build);
	struct lesson *lesson = lesson_make(c, build_round(c, b)->branch, b->target);
	size_t i = lesson->n;

	lesson->good = mem_room(lesson->good, lesson->n, &lesson->capacity, sizeof *lesson->good);
	for (; i > 0 && lesson->good[i - 1].n > a->id.n; i--)
		lesson->good[i] = lesson->good[i - 1];
	lesson->good[i] = a->id;
	lesson->n++;
}

static int
apply_ended(struct cluster *c, const struct fact *f, struct err *err)
{
	struct attempt *a = cluster_find_attempt(c, f->attempt);

	if (a == NULL || f->result == NULL || f->status == NULL || !attempt_may_go_on(c, a))
		return misfit(f, "the attempt is not live, or its result is not there", err);
	codec_clear(attempt_result_fields, &a->result);
	a->result = *f->result;
	codec_own(attempt_result_fields, &a->result);
	a->status = *f->status;
	a->ended_at = f->at;
	if (a->state != ATTEMPT_ENDED)
		live_remove(c, a);
	a->state = a->status.state = ATTEMPT_ENDED;
	if (a->result.outcome == OUTCOME_OK)
		learn(c, a);
	return 0;
}

static int
apply_cancel(struct cluster *c, const struct fact *f, struct err *err)
{
	struct build *b = cluster_find_build(c, f->build);

	if (b == NULL || b->verdict != VERDICT_NONE)
		return misfit(f, "the build is not open", err);
	b->cancel = true;
	memcpy(b->cancel_who, f->who, sizeof b->cancel_who);
	memcpy(b->cancel_reason, f->text, sizeof b->cancel_reason);
	return 0;
}

static int
apply_done(struct cluster *c, const struct fact *f, struct err *err)
{
	struct build *b = cluster_find_build(c, f->build);

	if (b == NULL || b->verdict != VERDICT_NONE || build_live_attempt(c, b) != NULL)
		return misfit(f, "the build is not open, or an attempt lives", err);
	if (f->verdict == VERDICT_NONE)
		return misfit(f, "a verdict is missing", err);
	b->verdict = f->verdict;
	b->done_at = f->at;
	memcpy(b->reason, f->text, sizeof b->reason);
	open_remove(c, b->id);
	return 0;
}

static int
apply_retry(struct cluster *c, const struct fact *f, struct err *err)
{
	struct build *b = cluster_find_build(c, f->build);

	if (b == NULL || b->verdict == VERDICT_NONE)
		return misfit(f, "the build is not done", err);
	b->verdict = VERDICT_NONE;
	b->cancel = false;
	b->reason[0] = '\0';
	b->queued_at = f->at;
	b->done_at.us = 0;
	b->first_attempt = b->nattempts;
	open_add(c, b->id);
	return 0;
}

static void
change_add(struct host *h, const struct fact *f)
{
	struct limit_change change = {
		.at = f->at, .limit = f->limit, .level = (enum governor_level)f->number
	};

	if (f->evidence == NULL || f->evidence->was == f->limit)
		return;
	change.evidence = *f->evidence;
	memcpy(change.reason, f->text, sizeof change.reason);
	if (h->nchanges == LIMIT_CHANGES_KEPT)
		memmove(h->changes, h->changes + 1, --h->nchanges * sizeof *h->changes);
	h->changes = mem_room(h->changes, h->nchanges, &h->changes_capacity, sizeof *h->changes);
	h->changes[h->nchanges++] = change;
}

static int
apply_limit(struct cluster *c, const struct fact *f, struct err *err)
{
	struct host *h = cluster_find_host(c, f->host);
	struct attempt *a;
	size_t i;

	if (h == NULL || f->limit < 1 || f->limit > JOBS_MAX)
		return misfit(f, "no such host, or a limit out of bounds", err);
	change_add(h, f);
	h->limit = f->limit;
	h->limit_level = (enum governor_level)f->number;
	h->limit_since = f->at;
	memcpy(h->limit_reason, f->text, sizeof h->limit_reason);
	for (i = 0; (a = host_live_attempt(c, h, i)) != NULL; i++)
		path_add(a, f->at, f->limit);
	return 0;
}

static int
apply_governor(struct cluster *c, const struct fact *f, struct err *err)
{
	size_t i;

	if ((unsigned)f->scope > SCOPE_HOST || (unsigned)f->mode > GOVERNOR_ACT)
		return misfit(f, "no such scope or mode", err);
	if (f->kind == FACT_GOVERNOR_LIFTED && f->scope != SCOPE_FARM &&
	    mode_find(c, f->scope, f->name) == NULL)
		return misfit(f, "no such order", err);
	mode_apply(c, f);
	for (i = 0; i < c->nhosts; i++)
		host_touch(c, c->hosts[i]);
	return 0;
}

static int
apply_learned(struct cluster *c, const struct fact *f, struct err *err)
{
	const struct memory *m = f->learned;
	size_t i;

	if (m == NULL || m->class[0] == '\0')
		return misfit(f, "nothing that was learned", err);
	i = memory_place(c, m->class, m->branch, m->phase);
	if (memory_find(c, m->class, m->branch, m->phase) == NULL) {
		c->memories =
		    mem_room(c->memories, c->nmemories, &c->memories_capacity, sizeof *c->memories);
		memmove(
		    &c->memories[i + 1], &c->memories[i], (c->nmemories - i) * sizeof *c->memories);
		c->nmemories++;
	}
	c->memories[i] = *m;
	return 0;
}

int
cluster_apply(struct cluster *c, const struct fact *fact, struct err *err)
{
	static int (*const apply[FACT_KINDS])(
	    struct cluster *, const struct fact *, struct err *) = {
		[FACT_EPOCH] = apply_epoch,
		[FACT_POLICY] = apply_policy,
		[FACT_POLICY_GONE] = apply_policy_gone,
		[FACT_HOST] = apply_host,
		[FACT_DRAIN] = apply_hold,
		[FACT_RESUME] = apply_hold,
		[FACT_THROTTLE] = apply_hold,
		[FACT_UNTHROTTLE] = apply_hold,
		[FACT_ROUND] = apply_round,
		[FACT_BUILD] = apply_build,
		[FACT_GRANT] = apply_grant,
		[FACT_RUNNING] = apply_running,
		[FACT_CANCEL] = apply_cancel,
		[FACT_ENDED] = apply_ended,
		[FACT_DONE] = apply_done,
		[FACT_RETRY] = apply_retry,
		[FACT_LIMIT] = apply_limit,
		[FACT_PIN] = apply_hold,
		[FACT_UNPIN] = apply_hold,
		[FACT_PAUSE] = apply_hold,
		[FACT_UNPAUSE] = apply_hold,
		[FACT_GOVERNOR] = apply_governor,
		[FACT_GOVERNOR_LIFTED] = apply_governor,
		[FACT_LEARNED] = apply_learned,
	};

	if ((unsigned)fact->kind >= FACT_KINDS || apply[fact->kind] == NULL)
		return misfit(fact, "its kind is unknown", err);
	return apply[fact->kind](c, fact, err);
}
