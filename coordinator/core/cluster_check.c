/* What must hold after every step, and what a replay must give again. Used by tests and
 * by flyball-sim; both read the whole cluster, so neither belongs on a daemon's path.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "coordinator/core/hold.h"
#include "coordinator/core/mode.h"

typedef unsigned long long ull;

static int
check_order(const struct cluster *c, struct err *err)
{
	size_t i;

	for (i = 1; i < c->nhosts; i++)
		if (strcmp(c->hosts[i - 1]->name, c->hosts[i]->name) >= 0)
			return err_set(err, "hosts out of order at \"%s\"", c->hosts[i]->name);
	for (i = 0; i < c->norders; i++)
		if (mode_place(c, c->orders[i].scope, c->orders[i].name) != i)
			return err_set(err, "orders out of order at \"%s\"", c->orders[i].name);
	for (i = 0; i < c->nbranches; i++)
		if (cluster_find_policy_version(c, c->branches[i]) == NULL)
			return err_set(err, "branch %zu has no policy", i);
	for (i = 1; i < c->nbranches; i++)
		if (strcmp(c->policies[c->branches[i - 1] - 1]->branch,
			c->policies[c->branches[i] - 1]->branch) >= 0)
			return err_set(err, "branches out of order at %zu", i);
	return 0;
}

/* The index against what it stands for. */
static int
check_live(const struct cluster *c, const struct host *h, struct err *err)
{
	size_t i, n = 0;

	for (i = 0; i < c->nopen; i++) {
		const struct attempt *a = build_live_attempt(c, cluster_find_build(c, c->open[i]));

		if (a == NULL || strcmp(a->host, h->name) != 0)
			continue;
		if (host_live_attempt(c, h, n++) != a)
			return err_set(err, "attempt %llu lives and is not in host \"%s\"",
			    (ull)a->id.n, h->name);
	}
	return n == h->nlive ? 0 : err_set(err, "host \"%s\" has too many live attempts", h->name);
}

static int
check_hosts(const struct cluster *c, struct err *err)
{
	size_t i;
	int k;

	for (i = 0; i < c->nhosts; i++) {
		const struct host *h = c->hosts[i];

		if (h->limit < 0 || h->limit > JOBS_MAX)
			return err_set(err, "host \"%s\" has a limit of %d", h->name, h->limit);
		for (k = 0; k < HOLDS; k++)
			if (h->holds[k].set && hold_has_limit((enum hold_kind)k) &&
			    (h->holds[k].limit < 1 || h->holds[k].limit > JOBS_MAX))
				return err_set(err, "host \"%s\" is %s to %d", h->name,
				    hold_word((enum hold_kind)k), h->holds[k].limit);
		if (check_live(c, h, err) < 0)
			return -1;
		if (h->state == HOST_LOST && h->nlive > 0)
			return err_set(err, "host \"%s\" is lost and has live attempts", h->name);
		if (h->state == HOST_UP && h->facts.start_id[0] == '\0')
			return err_set(err, "host \"%s\" is up and unknown", h->name);
	}
	return 0;
}

static int
check_attempts(const struct cluster *c, struct err *err)
{
	uint64_t fence = 0, epoch = 0;
	size_t i;

	for (i = 0; i < c->nattempts; i++) {
		const struct attempt *a = c->attempts[i];

		if (a->id.n != i + 1 || cluster_find_build(c, a->build) == NULL)
			return err_set(err, "attempt %zu has a wrong id or build", i + 1);
		if (a->fence <= fence || a->epoch < epoch || a->epoch > c->epoch)
			return err_set(err, "attempt %zu: fence or epoch fell", i + 1);
		if (cluster_find_host(c, a->host) == NULL)
			return err_set(err, "attempt %zu is on an unknown host", i + 1);
		if ((a->state == ATTEMPT_ENDED) != (a->result.outcome != OUTCOME_NONE))
			return err_set(err, "attempt %zu: state and outcome disagree", i + 1);
		fence = a->fence;
		epoch = a->epoch;
	}
	return 0;
}

