/* Messages to bytes and back, and what hostile bytes come to.
 *
 * With FLYBALL_CORPUS=FOLDER the random messages are written there, one file each:
 * seeds for tests/fuzz/fuzz_wire.c.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/base/mem.h"
#include "proto/wire.h"

/* ---- random messages ---------------------------------------------------------------------- */

static size_t
up_to(size_t most)
{
	return (size_t)random() % (most + 1);
}

static int64_t
some_count(void)
{
	return (int64_t)(((uint64_t)random() << 31 ^ (uint64_t)random()) >> up_to(61));
}

static int32_t
some_small(void)
{
	return (int32_t)up_to(480);
}

static void
fill_chars(char *s, size_t size, const char *from)
{
	size_t n = 1 + up_to(size - 2);

	for (size_t i = 0; i < n; i++)
		s[i] = from[up_to(strlen(from) - 1)];
}

static void
fill_name(char name[NAME_SIZE])
{
	fill_chars(name, NAME_SIZE, "abcXYZ019_+");
}

static void
fill_text(char *text, size_t size)
{
	fill_chars(text, size, "abc \"'\\\n{}%");
}

static void
fill_status(struct attempt_status *s)
{
	s->id.n = (uint64_t)some_count();
	s->fence = (uint64_t)random() << 33;
	s->state = (enum attempt_state)up_to(ATTEMPT_ENDED);
	s->limit = some_small();
	s->running = some_small();
	s->limited = random() & 1;
	s->serial = random() & 1;
	s->ungoverned = random() & 1;
	if (random() & 1)
		fill_name(s->phase);
	s->steps = some_count();
	s->percent = (int32_t)up_to(101) - 1;
	s->granted = some_count();
	s->returned = some_count();
	s->drained = some_count();
	s->lost = some_count();
	s->unclaimed = some_count();
	s->elapsed_us = some_count();
	s->log_bytes = some_count();
}

static struct attempt_status *
some_attempts(size_t *ret_n)
{
	struct attempt_status *attempts;

	*ret_n = up_to(SLOTS_MAX);
	attempts = mem_calloc(*ret_n, sizeof *attempts);
	for (size_t i = 0; i < *ret_n; i++)
		fill_status(&attempts[i]);
	return attempts;
}

static char (*some_names(size_t most, size_t *ret_n))[NAME_SIZE]
{
	char(*names)[NAME_SIZE];

	*ret_n = up_to(most);
	names = mem_calloc(*ret_n, sizeof *names);
	for (size_t i = 0; i < *ret_n; i++)
		fill_name(names[i]);
	return names;
}

static void
fill_hello(struct message_hello *m)
{
	m->version_min = (uint32_t)random();
	m->version_max = (uint32_t)random();
	fill_text(m->host.agent_version, sizeof m->host.agent_version);
	fill_chars(m->host.boot_id, sizeof m->host.boot_id, "0123456789abcdef");
	fill_chars(m->host.start_id, sizeof m->host.start_id, "0123456789abcdef-");
	if (m->host.start_id[0] == '-')
		m->host.start_id[0] = '0';
	fill_text(m->host.os, sizeof m->host.os);
	fill_text(m->host.release, sizeof m->host.release);
	fill_text(m->host.arch, sizeof m->host.arch);
	fill_text(m->host.cpu, sizeof m->host.cpu);
	m->host.threads = some_small();
	m->host.memory_bytes = some_count();
	m->host.slots = (int32_t)up_to(SLOTS_MAX);
	m->host.labels = some_names(LABELS_MAX, &m->host.nlabels);
	m->host.recipes = some_names(RECIPES_MAX, &m->host.nrecipes);
	m->attempts = some_attempts(&m->nattempts);
}

