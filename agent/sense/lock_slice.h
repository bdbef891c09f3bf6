/* lock_slice.h - pieces of a text that may hold any bytes
 *
 * Shape:  a slice is bytes and their number; nothing is copied and nothing ends with a zero.
 * Units:  numbers as decimals, exact; no floating point, which would round totals.
 * Errors: false: there is none, or it is no number, or it is past 63 bits.
 * Memory: borrowed from the text.
 * Source: -
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_SLICE_H
#define FLYBALL_LOCK_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const char *s;
	size_t n;
};

/* Takes what stands before the next line feed; *ret_whole is false where there is no line feed. */
bool slice_line(struct slice *text, struct slice *ret_line, bool *ret_whole);
/* Takes the next word; words stand between blanks. */
bool slice_word(struct slice *line, struct slice *ret_word);
/* Takes the last word; what stands before it stays, trimmed. */
bool slice_last_word(struct slice *line, struct slice *ret_word);
struct slice slice_trim(struct slice slice);

bool slice_is(struct slice slice, const char *text);
bool slice_begins(struct slice slice, const char *text);
/* As slice_begins, and moves behind it. */
bool slice_skip(struct slice *slice, const char *text);
/* What stands before text, in *ret_before if that is not NULL; false when it is not there. */
bool slice_find(struct slice slice, const char *text, struct slice *ret_before);

/* The whole slice as a number, which may be negative. */
bool slice_int(struct slice slice, int64_t *ret_n);
/* "12.34" times unit, exact, with 2 as decimals; decimals -1: any number that unit can hold. */
bool slice_decimal(struct slice slice, int decimals, int64_t unit, int64_t *ret_n);

/* As text, cut to size; what is not printable ASCII becomes '?'. */
void slice_copy(struct slice slice, char *buf, size_t size);

#endif
