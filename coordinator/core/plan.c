/* Hard filters first, each with its reason; then, build by build in the order the policies
 * give, the host where it would finish earliest by what is known. A build waits for a busy
 * host only when both durations are known and waiting is the shorter way.
 *
 * Cost: queued builds x hosts, bounded by the budget; what is left over waits for the next plan.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "coordinator/core/predict.h"
#include "proto/base/mem.h"

const char *
filter_name(enum filter filter)
{
	static const char *const names[] = { "none", "recipe", "os", "release", "labels", "memory",
		"refused", "state", "drained", "disk", "slots" };

	return (unsigned)filter < sizeof names / sizeof names[0] ? names[filter] : "?";
}

/* ---- hard filters ----------------------------------------------------------------------- */

static bool __attribute__((format(printf, 2, 3)))
because(char ret_reason[TEXT_SIZE], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(ret_reason, TEXT_SIZE, format, ap);
	va_end(ap);
	return true;
}

static bool
has_name(char (*const names)[NAME_SIZE], size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

struct candidate {
	const struct cluster *c;
	const struct build *b;
	const struct host *h;
	const struct policy *policy;
	const struct needs *needs;
};

static bool
no_recipe(const struct candidate *k, char *ret_reason)
{
	return !has_name(k->h->facts.recipes, k->h->facts.nrecipes, k->policy->recipe) &&
	       because(ret_reason, "recipe \"%s\" is not installed there", k->policy->recipe);
}

static bool
other_os(const struct candidate *k, char *ret_reason)
{
	return k->needs->os[0] != '\0' && strcasecmp(k->needs->os, k->h->facts.os) != 0 &&
	       because(ret_reason, "needs %s, it is %s", k->needs->os, k->h->facts.os);
}

static bool
other_release(const struct candidate *k, char *ret_reason)
{
	return !release_satisfies(k->h->facts.release, k->needs->release_test, k->needs->release) &&
	       because(ret_reason, "needs release %s %s, it has %s",
		   release_test_name(k->needs->release_test), k->needs->release,
		   k->h->facts.release);
}

static bool
no_label(const struct candidate *k, char *ret_reason)
{
	size_t i;

	for (i = 0; i < k->needs->nlabels; i++)
		if (!has_name(k->h->facts.labels, k->h->facts.nlabels, k->needs->labels[i]))
			return because(
			    ret_reason, "needs label \"%s\", it has not", k->needs->labels[i]);
	return false;
}

static double
gigabytes(int64_t bytes)
{
	return (double)bytes / (double)(INT64_C(1) << 30);
}

static bool
little_memory(const struct candidate *k, char *ret_reason)
{
	return k->needs->memory_bytes > k->h->facts.memory_bytes &&
	       because(ret_reason, "needs %.1f GiB of memory, it has %.1f",
		   gigabytes(k->needs->memory_bytes), gigabytes(k->h->facts.memory_bytes));
}

static bool
refused_before(const struct candidate *k, char *ret_reason)
{
	size_t i;

	for (i = k->b->first_attempt; i < k->b->nattempts; i++) {
		const struct attempt *a = cluster_find_attempt(k->c, k->b->attempts[i]);

		if (a->result.outcome == OUTCOME_REFUSED && strcmp(a->host, k->h->name) == 0)
			return because(ret_reason, "it refused: %.400s", a->result.reason);
	}
	return false;
}

static bool
not_up(const struct candidate *k, char *ret_reason)
{
	return k->h->state != HOST_UP &&
	       because(ret_reason, "it is %s", host_state_name(k->h->state));
}

static bool
drained(const struct candidate *k, char *ret_reason)
{
	return k->h->drain.set &&
	       because(ret_reason, "drained by %s: %.300s", k->h->drain.who, k->h->drain.reason);
}

/* Unknown is no reason to refuse: the agent looks again before it starts anything. */
static bool
little_disk(const struct candidate *k, char *ret_reason)
{
	const struct load *load = &k->h->load;

	if (!k->h->reported || load->missing >> LOAD_DISK_FREE & 1)
		return false;
	return (double)k->needs->disk_bytes > load->readings[LOAD_DISK_FREE].value &&
	       because(ret_reason, "needs %.1f GiB of disk, %.1f are free",
		   gigabytes(k->needs->disk_bytes),
		   gigabytes((int64_t)load->readings[LOAD_DISK_FREE].value));
}

static size_t
slots_of(const struct host *h)
{
	return h->facts.slots > 0 ? (size_t)h->facts.slots : 1;
}

static bool
no_slot(const struct candidate *k, char *ret_reason)
{
	size_t live = host_live_count(k->c, k->h->name);

	return live >= slots_of(k->h) &&
	       because(ret_reason, "busy: it runs %zu of %zu builds at once", live, slots_of(k->h));
}

enum filter
plan_filter(const struct cluster *c, const struct build *b, const struct host *h,
    char ret_reason[TEXT_SIZE])
{
	static const struct {
		enum filter filter;
		bool (*keeps_off)(const struct candidate *, char *);
	} filters[] = {
		{ FILTER_RECIPE, no_recipe },
		{ FILTER_OS, other_os },
		{ FILTER_RELEASE, other_release },
		{ FILTER_LABELS, no_label },
		{ FILTER_MEMORY, little_memory },
		{ FILTER_REFUSED, refused_before },
		{ FILTER_STATE, not_up },
		{ FILTER_DRAINED, drained },
		{ FILTER_DISK, little_disk },
		{ FILTER_SLOTS, no_slot },
	};
	struct candidate k = { c, b, h, build_policy(c, b), &build_target(c, b)->needs };
	size_t i;

	ret_reason[0] = '\0';
	for (i = 0; i < sizeof filters / sizeof filters[0]; i++)
		if (filters[i].keeps_off(&k, ret_reason))
			return filters[i].filter;
	return FILTER_NONE;
}

/* ---- the order of builds ---------------------------------------------------------------- */

struct waiting {
	const struct build *b;
	int32_t priority;
	int64_t expected_us;
};

/* Priority, then the older round, then the longer build (a long one last makes a long day). */
static int
compare_waiting(const void *x, const void *y)
{
	const struct waiting *a = x, *b = y;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->b->round.n != b->b->round.n)
		return a->b->round.n < b->b->round.n ? -1 : 1;
	if (a->expected_us != b->expected_us)
		return a->expected_us > b->expected_us ? -1 : 1;
	return a->b->id.n < b->b->id.n ? -1 : 1;
}

