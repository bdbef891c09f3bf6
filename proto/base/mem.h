/* mem.h - allocation that cannot fail, and bounded string copies
 *
 * Shape:  as malloc and friends; memory is zeroed.
 * Units:  sizes in bytes, counts in elements.
 * Errors: out of memory aborts; the journal makes that safe.
 * Memory: the caller frees with free().
 * Source: docs/style.md "Errors, memory, logging".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_MEM_H
#define FLYBALL_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed array of count elements; a product that overflows aborts. */
void *mem_calloc(size_t count, size_t size);

/* Grows an array of was elements to count; what is new is zeroed. */
void *mem_grow(void *array, size_t was, size_t count, size_t size);

/* Makes room for one more element behind count, doubling *capacity when it is full. */
void *mem_room(void *array, size_t count, size_t *capacity, size_t size);

/* Where key is in a list in order, or would be: the first place whose element is not below it. compare
 * is bsearch(3)'s. */
size_t mem_place(const void *list, size_t count, size_t size, const void *key,
    int (*compare)(const void *key, const void *element));

char *mem_strdup(const char *s);

/* printf into fresh memory. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));

/* Copies s into a buffer of size bytes; false, with the buffer cut, when it does not fit. */
bool mem_copy_text(char *buf, size_t size, const char *s);

#endif
