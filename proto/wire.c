/* Each message is a table of fields: where a field lies in protobuf's struct, where
 * in ours, and what it may be. One function fills, one checks and copies back, so a
 * bound stands in one place and every refusal names the field. Arrays, bytes and
 * parts inside others have a few lines of their own.
 *
 * Invariants:
 * - Nothing of a refused message reaches the caller.
 * - Everything protobuf-c allocates is zeroed and counted against the budget: two
 *   bytes on the wire can ask for forty in memory.
 * - A sender's text that is cut or holds strange bytes is repaired, not refused: a
 *   recipe's odd output must not stop its result. Names and numbers out of bounds
 *   are refused at the sender already, where the fault is.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/flyball.pb-c.h"
#include "proto/base/mem.h"
#include "proto/wire_text.h"

enum { LIMIT_MOST = JOBS_MAX * SLOTS_MAX };

_Static_assert((int)FLYBALL__KIND__KIND_REPLY == (int)MESSAGE_REPLY, "kinds are numbered alike");
_Static_assert((int)FLYBALL__OUTCOME__OUTCOME_LOST == (int)OUTCOME_LOST, "outcomes too");

/* ---- memory ------------------------------------------------------------------------------ */

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

/* ---- fields ------------------------------------------------------------------------------ */

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

/* PB and OUR are defined before each table. The number's sizes must agree. */
#define AGREE(f) (0 * sizeof(char[sizeof((PB *)0)->f == sizeof((OUR *)0)->f ? 1 : -1]))
#define NUMBER(f, kind, min, max) \
	{ \
#f, kind, offsetof(PB, f) + AGREE(f), offsetof(OUR, f), 0, min, max \
	}
#define BITS(f) NUMBER(f, FIELD_BITS, 0, 0)
#define INT32(f, min, max) NUMBER(f, FIELD_INT32, min, max)
#define COUNT32(f) NUMBER(f, FIELD_INT32, 0, INT32_MAX)
#define COUNT64(f) NUMBER(f, FIELD_INT64, 0, INT64_MAX)
#define BOOL(f) \
	{ \
#f, FIELD_BOOL, offsetof(PB, f), offsetof(OUR, f), 0, 0, 0 \
	}
#define CHARS(f, kind) \
	{ \
#f, kind, offsetof(PB, f), offsetof(OUR, f), sizeof((OUR *)0)->f, 0, 0 \
	}
#define NAME(f) CHARS(f, FIELD_NAME)
#define NAME_OR_EMPTY(f) CHARS(f, FIELD_NAME_OR_EMPTY)
#define WORD(f) CHARS(f, FIELD_WORD)
#define PATH(f) CHARS(f, FIELD_PATH)
#define TEXT(f) CHARS(f, FIELD_TEXT)
#define SHAPE(words, message, fields) \
	{ \
		words, &flyball__##message##__descriptor, fields, \
		    sizeof(fields) / sizeof(fields)[0] \
	}

#define PB Flyball__PhaseMark
#define OUR struct phase_mark
static const struct field mark_fields[] = { NAME(name), INT32(source, 0, MARK_LOG), COUNT64(at_us),
	COUNT64(log_offset), COUNT64(steps) };
#undef PB
#undef OUR
static const struct shape mark_shape = SHAPE("a phase mark", phase_mark, mark_fields);

#define PB Flyball__AttemptStatus
#define OUR struct attempt_status
static const struct field status_fields[] = { BITS(id), BITS(fence), INT32(state, 0, ATTEMPT_ENDED),
	INT32(limit, 0, LIMIT_MOST), COUNT32(running), BOOL(limited), BOOL(serial),
	BOOL(ungoverned), NAME_OR_EMPTY(phase), COUNT64(steps), INT32(percent, -1, 100),
	COUNT64(granted), COUNT64(returned), COUNT64(drained), COUNT64(lost), COUNT64(unclaimed),
	COUNT64(elapsed_us), COUNT64(log_bytes) };
#undef PB
#undef OUR
static const struct shape status_shape =
    SHAPE("an attempt's status", attempt_status, status_fields);

