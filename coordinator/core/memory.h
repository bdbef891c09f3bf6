/* memory.h - what the law has learned, across builds: keyed by host class, branch and phase
 *
 * Shape:  a list in the order of its keys; each entry is set by a fact. What one phase teaches
 *         is kept for it, for its branch ("" phase) and for the class ("" branch as well).
 * Units:  as law.h.
 * Errors: none.
 * Memory: entries belong to the cluster; borrowed until the next step().
 * Source: docs/states.md "What is learned".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_MEMORY_H
#define FLYBALL_MEMORY_H

#include <stddef.h>

#include "coordinator/core/law.h"

struct cluster;

struct memory {
	char class[NAME_SIZE]; /* host_class() */
	char branch[NAME_SIZE];
	char phase[NAME_SIZE];
	struct law_memory law;
};

/* Where the entry of these keys is, or would be. */
size_t memory_place(
    const struct cluster *c, const char *class, const char *branch, const char *phase);
/* Exactly that one, or NULL. */
const struct memory *memory_find(
    const struct cluster *c, const char *class, const char *branch, const char *phase);
/* The nearest that is known: the phase, else the branch, else the class; NULL none. */
const struct memory *memory_nearest(
    const struct cluster *c, const char *class, const char *branch, const char *phase);

#endif
