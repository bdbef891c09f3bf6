/* codec.h - the core's values as one line of text and back, to the bit
 *
 * Shape:  a record is "(name=value ...)"; a value is a number, a text with %XX for
 *         what would confuse, or a list "[(...)(...)]". What is zero or empty is left
 *         out. One table of fields a struct serves both directions.
 * Units:  doubles in hexadecimal, so that nothing is rounded.
 * Errors: decode names the field and the place. An unknown field is an error: the
 *         journal's schema version says which fields there are.
 * Memory: decode allocates texts and lists; codec_clear frees them by the same table.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CODEC_H
#define FLYBALL_CODEC_H

#include <stddef.h>

#include "proto/base/err.h"

enum field_type {
	FIELD_INT, /* int32_t, enum, int64_t, uint64_t, bool: by size */
	FIELD_DOUBLE,
	FIELD_TEXT, /* char[size] */
	FIELD_STRING, /* char *, NULL is left out */
	FIELD_NAMES, /* char (*)[size], counted */
	FIELD_STRUCT, /* a struct inside */
	FIELD_LIST /* pointer to structs of size bytes, counted */
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_type type;
	size_t offset;
	size_t size;
	size_t count_offset; /* of the size_t that counts */
	const struct field *table; /* of the struct inside */
};

#define FIELD_AT(type_, struct_, name_, member_) \
	{ \
		name_, type_, offsetof(struct_, member_), sizeof(((struct_ *)0)->member_), 0, NULL \
	}
#define FIELD_SUB(struct_, name_, member_, table_) \
	{ \
		name_, FIELD_STRUCT, offsetof(struct_, member_), sizeof(((struct_ *)0)->member_), \
		    0, table_ \
	}
#define FIELD_MANY(type_, struct_, name_, member_, count_, table_) \
	{ \
		name_, type_, offsetof(struct_, member_), sizeof(*((struct_ *)0)->member_), \
		    offsetof(struct_, count_), table_ \
	}
#define FIELD_END \
	{ \
		NULL, FIELD_INT, 0, 0, 0, NULL \
	}

/* A growing text; zeroed to begin with, free(text) to end. */
struct text {
	char *text;
	size_t length, capacity;
};

void text_add(struct text *t, const char *s);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

void codec_encode(struct text *t, const struct field *table, const void *record);
/* Reads one record from *at and moves it behind; record must be zeroed. On failure it holds nothing. */
int codec_decode(const char **at, const struct field *table, void *ret_record, struct err *err);
void codec_clear(const struct field *table, void *record);
/* For a record that was copied by assignment: gives it copies of all that codec_clear would free. */
void codec_own(const struct field *table, void *record);

#endif
