/* From our structs to bytes. protobuf-c's structs are built in scratch memory that is
 * freed as a whole when the bytes are written.
 *
 * Text that is cut or holds strange bytes is repaired, not refused: a recipe's odd
 * output must not stop its result. A reading that is no number is not sent.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/wire_fields.h"
#include "proto/wire_text.h"

/* What an encoder needs until the bytes are written; freed as a whole. */
struct scratch {
	struct block *blocks;
};

struct block {
	struct block *next;
	max_align_t bytes[];
};

static void *
scratch_alloc(struct scratch *scratch, size_t size)
{
	struct block *block = mem_calloc(1, sizeof *block + size);

	block->next = scratch->blocks;
	scratch->blocks = block;
	return block->bytes;
}

static void
scratch_free(struct scratch *scratch)
{
	struct block *block;

	while ((block = scratch->blocks) != NULL) {
		scratch->blocks = block->next;
		free(block);
	}
}

static char *
copy_chars(struct scratch *scratch, const char *s, size_t size)
{
	size_t n = strnlen(s, size);
	char *copy = scratch_alloc(scratch, n + 1);

	memcpy(copy, s, n);
	return copy;
}

static int
encode_field(const struct shape *shape, const struct field *f, const char *our, char *pb,
    struct scratch *scratch, struct err *err)
{
	protobuf_c_boolean yes;
	char *s;

	switch (f->kind) {
	case FIELD_BITS:
	case FIELD_INT32:
	case FIELD_INT64:
		memcpy(pb, our, wire_number_size(f));
		return wire_check_field(shape, f, our, err);
	case FIELD_BOOL:
		yes = *(const bool *)our;
		memcpy(pb, &yes, sizeof yes);
		return 0;
	default:
		s = copy_chars(scratch, our, f->size);
		if (f->kind == FIELD_TEXT)
			wire_text_repair(s);
		memcpy(pb, &s, sizeof s);
		return wire_check_field(shape, f, s, err);
	}
}

static int
encode_fields(
    const struct shape *shape, const void *our, void *pb, struct scratch *scratch, struct err *err)
{
	protobuf_c_message_init(shape->descriptor, pb);
	for (size_t i = 0; i < shape->nfields; i++) {
		const struct field *f = &shape->fields[i];

		if (encode_field(shape, f, (const char *)our + f->our, (char *)pb + f->pb, scratch,
			err) != 0)
			return -1;
	}
	return 0;
}

static void *
encode_part(const struct shape *shape, const void *our, struct scratch *scratch, struct err *err)
{
	void *pb = scratch_alloc(scratch, shape->descriptor->sizeof_message);

	return encode_fields(shape, our, pb, scratch, err) == 0 ? pb : NULL;
}

/* An array of pointers to parts, or NULL with err filled. */
static void *
encode_array(const struct shape *shape, const void *array, size_t n, size_t our_size,
    struct scratch *scratch, struct err *err)
{
	void **pbs = scratch_alloc(scratch, n * sizeof *pbs);

	for (size_t i = 0; i < n; i++) {
		pbs[i] = encode_part(shape, (const char *)array + i * our_size, scratch, err);
		if (pbs[i] == NULL)
			return NULL;
	}
	return pbs;
}

static char **
encode_names(
    const char *what, char (*names)[NAME_SIZE], size_t n, struct scratch *scratch, struct err *err)
{
	char **pbs = scratch_alloc(scratch, n * sizeof *pbs);

	for (size_t i = 0; i < n; i++) {
		pbs[i] = copy_chars(scratch, names[i], NAME_SIZE);
		if (wire_check_chars("a host's facts", what, FIELD_NAME, pbs[i], err) != 0)
			return NULL;
	}
	return pbs;
}

static int
encode_attempts(const char *what, const struct attempt_status *attempts, size_t n,
    Flyball__AttemptStatus ***ret_pbs, struct scratch *scratch, struct err *err)
{
	if (wire_check_count(what, "attempts", n, ATTEMPTS_MAX, err) != 0)
		return -1;
	*ret_pbs = encode_array(&wire_status, attempts, n, sizeof *attempts, scratch, err);
	return *ret_pbs != NULL ? 0 : -1;
}

