/* store_calls.h - what a kind of store has to offer; for store*.c alone
 *
 * Shape:  a struct of each kind begins with struct store, so that store.h is served by all.
 * Units:  as store.h.
 * Errors: as store.h; nfacts of append is never 0.
 * Memory: close frees the store.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_STORE_CALLS_H
#define FLYBALL_STORE_CALLS_H

#include "coordinator/io/store.h"

struct store_calls {
	void (*close)(struct store *store);
	int (*append)(
	    struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err);
	int (*rewind)(struct store *store, struct err *err);
	int (*next)(struct store *store, struct fact *ret_fact, struct err *err);
	int64_t (*count)(struct store *store);
};

struct store {
	const struct store_calls *calls;
};

#endif