static int
check_lessons(const struct cluster *c, struct err *err)
{
	size_t i, k, known = 0, good = 0;

	for (i = 0; i < c->nlessons; i++)
		for (k = 0; k < c->lessons[i].n; k++, known++) {
			const struct attempt *a = cluster_find_attempt(c, c->lessons[i].good[k]);

			if (a->result.outcome != OUTCOME_OK ||
			    (k > 0 && a->id.n <= c->lessons[i].good[k - 1].n))
				return err_set(
				    err, "attempt %llu teaches and should not", (ull)a->id.n);
		}
	for (i = 0; i < c->nattempts; i++)
		good += c->attempts[i]->result.outcome == OUTCOME_OK;
	return known == good ? 0 : err_set(err, "%zu attempts teach of %zu", known, good);
}

static int
check_build(const struct cluster *c, const struct build *b, struct err *err)
{
	const struct attempt *live = build_live_attempt(c, b), *last;
	size_t k;

	if (cluster_find_round(c, b->round) == NULL || build_target(c, b) == NULL)
		return err_set(err, "build %llu has no round or target", (ull)b->id.n);
	for (k = 0; k + 1 < b->nattempts; k++)
		if (cluster_find_attempt(c, b->attempts[k])->state != ATTEMPT_ENDED)
			return err_set(err, "build %llu has two live attempts", (ull)b->id.n);
	if (b->verdict != VERDICT_NONE && live != NULL)
		return err_set(err, "build %llu is done and attempt %llu lives", (ull)b->id.n,
		    (ull)live->id.n);
	if (b->verdict == VERDICT_OK) {
		last = b->nattempts ? cluster_find_attempt(c, b->attempts[b->nattempts - 1]) : NULL;
		if (last == NULL || last->result.outcome != OUTCOME_OK)
			return err_set(
			    err, "build %llu is ok without an attempt that is", (ull)b->id.n);
	}
	if (b->cancel && b->verdict == VERDICT_NONE && live == NULL)
		return err_set(
		    err, "build %llu is cancelled, has no attempt and is not done", (ull)b->id.n);
	return 0;
}

static int
check_builds(const struct cluster *c, struct err *err)
{
	size_t i, open = 0;

	for (i = 0; i < c->nbuilds; i++) {
		const struct build *b = c->builds[i];

		if (b->id.n != i + 1 || check_build(c, b, err) < 0)
			return b->id.n != i + 1 ? err_set(err, "build %zu has a wrong id", i + 1)
						: -1;
		if (b->verdict != VERDICT_NONE)
			continue;
		if (open >= c->nopen || c->open[open].n != b->id.n)
			return err_set(err, "build %zu is open and not in the index", i + 1);
		open++;
	}
	return open == c->nopen ? 0 : err_set(err, "the index of open builds has too many");
}

int
cluster_check(const struct cluster *c, struct err *err)
{
	if (check_order(c, err) < 0 || check_hosts(c, err) < 0 || check_attempts(c, err) < 0 ||
	    check_lessons(c, err) < 0)
		return -1;
	return check_builds(c, err);
}

/* ---- the hard state as text ------------------------------------------------------------- */

static void
dump_hold(struct text *t, const char *name, const struct order_hold *hold)
{
	if (hold->set)
		text_printf(t, " %s=%d,%lld,%lld,%s,%s", name, hold->limit,
		    (long long)hold->duration_us, (long long)hold->since.us, hold->who,
		    hold->reason);
}

static void
dump_hosts(const struct cluster *c, struct text *t)
{
	size_t i;
	int k;

	for (i = 0; i < c->nhosts; i++) {
		const struct host *h = c->hosts[i];

		text_printf(t, "host %s limit=%d,%d,%s,%lld", h->name, h->limit,
		    (int)h->limit_level, h->limit_reason, (long long)h->limit_since.us);
		for (k = 0; k < HOLDS; k++)
			dump_hold(t, hold_name((enum hold_kind)k), &h->holds[k]);
		text_add(t, " ");
		codec_encode(t, host_facts_fields, &h->facts);
		text_add(t, "\n");
	}
}