static double
some_double(void)
{
	double value;

	do {
		uint64_t bits =
		    (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();

		memcpy(&value, &bits, sizeof value);
	} while (!isfinite(value));
	return random() & 7 ? value : -0.0;
}

static void
fill_reading(struct reading *reading)
{
	reading->value = some_double();
	reading->window_us = some_count();
	reading->age_us = some_count();
}

static void
fill_gauge(struct gauge *gauge)
{
	fill_name(gauge->name);
	if (random() & 1)
		fill_text(gauge->missing, sizeof gauge->missing);
	else
		fill_reading(&gauge->reading);
}

static void
fill_locks(struct message_locks *m)
{
	struct lock_table *table = &m->table;

	fill_chars(m->start_id, sizeof m->start_id, "0123456789abcdef");
	fill_name(table->source);
	if (random() & 1)
		fill_text(table->missing, sizeof table->missing);
	fill_text(table->coverage, sizeof table->coverage);
	table->window_us = some_count();
	table->age_us = some_count();
	table->cpus = some_small();
	table->has_spin = random() & 1;
	table->has_sleep = random() & 1;
	table->spin_count = some_count();
	table->spin_ns = some_count();
	table->sleep_count = some_count();
	table->sleep_ns = some_count();
	table->cost_cpu_ppm = some_count() - 1;
	table->cost_steps_ppm = some_count() - 1;
	table->nrows = up_to(LOCK_ROWS_MAX);
	table->rows = mem_calloc(table->nrows, sizeof *table->rows);
	for (size_t i = 0; i < table->nrows; i++) {
		fill_text(table->rows[i].lock, LOCK_NAME_SIZE);
		fill_text(table->rows[i].caller, LOCK_NAME_SIZE);
		table->rows[i].kind = random() & 1 ? LOCK_SPIN : LOCK_SLEEP;
		table->rows[i].count = some_count();
		table->rows[i].wait_ns = some_count();
	}
}

static void
fill_report(struct message_report *m)
{
	fill_chars(m->boot_id, sizeof m->boot_id, "0123456789abcdef");
	fill_chars(m->start_id, sizeof m->start_id, "0123456789abcdef");
	m->at.us = some_count();
	m->wall_offset_us = -some_count();
	m->limit = some_small();
	m->load.missing = (uint64_t)random() & ((UINT64_C(1) << LOAD_READINGS) - 1);
	for (unsigned i = 0; i < LOAD_READINGS; i++) {
		if (m->load.missing >> i & 1)
			continue;
		fill_reading(&m->load.readings[i]);
	}
	m->guard = some_small();
	fill_text(m->guard_reason, sizeof m->guard_reason);
	m->ngauges = up_to(GAUGES_MAX);
	m->gauges = mem_calloc(m->ngauges, sizeof *m->gauges);
	for (size_t i = 0; i < m->ngauges; i++)
		fill_gauge(&m->gauges[i]);
	m->attempts = some_attempts(&m->nattempts);
}

static void
fill_result(struct attempt_result *r)
{
	r->outcome = (enum outcome)up_to(OUTCOME_LOST);
	r->exit_code = (int32_t)up_to(1000) - 500;
	fill_text(r->reason, sizeof r->reason);
	r->real_us = some_count();
	r->usage.user_us = some_count();
	r->usage.sys_us = some_count();
	r->usage.max_resident_bytes = some_count();
	r->usage.minor_faults = some_count();
	r->usage.major_faults = some_count();
	r->usage.blocks_in = some_count();
	r->usage.blocks_out = some_count();
	r->usage.voluntary_switches = some_count();
	r->usage.involuntary_switches = some_count();
	r->log_dropped_bytes = some_count();
	r->nphases = up_to(PHASES_MAX);
	r->phases = mem_calloc(r->nphases, sizeof *r->phases);
	for (size_t i = 0; i < r->nphases; i++) {
		fill_name(r->phases[i].name);
		r->phases[i].source = (enum mark_source)up_to(MARK_LOG);
		r->phases[i].at_us = some_count();
		r->phases[i].log_offset = some_count();
		r->phases[i].steps = some_count();
		r->phases[i].usage = (struct usage){ some_count(), -1, some_count(), some_count(),
			0, some_count(), some_count(), -1, some_count() };
	}
}

static void
fill_attempt(struct message_attempt *m)
{
	fill_status(&m->status);
	if (m->status.state == ATTEMPT_ENDED)
		fill_result(&m->result);
}

static uint8_t *
some_bytes(size_t most, size_t *ret_n)
{
	uint8_t *bytes;

	*ret_n = up_to(most);
	bytes = mem_calloc(*ret_n, 1);
	for (size_t i = 0; i < *ret_n; i++)
		bytes[i] = (uint8_t)random();
	return bytes;
}

static void
fill_start(struct message_start *m)
{
	m->id.n = (uint64_t)some_count();
	m->fence = (uint64_t)some_count();
	m->build.n = (uint64_t)some_count();
	m->round.n = (uint64_t)some_count();
	fill_name(m->branch);
	fill_name(m->target);
	fill_name(m->recipe);
	fill_chars(m->revision, sizeof m->revision, "0123456789abcdef~/");
	fill_chars(m->source, sizeof m->source, "abc/ _1");
	m->jobs_min = some_small();
	m->jobs_max = some_small();
	m->limit = some_small();
	m->timeout_us = some_count();
	m->stall_us = some_count();
	m->need_disk_bytes = some_count();
	m->need_memory_bytes = some_count();
	m->expected_steps = some_count();
	m->expected_us = some_count();
}

static void
fill_request(struct message_request *m)
{
	m->id = (uint64_t)some_count();
	fill_name(m->verb);
	m->nargs = up_to(REQUEST_ARGS_MAX);
	m->args = mem_calloc(m->nargs, sizeof *m->args);
	for (size_t i = 0; i < m->nargs; i++) {
		m->args[i].key = mem_calloc(NAME_SIZE, 1);
		fill_name(m->args[i].key);
		m->args[i].value = mem_calloc(1000, 1);
		fill_text(m->args[i].value, 1000);
	}
}

static void
fill_reply(struct message_reply *m)
{
	m->id = (uint64_t)some_count();
	m->status = (enum reply_status)up_to(REPLY_UNHEALTHY);
	fill_text(m->text, sizeof m->text);
	if (random() & 1) {
		m->json = mem_calloc(5000, 1);
		fill_text(m->json, 5000);
	}
	m->offset = some_count();
	m->last = random() & 1;
	m->bytes = some_bytes(LOG_CHUNK_BYTES, &m->nbytes);
}

static void
fill(struct message *m, enum message_kind kind)
{
	memset(m, 0, sizeof *m);
	m->envelope.version = PROTOCOL_VERSION;
	m->envelope.kind = kind;
	m->envelope.epoch = (uint64_t)some_count();
	m->envelope.seq = (uint64_t)some_count();
	m->envelope.ack = (uint64_t)some_count();
	switch (kind) {
	case MESSAGE_HELLO:
		fill_hello(&m->hello);
		break;
	case MESSAGE_REPORT:
		fill_report(&m->report);
		break;
	case MESSAGE_ATTEMPT:
		fill_attempt(&m->attempt);
		break;
	case MESSAGE_LOG:
		m->log.id.n = (uint64_t)some_count();
		m->log.fence = (uint64_t)some_count();
		m->log.offset = some_count();
		m->log.last = random() & 1;
		m->log.bytes = some_bytes(LOG_CHUNK_BYTES, &m->log.nbytes);
		break;
	case MESSAGE_LOCKS:
		fill_locks(&m->locks);
		break;
	case MESSAGE_WELCOME:
		fill_name(m->welcome.host);
		m->welcome.report_busy_us = some_count();
		m->welcome.report_idle_us = some_count();
		m->welcome.lease_us = some_count();
		break;
	case MESSAGE_REFUSED:
		fill_text(m->refused.reason, sizeof m->refused.reason);
		break;
	case MESSAGE_START:
		fill_start(&m->start);
		break;
	case MESSAGE_CANCEL:
		m->cancel.id.n = (uint64_t)some_count();
		m->cancel.fence = (uint64_t)some_count();
		fill_text(m->cancel.reason, sizeof m->cancel.reason);
		break;
	case MESSAGE_LIMIT:
		m->limit.limit = some_small();
		fill_text(m->limit.reason, sizeof m->limit.reason);
		m->limit.paused = random() & 1;
		m->limit.pause_us = some_count();
		break;
	case MESSAGE_LOG_HAVE:
		m->log_have.id.n = (uint64_t)some_count();
		m->log_have.offset = some_count();
		m->log_have.complete = random() & 1;
		m->log_have.unwanted = random() & 1;
		break;
	case MESSAGE_REQUEST:
		fill_request(&m->request);
		break;
	case MESSAGE_REPLY:
		fill_reply(&m->reply);
		break;
	default:
		break;
	}
}

/* ---- equality, field by field where there are pointers ------------------------------------- */

/* All come from zeroed memory, so that what lies between the members is equal too. */
static bool
same(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size) == 0;
}

