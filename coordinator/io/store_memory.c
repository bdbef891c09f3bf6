/* The twin of the SQLite store for tests and trials. It keeps encoded lines rather than structs,
 * so that a fact that does not survive its encoding fails here too.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdlib.h>

#include "coordinator/io/store_calls.h"
#include "proto/base/mem.h"

struct store_memory {
	struct store store;
	size_t n, capacity;
	char **lines;
	size_t at; /* the next to be read */
};

static struct store_memory *
memory_of(struct store *store)
{
	return (struct store_memory *)store;
}

static void
memory_close(struct store *store)
{
	struct store_memory *m = memory_of(store);
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->lines[i]);
	free(m->lines);
	free(m);
}

static int
memory_append(struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err)
{
	struct store_memory *m = memory_of(store);
	size_t i;

	(void)err;
	for (i = 0; i < nfacts; i++) {
		struct text line = { 0 };

		fact_encode(facts[i], &line);
		m->lines = mem_room(m->lines, m->n, &m->capacity, sizeof *m->lines);
		m->lines[m->n++] = line.text;
	}
	return 0;
}

static int
memory_rewind(struct store *store, struct err *err)
{
	(void)err;
	memory_of(store)->at = 0;
	return 0;
}

static int
memory_next(struct store *store, struct fact *ret_fact, struct err *err)
{
	struct store_memory *m = memory_of(store);

	if (m->at == m->n)
		return 0;
	if (fact_decode(m->lines[m->at], ret_fact, err) != 0)
		return err_prefix(err, "the store in memory: fact %zu is damaged", m->at + 1);
	m->at++;
	return 1;
}

static int64_t
memory_count(struct store *store)
{
	return (int64_t)memory_of(store)->n;
}

struct store *
store_open_memory(void)
{
	static const struct store_calls calls = { memory_close, memory_append, memory_rewind,
		memory_next, memory_count };
	struct store_memory *m = mem_calloc(1, sizeof *m);

	m->store.calls = &calls;
	return &m->store;
}
