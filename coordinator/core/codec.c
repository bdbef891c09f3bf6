/* One table a struct drives writing, reading, freeing and copying, so that a field
 * that is added to a table is kept by all four. The text is for people too: it is
 * what stands in the journal and in recordings.
 *
 * Invariant: decode(encode(x)) is x to the bit, and encode(decode(t)) is t for every t
 * that encode gave.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/codec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

#define NAN_PREFIX "nan#"

enum { DEPTH_MAX = 8, COUNT_MAX = 1 << 20 };

static void
text_room(struct text *t, size_t more)
{
	if (t->length + more + 1 > t->capacity) {
		size_t capacity = (t->length + more + 1) * 2;

		t->text = mem_grow(t->text, t->capacity, capacity, 1);
		t->capacity = capacity;
	}
}

void
text_add(struct text *t, const char *s)
{
	size_t n = strlen(s);

	text_room(t, n);
	memcpy(t->text + t->length, s, n + 1);
	t->length += n;
}

void
text_printf(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	text_room(t, (size_t)n);
	va_start(ap, format);
	vsnprintf(t->text + t->length, (size_t)n + 1, format, ap);
	va_end(ap);
	t->length += (size_t)n;
}

/* ---- access by table -------------------------------------------------------------------- */

static void *
at(void *record, size_t offset)
{
	return (char *)record + offset;
}

static const void *
cat(const void *record, size_t offset)
{
	return (const char *)record + offset;
}

static size_t
count_of(const struct field *f, const void *record)
{
	size_t n;

	memcpy(&n, cat(record, f->count_offset), sizeof n);
	return n;
}

static void *
pointer_of(const struct field *f, const void *record)
{
	void *p;

	memcpy(&p, cat(record, f->offset), sizeof p);
	return p;
}

static void
pointer_set(const struct field *f, void *record, void *p)
{
	memcpy(at(record, f->offset), &p, sizeof p);
}

static int64_t
int_get(const struct field *f, const void *record)
{
	const void *p = cat(record, f->offset);
	int32_t i32;
	int64_t i64;
	uint8_t u8;

	switch (f->size) {
	case 1:
		memcpy(&u8, p, sizeof u8);
		return u8;
	case 4:
		memcpy(&i32, p, sizeof i32);
		return i32;
	default:
		memcpy(&i64, p, sizeof i64);
		return i64;
	}
}

static bool
int_put(const struct field *f, void *record, int64_t value)
{
	int32_t i32 = (int32_t)value;
	uint8_t u8 = (uint8_t)value;
	const void *from = f->size == 1   ? (const void *)&u8
			   : f->size == 4 ? (const void *)&i32
					  : (const void *)&value;

	memcpy(at(record, f->offset), from, f->size);
	return f->size == 8 || (f->size == 4 && i32 == value) ||
	       (f->size == 1 && (value == 0 || value == 1));
}

/* ---- writing ---------------------------------------------------------------------------- */

static void
add_quoted(struct text *t, const char *s)
{
	char piece[4] = { 0 };

	for (; *s != '\0'; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch <= ' ' || ch == '%' || ch == '(' || ch == ')' || ch == '[' || ch == ']' ||
		    ch == 0x7f)
			snprintf(piece, sizeof piece, "%%%02x", ch);
		else
			piece[0] = *s, piece[1] = '\0';
		text_add(t, piece);
	}
}

static void
encode_list(struct text *t, const struct field *f, const void *record)
{
	size_t i, n = count_of(f, record);
	const char *p = pointer_of(f, record);

	text_add(t, "[");
	for (i = 0; i < n; i++) {
		if (f->type == FIELD_LIST) {
			codec_encode(t, f->table, p + i * f->size);
			continue;
		}
		text_add(t, "(");
		add_quoted(t, p + i * f->size);
		text_add(t, ")");
	}
	text_add(t, "]");
}

static bool
field_is_empty(const struct field *f, const void *record)
{
	static const char zero[16];

	switch (f->type) {
	case FIELD_TEXT:
		return *(const char *)cat(record, f->offset) == '\0';
	case FIELD_STRING:
		return pointer_of(f, record) == NULL;
	case FIELD_NAMES:
	case FIELD_LIST:
		return count_of(f, record) == 0;
	case FIELD_STRUCT:
		return false;
	default:
		return memcmp(cat(record, f->offset), zero, f->size) == 0;
	}
}