static bool
same_arrays(const void *a, size_t na, const void *b, size_t nb, size_t size)
{
	return na == nb && (na == 0 || memcmp(a, b, na * size) == 0);
}

static bool
same_hello(const struct message_hello *a, const struct message_hello *b)
{
	struct message_hello x = *a;

	x.host.labels = b->host.labels;
	x.host.recipes = b->host.recipes;
	x.attempts = b->attempts;
	return same(&x, b, sizeof x) &&
	       same_arrays(
		   a->host.labels, a->host.nlabels, b->host.labels, b->host.nlabels, NAME_SIZE) &&
	       same_arrays(a->host.recipes, a->host.nrecipes, b->host.recipes, b->host.nrecipes,
		   NAME_SIZE) &&
	       same_arrays(
		   a->attempts, a->nattempts, b->attempts, b->nattempts, sizeof *a->attempts);
}

static bool
same_report(const struct message_report *a, const struct message_report *b)
{
	struct message_report x = *a;

	x.attempts = b->attempts;
	x.gauges = b->gauges;
	return same(&x, b, sizeof x) &&
	       same_arrays(
		   a->attempts, a->nattempts, b->attempts, b->nattempts, sizeof *a->attempts) &&
	       same_arrays(a->gauges, a->ngauges, b->gauges, b->ngauges, sizeof *a->gauges);
}

