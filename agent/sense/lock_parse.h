/* lock_parse.h - what the parsers of lock tables share
 *
 * Shape:  a format says by a line whether it begins there; lock_text.c looks for the first such
 *         line and hands over. A parser fills the table by lock_table_add, or by total and row
 *         apart where the text tells a whole and its parts.
 * Units:  as struct lock_table.
 * Errors: lock_parse_fail: the sentence ends in table->missing, and nothing else is left in it.
 * Memory: struct lock_past belongs to who reads the same counters again and again: zeroed to
 *         begin with, lock_past_clear.
 * Source: lock_text.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_PARSE_H
#define FLYBALL_LOCK_PARSE_H

#include "agent/sense/lock_slice.h"
#include "agent/sense/lock_text.h"

/* Counters as they stood, for formats that count since the boot. */
struct lock_past;

struct lock_parse {
	struct slice text; /* what is left, line by line */
	int line; /* number of the line taken last */
	int32_t cpus;
	struct lock_past *past, *now; /* NULL: counters are taken as they are */
	struct lock_table *table;
};

struct lock_format {
	const char *source; /* what table->source becomes */
	const char *words; /* what it is, for people */
	bool counts_on; /* its figures go on from reading to reading */
	bool (*begins)(struct slice line);
	/* The line that begins it is the first one that lock_parse_line gives. */
	int (*parse)(struct lock_parse *parse);
};

extern const struct lock_format lock_format_netbsd, lock_format_freebsd, lock_format_prof,
    lock_format_perf_csv, lock_format_perf, lock_format_stat;

/* The next line that is not blank, trimmed; false at the end. A last line without a line feed was
 * cut: then lock_parse_fail has been called, and -1 comes of it. 1: there is one, 0: none. */
int lock_parse_line(struct lock_parse *parse, struct slice *ret_line);
/* -1, so that a failing parser can end with it. */
int lock_parse_fail(struct lock_parse *parse, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The two halves of lock_table_add. */
bool lock_table_total(struct lock_table *table, enum lock_kind kind, int64_t count, int64_t ns);
void lock_table_row(struct lock_table *table, const struct lock_row *row);

/* Of a row of counters that go on: what came since the reading before. False when they went back, or
 * are too many to remember. */
bool lock_parse_since(struct lock_parse *parse, struct lock_row *row);

/* As lock_text_parse; the figures of a format that goes on are those since the call before with the
 * same past, of which the first gives a reason. */
struct lock_past *lock_past_create(void);
void lock_past_destroy(struct lock_past *past);
void lock_text_parse_since(const char *text, size_t n, int32_t cpus, int64_t window_us,
    struct lock_past **past, struct lock_table *ret_table);

/* A sentence for what a tool says when it cannot; false when nothing of it is known. */
bool lock_text_reason(const char *text, size_t n, char *buf, size_t size);

#endif
