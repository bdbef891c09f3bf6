/* series.h - readings over time: append-only chunk files, a host's by day, an attempt's whole
 *
 * Shape:  folder/host/NAME-YYYYMMDD and folder/attempt/N. A chunk begins with one line of text that
 *         names version, kind, name, byte order and columns; then rows of one size: int64 wall_us,
 *         uint64 mask of missing columns, and a float for each column. Rows wait in memory for some
 *         seconds, so a crash may lose those; a row that a crash has cut is passed over.
 * Units:  as units.h; what a column holds is named in series.c.
 * Errors: a chunk that cannot be written loses its rows and says so, throttled: readings are soft.
 * Memory: series_open/series_close; a reader is closed by its caller.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SERIES_H
#define FLYBALL_SERIES_H

#include <stdio.h>

#include "proto/base/err.h"
#include "proto/units.h"

enum { SERIES_VERSION = 1, SERIES_COLUMNS_MAX = 48 };

struct series;

struct series *series_open(const char *folder, struct err *err);
void series_close(struct series *series); /* writes what waits */

void series_add_host(struct series *series, const char *host, wall_us at, const struct load *load,
    int32_t limit, int32_t running);
void series_add_attempt(struct series *series, wall_us at, const struct attempt_status *status);
/* Writes what has waited long enough; to be called once a second or so. */
void series_tick(struct series *series, mono_us now);

/* ---- reading a chunk back ---- */

struct series_row {
	wall_us at;
	uint64_t missing; /* bit n: column n is not there */
	size_t ncolumns;
	double values[SERIES_COLUMNS_MAX];
};

struct series_reader {
	FILE *file;
	char kind[NAME_SIZE], name[NAME_SIZE];
	size_t ncolumns;
	char columns[SERIES_COLUMNS_MAX][NAME_SIZE];
};

/* Refuses, by name, what is no chunk, or of a later version or another byte order. */
int series_reader_open(struct series_reader *ret_reader, const char *path, struct err *err);
/* 1 with a row, 0 at the end. */
int series_reader_next(struct series_reader *reader, struct series_row *ret_row);
void series_reader_close(struct series_reader *reader);

#endif
