/* Reads bytes: the envelope first, then the body that its kind names.
 *
 * Invariants:
 * - Nothing of a refused message reaches the caller.
 * - Everything protobuf-c allocates is zeroed and counted against the budget: two
 *   bytes on the wire can ask for forty in memory.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/wire_fields.h"

struct budget {
	size_t left;
	bool passed;
};

enum { ALLOC_OVERHEAD = 16 };

static void *
budget_alloc(void *data, size_t size)
{
	struct budget *budget = data;

	if (size > budget->left || budget->left - size < ALLOC_OVERHEAD) {
		budget->passed = true;
		return NULL;
	}
	budget->left -= size + ALLOC_OVERHEAD;
	return mem_calloc(1, size);
}

static void
budget_free(void *data, void *p)
{
	(void)data;
	free(p);
}

static ProtobufCMessage *
unpack(const char *what, const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes,
    size_t nbytes, ProtobufCAllocator *allocator, struct err *err)
{
	const struct budget *budget = allocator->allocator_data;
	ProtobufCMessage *pb = protobuf_c_message_unpack(descriptor, allocator, nbytes, bytes);

	if (pb == NULL && budget->passed)
		err_set(err, "%s: would take more than %d bytes of memory to read", what,
		    DECODE_BUDGET_BYTES);
	else if (pb == NULL)
		err_set(err,
		    "%s: is not well-formed; does the other side speak Flyball's protocol?", what);
	return pb;
}

static int
unpack_body(const Flyball__Envelope *envelope, ProtobufCAllocator *allocator, struct message *m,
    struct err *err)
{
	const struct shape *shape = &wire_bodies[m->envelope.kind];
	ProtobufCMessage *pb;
	int rc;

	if (shape->descriptor == NULL)
		return 0;
	pb = unpack(shape->name, shape->descriptor, envelope->body.data, envelope->body.len,
	    allocator, err);
	if (pb == NULL)
		return -1;
	rc = wire_decode_body(pb, m, err);
	protobuf_c_message_free_unpacked(pb, allocator);
	return rc;
}

/* Who says this kind, and to whom. */
static void
name_sides(unsigned kind, const char **ret_from, const char **ret_to)
{
	bool agent = kind >= MESSAGE_HELLO && kind <= MESSAGE_LOG;
	bool coordinator = kind >= MESSAGE_WELCOME && kind <= MESSAGE_LOG_HAVE;

	*ret_from = agent                                  ? "the agent"
		    : kind == MESSAGE_REQUEST              ? "flyball(1)"
		    : coordinator || kind == MESSAGE_REPLY ? "the coordinator"
							   : "the other side";
	*ret_to = agent || kind == MESSAGE_REQUEST ? "the coordinator"
		  : coordinator                    ? "the agent"
		  : kind == MESSAGE_REPLY          ? "flyball(1)"
						   : "this side";
}

/* A refusal is understood in any version, or nobody would learn why. */
static int
check_envelope(const Flyball__Envelope *envelope, struct err *err)
{
	const char *from, *to;
	bool newer = envelope->version > PROTOCOL_VERSION;

	name_sides((unsigned)envelope->kind, &from, &to);
	if ((newer || envelope->version < PROTOCOL_VERSION_MIN) &&
	    (int)envelope->kind != MESSAGE_REFUSED)
		return err_set(err,
		    "%s speaks protocol version %u and %s understands %d to %d: upgrade %s", from,
		    envelope->version, to, PROTOCOL_VERSION_MIN, PROTOCOL_VERSION,
		    newer ? to : from);
	if ((unsigned)envelope->kind >= MESSAGE_KINDS || (int)envelope->kind == MESSAGE_NONE)
		return err_set(err, "the message's kind is %d; 1 to %d was expected",
		    (int)envelope->kind, MESSAGE_KINDS - 1);
	return 0;
}

int
wire_decode(
    const uint8_t *bytes, size_t nbytes, size_t max_bytes, struct message *ret_m, struct err *err)
{
	struct budget budget = { DECODE_BUDGET_BYTES, false };
	ProtobufCAllocator allocator = { budget_alloc, budget_free, &budget };
	Flyball__Envelope *envelope;
	struct message m;
	int rc;

	if (wire_check_count("a message", "bytes", nbytes, max_bytes, err) != 0)
		return -1;
	envelope = (Flyball__Envelope *)unpack(
	    "a message", &flyball__envelope__descriptor, bytes, nbytes, &allocator, err);
	if (envelope == NULL)
		return -1;
	memset(&m, 0, sizeof m);
	rc = check_envelope(envelope, err);
	if (rc == 0) {
		m.envelope =
		    (struct envelope){ envelope->version, (enum message_kind)envelope->kind,
			    envelope->epoch, envelope->seq, envelope->ack };
		rc = unpack_body(envelope, &allocator, &m, err);
	}
	flyball__envelope__free_unpacked(envelope, &allocator);
	if (rc == 0)
		*ret_m = m;
	else
		message_clear(&m);
	return rc;
}