#define PB Flyball__AttemptResult
#define OUR struct attempt_result
static const struct field result_fields[] = { INT32(outcome, 0, OUTCOME_LOST),
	INT32(exit_code, INT32_MIN, INT32_MAX), TEXT(reason), COUNT64(real_us), COUNT64(user_us),
	COUNT64(sys_us), COUNT64(max_resident_bytes), COUNT64(minor_faults), COUNT64(major_faults),
	COUNT64(blocks_in), COUNT64(blocks_out), COUNT64(voluntary_switches),
	COUNT64(involuntary_switches), COUNT64(log_dropped_bytes) };
#undef PB
#undef OUR
static const struct shape result_shape =
    SHAPE("an attempt's result", attempt_result, result_fields);

#define PB Flyball__HostFacts
#define OUR struct host_facts
static const struct field host_fields[] = { TEXT(agent_version), WORD(boot_id), WORD(start_id),
	TEXT(os), TEXT(release), TEXT(arch), TEXT(cpu), COUNT32(threads), COUNT64(memory_bytes),
	INT32(slots, 0, SLOTS_MAX) };
#undef PB
#undef OUR
static const struct shape host_shape = SHAPE("a host's facts", host_facts, host_fields);

#define PB Flyball__Reading
#define OUR struct reading
static const struct field reading_fields[] = { COUNT64(window_us), COUNT64(age_us) };
#undef PB
#undef OUR
static const struct shape reading_shape = SHAPE("a load reading", reading, reading_fields);

#define PB Flyball__Hello
#define OUR struct message_hello
static const struct field hello_fields[] = { NUMBER(version_min, FIELD_INT32, INT32_MIN, INT32_MAX),
	NUMBER(version_max, FIELD_INT32, INT32_MIN, INT32_MAX) };
#undef PB
#undef OUR

#define PB Flyball__Report
#define OUR struct message_report
static const struct field report_fields[] = { WORD(boot_id), WORD(start_id), BITS(at),
	BITS(wall_offset_us), INT32(limit, 0, LIMIT_MOST) };
#undef PB
#undef OUR

#define PB Flyball__Log
#define OUR struct message_log
static const struct field log_fields[] = { BITS(id), BITS(fence), COUNT64(offset), BOOL(last) };
#undef PB
#undef OUR

#define PB Flyball__Welcome
#define OUR struct message_welcome
static const struct field welcome_fields[] = { NAME_OR_EMPTY(host), COUNT64(report_busy_us),
	COUNT64(report_idle_us), COUNT64(lease_us) };
#undef PB
#undef OUR

#define PB Flyball__Refused
#define OUR struct message_refused
static const struct field refused_fields[] = { TEXT(reason) };
#undef PB
#undef OUR

#define PB Flyball__Start
#define OUR struct message_start
static const struct field start_fields[] = { BITS(id), BITS(fence), BITS(build), BITS(round),
	NAME(branch), NAME(target), NAME(recipe), WORD(revision), PATH(source), COUNT32(jobs_min),
	COUNT32(jobs_max), INT32(limit, 0, LIMIT_MOST), COUNT64(timeout_us), COUNT64(stall_us),
	COUNT64(need_disk_bytes), COUNT64(need_memory_bytes), COUNT64(expected_steps),
	COUNT64(expected_us) };
#undef PB
#undef OUR

#define PB Flyball__Cancel
#define OUR struct message_cancel
static const struct field cancel_fields[] = { BITS(id), BITS(fence), TEXT(reason) };
#undef PB
#undef OUR

#define PB Flyball__Limit
#define OUR struct message_limit
static const struct field limit_fields[] = { INT32(limit, 0, LIMIT_MOST), TEXT(reason) };
#undef PB
#undef OUR

#define PB Flyball__LogHave
#define OUR struct message_log_have
static const struct field log_have_fields[] = { BITS(id), COUNT64(offset), BOOL(complete),
	BOOL(unwanted) };
#undef PB
#undef OUR

#define PB Flyball__Request
#define OUR struct message_request
static const struct field request_fields[] = { BITS(id), NAME(verb) };
#undef PB
#undef OUR

#define PB Flyball__Reply
#define OUR struct message_reply
static const struct field reply_fields[] = { BITS(id), INT32(status, 0, REPLY_UNHEALTHY),
	TEXT(text), COUNT64(offset), BOOL(last) };
#undef PB
#undef OUR

