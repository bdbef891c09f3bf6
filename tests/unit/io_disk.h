/* io_disk.h - a journal in memory, on a disk that may be full
 *
 * Shape:  a store for the driver; while full is set nothing can be appended.
 * Units:  none.
 * Errors: "the disk is full".
 * Memory: disk_init/disk_clear.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TEST_DISK_H
#define FLYBALL_TEST_DISK_H

#include "coordinator/io/store_calls.h"

struct disk {
	struct store store;
	struct store *kept;
	bool full;
};

static inline struct disk *
disk_of(struct store *store)
{
	return (struct disk *)store;
}

static inline int
disk_append(struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err)
{
	if (disk_of(store)->full)
		return err_set(err, "the disk is full");
	return store_append(disk_of(store)->kept, facts, nfacts, err);
}

static inline int
disk_rewind(struct store *store, struct err *err)
{
	return store_rewind(disk_of(store)->kept, err);
}

static inline int
disk_next(struct store *store, struct fact *ret_fact, struct err *err)
{
	return store_next(disk_of(store)->kept, ret_fact, err);
}

static inline int64_t
disk_count(struct store *store)
{
	return store_count(disk_of(store)->kept);
}

static inline void
disk_init(struct disk *disk)
{
	static const struct store_calls calls = { NULL, disk_append, disk_rewind, disk_next,
		disk_count };

	*disk = (struct disk){ .store.calls = &calls, .kept = store_open_memory() };
}

static inline void
disk_clear(struct disk *disk)
{
	store_close(disk->kept);
}

#endif
