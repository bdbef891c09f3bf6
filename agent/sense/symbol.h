/* symbol.h - names for a few addresses of the kernel
 *
 * Shape:  a small cache. An address that is new is named later: a short-lived child reads the
 *         kernel's symbols, seldom, while the loop goes on.
 * Units:  addresses of the running kernel; CPU time in ns.
 * Errors: none: an address has a name or not yet.
 * Memory: create/destroy; SYMBOLS_MAX names, the one longest not asked for gives way.
 * Source: kallsyms.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SYMBOL_H
#define FLYBALL_SYMBOL_H

#include <stdbool.h>

#include "proto/base/loop.h"
#include "proto/units.h"

enum { SYMBOLS_MAX = 64 };

struct symbols;

struct symbols *symbols_create(struct loop *loop);
void symbols_destroy(struct symbols *symbols);

/* "function+0x1f"; false, with "", when there is no name yet. */
bool symbols_name(struct symbols *symbols, uint64_t address, char ret_name[LOCK_NAME_SIZE]);
/* CPU time of its children to be charged to a window: what one took is spread over the minute in which
 * no other can follow, so that a reading's cost does not jump. */
int64_t symbols_charge_ns(struct symbols *symbols, int64_t window_us);

#endif
