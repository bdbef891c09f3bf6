/* Why a host cannot take a build, and whether any could. Asked after each event that changed
 * something, so what was found for one build is used for all that want the same: thousands of
 * builds have a handful of different needs, and a cluster that is full has no host to ask.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "coordinator/core/hold.h"
#include "coordinator/core/plan_parts.h"
#include "proto/base/mem.h"

const char *
filter_name(enum filter filter)
{
	static const char *const names[] = { "none", "recipe", "os", "release", "labels", "memory",
		"refused", "state", "drained", "disk", "slots" };

	return (unsigned)filter < sizeof names / sizeof names[0] ? names[filter] : "?";
}

/* ---- hard filters ----------------------------------------------------------------------- */

static bool __attribute__((format(printf, 2, 3))) because(char *ret_reason, const char *format, ...)
{
	va_list ap;

	if (ret_reason == NULL)
		return true;
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
closed(const struct candidate *k, char *ret_reason)
{
	enum hold_kind kind;
	const struct order_hold *hold = hold_closes(k->h, &kind);

	return hold != NULL &&
	       because(ret_reason, "%s by %s: %.300s", hold_word(kind), hold->who, hold->reason);
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

size_t
plan_slots(const struct host *h)
{
	return h->facts.slots > 0 ? (size_t)h->facts.slots : 1;
}

static bool
no_slot(const struct candidate *k, char *ret_reason)
{
	return k->h->nlive >= plan_slots(k->h) &&
	       because(ret_reason, "busy: it runs %zu of %zu builds at once", k->h->nlive,
		   plan_slots(k->h));
}

enum filter
plan_filter(const struct cluster *c, const struct build *b, const struct host *h, char *ret_reason)
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
		{ FILTER_DRAINED, closed },
		{ FILTER_DISK, little_disk },
		{ FILTER_SLOTS, no_slot },
	};
	struct candidate k = { c, b, h, build_policy(c, b), &build_target(c, b)->needs };
	size_t i;

	if (ret_reason != NULL)
		ret_reason[0] = '\0';
	for (i = 0; i < sizeof filters / sizeof filters[0]; i++)
		if (filters[i].keeps_off(&k, ret_reason))
			return filters[i].filter;
	return FILTER_NONE;
}

/* ---- what nobody can take now ----------------------------------------------------------- */

struct wants {
	uint64_t hash;
	const char *recipe;
	const struct needs *needs;
};

static uint64_t
hash_text(uint64_t hash, const char *s)
{
	for (; *s != '\0'; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return hash * UINT64_C(1099511628211);
}

static struct wants
wants_of(const struct cluster *c, const struct build *b)
{
	struct wants w = { 0, build_policy(c, b)->recipe, &build_target(c, b)->needs };
	size_t i;

	w.hash = hash_text(UINT64_C(14695981039346656037), w.recipe);
	w.hash = hash_text(w.hash, w.needs->os);
	w.hash = hash_text(w.hash, w.needs->release);
	for (i = 0; i < w.needs->nlabels; i++)
		w.hash = hash_text(w.hash, w.needs->labels[i]);
	return w;
}

static bool
wants_same(const struct wants *a, const struct wants *b)
{
	const struct needs *x = a->needs, *y = b->needs;
	size_t i;

	if (a->hash != b->hash || x->memory_bytes != y->memory_bytes ||
	    x->disk_bytes != y->disk_bytes || x->release_test != y->release_test ||
	    x->nlabels != y->nlabels || strcmp(x->os, y->os) != 0 ||
	    strcmp(x->release, y->release) != 0 || strcmp(a->recipe, b->recipe) != 0)
		return false;
	for (i = 0; i < x->nlabels; i++)
		if (strcmp(x->labels[i], y->labels[i]) != 0)
			return false;
	return true;
}

bool
hopeless_has(const struct hopeless *hopeless, const struct cluster *c, const struct build *b)
{
	struct wants w;
	size_t i;

	if (hopeless->n == 0)
		return false;
	w = wants_of(c, b);
	for (i = 0; i < hopeless->n; i++)
		if (wants_same(&hopeless->list[i], &w))
			return true;
	return false;
}

/* What hosts refused is a build's own, and says nothing of others that want the same. */
void
hopeless_add(struct hopeless *hopeless, const struct cluster *c, const struct build *b)
{
	if (b->nattempts > b->first_attempt)
		return;
	hopeless->list =
	    mem_room(hopeless->list, hopeless->n, &hopeless->capacity, sizeof *hopeless->list);
	hopeless->list[hopeless->n++] = wants_of(c, b);
}

void
hopeless_clear(struct hopeless *hopeless)
{
	free(hopeless->list);
	memset(hopeless, 0, sizeof *hopeless);
}

/* ---- whether any can -------------------------------------------------------------------- */

bool
plan_has_room(const struct host *h)
{
	enum hold_kind kind;

	return h->state == HOST_UP && hold_closes(h, &kind) == NULL && h->nlive < plan_slots(h);
}

static const struct host **
list_roomy(const struct cluster *c, size_t *ret_n)
{
	const struct host **list = mem_calloc(c->nhosts, sizeof(struct host *));
	size_t i;

	*ret_n = 0;
	for (i = 0; i < c->nhosts; i++)
		if (plan_has_room(c->hosts[i]))
			list[(*ret_n)++] = c->hosts[i];
	return list;
}

static bool
any_takes(const struct cluster *c, const struct build *b, const struct host **hosts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (plan_filter(c, b, hosts[i], NULL) == FILTER_NONE)
			return true;
	return false;
}

bool
plan_could_help(const struct cluster *c)
{
	struct hopeless hopeless = { 0 };
	const struct host **hosts;
	bool could = false;
	size_t i, n;

	hosts = list_roomy(c, &n);
	for (i = 0; i < c->nopen && n > 0 && !could; i++) {
		const struct build *b = cluster_find_build(c, c->open[i]);

		if (build_state_get(c, b) != BUILD_QUEUED || hopeless_has(&hopeless, c, b))
			continue;
		could = any_takes(c, b, hosts, n);
		if (!could)
			hopeless_add(&hopeless, c, b);
	}
	hopeless_clear(&hopeless);
	free(hosts);
	return could;
}
