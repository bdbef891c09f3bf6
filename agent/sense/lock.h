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
	char
	    helpers[SOURCE_SIZE]; /* folder of flyball-lock-bpf; "": beside this program, else where
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
	/* NULL, or hears how many steps this host has begun so far, so that it can compare the
	 * rate in its windows with the rate outside, and measure less often when it costs. */
	void (*steps)(void *self, int64_t steps);
};

/* The sources of this system in the order in which "auto" tries them. */
extern const struct lock_source *const lock_sources[];

/* Those that were asked for, or found. names: "auto", "none" (NULL and err->text ""), or one or more
 * names with commas between, such as "profile,bpf". What cannot work here is left out and told in
 * err->text, which is "" when all could be opened; NULL when none could. */
struct locks;
struct locks *locks_open(struct loop *loop, const char *names, const struct lock_settings *settings,
    lock_reading_f on_reading, void *arg, struct err *err);
void locks_close(struct locks *locks); /* NULL is fine */
const char *locks_name(const struct locks *locks, size_t i); /* NULL past the last */
void locks_steps(struct locks *locks, int64_t steps); /* about once a second */

/* False, with a sentence, when names is not what locks_open takes; says nothing of this machine. */
bool locks_names_ok(const char *names, struct err *err);

#endif
