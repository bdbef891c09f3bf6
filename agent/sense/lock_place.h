/* lock_place.h - which addresses of the kernel are of its lock functions
 *
 * Shape:  a short list of address ranges, made once: the functions that spin, and what else lies
 *         between a caller and the wait.
 * Units:  addresses of the running kernel.
 * Errors: as kallsyms.h; a kernel in which no function that spins is found is an error too.
 * Memory: by value.
 * Source: kernel/locking of Linux; in_lock_functions() and in_sched_functions() there.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_PLACE_H
#define FLYBALL_LOCK_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { LOCK_PLACES_MAX = 48 };

struct lock_place {
	uint64_t begin, end; /* from begin to before end */
	const char *spins; /* the function's name when it spins, else NULL */
};

struct lock_places {
	size_t n;
	struct lock_place places[LOCK_PLACES_MAX];
};

int lock_places_find(struct lock_places *ret_places, struct err *err);

/* NULL: no lock function. One that spins is preferred to the section it lies in. */
const struct lock_place *lock_places_at(const struct lock_places *places, uint64_t address);

#endif
