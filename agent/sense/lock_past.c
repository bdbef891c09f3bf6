/* Counters are found again by a hash of both names: keeping the names would cost a hundred times the
 * figures. Two rows of one hash (64 bits, at most some thousands of rows) would be a figure too small
 * once in longer than kernels live.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_parse.h"

#include <stdlib.h>

#include "proto/base/mem.h"

enum { PAST_MAX = 8192 }; /* lockdep has no more classes than that */

struct counter {
	uint64_t hash;
	int64_t count, ns;
};

struct lock_past {
	size_t n, capacity, at; /* at: where the last one was found; texts keep their order */
	struct counter *list;
};

struct lock_past *
lock_past_create(void)
{
	return mem_calloc(1, sizeof(struct lock_past));
}

void
lock_past_destroy(struct lock_past *past)
{
	if (past == NULL)
		return;
	free(past->list);
	free(past);
}

/* FNV-1a, with the zero behind each name. */
static uint64_t
hash_of(const struct lock_row *row)
{
	const char *const names[] = { row->lock, row->caller };
	uint64_t hash = UINT64_C(14695981039346656037) + row->kind;

	for (int i = 0; i < 2; i++) {
		const char *s = names[i];

		do
			hash = (hash ^ (unsigned char)*s) * UINT64_C(1099511628211);
		while (*s++ != '\0');
	}
	return hash;
}

static const struct counter *
find(struct lock_past *past, uint64_t hash)
{
	for (size_t i = 0; i < past->n; i++) {
		size_t at = (past->at + i) % past->n;

		if (past->list[at].hash == hash) {
			past->at = at + 1;
			return &past->list[at];
		}
	}
	return NULL;
}

bool
lock_parse_since(struct lock_parse *parse, struct lock_row *row)
{
	struct lock_past *now = parse->now;
	const struct counter *before;
	uint64_t hash;

	if (now == NULL)
		return true;
	if (now->n == PAST_MAX)
		return false;
	hash = hash_of(row);
	now->list = mem_room(now->list, now->n, &now->capacity, sizeof *now->list);
	now->list[now->n++] = (struct counter){ hash, row->count, row->wait_ns };
	before = parse->past != NULL ? find(parse->past, hash) : NULL;
	if (before == NULL)
		return true;
	if (row->count < before->count || row->wait_ns < before->ns)
		return false;
	row->count -= before->count;
	row->wait_ns -= before->ns;
	return true;
}
