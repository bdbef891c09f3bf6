/* The loop's promises: no lost wake-up, turns at the end, watches removed inside callbacks.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "proto/base/loop.h"

enum { MESSAGES = 10000 };

#define DEADLINE_US (10 * SECOND_US)

struct burst {
	struct loop *loop;
	void *context, *socket;
	unsigned seed;
	int received, wrong, echoes;
	bool late;
	struct loop_watch *idle;
};

/* Bursts of all lengths with pauses between, so that the receiver sleeps in between. */
static void *
send_burst(void *arg)
{
	struct burst *b = arg;
	void *socket = zmq_socket(b->context, ZMQ_PAIR);
	int linger = -1, patience_ms = (int)(DEADLINE_US / 1000);

	zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
	zmq_setsockopt(socket, ZMQ_SNDTIMEO, &patience_ms, sizeof patience_ms);
	if (zmq_connect(socket, "inproc://burst") != 0)
		abort();
	for (int i = 0; i < MESSAGES; i++) {
		char echo[8];

		if (zmq_send(socket, &i, sizeof i, 0) != (int)sizeof i)
			break; /* the receiver has given up */
		while (zmq_recv(socket, echo, sizeof echo, ZMQ_DONTWAIT) >= 0)
			;
		if (rand_r(&b->seed) % 50 == 0)
			usleep((unsigned)rand_r(&b->seed) % 2000);
	}
	zmq_close(socket);
	return NULL;
}

static void
take_one(void *arg)
{
	struct burst *b = arg;
	int i = -1;

	if (zmq_recv(b->socket, &i, sizeof i, ZMQ_DONTWAIT) != (int)sizeof i || i != b->received)
		b->wrong++;
	b->received++;
	if (b->received == MESSAGES)
		loop_stop(b->loop);
}

/* Sending at the end of a turn swallows libzmq's edge; the loop must look again. */
static void
echo(void *arg)
{
	struct burst *b = arg;

	if (zmq_send(b->socket, "x", 1, ZMQ_DONTWAIT) == 1)
		b->echoes++;
}

static void
give_up(void *arg)
{
	struct burst *b = arg;

	b->late = true;
	loop_stop(b->loop);
}

/* The only timer is the deadline: nothing else wakes a loop that has lost a wake-up. */
static void
a_burst_on_a_socket_loses_no_wake_up(void **state)
{
	struct burst b = { .loop = loop_create(), .seed = (unsigned)getpid() };
	struct loop_watch *watches[3];
	pthread_t thread;

	(void)state;
	printf("# seed %u\n", b.seed);
	b.context = zmq_ctx_new();
	b.socket = zmq_socket(b.context, ZMQ_PAIR);
	assert_int_equal(zmq_bind(b.socket, "inproc://burst"), 0);
	watches[0] = loop_socket_add(b.loop, b.socket, take_one, &b);
	watches[1] = loop_turn_add(b.loop, echo, &b);
	watches[2] = loop_timer_add(b.loop, DEADLINE_US, 0, give_up, &b);
	assert_int_equal(pthread_create(&thread, NULL, send_burst, &b), 0);
	loop_run(b.loop);
	for (int i = 0; i < 3; i++)
		loop_remove(watches[i]);
	pthread_join(thread, NULL);
	zmq_close(b.socket);
	zmq_ctx_term(b.context);
	loop_destroy(b.loop);
	assert_false(b.late);
	assert_int_equal(b.received, MESSAGES);
	assert_int_equal(b.wrong, 0);
	assert_true(b.echoes > 0);
}

/* ---- turns and timers --------------------------------------------------------------------- */

struct story {
	struct loop *loop;
	char text[256];
	int turns;
	struct loop_watch *self, *other;
};

static void
tell(struct story *s, const char *word)
{
	strncat(s->text, word, sizeof s->text - strlen(s->text) - 1);
}

static void
timer_a(void *arg)
{
	tell(arg, "a");
}

static void
timer_b(void *arg)
{
	tell(arg, "b");
}

