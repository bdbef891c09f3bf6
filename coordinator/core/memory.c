/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/core/memory.h"

#include <string.h>

#include "coordinator/core/cluster.h"
#include "proto/base/mem.h"

struct memory_key {
	const char *class, *branch, *phase;
};

static int
compare(const void *x, const void *element)
{
	const struct memory_key *key = x;
	const struct memory *m = element;
	int order = strcmp(key->class, m->class);

	if (order == 0)
		order = strcmp(key->branch, m->branch);
	return order != 0 ? order : strcmp(key->phase, m->phase);
}

size_t
memory_place(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	const struct memory_key key = { class, branch, phase };

	return mem_place(c->memories, c->nmemories, sizeof *c->memories, &key, compare);
}

const struct memory *
memory_find(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	const struct memory_key key = { class, branch, phase };
	size_t i = memory_place(c, class, branch, phase);

	return i < c->nmemories && compare(&key, &c->memories[i]) == 0 ? &c->memories[i] : NULL;
}

const struct memory *
memory_nearest(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	const struct memory *m = memory_find(c, class, branch, phase);

	if (m == NULL)
		m = memory_find(c, class, branch, "");
	return m != NULL ? m : memory_find(c, class, "", "");
}