static int
encode_hello(
    const struct message_hello *m, Flyball__Hello *pb, struct scratch *scratch, struct err *err)
{
	Flyball__HostFacts *host = encode_part(&wire_host, &m->host, scratch, err);

	if (host == NULL ||
	    wire_check_count("hello", "labels", m->host.nlabels, LABELS_MAX, err) != 0 ||
	    wire_check_count("hello", "recipes", m->host.nrecipes, RECIPES_MAX, err) != 0)
		return -1;
	host->n_labels = m->host.nlabels;
	host->labels = encode_names("label", m->host.labels, m->host.nlabels, scratch, err);
	host->n_recipes = m->host.nrecipes;
	host->recipes = encode_names("recipe", m->host.recipes, m->host.nrecipes, scratch, err);
	if (host->labels == NULL || host->recipes == NULL)
		return -1;
	pb->host = host;
	pb->n_attempts = m->nattempts;
	return encode_attempts("hello", m->attempts, m->nattempts, &pb->attempts, scratch, err);
}

static Flyball__Reading *
encode_reading(
    const struct reading *reading, uint32_t which, struct scratch *scratch, struct err *err)
{
	Flyball__Reading *pb = encode_part(&wire_reading, reading, scratch, err);

	if (pb == NULL)
		return NULL;
	pb->which = which;
	memcpy(&pb->value_bits, &reading->value, sizeof pb->value_bits);
	return pb;
}

/* A reading that is no number is one that is missing. */
static int
encode_load(const struct load *load, Flyball__Report *pb, struct scratch *scratch, struct err *err)
{
	pb->load = scratch_alloc(scratch, LOAD_READINGS * sizeof(void *));
	for (unsigned i = 0; i < LOAD_READINGS; i++) {
		const struct reading *r = &load->readings[i];
		Flyball__Reading *reading;

		if (load->missing >> i & 1 || !isfinite(r->value))
			continue;
		reading = encode_reading(r, i, scratch, err);
		if (reading == NULL)
			return -1;
		pb->load[pb->n_load++] = reading;
	}
	return 0;
}

static int
encode_gauges(
    const struct message_report *m, Flyball__Report *pb, struct scratch *scratch, struct err *err)
{
	if (wire_check_count("report", "gauges", m->ngauges, GAUGES_MAX, err) != 0)
		return -1;
	pb->gauges = (Flyball__Gauge **)encode_array(
	    &wire_gauge, m->gauges, m->ngauges, sizeof *m->gauges, scratch, err);
	if (pb->gauges == NULL)
		return -1;
	pb->n_gauges = m->ngauges;
	for (size_t i = 0; i < m->ngauges; i++) {
		if (m->gauges[i].missing[0] != '\0')
			continue;
		pb->gauges[i]->reading = encode_reading(&m->gauges[i].reading, 0, scratch, err);
		if (pb->gauges[i]->reading == NULL)
			return -1;
	}
	return 0;
}

static int
encode_locks(
    const struct message_locks *m, Flyball__Locks *pb, struct scratch *scratch, struct err *err)
{
	const struct lock_table *table = &m->table;

	if (wire_check_count("locks", "rows", table->nrows, LOCK_ROWS_MAX, err) != 0)
		return -1;
	pb->table = encode_part(&wire_lock_table, table, scratch, err);
	if (pb->table == NULL)
		return -1;
	pb->table->n_rows = table->nrows;
	pb->table->rows = (Flyball__LockRow **)encode_array(
	    &wire_lock_row, table->rows, table->nrows, sizeof *table->rows, scratch, err);
	return pb->table->rows != NULL ? 0 : -1;
}

static int
encode_report(
    const struct message_report *m, Flyball__Report *pb, struct scratch *scratch, struct err *err)
{
	if (encode_load(&m->load, pb, scratch, err) != 0 || encode_gauges(m, pb, scratch, err) != 0)
		return -1;
	pb->n_attempts = m->nattempts;
	return encode_attempts("report", m->attempts, m->nattempts, &pb->attempts, scratch, err);
}

static int
encode_attempt(
    const struct message_attempt *m, Flyball__Attempt *pb, struct scratch *scratch, struct err *err)
{
	pb->status = encode_part(&wire_status, &m->status, scratch, err);
	if (pb->status == NULL || m->status.state != ATTEMPT_ENDED)
		return pb->status != NULL ? 0 : -1;
	pb->result = encode_part(&wire_result, &m->result, scratch, err);
	if (pb->result == NULL ||
	    wire_check_count("attempt", "phases", m->result.nphases, PHASES_MAX, err) != 0)
		return -1;
	pb->result->n_phases = m->result.nphases;
	pb->result->phases = encode_array(&wire_mark, m->result.phases, m->result.nphases,
	    sizeof *m->result.phases, scratch, err);
	return pb->result->phases != NULL ? 0 : -1;
}

