/* Newest first, each older sample counting half of the one before: after a change of the
 * sources the mean follows within a few builds. At most a handful of samples and a bounded
 * look back, so that asking is cheap however long the history is.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/predict.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 6, LOOK_BACK_MAX = 4096 };

/* To 1, 2, 3, 4, 6, 8, 12 ... GiB, the nearest by ratio: firmware takes some of it from one host
 * and not from another of the same make. */
static int64_t
memory_size(const struct host *h)
{
	double gib = (double)h->facts.memory_bytes / (double)(INT64_C(1) << 30);
	int64_t size = 1, next = 2;

	while (gib * gib > (double)size * (double)next && size < INT64_C(1) << 20) {
		size = next;
		next = size % 3 == 0 ? size / 3 * 4 : size / 2 * 3;
	}
	return size;
}

static uint32_t
hash(uint32_t sum, const char *text)
{
	for (; *text != '\0'; text++)
		sum = (sum ^ (unsigned char)*text) * UINT32_C(16777619);
	return sum * UINT32_C(16777619);
}

void
host_class(const struct host *h, char ret_name[NAME_SIZE])
{
	const struct host_facts *f = &h->facts;
	uint32_t sum =
	    hash(hash(hash(hash(UINT32_C(2166136261), f->os), f->release), f->arch), f->cpu);
	char *p;

	snprintf(ret_name, NAME_SIZE, "%.10s-%.16s-%.8s-%dt-%dg-%04x", f->os, f->release, f->arch,
	    f->threads, (int)memory_size(h), (unsigned)((sum ^ sum >> 16) & 0xffff));
	for (p = ret_name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("._+-", *p) == NULL)
			*p = '_';
}

bool
host_same_class(const struct host *a, const struct host *b)
{
	const struct host_facts *x = &a->facts, *y = &b->facts;

	return x->threads == y->threads && memory_size(a) == memory_size(b) &&
	       strcmp(x->os, y->os) == 0 && strcmp(x->release, y->release) == 0 &&
	       strcmp(x->arch, y->arch) == 0 && strcmp(x->cpu, y->cpu) == 0;
}

static struct prediction
predict(const struct cluster *c, const struct build *b, const struct host *h)
{
	const struct lesson *lesson = cluster_find_lesson(c, build_round(c, b)->branch, b->target);
	size_t i = lesson != NULL ? lesson->n : 0;
	double real = 0, steps = 0, weights = 0, weight = 1;
	struct prediction p = { 0 };

	while (i-- > 0 && p.samples < SAMPLES_MAX &&
	       lesson->good[i].n + LOOK_BACK_MAX > c->nattempts) {
		const struct attempt *a = cluster_find_attempt(c, lesson->good[i]);

		if (h != NULL && !host_same_class(h, cluster_find_host(c, a->host)))
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