static void
dump_orders(const struct cluster *c, struct text *t)
{
	size_t i;

	for (i = 0; i < c->norders; i++) {
		const struct mode_order *order = &c->orders[i];

		text_printf(t, "governor %s %s %s %s %s %lld\n", mode_scope_name(order->scope),
		    order->name, governor_mode_name(order->mode), order->who, order->reason,
		    (long long)order->since.us);
	}
}

static void
dump_memories(const struct cluster *c, struct text *t)
{
	size_t i;

	for (i = 0; i < c->nmemories; i++) {
		text_add(t, "memory ");
		codec_encode(t, memory_fields, &c->memories[i]);
		text_add(t, "\n");
	}
}

static void
dump_policies(const struct cluster *c, struct text *t)
{
	size_t i;

	text_printf(t, "epoch %llu\nbranches", (ull)c->epoch);
	for (i = 0; i < c->nbranches; i++)
		text_printf(t, " %llu", (ull)c->branches[i]);
	text_add(t, "\n");
	for (i = 0; i < c->npolicies; i++) {
		text_add(t, "policy ");
		codec_encode(t, policy_fields, c->policies[i]);
		text_add(t, "\n");
	}
}

static void
dump_builds(const struct cluster *c, struct text *t)
{
	size_t i, k;

	for (i = 0; i < c->nrounds; i++) {
		const struct round *r = c->rounds[i];

		text_printf(t, "round %llu %s %llu %s %s %s %lld builds=%zu\n", (ull)r->id.n,
		    r->branch, (ull)r->policy, r->revision, r->who, r->why, (long long)r->at.us,
		    r->nbuilds);
	}
	for (i = 0; i < c->nbuilds; i++) {
		const struct build *b = c->builds[i];

		text_printf(t,
		    "build %llu %llu %s cancel=%d,%s,%s verdict=%d,%s at=%lld,%lld first=%zu",
		    (ull)b->id.n, (ull)b->round.n, b->target, b->cancel, b->cancel_who,
		    b->cancel_reason, (int)b->verdict, b->reason, (long long)b->queued_at.us,
		    (long long)b->done_at.us, b->first_attempt);
		for (k = 0; k < b->nattempts; k++)
			text_printf(t, " %llu", (ull)b->attempts[k].n);
		text_add(t, "\n");
	}
}

static void
dump_attempts(const struct cluster *c, struct text *t)
{
	size_t i, k;

	for (i = 0; i < c->nattempts; i++) {
		const struct attempt *a = c->attempts[i];

		text_printf(t, "attempt %llu %llu %s epoch=%llu fence=%llu %d at=%lld,%lld",
		    (ull)a->id.n, (ull)a->build.n, a->host, (ull)a->epoch, (ull)a->fence,
		    (int)a->state, (long long)a->granted_at.us, (long long)a->ended_at.us);
		for (k = 0; k < a->npath; k++)
			text_printf(t, " %lld:%d", (long long)a->path[k].at.us, a->path[k].limit);
		if (a->state == ATTEMPT_ENDED) {
			codec_encode(t, attempt_status_fields, &a->status);
			codec_encode(t, attempt_result_fields, &a->result);
		}
		text_add(t, "\n");
	}
}

static char *
dump(const struct cluster *c)
{
	struct text t = { 0 };

	dump_policies(c, &t);
	dump_orders(c, &t);
	dump_memories(c, &t);
	dump_hosts(c, &t);
	dump_builds(c, &t);
	dump_attempts(c, &t);
	return t.text;
}

bool
cluster_hard_equal(const struct cluster *a, const struct cluster *b, struct err *ret_difference)
{
	char *ta = dump(a), *tb = dump(b);
	size_t i = 0, line = 0;
	bool equal;

	for (; ta[i] != '\0' && ta[i] == tb[i]; i++)
		if (ta[i] == '\n')
			line = i + 1;
	equal = ta[i] == tb[i];
	if (!equal)
		err_set(ret_difference, "\"%.*s\" against \"%.*s\"", (int)strcspn(ta + line, "\n"),
		    ta + line, (int)strcspn(tb + line, "\n"), tb + line);
	free(ta);
	free(tb);
	return equal;
}
