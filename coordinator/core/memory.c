/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/core/memory.h"

#include <string.h>

#include "coordinator/core/cluster.h"

static int
compare(const struct memory *m, const char *class, const char *branch, const char *phase)
{
	int order = strcmp(m->class, class);

	if (order == 0)
		order = strcmp(m->branch, branch);
	return order != 0 ? order : strcmp(m->phase, phase);
}

size_t
memory_place(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	size_t low = 0, high = c->nmemories;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&c->memories[middle], class, branch, phase) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct memory *
memory_find(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	size_t i = memory_place(c, class, branch, phase);

	if (i == c->nmemories || compare(&c->memories[i], class, branch, phase) != 0)
		return NULL;
	return &c->memories[i];
}

const struct memory *
memory_nearest(const struct cluster *c, const char *class, const char *branch, const char *phase)
{
	const struct memory *m = memory_find(c, class, branch, phase);

	if (m == NULL)
		m = memory_find(c, class, branch, "");
	return m != NULL ? m : memory_find(c, class, "", "");
}
