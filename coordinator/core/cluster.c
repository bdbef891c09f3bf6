/* Finding things, and what follows from the state by looking. It is changed in apply.c.
 *
 * Invariants (cluster_check.c tests them after every step):
 * - ids are positions: rounds[i].id == i + 1, and so for builds and attempts;
 * - a build has at most one live attempt, its last; a done build has none;
 * - open holds exactly the builds without a verdict, in order of id;
 * - a host's live attempts are exactly its builds' live ones, in order of build;
 * - fences grow with attempt ids; hosts and branches are in the order of names.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/cluster_place.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "proto/base/mem.h"

struct cluster *
cluster_create(void)
{
	return mem_calloc(1, sizeof(struct cluster));
}

static void
attempt_destroy(struct attempt *a)
{
	codec_clear(attempt_result_fields, &a->result);
	free(a->path);
	free(a);
}

void
cluster_destroy(struct cluster *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = 0; i < c->nhosts; i++) {
		codec_clear(host_facts_fields, &c->hosts[i]->facts);
		free(c->hosts[i]->gauges);
		free(c->hosts[i]->live);
		free(c->hosts[i]->changes);
		free(c->hosts[i]);
	}
	for (i = 0; i < c->npolicies; i++)
		policy_destroy(c->policies[i]);
	for (i = 0; i < c->nrounds; i++) {
		free(c->rounds[i]->builds);
		free(c->rounds[i]);
	}
	for (i = 0; i < c->nbuilds; i++) {
		free(c->builds[i]->attempts);
		free(c->builds[i]);
	}
	for (i = 0; i < c->nattempts; i++)
		attempt_destroy(c->attempts[i]);
	for (i = 0; i < c->nlessons; i++)
		free(c->lessons[i].good);
	free(c->lessons);
	free(c->hosts);
	free(c->policies);
	free(c->branches);
	free(c->rounds);
	free(c->builds);
	free(c->attempts);
	free(c->open);
	free(c->touched);
	free(c->memories);
	free(c->orders);
	free(c);
}

/* ---- finding ---------------------------------------------------------------------------- */

static int
host_compare(const void *name, const void *element)
{
	const struct host *const *h = element;

	return strcmp(name, (*h)->name);
}

size_t
cluster_host_place(const struct cluster *c, const char *name)
{
	return mem_place(c->hosts, c->nhosts, sizeof(struct host *), name, host_compare);
}

const char *
cluster_branch_name(const struct cluster *c, size_t i)
{
	return c->policies[c->branches[i] - 1]->branch;
}

size_t
cluster_branch_place(const struct cluster *c, const char *name)
{
	size_t i = 0;

	while (i < c->nbranches && strcmp(cluster_branch_name(c, i), name) < 0)
		i++;
	return i;
}

struct lesson_key {
	const char *branch, *target;
};

static int
lesson_compare(const void *x, const void *element)
{
	const struct lesson_key *key = x;
	const struct lesson *lesson = element;
	int order = strcmp(key->branch, lesson->branch);

	return order != 0 ? order : strcmp(key->target, lesson->target);
}

size_t
cluster_lesson_place(const struct cluster *c, const char *branch, const char *target)
{
	const struct lesson_key key = { branch, target };

	return mem_place(c->lessons, c->nlessons, sizeof *c->lessons, &key, lesson_compare);
}

const struct lesson *
cluster_find_lesson(const struct cluster *c, const char *branch, const char *target)
{
	const struct lesson_key key = { branch, target };
	size_t i = cluster_lesson_place(c, branch, target);

	return i < c->nlessons && lesson_compare(&key, &c->lessons[i]) == 0 ? &c->lessons[i] : NULL;
}

struct host *
cluster_find_host(const struct cluster *c, const char *name)
{
	size_t i = cluster_host_place(c, name);

	return i < c->nhosts && strcmp(c->hosts[i]->name, name) == 0 ? c->hosts[i] : NULL;
}

