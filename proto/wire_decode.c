/* From protobuf-c's structs to ours, field by field, each checked on the way.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/wire_fields.h"

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
		memcpy(our, pb, wire_number_size(f));
		break;
	case FIELD_BOOL:
		memcpy(&yes, pb, sizeof yes);
		*(bool *)our = yes != 0;
		break;
	default:
		memcpy(&s, pb, sizeof s);
		if (s == NULL)
			s = "";
		if (!mem_copy_text(our, f->size, s))
			return err_set(err, "%s: %s is %zu bytes long; at most %zu were expected",
			    shape->name, f->name, strlen(s), f->size - 1);
	}
	return wire_check_field(shape, f, our, err);
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
	if (wire_check_count(what, "attempts", n, ATTEMPTS_MAX, err) != 0)
		return -1;
	*ret_attempts = mem_calloc(n, sizeof **ret_attempts);
	*ret_n = n;
	return decode_array(&wire_status, pbs, n, *ret_attempts, sizeof **ret_attempts, err);
}

static int
decode_names(const char *what, char **pbs, size_t n, size_t max, char (**ret_names)[NAME_SIZE],
    size_t *ret_n, struct err *err)
{
	if (wire_check_count("hello", what, n, max, err) != 0)
		return -1;
	*ret_names = mem_calloc(n, sizeof **ret_names);
	*ret_n = n;
	for (size_t i = 0; i < n; i++) {
		if (wire_check_chars("a host's facts", what, FIELD_NAME, pbs[i], err) != 0)
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
	if (decode_fields(&wire_host, host, &m->host, err) != 0 ||
	    decode_names("labels", host->labels, host->n_labels, LABELS_MAX, &m->host.labels,
		&m->host.nlabels, err) != 0 ||
	    decode_names("recipes", host->recipes, host->n_recipes, RECIPES_MAX, &m->host.recipes,
		&m->host.nrecipes, err) != 0)
		return -1;
	return decode_attempts(
	    "hello", pb->attempts, pb->n_attempts, &m->attempts, &m->nattempts, err);
}

static int
decode_reading(
    const Flyball__Reading *pb, const char *name, struct reading *reading, struct err *err)
{
	memcpy(&reading->value, &pb->value_bits, sizeof reading->value);
	if (!isfinite(reading->value))
		return err_set(err, "report: the reading '%s' is no finite number", name);
	return decode_fields(&wire_reading, pb, reading, err);
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
		if (decode_reading(reading, load_reading_name(reading->which), r, err) != 0)
			return -1;
		load->missing &= ~(UINT64_C(1) << reading->which);
	}
	return 0;
}

static int
decode_gauge(const Flyball__Gauge *pb, struct gauge *gauge, struct err *err)
{
	if (decode_fields(&wire_gauge, pb, gauge, err) != 0)
		return -1;
	if ((pb->reading == NULL) == (gauge->missing[0] == '\0'))
		return err_set(err,
		    "report: the gauge '%s' has %s: a reading or why there is none was expected",
		    gauge->name, pb->reading == NULL ? "neither" : "both");
	return pb->reading == NULL ? 0
				   : decode_reading(pb->reading, gauge->name, &gauge->reading, err);
}

static int
decode_gauges(const Flyball__Report *pb, struct message_report *m, struct err *err)
{
	if (wire_check_count("report", "gauges", pb->n_gauges, GAUGES_MAX, err) != 0)
		return -1;
	m->ngauges = pb->n_gauges;
	m->gauges = mem_calloc(m->ngauges, sizeof *m->gauges);
	for (size_t i = 0; i < m->ngauges; i++)
		if (decode_gauge(pb->gauges[i], &m->gauges[i], err) != 0)
			return -1;
	return 0;
}

static int
decode_locks(const Flyball__Locks *pb, struct message_locks *m, struct err *err)
{
	struct lock_table *table = &m->table;

	if (pb->table == NULL)
		return err_set(err, "locks: the table is missing");
	if (decode_fields(&wire_lock_table, pb->table, table, err) != 0 ||
	    wire_check_count("locks", "rows", pb->table->n_rows, LOCK_ROWS_MAX, err) != 0)
		return -1;
	table->nrows = pb->table->n_rows;
	table->rows = mem_calloc(table->nrows, sizeof *table->rows);
	return decode_array(
	    &wire_lock_row, pb->table->rows, table->nrows, table->rows, sizeof *table->rows, err);
}

static int
decode_report(const Flyball__Report *pb, struct message_report *m, struct err *err)
{
	if (decode_load(pb, &m->load, err) != 0 || decode_gauges(pb, m, err) != 0)
		return -1;
	return decode_attempts(
	    "report", pb->attempts, pb->n_attempts, &m->attempts, &m->nattempts, err);
}

static int
decode_attempt(const Flyball__Attempt *pb, struct message_attempt *m, struct err *err)
{
	if (pb->status == NULL)
		return err_set(err, "attempt: the status is missing");
	if (decode_fields(&wire_status, pb->status, &m->status, err) != 0)
		return -1;
	if (m->status.state != ATTEMPT_ENDED)
		return 0;
	if (pb->result == NULL)
		return err_set(err, "attempt: it has ended and the result is missing");
	if (decode_fields(&wire_result, pb->result, &m->result, err) != 0 ||
	    wire_check_count("attempt", "phases", pb->result->n_phases, PHASES_MAX, err) != 0)
		return -1;
	m->result.nphases = pb->result->n_phases;
	m->result.phases = mem_calloc(m->result.nphases, sizeof *m->result.phases);
	return decode_array(&wire_mark, pb->result->phases, m->result.nphases, m->result.phases,
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
	if (wire_check_count("log", "bytes", pb->data.len, LOG_CHUNK_BYTES, err) != 0)
		return -1;
	m->nbytes = pb->data.len;
	m->bytes = copy_bytes(&pb->data);
	return 0;
}

static int
decode_request(const Flyball__Request *pb, struct message_request *m, struct err *err)
{
	if (wire_check_count("request", "arguments", pb->n_args, REQUEST_ARGS_MAX, err) != 0)
		return -1;
	m->args = mem_calloc(pb->n_args, sizeof *m->args);
	for (size_t i = 0; i < pb->n_args; i++) {
		const Flyball__RequestArg *arg = pb->args[i];

		if (wire_check_chars("request", "an argument's key", FIELD_NAME, arg->key, err) !=
			0 ||
		    wire_check_chars("request", arg->key, FIELD_TEXT, arg->value, err) != 0 ||
		    wire_check_count(arg->key, "bytes", strlen(arg->value), POLICY_BYTES, err) != 0)
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
	if (wire_check_chars("reply", "json", FIELD_TEXT, pb->json, err) != 0)
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
	case MESSAGE_LOCKS:
		return decode_locks(pb, &m->locks, err);
	case MESSAGE_REQUEST:
		return decode_request(pb, &m->request, err);
	case MESSAGE_REPLY:
		return decode_reply(pb, &m->reply, err);
	default:
		return 0;
	}
}

int
wire_decode_body(const void *pb, struct message *m, struct err *err)
{
	if (decode_fields(&wire_bodies[m->envelope.kind], pb, &m->hello, err) != 0)
		return -1;
	return decode_rest(pb, m, err);
}