static struct waiting *
list_waiting(const struct cluster *c, size_t *ret_n)
{
	struct waiting *list = mem_calloc(c->nopen, sizeof *list);
	size_t i, n = 0;

	for (i = 0; i < c->nopen; i++) {
		const struct build *b = cluster_find_build(c, c->open[i]);

		if (build_state_get(c, b) != BUILD_QUEUED)
			continue;
		list[n++] = (struct waiting){ b, build_policy(c, b)->priority,
			predict_build(c, b, NULL).real_us };
	}
	qsort(list, n, sizeof *list, compare_waiting);
	*ret_n = n;
	return list;
}

/* ---- where each would finish first ------------------------------------------------------- */

struct place {
	const struct host *h;
	size_t live; /* builds there, those of this plan included */
	int64_t free_in_us; /* until the next slot is free, when there is none now; -1 unknown */
};

/* When the first of a host's builds will probably end; -1 when that cannot be told. */
static int64_t
free_in(const struct cluster *c, const struct host *h)
{
	const struct attempt *a;
	int64_t first = -1;
	size_t i;

	for (i = 0; (a = host_live_attempt(c, h->name, i)) != NULL; i++) {
		int64_t expected = predict_build(c, cluster_find_build(c, a->build), h).real_us;
		int64_t left = expected - a->status.elapsed_us;

		if (expected == 0)
			return -1;
		if (left < 0)
			left = 0;
		if (first < 0 || left < first)
			first = left;
	}
	return first;
}

/* Builds on the same machine, whatever hosts it plays: what a new one shares its CPUs with. */
static size_t
machine_live(const struct place *places, size_t n, const struct place *p)
{
	size_t i, live = 0;

	for (i = 0; i < n; i++)
		if (&places[i] == p ||
		    (p->h->facts.boot_id[0] != '\0' &&
			strcmp(places[i].h->facts.boot_id, p->h->facts.boot_id) == 0))
			live += places[i].live;
	return live;
}

struct choice {
	struct place *place;
	bool now;
	int64_t finish_us;
	size_t shares;
};

static bool
better(const struct choice *a, const struct choice *b)
{
	if (b->place == NULL)
		return true;
	if (a->finish_us != b->finish_us)
		return a->finish_us < b->finish_us;
	if (a->now != b->now)
		return a->now;
	if (a->place->live != b->place->live)
		return a->place->live < b->place->live;
	if (a->shares != b->shares)
		return a->shares < b->shares;
	return a->place->h->facts.threads > b->place->h->facts.threads;
}

static struct choice
choose(const struct cluster *c, const struct build *b, struct place *places, size_t n)
{
	struct choice best = { 0 };
	char reason[TEXT_SIZE];
	size_t i;

	for (i = 0; i < n; i++) {
		struct place *p = &places[i];
		enum filter filter = plan_filter(c, b, p->h, reason);
		int64_t duration = predict_build(c, b, p->h).real_us;
		struct choice k = { p, false, duration, machine_live(places, n, p) };

		k.now = filter == FILTER_NONE && p->live < slots_of(p->h);
		if (!k.now) {
			if ((filter != FILTER_SLOTS && filter != FILTER_NONE) || duration == 0 ||
			    p->free_in_us < 0)
				continue;
			k.finish_us += p->free_in_us;
		}
		if (better(&k, &best))
			best = k;
	}
	return best;
}

void
plan_search(
    const struct cluster *c, int64_t budget, struct plan_move **ret_moves, size_t *ret_nmoves)
{
	size_t i, n, nmoves = 0;
	struct waiting *waiting = list_waiting(c, &n);
	struct place *places = mem_calloc(c->nhosts, sizeof *places);
	struct plan_move *moves = mem_calloc(n, sizeof *moves);

	for (i = 0; i < c->nhosts; i++)
		places[i] = (struct place){ c->hosts[i], host_live_count(c, c->hosts[i]->name),
			free_in(c, c->hosts[i]) };
	for (i = 0; i < n && budget >= (int64_t)c->nhosts; i++, budget -= (int64_t)c->nhosts) {
		struct choice best = choose(c, waiting[i].b, places, c->nhosts);

		if (best.place == NULL || !best.now)
			continue;
		best.place->live++;
		best.place->free_in_us = predict_build(c, waiting[i].b, best.place->h).real_us;
		if (best.place->free_in_us == 0)
			best.place->free_in_us = -1;
		moves[nmoves].build = waiting[i].b->id;
		memcpy(moves[nmoves].host, best.place->h->name, NAME_SIZE);
		nmoves++;
	}
	free(waiting);
	free(places);
	*ret_moves = moves;
	*ret_nmoves = nmoves;
}