/* What is no number has bits as well, which "%a" would not show. */
static void
encode_double(struct text *t, const void *from)
{
	uint64_t bits;
	double d;

	memcpy(&bits, from, sizeof bits);
	memcpy(&d, from, sizeof d);
	if (d == d)
		text_printf(t, "%a", d);
	else
		text_printf(t, NAN_PREFIX "%016" PRIx64, bits);
}

static void
encode_field(struct text *t, const struct field *f, const void *record)
{
	switch (f->type) {
	case FIELD_INT:
		text_printf(t, "%" PRId64, int_get(f, record));
		break;
	case FIELD_DOUBLE:
		encode_double(t, cat(record, f->offset));
		break;
	case FIELD_TEXT:
		add_quoted(t, cat(record, f->offset));
		break;
	case FIELD_STRING:
		add_quoted(t, pointer_of(f, record));
		break;
	case FIELD_STRUCT:
		codec_encode(t, f->table, cat(record, f->offset));
		break;
	case FIELD_NAMES:
	case FIELD_LIST:
		encode_list(t, f, record);
		break;
	}
}

void
codec_encode(struct text *t, const struct field *table, const void *record)
{
	const struct field *f;
	bool first = true;

	text_add(t, "(");
	for (f = table; f->name != NULL; f++) {
		if (field_is_empty(f, record))
			continue;
		text_printf(t, "%s%s=", first ? "" : " ", f->name);
		encode_field(t, f, record);
		first = false;
	}
	text_add(t, ")");
}

/* ---- reading ---------------------------------------------------------------------------- */

static int decode_record(
    const char **p, const struct field *table, void *record, int depth, struct err *err);

static int
expected(const char *what, const char *p, struct err *err)
{
	return err_set(err, "expected %s at \"%.40s\"", what, p);
}

