/* wire_fields.h - the messages as tables of fields
 *
 * Shape:  a shape lists where each field lies in protobuf's struct, where in ours,
 *         and what it may be. wire_encode.c and wire_decode.c walk it; what is no
 *         plain field (arrays, bytes, parts inside others) they know by kind.
 * Units:  none.
 * Errors: a refusal names the message and the field.
 * Memory: none.
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WIRE_FIELDS_H
#define FLYBALL_WIRE_FIELDS_H

#include "proto/base/err.h"
#include "proto/flyball.pb-c.h"
#include "proto/message.h"

enum field_kind {
	FIELD_BITS, /* eight bytes, any value */
	FIELD_INT32,
	FIELD_INT64,
	FIELD_BOOL,
	FIELD_NAME,
	FIELD_NAME_OR_EMPTY,
	FIELD_WORD,
	FIELD_PATH,
	FIELD_TEXT
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t pb, our; /* offsets */
	size_t size; /* of a text's array */
	int64_t min, max; /* of a number */
};

struct shape {
	const char *name;
	const ProtobufCMessageDescriptor *descriptor;
	const struct field *fields;
	size_t nfields;
};
extern const struct shape wire_mark, wire_status, wire_result, wire_host, wire_reading, wire_gauge,
    wire_lock_row, wire_lock_table;

/* By kind; ACK has none. */
extern const struct shape wire_bodies[MESSAGE_KINDS];

/* Bytes of a number in either struct. */
size_t wire_number_size(const struct field *f);

/* Checks the value in our struct (a text's: at our), whichever way it goes. */
int wire_check_field(
    const struct shape *shape, const struct field *f, const char *our, struct err *err);
int wire_check_chars(
    const char *what, const char *name, enum field_kind kind, const char *s, struct err *err);
int wire_check_count(const char *what, const char *things, size_t n, size_t max, struct err *err);

/* wire_decode.c: from protobuf's body into m, whose envelope is filled; what it holds when
 * it fails is for message_clear. */
int wire_decode_body(const void *pb, struct message *m, struct err *err);

#endif
