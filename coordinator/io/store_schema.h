/* store_schema.h - brings a SQLite file to the schema that this program knows
 *
 * Shape:  steps[n] makes version n + 1 of version n; a file of nothing is version 0.
 * Units:  none.
 * Errors: a later version, and a file of another program, are refused; a step that fails leaves
 *         the file as it was. Sentences name path.
 * Memory: none.
 * Source: docs/decisions/0005-store.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_STORE_SCHEMA_H
#define FLYBALL_STORE_SCHEMA_H

#include <sqlite3.h>

#include "proto/base/err.h"

/* The steps to STORE_SCHEMA_VERSION, as many. */
extern const char *const store_schema_steps[];

int store_schema_update(
    sqlite3 *db, const char *path, const char *const *steps, int nsteps, struct err *err);

/* SQLite's last trouble with db as a sentence behind what was tried; returns -1. */
int store_schema_refuse(sqlite3 *db, const char *path, const char *tried, struct err *err);

#endif
