/* lock_tool.h - a program that measures locks for a window, run again and again
 *
 * Shape:  the engine of the sources that are programs; a source is one struct lock_tool.
 *         What the program prints goes through lock_text; nothing blocks the loop.
 * Units:  as struct lock_table.
 * Errors: opening says why this tool cannot work here; after that every failure is a reading
 *         that is missing, with its reason.
 * Memory: open/close; close ends the program and all that it started in its process group.
 * Source: docs/architecture.md "Lock sources".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_TOOL_H
#define FLYBALL_LOCK_TOOL_H

#include "agent/sense/lock.h"

enum { TOOL_OUTPUT_BYTES = 1024 * 1024, TOOL_GRACE_S = 30 /* beyond the window */ };

struct lock_tool {
	const struct lock_source *source;
	const char *program; /* that must be there; NULL: none that we know */
	const char *home; /* what brings it, for people */
	bool root;
	const char *script; /* for /bin/sh; $1 is the window in seconds; NULL: the operator's */
	const char *mend_when, *mend; /* when it said this, run that before the next window */
	bool goes_on; /* prints counters: a window is from one reading to the next */
	int64_t every_min_us;
};

void *lock_tool_open(const struct lock_tool *tool, struct loop *loop,
    const struct lock_settings *settings, lock_reading_f on_reading, void *arg, struct err *err);
void lock_tool_close(void *self);
void lock_tool_steps(void *self, int64_t steps);

#endif
