/* width.h - how many columns of a terminal a text takes
 *
 * Shape:  of UTF-8 in one line, whatever the locale is.
 * Units:  columns; bytes where it says so.
 * Errors: cannot fail; a byte that is no UTF-8 counts as a column.
 * Memory: none.
 * Source: Unicode Standard Annex 11 (East Asian Width); the ranges are rough.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WIDTH_H
#define FLYBALL_WIDTH_H

#include <stddef.h>

size_t width_of(const char *text);
/* How many bytes of it, whole characters, fit into so many columns. */
size_t width_fit(const char *text, size_t columns);

#endif