static bool
same_locks(const struct message_locks *a, const struct message_locks *b)
{
	struct message_locks x = *a;

	x.table.rows = b->table.rows;
	return same(&x, b, sizeof x) && same_arrays(a->table.rows, a->table.nrows, b->table.rows,
					    b->table.nrows, sizeof *a->table.rows);
}

static bool
same_attempt(const struct message_attempt *a, const struct message_attempt *b)
{
	struct message_attempt x = *a;

	x.result.phases = b->result.phases;
	return same(&x, b, sizeof x) &&
	       same_arrays(a->result.phases, a->result.nphases, b->result.phases, b->result.nphases,
		   sizeof *a->result.phases);
}

static bool
same_request(const struct message_request *a, const struct message_request *b)
{
	struct message_request x = *a;

	x.args = b->args;
	if (!same(&x, b, sizeof x))
		return false;
	for (size_t i = 0; i < a->nargs; i++)
		if (strcmp(a->args[i].key, b->args[i].key) != 0 ||
		    strcmp(a->args[i].value, b->args[i].value) != 0)
			return false;
	return true;
}

static bool
same_reply(const struct message_reply *a, const struct message_reply *b)
{
	struct message_reply x = *a;

	x.json = b->json;
	x.bytes = b->bytes;
	return same(&x, b, sizeof x) && (a->json == NULL) == (b->json == NULL) &&
	       (a->json == NULL || strcmp(a->json, b->json) == 0) &&
	       same_arrays(a->bytes, a->nbytes, b->bytes, b->nbytes, 1);
}

static bool
same_log(const struct message_log *a, const struct message_log *b)
{
	struct message_log x = *a;

	x.bytes = b->bytes;
	return same(&x, b, sizeof x) && same_arrays(a->bytes, a->nbytes, b->bytes, b->nbytes, 1);
}

static bool
same_body(const struct message *a, const struct message *b)
{
	switch (a->envelope.kind) {
	case MESSAGE_HELLO:
		return same_hello(&a->hello, &b->hello);
	case MESSAGE_REPORT:
		return same_report(&a->report, &b->report);
	case MESSAGE_ATTEMPT:
		return same_attempt(&a->attempt, &b->attempt);
	case MESSAGE_LOG:
		return same_log(&a->log, &b->log);
	case MESSAGE_LOCKS:
		return same_locks(&a->locks, &b->locks);
	case MESSAGE_REQUEST:
		return same_request(&a->request, &b->request);
	case MESSAGE_REPLY:
		return same_reply(&a->reply, &b->reply);
	default:
		return same(&a->start, &b->start, sizeof a->start);
	}
}

