/* near.h - "did you mean": the known word that a mistyped one comes closest to
 *
 * Shape:  edit distance over short words.
 * Units:  distances in letters to change, add or leave out.
 * Errors: cannot fail; NULL when nothing is close.
 * Memory: borrowed from names.
 * Source: Levenshtein's distance.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_NEAR_H
#define FLYBALL_NEAR_H

#include <stddef.h>

/* Much for words of more than 32 bytes. */
unsigned near_distance(const char *a, size_t na, const char *b, size_t nb);

/* How far a word of this length may be off and still be meant. */
unsigned near_bound(size_t length);

const char *near_find(const char *word, const char *const *names, size_t n);

#endif