static int
encode_request(
    const struct message_request *m, Flyball__Request *pb, struct scratch *scratch, struct err *err)
{
	if (wire_check_count("request", "arguments", m->nargs, REQUEST_ARGS_MAX, err) != 0)
		return -1;
	pb->n_args = m->nargs;
	pb->args = scratch_alloc(scratch, m->nargs * sizeof(void *));
	for (size_t i = 0; i < m->nargs; i++) {
		const struct request_arg *arg = &m->args[i];

		if (wire_check_chars("request", "an argument's key", FIELD_NAME, arg->key, err) !=
			0 ||
		    wire_check_chars("request", arg->key, FIELD_TEXT, arg->value, err) != 0 ||
		    wire_check_count(arg->key, "bytes", strlen(arg->value), POLICY_BYTES, err) != 0)
			return -1;
		pb->args[i] = scratch_alloc(scratch, sizeof *pb->args[i]);
		flyball__request_arg__init(pb->args[i]);
		pb->args[i]->key = arg->key;
		pb->args[i]->value = arg->value;
	}
	return 0;
}

static int
encode_reply(const struct message_reply *m, Flyball__Reply *pb, struct err *err)
{
	pb->data = (ProtobufCBinaryData){ m->nbytes, m->bytes };
	if (m->json == NULL)
		return 0;
	pb->json = m->json;
	return wire_check_chars("reply", "json", FIELD_TEXT, m->json, err);
}

static int
encode_log(const struct message_log *m, Flyball__Log *pb, struct err *err)
{
	pb->data = (ProtobufCBinaryData){ m->nbytes, m->bytes };
	return wire_check_count("log", "bytes", m->nbytes, LOG_CHUNK_BYTES, err);
}

static int
encode_rest(const struct message *m, void *pb, struct scratch *scratch, struct err *err)
{
	switch (m->envelope.kind) {
	case MESSAGE_HELLO:
		return encode_hello(&m->hello, pb, scratch, err);
	case MESSAGE_REPORT:
		return encode_report(&m->report, pb, scratch, err);
	case MESSAGE_ATTEMPT:
		return encode_attempt(&m->attempt, pb, scratch, err);
	case MESSAGE_LOG:
		return encode_log(&m->log, pb, err);
	case MESSAGE_LOCKS:
		return encode_locks(&m->locks, pb, scratch, err);
	case MESSAGE_REQUEST:
		return encode_request(&m->request, pb, scratch, err);
	case MESSAGE_REPLY:
		return encode_reply(&m->reply, pb, err);
	default:
		return 0;
	}
}

static int
encode_body(
    const struct message *m, ProtobufCBinaryData *body, struct scratch *scratch, struct err *err)
{
	const struct shape *shape = &wire_bodies[m->envelope.kind];
	void *pb;

	if (shape->descriptor == NULL)
		return 0;
	pb = encode_part(shape, &m->hello, scratch, err);
	if (pb == NULL || encode_rest(m, pb, scratch, err) != 0)
		return -1;
	body->len = protobuf_c_message_get_packed_size(pb);
	if (wire_check_count(shape->name, "bytes", body->len, OPERATOR_MESSAGE_BYTES, err) != 0)
		return -1;
	body->data = scratch_alloc(scratch, body->len);
	protobuf_c_message_pack(pb, body->data);
	return 0;
}

int
wire_encode(const struct message *m, uint8_t **ret_bytes, size_t *ret_nbytes, struct err *err)
{
	Flyball__Envelope envelope = FLYBALL__ENVELOPE__INIT;
	struct scratch scratch = { NULL };
	int rc = -1;

	if ((unsigned)m->envelope.kind >= MESSAGE_KINDS || m->envelope.kind == MESSAGE_NONE) {
		err_set(err, "a message of kind %d cannot be sent: there is no such kind",
		    (int)m->envelope.kind);
		goto done;
	}
	envelope.version = m->envelope.version;
	envelope.kind = (Flyball__Kind)m->envelope.kind;
	envelope.epoch = m->envelope.epoch;
	envelope.seq = m->envelope.seq;
	envelope.ack = m->envelope.ack;
	if (encode_body(m, &envelope.body, &scratch, err) != 0)
		goto done;
	*ret_nbytes = flyball__envelope__get_packed_size(&envelope);
	*ret_bytes = mem_calloc(*ret_nbytes, 1);
	flyball__envelope__pack(&envelope, *ret_bytes);
	rc = 0;
done:
	scratch_free(&scratch);
	return rc;
}
