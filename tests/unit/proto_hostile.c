/* A peer with a valid key that does not keep to the protocol, and peers without one:
 * it hears why, and the others are served as before.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zmq.h>

#include "proto/base/mem.h"
#include "proto/channel.h"
#include "proto/wire.h"

#define DEADLINE_US (20 * SECOND_US)

static struct key_pair server_keys, agent_keys;

struct scene {
	struct loop *loop;
	struct hub *hub;
	struct channel *server;
	void *context, *raw;
	char order[64]; /* ids of the attempts handed on, a letter each */
	char troubles[4096];
	unsigned gone;
	/* what the raw end has heard */
	struct message_refused refused;
	uint64_t ack;
	unsigned nrefused, nacks;
	bool (*holds)(const struct scene *);
	mono_us deadline;
	bool held;
};

static const char *
key_name(void *arg, const char *domain, const char *public_key)
{
	(void)arg;
	(void)domain;
	return strcmp(public_key, agent_keys.public_key) == 0 ? "alpha" : NULL;
}

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct scene *s = arg;
	char letter[2] = "h";

	(void)peer;
	if (m->envelope.kind == MESSAGE_ATTEMPT)
		letter[0] = (char)('a' + m->attempt.status.id.n);
	strncat(s->order, letter, sizeof s->order - strlen(s->order) - 1);
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct scene *s = arg;

	(void)peer;
	(void)why;
	s->gone++;
}

static void
on_trouble(void *arg, const char *text)
{
	struct scene *s = arg;
	size_t used = strlen(s->troubles);

	snprintf(s->troubles + used, sizeof s->troubles - used, "%s\n", text);
}

/* Hears what came to the raw end, then asks whether it is enough. */
static void
look(void *arg)
{
	struct scene *s = arg;
	uint8_t bytes[4096];
	struct message m;
	struct err err;
	int n;

	channel_acknowledge(s->server);
	while ((n = zmq_recv(s->raw, bytes, sizeof bytes, ZMQ_DONTWAIT)) >= 0) {
		if (wire_decode(bytes, (size_t)n, sizeof bytes, &m, &err) != 0)
			continue;
		if (m.envelope.kind == MESSAGE_REFUSED) {
			s->refused = m.refused;
			s->nrefused++;
		}
		if (m.envelope.kind == MESSAGE_ACK) {
			s->ack = m.envelope.ack;
			s->nacks++;
		}
		message_clear(&m);
	}
	s->held = s->holds(s);
	if (s->held || loop_now().us > s->deadline.us)
		loop_stop(s->loop);
}

static bool
run_until(struct scene *s, bool (*holds)(const struct scene *))
{
	struct loop_watch *timer = loop_timer_add(s->loop, 0, 5000, look, s);

	s->holds = holds;
	s->deadline = mono_add(loop_now(), DEADLINE_US);
	loop_run(s->loop);
	loop_remove(timer);
	return s->held;
}

static void
raw_connect(struct scene *s, bool curve)
{
	int linger = 0;

	s->raw = zmq_socket(s->context, ZMQ_DEALER);
	assert_non_null(s->raw);
	zmq_setsockopt(s->raw, ZMQ_LINGER, &linger, sizeof linger);
	if (curve) {
		zmq_setsockopt(s->raw, ZMQ_CURVE_SERVERKEY, server_keys.public_key, 40);
		zmq_setsockopt(s->raw, ZMQ_CURVE_PUBLICKEY, agent_keys.public_key, 40);
		zmq_setsockopt(s->raw, ZMQ_CURVE_SECRETKEY, agent_keys.secret_key, 40);
	}
	assert_int_equal(zmq_connect(s->raw, channel_endpoint(s->server)), 0);
}

static void
raw_bytes(struct scene *s, const void *bytes, size_t nbytes, int flags)
{
	assert_int_equal(zmq_send(s->raw, bytes, nbytes, flags), nbytes);
}

static void
raw_message(struct scene *s, struct message *m, uint64_t seq)
{
	uint8_t *bytes;
	size_t nbytes;
	struct err err;

	m->envelope.version = PROTOCOL_VERSION;
	m->envelope.seq = seq;
	if (wire_encode(m, &bytes, &nbytes, &err) != 0)
		fail_msg("%s", err.text);
	raw_bytes(s, bytes, nbytes, 0);
	free(bytes);
}

static void
raw_hello(struct scene *s)
{
	struct message m = { .envelope.kind = MESSAGE_HELLO };

	raw_message(s, &m, 1);
}

static void
raw_attempt(struct scene *s, uint64_t id, uint64_t seq)
{
	struct message m = { .envelope.kind = MESSAGE_ATTEMPT, .attempt.status.id.n = id };

	raw_message(s, &m, seq);
}

static int
setup(void **state)
{
	struct scene *s = mem_calloc(1, sizeof *s);
	struct channel_callbacks callbacks = { on_message, on_gone, NULL, on_trouble, s };
	struct channel_listen_options options = { "tcp://127.0.0.1:*", "agents", &server_keys,
		AGENT_MESSAGE_BYTES };
	struct err err;

	s->loop = loop_create();
	s->hub = hub_create(s->loop, key_name, NULL, s);
	s->server = channel_listen(s->hub, &options, &callbacks, &err);
	s->context = zmq_ctx_new();
	*state = s;
	return s->server != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
	struct scene *s = *state;

	if (s->raw != NULL)
		zmq_close(s->raw);
	zmq_ctx_term(s->context);
	channel_destroy(s->server);
	hub_destroy(s->hub);
	loop_destroy(s->loop);
	free(s);
	return 0;
}

