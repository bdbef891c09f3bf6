/* store.h - the journal of facts, kept
 *
 * Shape:  facts are appended in batches and read back in order; a vtable, so that SQLite,
 *         the in-memory twin and what may follow pass the same tests. Nothing of SQL shows.
 * Units:  as fact.h.
 * Errors: a failed append has kept nothing of the batch and says why (full disk: the store is
 *         read-only until store_append works again). A store of a later schema is refused.
 * Memory: facts read are the caller's (fact_clear).
 * Source: docs/architecture.md "Journal".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_STORE_H
#define FLYBALL_STORE_H

#include "coordinator/core/fact.h"

enum { STORE_SCHEMA_VERSION = 1 };

struct store;

/* A file, made when it is not there; WAL, synchronous=FULL. Refuses one that another process has. */
struct store *store_open_sqlite(const char *path, struct err *err);
struct store *store_open_memory(void);
void store_close(struct store *store);

/* All of the batch is safe on disk when this returns 0. */
int store_append(
    struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err);

/* Reads from the first fact on: 1 with a fact, 0 at the end, -1 on damage. */
int store_rewind(struct store *store, struct err *err);
int store_next(struct store *store, struct fact *ret_fact, struct err *err);

/* How many facts it has. */
int64_t store_count(struct store *store);

#endif
