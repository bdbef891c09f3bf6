/* lock.h - where the kernel's locks cost time
 *
 * Shape:  one vtable a source. A source is opened once and asked for readings; it works by
 *         itself on the loop and calls back with each table, also with one that says why
 *         there is no reading. What is chosen by "auto" stands in lock.c's table.
 * Units:  as struct lock_table.
 * Errors: open says in a sentence why this source cannot work here; "auto" then tries the next.
 * Memory: open/close; a table handed to the callback is borrowed for the call.
 * Source: docs/architecture.md "Lock sources"; the manual pages named in each source's file.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_H
#define FLYBALL_LOCK_H

#include "proto/base/err.h"
#include "proto/base/loop.h"
#include "proto/units.h"

struct lock_settings {
	char command[SOURCE_SIZE]; /* for "command": run by /bin/sh -c */
	char helpers[SOURCE_SIZE]; /* folder of flyball-lock-bpf; "": beside this program, else where
				    * it is installed */
	int64_t every_us; /* between the beginnings of two windows */
	int64_t window_us; /* how long one reads; "profile" reads all the time */
};

typedef void (*lock_reading_f)(void *arg, const struct lock_table *table);

struct lock_source {
	const char *name;
	const char *coverage; /* what it cannot see, in a sentence for people */
	void *(*open)(struct loop *loop, const struct lock_settings *settings,
	    lock_reading_f on_reading, void *arg, struct err *err);
	void (*close)(void *self);
};

/* The sources of this system in the order in which "auto" tries them. */
extern const struct lock_source *const lock_sources[];

/* A source that was asked for, or found; NULL with a sentence. names: "auto", "none" (NULL and
 * err->text ""), or one or more names with commas between, such as "profile,bpf". */
struct locks;
struct locks *locks_open(struct loop *loop, const char *names, const struct lock_settings *settings,
    lock_reading_f on_reading, void *arg, struct err *err);
void locks_close(struct locks *locks);

#endif