static int
hex(char ch)
{
	return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* Reads one quoted text up to a blank or a bracket into buf; more than size is an error. */
static int
decode_text(const char **p, char *buf, size_t size, struct err *err)
{
	size_t n = 0;

	while (**p != '\0' && strchr(" ()[]", **p) == NULL) {
		char ch = *(*p)++;

		if (ch == '%') {
			int high = hex((*p)[0]), low = high < 0 ? -1 : hex((*p)[1]);

			if (low < 0 || high + low == 0)
				return expected("two hexadecimal digits", *p, err);
			ch = (char)(high * 16 + low);
			*p += 2;
		}
		if (n + 1 >= size)
			return err_set(
			    err, "a text is longer than %zu bytes at \"%.40s\"", size - 1, *p);
		buf[n++] = ch;
	}
	buf[n] = '\0';
	return 0;
}

static int
decode_string(const char **p, const struct field *f, void *record, struct err *err)
{
	size_t size = strcspn(*p, " ()[]") + 1;
	char *s = mem_calloc(size, 1);

	if (decode_text(p, s, size, err) < 0) {
		free(s);
		return -1;
	}
	pointer_set(f, record, s);
	return 0;
}

static void
decode_double(const char *p, char **ret_end, void *to)
{
	if (strncmp(p, NAN_PREFIX, strlen(NAN_PREFIX)) == 0) {
		uint64_t bits = strtoull(p + strlen(NAN_PREFIX), ret_end, 16);

		memcpy(to, &bits, sizeof bits);
	} else {
		double d = strtod(p, ret_end);

		memcpy(to, &d, sizeof d);
	}
}

static int
decode_number(const char **p, const struct field *f, void *record, struct err *err)
{
	char *end;

	errno = 0;
	if (f->type == FIELD_DOUBLE) {
		decode_double(*p, &end, at(record, f->offset));
	} else if (!int_put(f, record, strtoll(*p, &end, 10)))
		return expected("a smaller number", *p, err);
	if (end == *p || (errno == ERANGE && f->type == FIELD_INT))
		return expected("a number", *p, err);
	*p = end;
	return 0;
}

static int
decode_element(const char **p, const struct field *f, char *element, int depth, struct err *err)
{
	if (f->type == FIELD_LIST)
		return decode_record(p, f->table, element, depth, err);
	if (**p != '(')
		return expected("\"(\"", *p, err);
	(*p)++;
	if (decode_text(p, element, f->size, err) < 0)
		return -1;
	return *(*p)++ == ')' ? 0 : expected("\")\"", *p - 1, err);
}

static int
decode_list(const char **p, const struct field *f, void *record, int depth, struct err *err)
{
	size_t n = 0, capacity = 0;
	char *list = NULL;

	if (*(*p)++ != '[')
		return expected("\"[\"", *p - 1, err);
	while (**p == '(') {
		if (n == COUNT_MAX)
			return expected("fewer elements", *p, err);
		list = mem_room(list, n, &capacity, f->size);
		/* Hung into the record at once, so that clearing it frees what a failure leaves. */
		pointer_set(f, record, list);
		n++;
		memcpy(at(record, f->count_offset), &n, sizeof n);
		if (decode_element(p, f, list + (n - 1) * f->size, depth, err) < 0)
			return -1;
	}
	return *(*p)++ == ']' ? 0 : expected("\"]\"", *p - 1, err);
}

static int
decode_field(const char **p, const struct field *f, void *record, int depth, struct err *err)
{
	switch (f->type) {
	case FIELD_TEXT:
		return decode_text(p, at(record, f->offset), f->size, err);
	case FIELD_STRING:
		return decode_string(p, f, record, err);
	case FIELD_STRUCT:
		return decode_record(p, f->table, at(record, f->offset), depth, err);
	case FIELD_NAMES:
	case FIELD_LIST:
		return decode_list(p, f, record, depth, err);
	default:
		return decode_number(p, f, record, err);
	}
}

static const struct field *
find_field(const struct field *table, const char *name, size_t n)
{
	for (; table->name != NULL; table++)
		if (strlen(table->name) == n && memcmp(table->name, name, n) == 0)
			return table;
	return NULL;
}

static int
decode_record(const char **p, const struct field *table, void *record, int depth, struct err *err)
{
	if (depth > DEPTH_MAX || **p != '(')
		return expected("\"(\"", *p, err);
	(*p)++;
	while (**p != ')') {
		size_t n = strcspn(*p, "= ()[]");
		const struct field *f = find_field(table, *p, n);

		if (f == NULL || (*p)[n] != '=')
			return expected("the name of a field", *p, err);
		if (!field_is_empty(f, record) && f->type != FIELD_STRUCT)
			return expected("each field once", *p, err);
		*p += n + 1;
		if (decode_field(p, f, record, depth + 1, err) < 0)
			return -1;
		if (**p == ' ')
			(*p)++;
	}
	(*p)++;
	return 0;
}

int
codec_decode(const char **p, const struct field *table, void *ret_record, struct err *err)
{
	if (decode_record(p, table, ret_record, 0, err) == 0)
		return 0;
	codec_clear(table, ret_record);
	return -1;
}

/* ---- owning ----------------------------------------------------------------------------- */

void
codec_clear(const struct field *table, void *record)
{
	static const size_t none;
	const struct field *f;
	size_t i;

	for (f = table; f->name != NULL; f++) {
		if (f->type == FIELD_STRUCT) {
			codec_clear(f->table, at(record, f->offset));
			continue;
		}
		if (f->type != FIELD_STRING && f->type != FIELD_NAMES && f->type != FIELD_LIST)
			continue;
		if (f->type == FIELD_LIST)
			for (i = 0; i < count_of(f, record); i++)
				codec_clear(f->table, (char *)pointer_of(f, record) + i * f->size);
		free(pointer_of(f, record));
		pointer_set(f, record, NULL);
		if (f->type != FIELD_STRING)
			memcpy(at(record, f->count_offset), &none, sizeof none);
	}
}

static void
own_list(const struct field *f, void *record)
{
	size_t i, n = count_of(f, record);
	const void *was = pointer_of(f, record);
	char *copy;

	if (was == NULL)
		return;
	copy = mem_calloc(n, f->size);
	memcpy(copy, was, n * f->size);
	for (i = 0; f->type == FIELD_LIST && i < n; i++)
		codec_own(f->table, copy + i * f->size);
	pointer_set(f, record, copy);
}

void
codec_own(const struct field *table, void *record)
{
	const struct field *f;

	for (f = table; f->name != NULL; f++) {
		if (f->type == FIELD_STRUCT)
			codec_own(f->table, at(record, f->offset));
		else if (f->type == FIELD_STRING && pointer_of(f, record) != NULL)
			pointer_set(f, record, mem_strdup(pointer_of(f, record)));
		else if (f->type == FIELD_NAMES || f->type == FIELD_LIST)
			own_list(f, record);
	}
}