static bool
is_refused(const struct scene *s)
{
	return s->nrefused > 0;
}

static bool
has_greeted(const struct scene *s)
{
	return strchr(s->order, 'h') != NULL && s->ack == 1;
}

static bool
is_in_trouble(const struct scene *s)
{
	return s->troubles[0] != '\0';
}

static void
expect_text(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("'%s' does not say '%s'", text, part);
}

static void
expect_still_served(struct scene *s)
{
	zmq_close(s->raw);
	s->order[0] = '\0';
	s->ack = 0;
	raw_connect(s, true);
	raw_hello(s);
	assert_true(run_until(s, has_greeted));
}

static void
bytes_that_are_no_message_are_refused_by_name(void **state)
{
	struct scene *s = *state;

	raw_connect(s, true);
	raw_hello(s);
	assert_true(run_until(s, has_greeted));
	raw_bytes(s, "\xff\xff\xff\xff", 4, 0);
	assert_true(run_until(s, is_refused));
	expect_text(s->refused.reason, "is not well-formed");
	expect_text(s->troubles, "alpha at 127.0.0.1, refused: ");
	assert_int_equal(s->gone, 1);
	expect_still_served(s);
}

static void
a_message_of_several_frames_is_refused(void **state)
{
	struct scene *s = *state;

	raw_connect(s, true);
	raw_bytes(s, "a", 1, ZMQ_SNDMORE);
	raw_bytes(s, "b", 1, ZMQ_SNDMORE);
	raw_bytes(s, "c", 1, 0);
	assert_true(run_until(s, is_refused));
	expect_text(s->refused.reason, "one frame");
	expect_still_served(s);
}

static void
who_does_not_say_hello_is_told_to_connect_again(void **state)
{
	struct scene *s = *state;

	raw_connect(s, true);
	raw_attempt(s, 1, 1);
	assert_true(run_until(s, is_refused));
	expect_text(s->refused.reason, "connect again");
	assert_string_equal(s->order, "");
	expect_still_served(s);
}

static void
another_version_hears_which_side_to_upgrade(void **state)
{
	struct scene *s = *state;
	struct message m = { .envelope = { PROTOCOL_VERSION + 1, MESSAGE_HELLO, 0, 1, 0 } };
	struct err err;
	uint8_t *bytes;
	size_t nbytes;

	raw_connect(s, true);
	assert_int_equal(wire_encode(&m, &bytes, &nbytes, &err), 0);
	raw_bytes(s, bytes, nbytes, 0);
	free(bytes);
	assert_true(run_until(s, is_refused));
	expect_text(s->refused.reason, "upgrade the coordinator");
	expect_text(s->troubles, "upgrade the coordinator");
}

static bool
has_all(const struct scene *s)
{
	return s->ack == 4;
}

static bool
is_acknowledged_again(const struct scene *s)
{
	return s->nacks > 0;
}

static void
gaps_are_waited_for_and_repeats_dropped(void **state)
{
	struct scene *s = *state;
	struct channel_counts counts;

	raw_connect(s, true);
	raw_hello(s);
	raw_attempt(s, 2, 3); /* 2 is missing */
	raw_attempt(s, 1, 2);
	raw_attempt(s, 1, 2);
	raw_attempt(s, 2, 3);
	raw_attempt(s, 3, 4);
	assert_true(run_until(s, has_all));
	assert_string_equal(s->order, "hbcd");
	s->nacks = 0;
	raw_attempt(s, 3, 4);
	assert_true(run_until(s, is_acknowledged_again));
	assert_int_equal(s->ack, 4);
	assert_string_equal(s->order, "hbcd");
	channel_counts_get(s->server, &counts);
	assert_int_equal(counts.repeated, 2);
}

static void
a_peer_without_a_key_never_comes_in(void **state)
{
	struct scene *s = *state;

	raw_connect(s, false);
	zmq_send(s->raw, "hello", 5, ZMQ_DONTWAIT);
	assert_true(run_until(s, is_in_trouble));
	expect_text(s->troubles, "127.0.0.1");
	expect_text(s->troubles, "came without a CURVE key");
	assert_string_equal(s->order, "");
	expect_still_served(s);
}

static void
a_message_over_the_bound_ends_only_its_own_connection(void **state)
{
	struct scene *s = *state;
	uint8_t *big = mem_calloc(AGENT_MESSAGE_BYTES + 1, 1);

	raw_connect(s, true);
	raw_hello(s);
	assert_true(run_until(s, has_greeted));
	raw_bytes(s, big, AGENT_MESSAGE_BYTES + 1, 0);
	free(big);
	expect_still_served(s);
}

int
main(void)
{
#define BETWEEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		BETWEEN(bytes_that_are_no_message_are_refused_by_name),
		BETWEEN(a_message_of_several_frames_is_refused),
		BETWEEN(who_does_not_say_hello_is_told_to_connect_again),
		BETWEEN(another_version_hears_which_side_to_upgrade),
		BETWEEN(gaps_are_waited_for_and_repeats_dropped),
		BETWEEN(a_peer_without_a_key_never_comes_in),
		BETWEEN(a_message_over_the_bound_ends_only_its_own_connection),
	};

	key_pair_create(&server_keys);
	key_pair_create(&agent_keys);
	return cmocka_run_group_tests_name("hostile peers", tests, NULL, NULL);
}
