/* What a kernel or a tool prints may be cut anywhere or be another program's. Every read is bounded by
 * the slice, and a number is taken only when the whole slice is one.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_slice.h"

#include <string.h>

static bool
blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool
slice_line(struct slice *text, struct slice *ret_line, bool *ret_whole)
{
	const char *end;

	if (text->n == 0)
		return false;
	end = memchr(text->s, '\n', text->n);
	*ret_whole = end != NULL;
	*ret_line = (struct slice){ text->s, end != NULL ? (size_t)(end - text->s) : text->n };
	text->s += ret_line->n + *ret_whole;
	text->n -= ret_line->n + *ret_whole;
	return true;
}

struct slice
slice_trim(struct slice slice)
{
	while (slice.n > 0 && blank(slice.s[0])) {
		slice.s++;
		slice.n--;
	}
	while (slice.n > 0 && blank(slice.s[slice.n - 1]))
		slice.n--;
	return slice;
}

bool
slice_word(struct slice *line, struct slice *ret_word)
{
	struct slice rest = slice_trim(*line);
	size_t n = 0;

	if (rest.n == 0)
		return false;
	while (n < rest.n && !blank(rest.s[n]))
		n++;
	*ret_word = (struct slice){ rest.s, n };
	*line = (struct slice){ rest.s + n, rest.n - n };
	return true;
}

bool
slice_last_word(struct slice *line, struct slice *ret_word)
{
	struct slice rest = slice_trim(*line);
	size_t begin = rest.n;

	if (rest.n == 0)
		return false;
	while (begin > 0 && !blank(rest.s[begin - 1]))
		begin--;
	*ret_word = (struct slice){ rest.s + begin, rest.n - begin };
	*line = slice_trim((struct slice){ rest.s, begin });
	return true;
}

bool
slice_begins(struct slice slice, const char *text)
{
	size_t n = strlen(text);

	return slice.n >= n && memcmp(slice.s, text, n) == 0;
}

bool
slice_is(struct slice slice, const char *text)
{
	return slice.n == strlen(text) && slice_begins(slice, text);
}

bool
slice_skip(struct slice *slice, const char *text)
{
	if (!slice_begins(*slice, text))
		return false;
	slice->s += strlen(text);
	slice->n -= strlen(text);
	return true;
}

bool
slice_find(struct slice slice, const char *text, struct slice *ret_before)
{
	const char *at = slice.n > 0 ? memmem(slice.s, slice.n, text, strlen(text)) : NULL;

	if (at == NULL)
		return false;
	if (ret_before != NULL)
		*ret_before = (struct slice){ slice.s, (size_t)(at - slice.s) };
	return true;
}

static bool
digits(struct slice slice, int64_t *ret_n)
{
	int64_t n = 0;

	for (size_t i = 0; i < slice.n; i++) {
		if (slice.s[i] < '0' || slice.s[i] > '9')
			return false;
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, slice.s[i] - '0', &n))
			return false;
	}
	*ret_n = n;
	return slice.n > 0;
}

bool
slice_int(struct slice slice, int64_t *ret_n)
{
	bool negative = slice_skip(&slice, "-");

	if (!digits(slice, ret_n))
		return false;
	if (negative)
		*ret_n = -*ret_n;
	return true;
}

bool
slice_decimal(struct slice slice, int decimals, int64_t unit, int64_t *ret_n)
{
	struct slice whole = slice, part = { "", 0 };
	int64_t n, fraction = 0;

	if (slice_find(slice, ".", &whole)) {
		part = (struct slice){ slice.s + whole.n + 1, slice.n - whole.n - 1 };
		if (part.n == 0)
			return false;
	}
	if (decimals >= 0 && part.n != (size_t)decimals)
		return false;
	if (!digits(whole, &n) || (part.n > 0 && !digits(part, &fraction)) ||
	    __builtin_mul_overflow(n, unit, &n))
		return false;
	for (size_t i = 0; i < part.n; i++) {
		if (unit % 10 != 0)
			return false;
		unit /= 10;
	}
	return !__builtin_mul_overflow(fraction, unit, &fraction) &&
	       !__builtin_add_overflow(n, fraction, ret_n);
}

void
slice_copy(struct slice slice, char *buf, size_t size)
{
	size_t n = slice.n < size - 1 ? slice.n : size - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = slice.s[i] >= ' ' && slice.s[i] <= '~' ? slice.s[i] : '?';
	buf[n] = '\0';
}