static bool
same_envelope(const struct envelope *a, const struct envelope *b)
{
	return a->version == b->version && a->kind == b->kind && a->epoch == b->epoch &&
	       a->seq == b->seq && a->ack == b->ack;
}

/* ---- helpers ------------------------------------------------------------------------------ */

static uint8_t *
encode(const struct message *m, size_t *ret_nbytes)
{
	struct err err;
	uint8_t *bytes;

	if (wire_encode(m, &bytes, ret_nbytes, &err) != 0)
		fail_msg("%s: %s", message_kind_name(m->envelope.kind), err.text);
	return bytes;
}

static void
expect_refused(const uint8_t *bytes, size_t nbytes, const char *part)
{
	struct err err = { "" };
	struct message m;

	if (wire_decode(bytes, nbytes, OPERATOR_MESSAGE_BYTES, &m, &err) == 0)
		fail_msg("taken; '%s' was expected", part);
	if (strstr(err.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static void
expect_not_sent(const struct message *m, const char *part)
{
	struct err err = { "" };
	uint8_t *bytes;
	size_t nbytes;

	if (wire_encode(m, &bytes, &nbytes, &err) == 0)
		fail_msg("sent; '%s' was expected", part);
	if (strstr(err.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", err.text, part);
}

/* A field of bytes by hand, as somebody hostile would. */
static size_t
put_bytes(uint8_t *at, unsigned field, const uint8_t *bytes, size_t nbytes)
{
	size_t n = 0, left = nbytes;

	at[n++] = (uint8_t)(field << 3 | 2);
	do
		at[n++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
	while ((left >>= 7) > 0);
	memmove(at + n, bytes, nbytes);
	return n + nbytes;
}

static uint8_t *
wrap(enum message_kind kind, const uint8_t *body, size_t nbody, size_t *ret_n)
{
	uint8_t *bytes = mem_calloc(nbody + 16, 1);

	bytes[0] = 0x08;
	bytes[1] = PROTOCOL_VERSION;
	bytes[2] = 0x10;
	bytes[3] = (uint8_t)kind;
	*ret_n = 4 + put_bytes(bytes + 4, 6, body, nbody);
	return bytes;
}

static void
expect_body_refused(enum message_kind kind, const uint8_t *body, size_t nbody, const char *part)
{
	size_t n;
	uint8_t *bytes = wrap(kind, body, nbody, &n);

	expect_refused(bytes, n, part);
	free(bytes);
}

static void
write_seed(enum message_kind kind, int round, const uint8_t *bytes, size_t nbytes)
{
	const char *folder = getenv("FLYBALL_CORPUS");
	char *path;
	FILE *f;

	if (folder == NULL || round >= 4)
		return;
	path = mem_printf("%s/%s-%d", folder, message_kind_name(kind), round);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, nbytes, f), nbytes);
	assert_int_equal(fclose(f), 0);
	free(path);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void
every_kind_comes_back_as_it_was_sent(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++)
		for (int kind = MESSAGE_ACK; kind < MESSAGE_KINDS; kind++) {
			struct message m, back;
			struct err err;
			uint8_t *bytes;
			size_t nbytes;

			fill(&m, (enum message_kind)kind);
			bytes = encode(&m, &nbytes);
			write_seed((enum message_kind)kind, round, bytes, nbytes);
			if (wire_decode(bytes, nbytes, OPERATOR_MESSAGE_BYTES, &back, &err) != 0)
				fail_msg(
				    "%s: %s", message_kind_name((enum message_kind)kind), err.text);
			assert_true(same_envelope(&m.envelope, &back.envelope));
			if (!same_body(&m, &back))
				fail_msg("%s differs", message_kind_name((enum message_kind)kind));
			message_clear(&m);
			message_clear(&back);
			free(bytes);
		}
}

/* Taken or refused in words; what is taken can be sent again. */
static void
try_bytes(const uint8_t *bytes, size_t nbytes)
{
	struct err err = { "" };
	struct message m;
	uint8_t *again;
	size_t nagain;

	if (wire_decode(bytes, nbytes, OPERATOR_MESSAGE_BYTES, &m, &err) != 0) {
		assert_true(err.text[0] != '\0');
		return;
	}
	if (wire_encode(&m, &again, &nagain, &err) != 0)
		fail_msg("taken and not sent again: %s", err.text);
	free(again);
	message_clear(&m);
}

static void
cut_messages_are_refused_or_read(void **state)
{
	(void)state;
	for (int kind = MESSAGE_ACK; kind < MESSAGE_KINDS; kind++) {
		struct message m;
		uint8_t *bytes;
		size_t nbytes, step;

		fill(&m, (enum message_kind)kind);
		bytes = encode(&m, &nbytes);
		step = 1 + nbytes / 2000;
		for (size_t n = 0; n < nbytes; n += step) {
			uint8_t *cut = mem_calloc(n, 1); /* so that a sanitizer sees its end */

			memcpy(cut, bytes, n);
			try_bytes(cut, n);
			free(cut);
		}
		free(bytes);
		message_clear(&m);
	}
}

static void
changed_messages_are_refused_or_read(void **state)
{
	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct message m;
		uint8_t *bytes;
		size_t nbytes;

		fill(&m, (enum message_kind)(1 + up_to(MESSAGE_KINDS - 2)));
		bytes = encode(&m, &nbytes);
		for (size_t n = up_to(4); n > 0; n--)
			bytes[up_to(nbytes < 200 || random() & 1 ? nbytes - 1 : 200)] =
			    (uint8_t)random();
		try_bytes(bytes, nbytes);
		free(bytes);
		message_clear(&m);
	}
}

static void
many_empty_parts_are_stopped_by_the_budget(void **state)
{
	size_t n = AGENT_MESSAGE_BYTES - 64;
	uint8_t *body = mem_calloc(n, 1);

	(void)state;
	for (size_t i = 0; i + 1 < n; i += 2)
		body[i] = 3 << 3 | 2; /* args = {} */
	expect_body_refused(MESSAGE_REQUEST, body, n, "would take more than 4194304 bytes");
	for (size_t i = 0; i + 1 < n; i += 2)
		body[i] = 4 << 3 | 2; /* attempts = {} */
	expect_body_refused(MESSAGE_HELLO, body, n, "would take more than 4194304 bytes");
	free(body);
}

static void
more_parts_than_agreed_are_refused_at_both_ends(void **state)
{
	uint8_t host[256], hello[512], attempts[2 * (ATTEMPTS_MAX + 1)];
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_REPORT, 1, 1, 1 } };
	size_t n = 0;

	(void)state;
	for (int i = 0; i <= LABELS_MAX; i++)
		n += put_bytes(host + n, 11, (const uint8_t *)"a", 1);
	n = put_bytes(hello, 3, host, n);
	expect_body_refused(MESSAGE_HELLO, hello, n, "hello: 33 labels; at most 32");
	for (size_t i = 0; i < sizeof attempts; i += 2) {
		attempts[i] = 7 << 3 | 2;
		attempts[i + 1] = 0;
	}
	expect_body_refused(
	    MESSAGE_REPORT, attempts, sizeof attempts, "report: 257 attempts; at most 256");
	m.report.nattempts = ATTEMPTS_MAX + 1;
	m.report.attempts = mem_calloc(m.report.nattempts, sizeof *m.report.attempts);
	expect_not_sent(&m, "report: 257 attempts; at most 256");
	free(m.report.attempts);
}

static void
a_message_longer_than_agreed_is_refused(void **state)
{
	uint8_t *bytes = mem_calloc(AGENT_MESSAGE_BYTES + 1, 1);
	struct message m;
	struct err err;

	(void)state;
	assert_int_equal(
	    wire_decode(bytes, AGENT_MESSAGE_BYTES + 1, AGENT_MESSAGE_BYTES, &m, &err), -1);
	assert_string_equal(err.text, "a message: 262145 bytes; at most 262144 were expected");
	free(bytes);
}

/* Finds the reading's bits in the bytes and puts others there. */
static void
exchange_double(uint8_t *bytes, size_t nbytes, double was, double now)
{
	uint8_t *at = memmem(bytes, nbytes, &was, sizeof was);

	assert_non_null(at);
	memcpy(at, &now, sizeof now);
}

static void
a_reading_that_is_no_number_is_refused_and_never_sent(void **state)
{
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_REPORT, 1, 1, 1 } }, back;
	struct err err;
	uint8_t *bytes;
	size_t nbytes;

	(void)state;
	m.report.load.readings[LOAD_5].value = 1.2345678;
	bytes = encode(&m, &nbytes);
	exchange_double(bytes, nbytes, 1.2345678, NAN);
	expect_refused(bytes, nbytes, "report: the reading 'load_5' is no finite number");
	exchange_double(bytes, nbytes, NAN, INFINITY);
	expect_refused(bytes, nbytes, "report: the reading 'load_5' is no finite number");
	free(bytes);

	m.report.load.readings[LOAD_5].value = NAN;
	bytes = encode(&m, &nbytes);
	assert_int_equal(wire_decode(bytes, nbytes, AGENT_MESSAGE_BYTES, &back, &err), 0);
	assert_int_equal(back.report.load.missing, UINT64_C(1) << LOAD_5);
	message_clear(&back);
	free(bytes);
}

