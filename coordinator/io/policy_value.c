/* A number without its unit is refused: 16 could be bytes or gigabytes, and an operator finds out
 * which by a host that swaps.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/policy_value.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/wire.h"

/* Far beyond every disk and every build, and far from overflow. */
#define BYTES_MOST (INT64_C(1) << 60)
#define US_MOST (INT64_C(3660) * 24 * HOUR_US)

struct unit {
	char letter;
	int64_t size;
};

/* The largest last. */
static const struct unit size_units[] = { { 'b', 1 }, { 'k', INT64_C(1) << 10 },
	{ 'm', INT64_C(1) << 20 }, { 'g', INT64_C(1) << 30 }, { 't', INT64_C(1) << 40 } };
static const struct unit duration_units[] = { { 's', SECOND_US }, { 'm', MINUTE_US },
	{ 'h', HOUR_US }, { 'd', 24 * HOUR_US } };

enum {
	SIZE_UNITS = sizeof size_units / sizeof size_units[0],
	DURATION_UNITS = sizeof duration_units / sizeof duration_units[0]
};

/* Digits up to the first byte that is none, at most a number of 18 of them. */
static bool
take_digits(const char **s, int64_t *ret_number)
{
	size_t i, n = strspn(*s, "0123456789");
	int64_t number = 0;

	if (n == 0 || n > 18 || (**s == '0' && n > 1))
		return false;
	for (i = 0; i < n; i++)
		number = number * 10 + ((*s)[i] - '0');
	*s += n;
	*ret_number = number;
	return true;
}

bool
whole_parse(const char *s, int64_t *ret_number)
{
	int64_t number;

	if (!take_digits(&s, &number) || *s != '\0')
		return false;
	*ret_number = number;
	return true;
}

bool
share_parse(const char *s, int64_t *ret_ppm)
{
	int64_t ppm = 0, unit = 100000;

	if (strncmp(s, "0.", 2) != 0 || s[2] == '\0')
		return false;
	for (s += 2; isdigit((unsigned char)*s) && unit > 0; s++, unit /= 10)
		ppm += (*s - '0') * unit;
	if (*s != '\0')
		return false;
	*ret_ppm = ppm;
	return true;
}

void
share_print(int64_t ppm, struct text *t)
{
	int digits = 6;

	while (digits > 1 && ppm % 10 == 0) {
		ppm /= 10;
		digits--;
	}
	text_printf(t, "0.%0*" PRId64, digits, ppm);
}

static bool
parse(const char *s, const struct unit *units, size_t n, int64_t most, int64_t *ret)
{
	int64_t number;
	size_t i;

	if (!take_digits(&s, &number) || s[0] == '\0' || s[1] != '\0')
		return false;
	for (i = 0; i < n; i++)
		if (units[i].letter == s[0] && number <= most / units[i].size) {
			*ret = number * units[i].size;
			return true;
		}
	return false;
}

static void
print(int64_t value, const struct unit *units, size_t n, struct text *t)
{
	while (n > 1 && (value == 0 || value % units[n - 1].size != 0))
		n--;
	text_printf(t, "%" PRId64 "%c", value / units[n - 1].size, units[n - 1].letter);
}

bool
size_parse(const char *s, int64_t *ret_bytes)
{
	return parse(s, size_units, SIZE_UNITS, BYTES_MOST, ret_bytes);
}

void
size_print(int64_t bytes, struct text *t)
{
	print(bytes, size_units, SIZE_UNITS, t);
}

bool
duration_parse(const char *s, int64_t *ret_us)
{
	return parse(s, duration_units, DURATION_UNITS, US_MOST, ret_us);
}

void
duration_print(int64_t us, struct text *t)
{
	print(us, duration_units, DURATION_UNITS, t);
}

/* Longer signs first. */
static enum release_test
take_test(const char **s)
{
	static const enum release_test tests[] = { RELEASE_GE, RELEASE_LE, RELEASE_GT, RELEASE_LT,
		RELEASE_EQ };
	size_t i;

	for (i = 0; i < sizeof tests / sizeof tests[0]; i++) {
		const char *sign = release_test_name(tests[i]);

		if (strncmp(*s, sign, strlen(sign)) == 0) {
			*s += strlen(sign);
			return tests[i];
		}
	}
	return RELEASE_EQ;
}

bool
release_parse(const char *s, enum release_test *ret_test, char *release)
{
	enum release_test test = RELEASE_ANY;

	if (*s != '\0') {
		test = take_test(&s);
		s += strspn(s, " ");
		if (!wire_name_ok(s) || !isalnum((unsigned char)*s))
			return false;
	}
	*ret_test = test;
	return mem_copy_text(release, NAME_SIZE, s);
}

void
release_print(enum release_test test, const char *release, struct text *t)
{
	if (test != RELEASE_ANY)
		text_printf(t, "%s %s", release_test_name(test), release);
}
