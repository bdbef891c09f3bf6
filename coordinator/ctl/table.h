/* table.h - columns, as wide as what stands in them
 *
 * Shape:  columns first, then cells row by row; printed as a whole.
 * Units:  widths in columns of a terminal.
 * Errors: cannot fail.
 * Memory: table_create/table_destroy; cells are copied.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TABLE_H
#define FLYBALL_TABLE_H

#include "coordinator/ctl/output.h"

struct table;

/* Titles with a space between; one that begins with + holds numbers and stands to the right, one
 * with ~ (the first alone) is cut when there is no room for the last column. */
struct table *table_create(const char *titles);
void table_destroy(struct table *t);

/* The next cell. NULL or "" is shown as "-"; control characters are made harmless. */
void table_add(struct table *t, const char *text);
void table_addf(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Cells of known state words are coloured when the view says so; on a terminal no row
 * is wider than that, unless the view is wide: the last column is cut, and what does not fit then
 * is left out. Without rows only the titles are printed. */
void table_print(const struct table *t, const struct view *view);

#endif