struct round *
cluster_find_round(const struct cluster *c, round_id id)
{
	return id.n >= 1 && id.n <= c->nrounds ? c->rounds[id.n - 1] : NULL;
}

struct build *
cluster_find_build(const struct cluster *c, build_id id)
{
	return id.n >= 1 && id.n <= c->nbuilds ? c->builds[id.n - 1] : NULL;
}

struct attempt *
cluster_find_attempt(const struct cluster *c, attempt_id id)
{
	return id.n >= 1 && id.n <= c->nattempts ? c->attempts[id.n - 1] : NULL;
}

const struct policy *
cluster_find_policy_version(const struct cluster *c, uint64_t version)
{
	return version >= 1 && version <= c->npolicies ? c->policies[version - 1] : NULL;
}

const struct policy *
cluster_find_policy(const struct cluster *c, const char *branch)
{
	size_t i = cluster_branch_place(c, branch);

	return i < c->nbranches && strcmp(cluster_branch_name(c, i), branch) == 0
		   ? c->policies[c->branches[i] - 1]
		   : NULL;
}

const struct round *
build_round(const struct cluster *c, const struct build *b)
{
	return c->rounds[b->round.n - 1];
}

const struct policy *
build_policy(const struct cluster *c, const struct build *b)
{
	return c->policies[build_round(c, b)->policy - 1];
}

const struct target *
build_target(const struct cluster *c, const struct build *b)
{
	return policy_find_target(build_policy(c, b), b->target);
}

struct attempt *
build_live_attempt(const struct cluster *c, const struct build *b)
{
	struct attempt *a;

	if (b->nattempts == 0)
		return NULL;
	a = c->attempts[b->attempts[b->nattempts - 1].n - 1];
	return a->state == ATTEMPT_ENDED ? NULL : a;
}

bool
attempt_given_up(const struct cluster *c, const struct attempt *a)
{
	const struct build *b = c->builds[a->build.n - 1];

	/* Not one from before a retry: while the build was done its agent was told to drop it. */
	return a->state == ATTEMPT_ENDED && a->result.outcome == OUTCOME_LOST &&
	       b->verdict == VERDICT_NONE && b->nattempts > b->first_attempt &&
	       b->attempts[b->nattempts - 1].n == a->id.n;
}

enum build_state
build_state_get(const struct cluster *c, const struct build *b)
{
	const struct attempt *a = build_live_attempt(c, b);

	if (b->verdict != VERDICT_NONE)
		return BUILD_DONE;
	if (a == NULL)
		return BUILD_QUEUED;
	if (b->cancel)
		return BUILD_CANCELLING;
	return a->state == ATTEMPT_RUNNING ? BUILD_RUNNING : BUILD_STARTING;
}

struct attempt *
host_live_attempt(const struct cluster *c, const struct host *h, size_t i)
{
	return i < h->nlive ? cluster_find_attempt(c, h->live[i]) : NULL;
}

void
host_touch(struct cluster *c, struct host *h)
{
	if (h->touched)
		return;
	h->touched = true;
	c->touched = mem_room(c->touched, c->ntouched, &c->touched_capacity, sizeof(struct host *));
	c->touched[c->ntouched++] = h;
}

const char *
host_shares_machine(const struct cluster *c, const struct host *h)
{
	size_t i;

	for (i = 0; i < c->nhosts && h->facts.boot_id[0] != '\0'; i++)
		if (c->hosts[i] != h && strcmp(c->hosts[i]->facts.boot_id, h->facts.boot_id) == 0)
			return c->hosts[i]->name;
	return NULL;
}

/* ---- names ------------------------------------------------------------------------------ */

const char *
host_state_name(enum host_state state)
{
	static const char *const names[] = { "absent", "up", "silent", "lost", "asleep" };

	return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "?";
}

const char *
build_state_name(enum build_state state)
{
	static const char *const names[] = { "queued", "starting", "running", "cancelling",
		"done" };

	return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "?";
}