/* By kind; the rest of a body that is no plain field is in encode_rest and decode_rest. */
static const struct shape bodies[MESSAGE_KINDS] = {
	[MESSAGE_HELLO] = SHAPE("hello", hello, hello_fields),
	[MESSAGE_REPORT] = SHAPE("report", report, report_fields),
	[MESSAGE_ATTEMPT] = { "attempt", &flyball__attempt__descriptor, NULL, 0 },
	[MESSAGE_LOG] = SHAPE("log", log, log_fields),
	[MESSAGE_WELCOME] = SHAPE("welcome", welcome, welcome_fields),
	[MESSAGE_REFUSED] = SHAPE("refused", refused, refused_fields),
	[MESSAGE_START] = SHAPE("start", start, start_fields),
	[MESSAGE_CANCEL] = SHAPE("cancel", cancel, cancel_fields),
	[MESSAGE_LIMIT] = SHAPE("limit", limit, limit_fields),
	[MESSAGE_LOG_HAVE] = SHAPE("log-have", log_have, log_have_fields),
	[MESSAGE_REQUEST] = SHAPE("request", request, request_fields),
	[MESSAGE_REPLY] = SHAPE("reply", reply, reply_fields),
};

static int
check_number(const struct shape *shape, const struct field *f, int64_t value, struct err *err)
{
	if (value >= f->min && value <= f->max)
		return 0;
	return err_set(err, "%s: %s is %lld; %lld to %lld was expected", shape->name, f->name,
	    (long long)value, (long long)f->min, (long long)f->max);
}

static int
check_chars(
    const char *what, const char *name, enum field_kind kind, const char *s, struct err *err)
{
	switch (kind) {
	case FIELD_NAME_OR_EMPTY:
		if (s[0] == '\0')
			return 0;
		/* fall through */
	case FIELD_NAME:
		if (wire_name_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no name: 1 to %d characters of [A-Za-z0-9._+-], the first no '.' "
		    "or '-', were expected",
		    what, name, NAME_SIZE - 1);
	case FIELD_WORD:
		if (wire_word_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no word: printable ASCII without spaces, the first no '-', was "
		    "expected",
		    what, name);
	case FIELD_PATH:
		if (wire_path_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no path: UTF-8 in one line without '..', the first no '-', was "
		    "expected",
		    what, name);
	default:
		if (wire_text_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s holds bytes that are no UTF-8 text, or control characters", what, name);
	}
}

/* Checks the value in our struct, whichever way it goes. */
static int
check_field(const struct shape *shape, const struct field *f, const char *our, struct err *err)
{
	int32_t i32;
	int64_t i64;

	switch (f->kind) {
	case FIELD_BITS:
	case FIELD_BOOL:
		return 0;
	case FIELD_INT32:
		memcpy(&i32, our, sizeof i32);
		return check_number(shape, f, i32, err);
	case FIELD_INT64:
		memcpy(&i64, our, sizeof i64);
		return check_number(shape, f, i64, err);
	default:
		return check_chars(shape->name, f->name, f->kind, our, err);
	}
}

static size_t
number_size(const struct field *f)
{
	return f->kind == FIELD_INT32 ? sizeof(int32_t) : sizeof(int64_t);
}

/* ---- encoding ---------------------------------------------------------------------------- */

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
		memcpy(pb, our, number_size(f));
		return check_field(shape, f, our, err);
	case FIELD_BOOL:
		yes = *(const bool *)our;
		memcpy(pb, &yes, sizeof yes);
		return 0;
	default:
		s = copy_chars(scratch, our, f->size);
		if (f->kind == FIELD_TEXT)
			wire_text_repair(s);
		memcpy(pb, &s, sizeof s);
		return check_field(shape, f, s, err);
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

static int
check_count(const char *what, const char *things, size_t n, size_t max, struct err *err)
{
	if (n <= max)
		return 0;
	return err_set(err, "%s: %zu %s; at most %zu were expected", what, n, things, max);
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
		if (check_chars("a host's facts", what, FIELD_NAME, pbs[i], err) != 0)
			return NULL;
	}
	return pbs;
}

static int
encode_attempts(const char *what, const struct attempt_status *attempts, size_t n,
    Flyball__AttemptStatus ***ret_pbs, struct scratch *scratch, struct err *err)
{
	if (check_count(what, "attempts", n, ATTEMPTS_MAX, err) != 0)
		return -1;
	*ret_pbs = encode_array(&status_shape, attempts, n, sizeof *attempts, scratch, err);
	return *ret_pbs != NULL ? 0 : -1;
}