struct version_case {
	const char *what;
	enum message_kind kind;
	uint32_t version;
	const char *sentence;
};

static const struct version_case version_cases[] = {
	{ "a newer agent", MESSAGE_HELLO, PROTOCOL_VERSION + 1,
	    "the agent speaks protocol version 2 and the coordinator understands 1 to 1: upgrade "
	    "the "
	    "coordinator" },
	{ "an older agent", MESSAGE_HELLO, PROTOCOL_VERSION_MIN - 1,
	    "the agent speaks protocol version 0 and the coordinator understands 1 to 1: upgrade "
	    "the "
	    "agent" },
	{ "a newer coordinator", MESSAGE_WELCOME, PROTOCOL_VERSION + 1, ": upgrade the agent" },
	{ "a newer flyball(1)", MESSAGE_REQUEST, PROTOCOL_VERSION + 1,
	    ": upgrade the coordinator" },
	{ "an older flyball(1)", MESSAGE_REQUEST, PROTOCOL_VERSION_MIN - 1,
	    ": upgrade flyball(1)" },
};

static void
another_version_is_refused_naming_the_side_to_upgrade(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof version_cases / sizeof version_cases[0]; i++) {
		const struct version_case *c = &version_cases[i];
		struct message m;
		uint8_t *bytes;
		size_t nbytes;

		fill(&m, c->kind);
		m.envelope.version = c->version;
		bytes = encode(&m, &nbytes);
		expect_refused(bytes, nbytes, c->sentence);
		free(bytes);
		message_clear(&m);
	}
}

