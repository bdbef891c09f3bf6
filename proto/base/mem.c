/* Out of memory is not an error to pass upward: every accepted fact is in the
 * journal, so dying here and starting again loses nothing, while code paths
 * that nobody can test would.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
or_die(void *p)
{
	if (p == NULL) {
		fputs("flyball: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *
mem_calloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *
mem_grow(void *array, size_t was, size_t count, size_t size)
{
	char *p;

	if (size != 0 && count > SIZE_MAX / size)
		or_die(NULL);
	p = or_die(realloc(array, count > 0 && size > 0 ? count * size : 1));
	if (count > was)
		memset(p + was * size, 0, (count - was) * size);
	return p;
}

void *
mem_room(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t was = *capacity;

	if (count < was)
		return array;
	*capacity = was ? was * 2 : 8;
	return mem_grow(array, was, *capacity, size);
}

size_t
mem_place(const void *list, size_t count, size_t size, const void *key,
    int (*compare)(const void *key, const void *element))
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)list + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

char *
mem_strdup(const char *s)
{
	return or_die(strdup(s));
}

char *
mem_vprintf(const char *format, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0)
		or_die(NULL);
	s = mem_calloc((size_t)n + 1, 1);
	vsnprintf(s, (size_t)n + 1, format, ap);
	return s;
}

char *
mem_printf(const char *format, ...)
{
	va_list ap;
	char *s;

	va_start(ap, format);
	s = mem_vprintf(format, ap);
	va_end(ap);
	return s;
}

bool
mem_copy_text(char *buf, size_t size, const char *s)
{
	size_t n = strlen(s);
	bool fits = n < size;

	if (!fits)
		n = size - 1;
	memcpy(buf, s, n);
	buf[n] = '\0';
	return fits;
}