static void
first_turn(void *arg)
{
	struct story *s = arg;

	if (strlen(s->text) >= 2) {
		tell(s, "1");
		s->turns++;
	}
}

static void
second_turn(void *arg)
{
	struct story *s = arg;

	if (s->turns > 0) {
		tell(s, "2");
		loop_stop(s->loop);
	}
}

static void
a_turn_ends_after_all_callbacks_in_the_order_of_adding(void **state)
{
	struct story s = { .loop = loop_create() };

	(void)state;
	loop_turn_add(s.loop, first_turn, &s);
	loop_turn_add(s.loop, second_turn, &s);
	loop_timer_add(s.loop, 1000, 0, timer_a, &s);
	loop_timer_add(s.loop, 2000, 0, timer_b, &s);
	loop_run(s.loop);
	loop_destroy(s.loop);
	assert_memory_equal(s.text, "ab12", 4);
}

static void
stop_now(void *arg)
{
	struct story *s = arg;

	tell(s, "ab");
	loop_stop(s->loop);
}

static void
the_turn_in_which_the_loop_is_stopped_ends_too(void **state)
{
	struct story s = { .loop = loop_create() };

	(void)state;
	loop_turn_add(s.loop, first_turn, &s);
	loop_timer_add(s.loop, 0, 0, stop_now, &s);
	loop_run(s.loop);
	loop_destroy(s.loop);
	assert_string_equal(s.text, "ab1");
}

static void
remove_both(void *arg)
{
	struct story *s = arg;

	tell(s, "x");
	loop_remove(s->self);
	loop_remove(s->other);
}

static void
a_watch_can_be_removed_inside_its_callback(void **state)
{
	struct story s = { .loop = loop_create() };

	(void)state;
	s.self = loop_timer_add(s.loop, 1000, 1000, remove_both, &s);
	s.other = loop_timer_add(s.loop, 5000, 0, timer_b, &s);
	loop_timer_add(s.loop, 20000, 0, (loop_f)loop_stop, s.loop);
	loop_run(s.loop);
	loop_destroy(s.loop);
	assert_string_equal(s.text, "x");
}

static void
busy_for_a_while(void *arg)
{
	struct story *s = arg;
	mono_us until = mono_add(loop_now(), 30000);

	while (loop_now().us < until.us)
		;
	s->self = loop_timer_add(s->loop, 20000, 0, stop_now, s);
}

static void
a_delay_counts_from_when_it_was_asked_for(void **state)
{
	struct story s = { .loop = loop_create() };
	mono_us begin = loop_now();

	(void)state;
	loop_timer_add(s.loop, 0, 0, busy_for_a_while, &s);
	loop_run(s.loop);
	loop_destroy(s.loop);
	assert_true(mono_since(begin, loop_now()) >= 49000);
}

static void
a_signal_and_a_descriptor_wake_the_loop(void **state)
{
	struct story s = { .loop = loop_create() };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	loop_signal_add(s.loop, SIGUSR1, timer_a, &s);
	loop_fd_add(s.loop, fds[0], LOOP_READ, stop_now, &s);
	raise(SIGUSR1);
	loop_turn_add(s.loop, first_turn, &s);
	assert_int_equal(write(fds[1], "x", 1), 1);
	loop_run(s.loop);
	loop_destroy(s.loop);
	close(fds[0]);
	close(fds[1]);
	assert_non_null(strstr(s.text, "ab"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_on_a_socket_loses_no_wake_up),
		cmocka_unit_test(a_turn_ends_after_all_callbacks_in_the_order_of_adding),
		cmocka_unit_test(the_turn_in_which_the_loop_is_stopped_ends_too),
		cmocka_unit_test(a_watch_can_be_removed_inside_its_callback),
		cmocka_unit_test(a_delay_counts_from_when_it_was_asked_for),
		cmocka_unit_test(a_signal_and_a_descriptor_wake_the_loop),
	};

	return cmocka_run_group_tests_name("the loop", tests, NULL, NULL);
}
