/* gauge.h - numbers that an operator named, each read at its own interval
 *
 * Shape:  opened on the loop; between two readings the last one is given with its age.
 *         Commands run beside the agent and cannot hold it.
 * Units:  as struct gauge.
 * Errors: a gauge that cannot be read is missing, with why, until it can.
 * Memory: open/close; readings are borrowed until the next gauges_read.
 * Source: docs/man/flyball-agent.conf.5 "gauge".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_GAUGE_H
#define FLYBALL_GAUGE_H

#include "proto/base/loop.h"
#include "proto/units.h"

enum { GAUGE_OUTPUT_BYTES = 16 * 1024 };

enum gauge_kind { GAUGE_FILE, GAUGE_OID, GAUGE_COMMAND };

struct gauge_settings {
	char name[NAME_SIZE];
	enum gauge_kind kind;
	char source[SOURCE_SIZE]; /* the file's path, the OID, the command */
	int32_t field; /* which word of what it says, from 1 */
	int64_t every_us;
};

struct gauges;

struct gauges *gauges_open(struct loop *loop, const struct gauge_settings *settings, size_t n);
void gauges_close(struct gauges *gauges); /* NULL is fine */
/* All, in the order of the settings. */
const struct gauge *gauges_read(struct gauges *gauges, mono_us now, size_t *ret_n);

/* The number that is the n-th word of a text; -1 with why it is none. */
int gauge_parse(const char *text, int32_t field, double *ret_value, char why[TEXT_SIZE]);

#endif
