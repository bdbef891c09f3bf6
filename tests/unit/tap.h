/* tap.h - the least a test of the core needs: it links with libc and libm alone
 *
 * Shape:  TAP on standard output; ok() counts and names; tap_done() ends.
 * Units:  none.
 * Errors: a failed check prints its line and the test goes on.
 * Memory: none.
 * Source: https://testanything.org
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TAP_H
#define FLYBALL_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

static inline bool __attribute__((format(printf, 4, 5)))
tap_ok(bool good, const char *file, int line, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	return good;
}

#define ok(good, ...) tap_ok(good, __FILE__, __LINE__, __VA_ARGS__)

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
