/* Newest first, each older sample counting half of the one before: after a change of the
 * sources the mean follows within a few builds. At most a handful of samples and a bounded
 * look back, so that asking is cheap however long the history is.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/predict.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 6, LOOK_BACK_MAX = 4096 };

void
host_class_name(const struct host *h, char ret_name[TEXT_SIZE])
{
	const struct host_facts *f = &h->facts;

	snprintf(ret_name, TEXT_SIZE, "%s-%s-%s-%dt-%lldg", f->os, f->release, f->arch, f->threads,
	    (long long)((f->memory_bytes + (INT64_C(1) << 29)) >> 30));
}

static bool
same_class(const struct host *a, const struct host *b)
{
	char x[TEXT_SIZE], y[TEXT_SIZE];

	host_class_name(a, x);
	host_class_name(b, y);
	return strcmp(x, y) == 0 && strcmp(a->facts.cpu, b->facts.cpu) == 0;
}

/* Did this attempt build the same branch and target, well, and on such a host (NULL: any)? */
static bool
teaches(
    const struct cluster *c, const struct attempt *a, const struct build *b, const struct host *h)
{
	const struct build *other = cluster_find_build(c, a->build);

	if (a->state != ATTEMPT_ENDED || a->result.outcome != OUTCOME_OK)
		return false;
	if (strcmp(other->target, b->target) != 0 ||
	    strcmp(build_round(c, other)->branch, build_round(c, b)->branch) != 0)
		return false;
	return h == NULL || same_class(h, cluster_find_host(c, a->host));
}

static struct prediction
predict(const struct cluster *c, const struct build *b, const struct host *h)
{
	size_t i = c->nattempts, end = i > LOOK_BACK_MAX ? i - LOOK_BACK_MAX : 0;
	double real = 0, steps = 0, weights = 0, weight = 1;
	struct prediction p = { 0 };

	while (i-- > end && p.samples < SAMPLES_MAX) {
		const struct attempt *a = c->attempts[i];

		if (!teaches(c, a, b, h))
			continue;
		real += weight * (double)a->result.real_us;
		steps += weight * (double)a->status.steps;
		weights += weight;
		weight /= 2;
		p.samples++;
	}
	if (p.samples > 0) {
		p.real_us = (int64_t)(real / weights);
		p.steps = (int64_t)(steps / weights);
	}
	return p;
}

struct prediction
predict_build(const struct cluster *c, const struct build *b, const struct host *h)
{
	struct prediction p = predict(c, b, h);

	return p.samples > 0 || h == NULL ? p : predict(c, b, NULL);
}
