/* Hard filters first (plan_filter.c); then, build by build in the order the policies give, the
 * host where it would finish earliest by what is known. A build waits for a busy host only when
 * both durations are known and waiting is the shorter way.
 *
 * Cost: a look at each host for each queued build that has needs of its own, bounded by the
 * budget. When not all builds fit into it, half goes to the head of the queue and half to a
 * window that moves on with each plan: builds that wait for something rare must not keep those
 * behind them from ever being looked at.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/plan_parts.h"
#include "coordinator/core/predict.h"
#include "proto/base/mem.h"

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

/* ---- hosts as the search sees them ------------------------------------------------------- */

struct place {
	const struct host *h;
	size_t live; /* builds there, those of this plan included */
	int64_t free_in_us; /* until the next slot is free, when there is none now; -1 unknown */
	size_t machine, class; /* hosts that have the same share one */
};

struct search {
	const struct cluster *c;
	size_t n; /* places, in the order of hosts; as many machines and classes at most */
	struct place *places;
	size_t *machine_live; /* builds on each machine, whatever hosts it plays */
	const struct host **classes; /* one host of each */
	size_t nclasses;
	int64_t *duration_us; /* of the build that is looked at, by class */
	size_t roomy; /* places that have room */
	struct hopeless hopeless;
	struct plan_move *moves;
	size_t nmoves;
};

/* When the first of a host's builds will probably end; -1 when that cannot be told. */
static int64_t
free_in(const struct cluster *c, const struct host *h)
{
	const struct attempt *a;
	int64_t first = -1;
	size_t i;

	for (i = 0; (a = host_live_attempt(c, h, i)) != NULL; i++) {
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

static size_t
class_of(struct search *s, const struct host *h)
{
	size_t i = 0;

	while (i < s->nclasses && !host_same_class(s->classes[i], h))
		i++;
	if (i == s->nclasses)
		s->classes[s->nclasses++] = h;
	return i;
}

static int
compare_machines(const void *x, const void *y)
{
	const struct place *const *a = x, *const *b = y;

	return strcmp((*a)->h->facts.boot_id, (*b)->h->facts.boot_id);
}

/* A host that does not say its machine has one of its own. */
static void
number_machines(struct search *s)
{
	struct place **by_machine = mem_calloc(s->n, sizeof(struct place *));
	size_t i;

	for (i = 0; i < s->n; i++)
		by_machine[i] = &s->places[i];
	qsort(by_machine, s->n, sizeof(struct place *), compare_machines);
	for (i = 0; i < s->n; i++) {
		bool shares = i > 0 && by_machine[i]->h->facts.boot_id[0] != '\0' &&
			      compare_machines(&by_machine[i - 1], &by_machine[i]) == 0;

		by_machine[i]->machine = shares ? by_machine[i - 1]->machine : i;
		s->machine_live[by_machine[i]->machine] += by_machine[i]->live;
	}
	free(by_machine);
}

static void
search_begin(struct search *s, const struct cluster *c, size_t nwaiting)
{
	size_t i;

	*s = (struct search){ .c = c, .n = c->nhosts };
	s->places = mem_calloc(s->n, sizeof *s->places);
	s->machine_live = mem_calloc(s->n, sizeof *s->machine_live);
	s->classes = mem_calloc(s->n, sizeof(struct host *));
	s->duration_us = mem_calloc(s->n, sizeof *s->duration_us);
	s->moves = mem_calloc(nwaiting, sizeof *s->moves);
	for (i = 0; i < s->n; i++) {
		const struct host *h = c->hosts[i];

		s->places[i] = (struct place){ h, h->nlive, free_in(c, h), 0, class_of(s, h) };
		s->roomy += plan_has_room(h);
	}
	number_machines(s);
}

static void
search_end(struct search *s)
{
	free(s->places);
	free(s->machine_live);
	free(s->classes);
	free(s->duration_us);
	hopeless_clear(&s->hopeless);
}

/* ---- where each would finish first ------------------------------------------------------- */

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

/* False when the build cannot be there, now or after waiting. */
static bool
consider(struct search *s, const struct build *b, struct place *p, struct choice *ret)
{
	enum filter filter = plan_filter(s->c, b, p->h, NULL);
	int64_t *duration = &s->duration_us[p->class];

	if (filter != FILTER_NONE && filter != FILTER_SLOTS)
		return false;
	if (*duration < 0)
		*duration = predict_build(s->c, b, p->h).real_us;
	*ret = (struct choice){ p, filter == FILTER_NONE && p->live < plan_slots(p->h), *duration,
		s->machine_live[p->machine] };
	if (ret->now)
		return true;
	ret->finish_us += p->free_in_us;
	return *duration != 0 && p->free_in_us >= 0;
}

/* The best place; .place NULL when there is none. */
static struct choice
choose(struct search *s, const struct build *b)
{
	struct choice best = { 0 }, k;
	bool any_now = false;
	size_t i;

	for (i = 0; i < s->nclasses; i++)
		s->duration_us[i] = -1;
	for (i = 0; i < s->n; i++) {
		if (!consider(s, b, &s->places[i], &k))
			continue;
		any_now = any_now || k.now;
		if (better(&k, &best))
			best = k;
	}
	if (!any_now)
		hopeless_add(&s->hopeless, s->c, b);
	return best;
}

/* What was looked at: 0 when it is known already that nothing can be done. */
static int64_t
look(struct search *s, const struct build *b)
{
	struct choice best;

	if (s->roomy == 0 || hopeless_has(&s->hopeless, s->c, b))
		return 0;
	best = choose(s, b);
	if (best.place == NULL || !best.now)
		return (int64_t)s->n;
	s->machine_live[best.place->machine]++;
	s->roomy -= ++best.place->live == plan_slots(best.place->h);
	best.place->free_in_us = best.finish_us == 0 ? -1 : best.finish_us;
	s->moves[s->nmoves].build = b->id;
	memcpy(s->moves[s->nmoves].host, best.place->h->name, NAME_SIZE);
	s->nmoves++;
	return (int64_t)s->n;
}

void
plan_search(
    const struct cluster *c, int64_t budget, struct plan_move **ret_moves, size_t *ret_nmoves)
{
	size_t i, k, n, tail, begin = 0;
	struct waiting *waiting = list_waiting(c, &n);
	int64_t cost = c->nhosts > 0 ? (int64_t)c->nhosts : 1;
	int64_t half = (int64_t)n * cost > budget ? budget / 2 : 0, left = budget;
	struct search s;

	search_begin(&s, c, n);
	for (i = 0; i < n && left >= cost && (left > half || i == 0); i++)
		left -= look(&s, waiting[i].b);
	tail = n - i;
	if (half > 0 && tail > 0)
		begin = (size_t)(c->plans * (uint64_t)(left / cost) % tail);
	for (k = 0; k < tail && left >= cost; k++)
		left -= look(&s, waiting[i + (begin + k) % tail].b);
	search_end(&s);
	free(waiting);
	*ret_moves = s.moves;
	*ret_nmoves = s.nmoves;
}