static void
a_refusal_is_understood_in_any_version(void **state)
{
	struct message m = { .envelope = { PROTOCOL_VERSION + 7, MESSAGE_REFUSED, 1, 0, 0 },
		.refused = { "upgrade" } },
		       back;
	struct err err;
	uint8_t *bytes;
	size_t nbytes;

	(void)state;
	bytes = encode(&m, &nbytes);
	assert_int_equal(wire_decode(bytes, nbytes, AGENT_MESSAGE_BYTES, &back, &err), 0);
	assert_string_equal(back.refused.reason, "upgrade");
	free(bytes);
}

static void
strange_names_are_refused_at_both_ends(void **state)
{
	static const char *const bad[] = { "", "../x", "a/b", "-rf", ".hidden", "a b", "\xc3\xa4",
		"a\n", "0123456789012345678901234567890123456789012345678901234567890123" };
	struct message m;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint8_t body[128];
		size_t n = put_bytes(body, 2, (const uint8_t *)bad[i], strlen(bad[i]));

		assert_false(wire_name_ok(bad[i]));
		expect_body_refused(MESSAGE_REQUEST, body, n, "request: verb is ");
		fill(&m, MESSAGE_REQUEST);
		if (mem_copy_text(m.request.verb, sizeof m.request.verb, bad[i]))
			expect_not_sent(&m, "request: verb is no name");
		message_clear(&m);
	}
	assert_true(wire_name_ok("release-13.1_p2+x.y"));
}

