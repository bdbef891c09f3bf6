/* Dispatch, and nothing else: what differs between stores is in their own files.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/store_calls.h"

void
store_close(struct store *store)
{
	if (store != NULL)
		store->calls->close(store);
}

int
store_append(struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err)
{
	return nfacts == 0 ? 0 : store->calls->append(store, facts, nfacts, err);
}

int
store_rewind(struct store *store, struct err *err)
{
	return store->calls->rewind(store, err);
}

int
store_next(struct store *store, struct fact *ret_fact, struct err *err)
{
	return store->calls->next(store, ret_fact, err);
}

int64_t
store_count(struct store *store)
{
	return store->calls->count(store);
}