static int
encode_hello(
    const struct message_hello *m, Flyball__Hello *pb, struct scratch *scratch, struct err *err)
{
	Flyball__HostFacts *host = encode_part(&host_shape, &m->host, scratch, err);

	if (host == NULL || check_count("hello", "labels", m->host.nlabels, LABELS_MAX, err) != 0 ||
	    check_count("hello", "recipes", m->host.nrecipes, RECIPES_MAX, err) != 0)
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

/* A reading that is no number is one that is missing. */
static int
encode_load(const struct load *load, Flyball__Report *pb, struct scratch *scratch, struct err *err)
{
	pb->load = scratch_alloc(scratch, LOAD_READINGS * sizeof *pb->load);
	for (unsigned i = 0; i < LOAD_READINGS; i++) {
		const struct reading *r = &load->readings[i];
		Flyball__Reading *reading;

		if (load->missing >> i & 1 || !isfinite(r->value))
			continue;
		reading = encode_part(&reading_shape, r, scratch, err);
		if (reading == NULL)
			return -1;
		reading->which = i;
		memcpy(&reading->value_bits, &r->value, sizeof reading->value_bits);
		pb->load[pb->n_load++] = reading;
	}
	return 0;
}

static int
encode_report(
    const struct message_report *m, Flyball__Report *pb, struct scratch *scratch, struct err *err)
{
	if (encode_load(&m->load, pb, scratch, err) != 0)
		return -1;
	pb->n_attempts = m->nattempts;
	return encode_attempts("report", m->attempts, m->nattempts, &pb->attempts, scratch, err);
}

static int
encode_attempt(
    const struct message_attempt *m, Flyball__Attempt *pb, struct scratch *scratch, struct err *err)
{
	pb->status = encode_part(&status_shape, &m->status, scratch, err);
	if (pb->status == NULL || m->status.state != ATTEMPT_ENDED)
		return pb->status != NULL ? 0 : -1;
	pb->result = encode_part(&result_shape, &m->result, scratch, err);
	if (pb->result == NULL ||
	    check_count("attempt", "phases", m->result.nphases, PHASES_MAX, err) != 0)
		return -1;
	pb->result->n_phases = m->result.nphases;
	pb->result->phases = encode_array(&mark_shape, m->result.phases, m->result.nphases,
	    sizeof *m->result.phases, scratch, err);
	return pb->result->phases != NULL ? 0 : -1;
}

static int
encode_request(
    const struct message_request *m, Flyball__Request *pb, struct scratch *scratch, struct err *err)
{
	if (check_count("request", "arguments", m->nargs, REQUEST_ARGS_MAX, err) != 0)
		return -1;
	pb->n_args = m->nargs;
	pb->args = scratch_alloc(scratch, m->nargs * sizeof *pb->args);
	for (size_t i = 0; i < m->nargs; i++) {
		const struct request_arg *arg = &m->args[i];

		if (check_chars("request", "an argument's key", FIELD_NAME, arg->key, err) != 0 ||
		    check_chars("request", arg->key, FIELD_TEXT, arg->value, err) != 0 ||
		    check_count(arg->key, "bytes", strlen(arg->value), POLICY_BYTES, err) != 0)
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
	return check_chars("reply", "json", FIELD_TEXT, m->json, err);
}

static int
encode_log(const struct message_log *m, Flyball__Log *pb, struct err *err)
{
	pb->data = (ProtobufCBinaryData){ m->nbytes, m->bytes };
	return check_count("log", "bytes", m->nbytes, LOG_CHUNK_BYTES, err);
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
	const struct shape *shape = &bodies[m->envelope.kind];
	void *pb;

	if (shape->descriptor == NULL)
		return 0;
	pb = encode_part(shape, &m->hello, scratch, err);
	if (pb == NULL || encode_rest(m, pb, scratch, err) != 0)
		return -1;
	body->len = protobuf_c_message_get_packed_size(pb);
	if (check_count(shape->name, "bytes", body->len, OPERATOR_MESSAGE_BYTES, err) != 0)
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

/* ---- decoding ---------------------------------------------------------------------------- */

static int
decode_field(
    const struct shape *shape, const struct field *f, const char *pb, char *our, struct err *err)
{
	protobuf_c_boolean yes;
	const char *s;

	switch (f->kind) {
	case FIELD_BITS:
	case FIELD_INT32:
	case FIELD_INT64:
		memcpy(our, pb, number_size(f));
		break;
	case FIELD_BOOL:
		memcpy(&yes, pb, sizeof yes);
		*(bool *)our = yes != 0;
		break;
	default:
		memcpy(&s, pb, sizeof s);
		if (!mem_copy_text(our, f->size, s != NULL ? s : ""))
			return err_set(err, "%s: %s is %zu bytes long; at most %zu were expected",
			    shape->name, f->name, strlen(s), f->size - 1);
	}
	return check_field(shape, f, our, err);
}

static int
decode_fields(const struct shape *shape, const void *pb, void *our, struct err *err)
{
	for (size_t i = 0; i < shape->nfields; i++) {
		const struct field *f = &shape->fields[i];

		if (decode_field(shape, f, (const char *)pb + f->pb, (char *)our + f->our, err) !=
		    0)
			return -1;
	}
	return 0;
}

/* pbs: an array of n pointers to parts. */
static int
decode_array(const struct shape *shape, const void *pbs, size_t n, void *array, size_t our_size,
    struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const void *pb;

		memcpy(&pb, (const char *)pbs + i * sizeof pb, sizeof pb);
		if (decode_fields(shape, pb, (char *)array + i * our_size, err) != 0)
			return -1;
	}
	return 0;
}

static int
decode_attempts(const char *what, Flyball__AttemptStatus **pbs, size_t n,
    struct attempt_status **ret_attempts, size_t *ret_n, struct err *err)
{
	if (check_count(what, "attempts", n, ATTEMPTS_MAX, err) != 0)
		return -1;
	*ret_attempts = mem_calloc(n, sizeof **ret_attempts);
	*ret_n = n;
	return decode_array(&status_shape, pbs, n, *ret_attempts, sizeof **ret_attempts, err);
}

static int
decode_names(const char *what, char **pbs, size_t n, size_t max, char (**ret_names)[NAME_SIZE],
    size_t *ret_n, struct err *err)
{
	if (check_count("hello", what, n, max, err) != 0)
		return -1;
	*ret_names = mem_calloc(n, sizeof **ret_names);
	*ret_n = n;
	for (size_t i = 0; i < n; i++) {
		if (check_chars("a host's facts", what, FIELD_NAME, pbs[i], err) != 0)
			return -1;
		mem_copy_text((*ret_names)[i], NAME_SIZE, pbs[i]);
	}
	return 0;
}

static int
decode_hello(const Flyball__Hello *pb, struct message_hello *m, struct err *err)
{
	const Flyball__HostFacts *host = pb->host;

	if (host == NULL)
		return err_set(err, "hello: the host's facts are missing");
	if (decode_fields(&host_shape, host, &m->host, err) != 0 ||
	    decode_names("labels", host->labels, host->n_labels, LABELS_MAX, &m->host.labels,
		&m->host.nlabels, err) != 0 ||
	    decode_names("recipes", host->recipes, host->n_recipes, RECIPES_MAX, &m->host.recipes,
		&m->host.nrecipes, err) != 0)
		return -1;
	return decode_attempts(
	    "hello", pb->attempts, pb->n_attempts, &m->attempts, &m->nattempts, err);
}

static int
decode_load(const Flyball__Report *pb, struct load *load, struct err *err)
{
	load->missing = (UINT64_C(1) << LOAD_READINGS) - 1;
	for (size_t i = 0; i < pb->n_load; i++) {
		const Flyball__Reading *reading = pb->load[i];
		struct reading *r;

		if (reading->which >= LOAD_READINGS)
			continue; /* of a newer agent */
		r = &load->readings[reading->which];
		if (!(load->missing >> reading->which & 1))
			return err_set(err, "report: the reading '%s' stands twice",
			    load_reading_name(reading->which));
		memcpy(&r->value, &reading->value_bits, sizeof r->value);
		if (!isfinite(r->value))
			return err_set(err, "report: the reading '%s' is no finite number",
			    load_reading_name(reading->which));
		if (decode_fields(&reading_shape, reading, r, err) != 0)
			return -1;
		load->missing &= ~(UINT64_C(1) << reading->which);
	}
	return 0;
}

static int
decode_report(const Flyball__Report *pb, struct message_report *m, struct err *err)
{
	if (decode_load(pb, &m->load, err) != 0)
		return -1;
	return decode_attempts(
	    "report", pb->attempts, pb->n_attempts, &m->attempts, &m->nattempts, err);
}

static int
decode_attempt(const Flyball__Attempt *pb, struct message_attempt *m, struct err *err)
{
	if (pb->status == NULL)
		return err_set(err, "attempt: the status is missing");
	if (decode_fields(&status_shape, pb->status, &m->status, err) != 0)
		return -1;
	if (m->status.state != ATTEMPT_ENDED)
		return 0;
	if (pb->result == NULL)
		return err_set(err, "attempt: it has ended and the result is missing");
	if (decode_fields(&result_shape, pb->result, &m->result, err) != 0 ||
	    check_count("attempt", "phases", pb->result->n_phases, PHASES_MAX, err) != 0)
		return -1;
	m->result.nphases = pb->result->n_phases;
	m->result.phases = mem_calloc(m->result.nphases, sizeof *m->result.phases);
	return decode_array(&mark_shape, pb->result->phases, m->result.nphases, m->result.phases,
	    sizeof *m->result.phases, err);
}

static uint8_t *
copy_bytes(const ProtobufCBinaryData *data)
{
	uint8_t *copy = mem_calloc(data->len, 1);

	if (data->len > 0)
		memcpy(copy, data->data, data->len);
	return copy;
}

static int
decode_log(const Flyball__Log *pb, struct message_log *m, struct err *err)
{
	if (check_count("log", "bytes", pb->data.len, LOG_CHUNK_BYTES, err) != 0)
		return -1;
	m->nbytes = pb->data.len;
	m->bytes = copy_bytes(&pb->data);
	return 0;
}

static int
decode_request(const Flyball__Request *pb, struct message_request *m, struct err *err)
{
	if (check_count("request", "arguments", pb->n_args, REQUEST_ARGS_MAX, err) != 0)
		return -1;
	m->args = mem_calloc(pb->n_args, sizeof *m->args);
	for (size_t i = 0; i < pb->n_args; i++) {
		const Flyball__RequestArg *arg = pb->args[i];

		if (check_chars("request", "an argument's key", FIELD_NAME, arg->key, err) != 0 ||
		    check_chars("request", arg->key, FIELD_TEXT, arg->value, err) != 0 ||
		    check_count(arg->key, "bytes", strlen(arg->value), POLICY_BYTES, err) != 0)
			return -1;
		m->args[i].key = mem_strdup(arg->key);
		m->args[i].value = mem_strdup(arg->value);
		m->nargs++;
	}
	return 0;
}

static int
decode_reply(const Flyball__Reply *pb, struct message_reply *m, struct err *err)
{
	if (check_chars("reply", "json", FIELD_TEXT, pb->json, err) != 0)
		return -1;
	if (pb->json[0] != '\0')
		m->json = mem_strdup(pb->json);
	m->nbytes = pb->data.len;
	m->bytes = copy_bytes(&pb->data);
	return 0;
}

static int
decode_rest(const void *pb, struct message *m, struct err *err)
{
	switch (m->envelope.kind) {
	case MESSAGE_HELLO:
		return decode_hello(pb, &m->hello, err);
	case MESSAGE_REPORT:
		return decode_report(pb, &m->report, err);
	case MESSAGE_ATTEMPT:
		return decode_attempt(pb, &m->attempt, err);
	case MESSAGE_LOG:
		return decode_log(pb, &m->log, err);
	case MESSAGE_REQUEST:
		return decode_request(pb, &m->request, err);
	case MESSAGE_REPLY:
		return decode_reply(pb, &m->reply, err);
	default:
		return 0;
	}
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
decode_body(const Flyball__Envelope *envelope, ProtobufCAllocator *allocator, struct message *m,
    struct err *err)
{
	const struct shape *shape = &bodies[m->envelope.kind];
	ProtobufCMessage *pb;
	int rc;

	if (shape->descriptor == NULL)
		return 0;
	pb = unpack(shape->name, shape->descriptor, envelope->body.data, envelope->body.len,
	    allocator, err);
	if (pb == NULL)
		return -1;
	rc = decode_fields(shape, pb, &m->hello, err);
	if (rc == 0)
		rc = decode_rest(pb, m, err);
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

	if (check_count("a message", "bytes", nbytes, max_bytes, err) != 0)
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
		rc = decode_body(envelope, &allocator, &m, err);
	}
	flyball__envelope__free_unpacked(envelope, &allocator);
	if (rc == 0)
		*ret_m = m;
	else
		message_clear(&m);
	return rc;
}
