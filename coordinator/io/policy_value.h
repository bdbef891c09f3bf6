/* policy_value.h - sizes, durations and release tests as policy files write them
 *
 * Shape:  text to value and back; what is printed reads back to the same.
 * Units:  bytes; us.
 * Errors: false for what is not well-formed; the caller knows key and line.
 * Memory: by value.
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_VALUE_H
#define FLYBALL_POLICY_VALUE_H

#include "coordinator/core/codec.h"
#include "coordinator/core/policy.h"

#define SIZE_EXPECTED \
	"expected a size such as \"16g\": a number and one of b k m g t, at most 1048576t"
#define DURATION_EXPECTED \
	"expected a duration such as \"12h\": a number and one of s m h d, at most 3660d"

bool size_parse(const char *s, int64_t *ret_bytes);
void size_print(int64_t bytes, struct text *t);

bool duration_parse(const char *s, int64_t *ret_us);
void duration_print(int64_t us, struct text *t);

/* ">= 9", "< 10", "= 9.3" or "9"; "" is any. release takes NAME_SIZE bytes. */
bool release_parse(const char *s, enum release_test *ret_test, char *release);
void release_print(enum release_test test, const char *release, struct text *t);

/* "0.15", up to six digits behind the point. */
bool share_parse(const char *s, int64_t *ret_ppm);
void share_print(int64_t ppm, struct text *t);

/* A number in decimal digits, without sign or leading zero. */
bool whole_parse(const char *s, int64_t *ret_number);

#endif
