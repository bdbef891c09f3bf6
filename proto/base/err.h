/* err.h - why something failed, as a sentence an operator can act on
 *
 * Shape:  filled by the function that failed; whoever shows it adds nothing.
 * Units:  none.
 * Errors: cannot fail; a sentence too long for the buffer is cut.
 * Memory: by value, no allocation.
 * Source: docs/style.md "Errors, memory, logging".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_ERR_H
#define FLYBALL_ERR_H

enum { ERR_TEXT_SIZE = 512 };

struct err {
	char text[ERR_TEXT_SIZE];
};

/* Fills err and returns -1, so that a failing function can end with it; err may be NULL. */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As err_set, with ": " and the words for the errno value behind. */
int err_set_errno(struct err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts words and ": " before the text that is there, and returns -1. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