static void
a_source_outside_its_root_is_refused(void **state)
{
	static const char *const bad[] = { "..", "../x", "a/../b", "a/..", "-x", "a\nb" };
	struct message m;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		fill(&m, MESSAGE_START);
		mem_copy_text(m.start.source, sizeof m.start.source, bad[i]);
		expect_not_sent(&m, "start: source is no path");
	}
	strcpy(m.start.source, "a..b/...c/d..");
	free(encode(&m, &(size_t){ 0 }));
}

static void
strange_text_is_repaired_by_the_sender_and_refused_by_the_receiver(void **state)
{
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_CANCEL, 1, 1, 1 } }, back;
	static const char *const bad[] = { "\x1b[2J", "\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf",
		"\xc2\x9b" };
	struct err err;
	uint8_t *bytes;
	size_t nbytes;

	(void)state;
	strcpy(m.cancel.reason, "\x1b[31m caf\xc3\xa9 \xff cut \xe2\x82");
	bytes = encode(&m, &nbytes);
	assert_int_equal(wire_decode(bytes, nbytes, AGENT_MESSAGE_BYTES, &back, &err), 0);
	assert_string_equal(back.cancel.reason, "?[31m caf\xc3\xa9 ? cut ??");
	free(bytes);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint8_t body[64];
		size_t n = put_bytes(body, 3, (const uint8_t *)bad[i], strlen(bad[i]));

		expect_body_refused(MESSAGE_CANCEL, body, n, "cancel: reason holds bytes");
	}
}

static void
numbers_out_of_bounds_are_refused(void **state)
{
	struct message m = { .envelope = { PROTOCOL_VERSION, MESSAGE_LIMIT, 1, 1, 1 } };
	static const uint8_t minus_one[] = { 1 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 1 };
	static const uint8_t status[] = { 2 << 3, 9 };

	(void)state;
	m.limit.limit = -1;
	expect_not_sent(&m, "limit: limit is -1; 0 to 30720 was expected");
	expect_body_refused(MESSAGE_LIMIT, minus_one, sizeof minus_one, "limit: limit is -1; 0 to");
	expect_body_refused(MESSAGE_REPLY, status, sizeof status, "reply: status is 9; 0 to 8");
}

static void
what_a_newer_side_adds_is_passed_over(void **state)
{
	static const uint8_t body[] = { 1 << 3, 5, 0xfa, 0x3f, 3, 'n', 'e', 'w' }; /* field 1023 */
	struct message m;
	struct err err;
	size_t n;
	uint8_t *bytes = wrap(MESSAGE_LIMIT, body, sizeof body, &n);

	(void)state;
	assert_int_equal(wire_decode(bytes, n, AGENT_MESSAGE_BYTES, &m, &err), 0);
	assert_int_equal(m.limit.limit, 5);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back_as_it_was_sent),
		cmocka_unit_test(cut_messages_are_refused_or_read),
		cmocka_unit_test(changed_messages_are_refused_or_read),
		cmocka_unit_test(many_empty_parts_are_stopped_by_the_budget),
		cmocka_unit_test(more_parts_than_agreed_are_refused_at_both_ends),
		cmocka_unit_test(a_message_longer_than_agreed_is_refused),
		cmocka_unit_test(a_reading_that_is_no_number_is_refused_and_never_sent),
		cmocka_unit_test(another_version_is_refused_naming_the_side_to_upgrade),
		cmocka_unit_test(a_refusal_is_understood_in_any_version),
		cmocka_unit_test(strange_names_are_refused_at_both_ends),
		cmocka_unit_test(a_source_outside_its_root_is_refused),
		cmocka_unit_test(
		    strange_text_is_repaired_by_the_sender_and_refused_by_the_receiver),
		cmocka_unit_test(numbers_out_of_bounds_are_refused),
		cmocka_unit_test(what_a_newer_side_adds_is_passed_over),
	};
	const char *seed_text = getenv("FLYBALL_SEED");
	unsigned seed =
	    seed_text != NULL ? (unsigned)strtoul(seed_text, NULL, 10) : (unsigned)getpid();

	printf("# FLYBALL_SEED=%u\n", seed);
	srandom(seed);
	return cmocka_run_group_tests_name("the wire", tests, NULL, NULL);
}
