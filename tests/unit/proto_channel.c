/* Both ends of a channel over real sockets. Unless a test says otherwise the two ends
 * have a hub each and share one loop; the loop runs until a condition holds, or a
 * deadline fails the test.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/base/mem.h"
#include "proto/channel.h"

enum { BURST = 10000, TEXTS = 8192 };

#define DEADLINE_US (20 * SECOND_US)

/* One end: what it has seen, and what it is to send. */
struct end {
	const char *what;
	struct loop *loop;
	struct hub *hub;
	struct channel *channel;
	struct peer *peer; /* the last that came */
	struct loop_watch *turn, *timer;
	enum message_kind kind; /* that it sends */
	uint64_t to_send, sent;
	uint64_t received, wrong; /* wrong: not the next one */
	unsigned connected, gone, hellos, refusals, ticks;
	bool deaf; /* acknowledges nothing */
	char troubles[TEXTS], whys[TEXTS];
};

static struct key_pair server_keys, agent_keys, other_keys;

static const char *
key_name(void *arg, const char *domain, const char *public_key)
{
	(void)arg;
	if (strcmp(domain, "agents") != 0)
		return NULL;
	return strcmp(public_key, agent_keys.public_key) == 0 ? "alpha" : NULL;
}

static bool uid_welcome = true;

static bool
uid_ok(void *arg, const char *domain, unsigned uid)
{
	(void)arg;
	return uid_welcome && strcmp(domain, "operators") == 0 && uid == getuid();
}

static void
append(char *texts, const char *text)
{
	size_t used = strlen(texts);

	snprintf(texts + used, TEXTS - used, "%s\n", text);
}

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct end *e = arg;
	uint64_t n = 0;

	e->peer = peer;
	if (m->envelope.kind == MESSAGE_HELLO)
		e->hellos++;
	else if (m->envelope.kind == MESSAGE_REFUSED)
		e->refusals++;
	else if (m->envelope.kind == MESSAGE_CANCEL)
		n = m->cancel.id.n;
	else if (m->envelope.kind == MESSAGE_ATTEMPT)
		n = m->attempt.status.id.n;
	if (n == 0)
		return;
	if (n != e->received + 1)
		e->wrong++;
	e->received++;
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct end *e = arg;

	if (e->peer == peer)
		e->peer = NULL;
	e->gone++;
	append(e->whys, why);
}

static void
say_hello(struct end *e, struct peer *peer)
{
	struct message m = { .envelope.kind = MESSAGE_HELLO };
	struct err err;

	m.hello.version_min = m.hello.version_max = PROTOCOL_VERSION;
	if (channel_send(e->channel, peer, &m, true, &err) != 0)
		fail_msg("%s", err.text);
}

static void
on_connected(void *arg, struct peer *peer)
{
	struct end *e = arg;

	e->connected++;
	e->peer = peer;
	say_hello(e, peer);
}

static void
on_trouble(void *arg, const char *text)
{
	struct end *e = arg;

	append(e->troubles, text);
}

static const struct channel_callbacks *
callbacks_of(struct end *e)
{
	static _Thread_local struct channel_callbacks callbacks;

	callbacks = (struct channel_callbacks){ on_message, on_gone, on_connected, on_trouble, e };
	return &callbacks;
}

/* Sends as acknowledgements come, and acknowledges what came. */
static void
pump(void *arg)
{
	struct end *e = arg;
	struct err err;

	while (e->peer != NULL && e->sent < e->to_send && peer_outgoing(e->peer) < OUTGOING_MAX) {
		struct message m = { .envelope.kind = e->kind };

		if (e->kind == MESSAGE_CANCEL)
			m.cancel.id.n = e->sent + 1;
		else
			m.attempt.status.id.n = e->sent + 1;
		if (channel_send(e->channel, e->peer, &m, true, &err) != 0)
			break;
		e->sent++;
	}
	if (e->channel != NULL && !e->deaf)
		channel_acknowledge(e->channel);
}

static void
on_timer(void *arg)
{
	struct end *e = arg;

	e->ticks++;
}

static void
end_init(struct end *e, const char *what, struct loop *loop)
{
	memset(e, 0, sizeof *e);
	e->what = what;
	e->loop = loop;
	e->hub = hub_create(loop, key_name, uid_ok, e);
	e->turn = loop_turn_add(loop, pump, e);
}

static void
end_clear(struct end *e)
{
	channel_destroy(e->channel);
	loop_remove(e->turn);
	loop_remove(e->timer);
	hub_destroy(e->hub);
}

static void
listen_at(struct end *e, const char *endpoint)
{
	bool ipc = strncmp(endpoint, "ipc:", 4) == 0;
	struct channel_listen_options options = { endpoint, ipc ? "operators" : "agents",
		&server_keys, AGENT_MESSAGE_BYTES };
	struct err err;

	e->kind = MESSAGE_CANCEL;
	e->channel = channel_listen(e->hub, &options, callbacks_of(e), &err);
	if (e->channel == NULL)
		fail_msg("%s", err.text);
}

static void
connect_to(struct end *e, const char *endpoint, const struct key_pair *keys, const char *server_key)
{
	struct channel_connect_options options = { endpoint, keys, server_key, AGENT_MESSAGE_BYTES,
		0 };
	struct err err;

	e->kind = MESSAGE_ATTEMPT;
	e->channel = channel_connect(e->hub, &options, callbacks_of(e), &err);
	if (e->channel == NULL)
		fail_msg("%s", err.text);
}

/* ---- running until ------------------------------------------------------------------------ */

struct until {
	struct loop *loop;
	bool (*holds)(void *arg);
	void *arg;
	mono_us deadline;
	bool held;
};

static void
look(void *arg)
{
	struct until *u = arg;

	u->held = u->holds(u->arg);
	if (u->held || loop_now().us > u->deadline.us)
		loop_stop(u->loop);
}

static bool
run_until(struct loop *loop, bool (*holds)(void *arg), void *arg)
{
	struct until u = { loop, holds, arg, mono_add(loop_now(), DEADLINE_US), false };
	struct loop_watch *turn = loop_turn_add(loop, look, &u);
	struct loop_watch *timer = loop_timer_add(loop, 100000, 100000, look, &u);

	loop_run(loop);
	loop_remove(turn);
	loop_remove(timer);
	return u.held;
}

struct ends {
	struct loop *loop;
	struct end server, client;
	char folder[64];
};

static int
setup(void **state)
{
	struct ends *ends = mem_calloc(1, sizeof *ends);

	ends->loop = loop_create();
	strcpy(ends->folder, "/tmp/flyball-channel-XXXXXX");
	if (mkdtemp(ends->folder) == NULL)
		return -1;
	end_init(&ends->server, "server", ends->loop);
	end_init(&ends->client, "client", ends->loop);
	*state = ends;
	return 0;
}

static int
teardown(void **state)
{
	struct ends *ends = *state;
	char *command;

	end_clear(&ends->client);
	end_clear(&ends->server);
	loop_destroy(ends->loop);
	command = mem_printf("%s/socket", ends->folder);
	unlink(command);
	rmdir(ends->folder);
	free(command);
	free(ends);
	uid_welcome = true;
	return 0;
}

static bool
greeted(void *arg)
{
	struct ends *ends = arg;

	return ends->server.hellos > 0 && ends->client.peer != NULL &&
	       peer_outgoing(ends->client.peer) == 0;
}

static bool
both_in_trouble(void *arg)
{
	struct ends *ends = arg;

	return ends->server.troubles[0] != '\0' && ends->client.troubles[0] != '\0';
}

static bool
client_in_trouble(void *arg)
{
	struct ends *ends = arg;

	return ends->client.troubles[0] != '\0';
}

static void
expect_text(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("'%s' does not say '%s'", text, part);
}

/* ---- keys and users ----------------------------------------------------------------------- */

static void
names_a_peer_by_its_key(void **state)
{
	struct ends *ends = *state;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	assert_string_equal(peer_name(ends->server.peer), "alpha");
	assert_string_equal(peer_address(ends->server.peer), "127.0.0.1");
	assert_string_equal(ends->server.troubles, "");
	assert_string_equal(ends->client.troubles, "");
}

static void
refuses_an_unknown_key_in_words_at_both_ends(void **state)
{
	struct ends *ends = *state;
	char fingerprint[KEY_FINGERPRINT_SIZE];

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &other_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, both_in_trouble, ends));
	key_fingerprint(other_keys.public_key, fingerprint);
	expect_text(ends->server.troubles, fingerprint);
	expect_text(ends->server.troubles, "127.0.0.1: key ");
	expect_text(ends->server.troubles, "is not in the allow-list of the agents");
	expect_text(ends->client.troubles, fingerprint);
	expect_text(ends->client.troubles, "is not in the allow-list");
	assert_int_equal(ends->server.hellos, 0);
	assert_int_equal(ends->client.connected, 0);
}

static void
says_that_the_server_key_is_wrong_at_both_ends(void **state)
{
	struct ends *ends = *state;
	char ours[KEY_FINGERPRINT_SIZE], theirs[KEY_FINGERPRINT_SIZE];

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    other_keys.public_key);
	assert_true(run_until(ends->loop, both_in_trouble, ends));
	key_fingerprint(server_keys.public_key, ours);
	key_fingerprint(other_keys.public_key, theirs);
	expect_text(ends->server.troubles, "127.0.0.1");
	expect_text(ends->server.troubles, "expects another server key than ");
	expect_text(ends->server.troubles, ours);
	expect_text(ends->client.troubles, "most likely its key is not ");
	expect_text(ends->client.troubles, theirs);
	assert_int_equal(ends->client.connected, 0);
}

static void
says_that_nobody_listens(void **state)
{
	struct ends *ends = *state;

	connect_to(&ends->client, "tcp://127.0.0.1:1", &agent_keys, server_keys.public_key);
	assert_true(run_until(ends->loop, client_in_trouble, ends));
	expect_text(ends->client.troubles, "tcp://127.0.0.1:1 cannot be reached: nobody listens");
}

static void
says_that_there_is_no_such_socket(void **state)
{
	struct ends *ends = *state;
	char *endpoint = mem_printf("ipc://%s/socket", ends->folder);

	connect_to(&ends->client, endpoint, NULL, NULL);
	assert_true(run_until(ends->loop, client_in_trouble, ends));
	expect_text(ends->client.troubles, "/socket: there is no such socket");
	free(endpoint);
}

static void
lets_a_known_uid_in_over_ipc(void **state)
{
	struct ends *ends = *state;
	char *endpoint = mem_printf("ipc://%s/socket", ends->folder), *name;
	struct stat st;

	listen_at(&ends->server, endpoint);
	assert_int_equal(stat(endpoint + 6, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	connect_to(&ends->client, endpoint, NULL, NULL);
	assert_true(run_until(ends->loop, greeted, ends));
	name = mem_printf("uid:%u", getuid());
	assert_string_equal(peer_name(ends->server.peer), name);
	free(name);
	free(endpoint);
}

static void
refuses_another_uid_in_words_at_both_ends(void **state)
{
	struct ends *ends = *state;
	char *endpoint = mem_printf("ipc://%s/socket", ends->folder);

	uid_welcome = false;
	listen_at(&ends->server, endpoint);
	connect_to(&ends->client, endpoint, NULL, NULL);
	assert_true(run_until(ends->loop, both_in_trouble, ends));
	expect_text(ends->server.troubles, "may not use it");
	expect_text(ends->client.troubles, "refuses this user");
	assert_int_equal(ends->server.hellos, 0);
	free(endpoint);
}

static void
never_listens_on_tcp_without_keys(void **state)
{
	struct ends *ends = *state;
	struct channel_listen_options options = { "tcp://127.0.0.1:*", "agents", NULL, 1024 };
	struct err err;

	assert_null(channel_listen(ends->server.hub, &options, callbacks_of(&ends->server), &err));
	expect_text(err.text, "TCP needs keys");
}

static void
says_that_an_address_is_in_use(void **state)
{
	struct ends *ends = *state;
	struct channel_listen_options options = { NULL, "agents", &server_keys, 1024 };
	struct err err;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	options.endpoint = channel_endpoint(ends->server.channel);
	assert_null(channel_listen(ends->client.hub, &options, callbacks_of(&ends->client), &err));
	expect_text(err.text, "the address is in use");
}

/* ---- reliability -------------------------------------------------------------------------- */

static bool
all_arrived(void *arg)
{
	struct ends *ends = arg;

	return ends->server.received >= ends->client.to_send &&
	       ends->client.received >= ends->server.to_send && ends->client.peer != NULL &&
	       peer_outgoing(ends->client.peer) == 0;
}

static void
resends_what_a_deaf_end_did_not_acknowledge(void **state)
{
	struct ends *ends = *state;
	struct channel_counts counts;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	ends->server.deaf = true;
	ends->client.to_send = 5;
	do {
		loop_timer_add(ends->loop, 100000, 0, (loop_f)loop_stop, ends->loop);
		loop_run(ends->loop);
		channel_counts_get(ends->server.channel, &counts);
	} while (counts.repeated < 5);
	assert_int_equal(peer_outgoing(ends->client.peer), 5);
	ends->server.deaf = false;
	assert_true(run_until(ends->loop, all_arrived, ends));
	assert_int_equal(ends->server.received, 5);
	assert_int_equal(ends->server.wrong, 0);
}

static bool
one_unacknowledged(void *arg)
{
	struct ends *ends = arg;

	return ends->server.received == 1;
}

static bool
back_again(void *arg)
{
	struct ends *ends = arg;

	return ends->client.connected == 2 && greeted(ends);
}

/* The server dies having read, not acknowledged; the user sends again what it still owes. */
static void
comes_back_after_a_restart_of_the_server(void **state)
{
	struct ends *ends = *state;
	char *endpoint;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	endpoint = mem_strdup(channel_endpoint(ends->server.channel));
	connect_to(&ends->client, endpoint, &agent_keys, server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	ends->server.deaf = true;
	ends->client.to_send = 1;
	assert_true(run_until(ends->loop, one_unacknowledged, ends));
	assert_int_equal(peer_outgoing(ends->client.peer), 1);

	end_clear(&ends->server);
	end_init(&ends->server, "server", ends->loop);
	listen_at(&ends->server, endpoint);
	ends->client.to_send = 0;
	assert_true(run_until(ends->loop, back_again, ends));
	assert_int_equal(ends->client.gone, 1);
	expect_text(ends->client.whys, "closed the connection");
	ends->client.sent = 0;
	ends->client.to_send = 1;
	assert_true(run_until(ends->loop, all_arrived, ends));
	assert_int_equal(ends->server.received, 1);
	free(endpoint);
}

static bool
replaced(void *arg)
{
	struct ends *ends = arg;

	return ends->server.hellos == 2 && ends->client.refusals == 1;
}

static void
gives_a_name_to_its_newest_connection(void **state)
{
	struct ends *ends = *state;
	struct end second;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	end_init(&second, "second", ends->loop);
	connect_to(
	    &second, channel_endpoint(ends->server.channel), &agent_keys, server_keys.public_key);
	assert_true(run_until(ends->loop, replaced, ends));
	assert_int_equal(ends->server.gone, 1);
	expect_text(ends->server.whys, "a newer connection took its place");
	expect_text(ends->client.whys, "a newer connection with the same key took its place");
	end_clear(&second);
}

static bool
client_refused(void *arg)
{
	struct ends *ends = arg;

	return ends->client.refusals > 0 && ends->client.gone > 0;
}

static bool
server_misses_one(void *arg)
{
	struct ends *ends = arg;

	return ends->server.gone == 1;
}

static void
notices_soon_that_a_peer_has_closed(void **state)
{
	struct ends *ends = *state;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	channel_destroy(ends->client.channel);
	ends->client.channel = NULL;
	assert_true(run_until(ends->loop, server_misses_one, ends));
	expect_text(ends->server.whys, "the connection is closed");
}

static void
tells_a_refused_peer_why(void **state)
{
	struct ends *ends = *state;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	channel_refuse(ends->server.channel, ends->server.peer, "two agents, one key");
	assert_true(run_until(ends->loop, client_refused, ends));
	expect_text(ends->client.whys, "refused us: two agents, one key");
	assert_int_equal(ends->server.gone, 0);
}

static void
stops_taking_messages_for_a_peer_that_acknowledges_none(void **state)
{
	struct ends *ends = *state;
	struct message m = { .envelope.kind = MESSAGE_CANCEL };
	struct err err = { "" };
	size_t n = 0;

	listen_at(&ends->server, "tcp://127.0.0.1:*");
	connect_to(&ends->client, channel_endpoint(ends->server.channel), &agent_keys,
	    server_keys.public_key);
	assert_true(run_until(ends->loop, greeted, ends));
	while (channel_send(ends->server.channel, ends->server.peer, &m, true, &err) == 0)
		n++;
	assert_int_equal(n, OUTGOING_MAX);
	expect_text(err.text, "alpha: has not acknowledged 1024 messages");
}

/* ---- bursts: two threads ------------------------------------------------------------------ */

struct burst {
	struct ends ends;
	pthread_t thread;
	int ready[2], done[2];
	char endpoint[256];
	bool arrived;
};

static bool
burst_arrived(void *arg)
{
	struct end *e = arg;

	return e->received >= BURST && e->peer != NULL && e->sent == e->to_send &&
	       peer_outgoing(e->peer) == 0;
}

static void
on_done(void *arg)
{
	struct burst *b = arg;

	loop_stop(b->ends.server.loop);
}

/* It goes on acknowledging until the other end has all. */
static void *
serve_burst(void *arg)
{
	struct burst *b = arg;
	struct end *e = &b->ends.server;
	struct loop *loop = loop_create();
	struct loop_watch *done;

	end_init(e, "server", loop);
	e->to_send = BURST;
	listen_at(e, "tcp://127.0.0.1:*");
	e->timer = loop_timer_add(loop, 1000, 1000, on_timer, e);
	snprintf(b->endpoint, sizeof b->endpoint, "%s", channel_endpoint(e->channel));
	if (write(b->ready[1], "x", 1) != 1)
		abort();
	b->arrived = run_until(loop, burst_arrived, e);
	done = loop_fd_add(loop, b->done[0], LOOP_READ, on_done, b);
	loop_run(loop);
	loop_remove(done);
	end_clear(e);
	loop_destroy(loop);
	return NULL;
}

static void
delivers_a_burst_each_way_once_and_in_order(void **state)
{
	struct burst *b = mem_calloc(1, sizeof *b);
	struct end *e = &b->ends.client;
	struct loop *loop = loop_create();
	bool arrived;
	char x;

	(void)state;
	assert_int_equal(pipe(b->ready), 0);
	assert_int_equal(pipe(b->done), 0);
	assert_int_equal(pthread_create(&b->thread, NULL, serve_burst, b), 0);
	assert_int_equal(read(b->ready[0], &x, 1), 1);
	end_init(e, "client", loop);
	e->to_send = BURST;
	connect_to(e, b->endpoint, &agent_keys, server_keys.public_key);
	e->timer = loop_timer_add(loop, 1000, 1000, on_timer, e);
	arrived = run_until(loop, burst_arrived, e);
	assert_int_equal(write(b->done[1], "x", 1), 1);
	pthread_join(b->thread, NULL);
	assert_true(arrived);
	assert_true(b->arrived);
	assert_int_equal(e->received, BURST);
	assert_int_equal(e->wrong, 0);
	assert_int_equal(b->ends.server.received, BURST);
	assert_int_equal(b->ends.server.wrong, 0);
	assert_true(e->ticks > 0 && b->ends.server.ticks > 0);
	end_clear(e);
	loop_destroy(loop);
	for (int i = 0; i < 2; i++) {
		close(b->ready[i]);
		close(b->done[i]);
	}
	free(b);
}

/* ---- a peer that is stopped --------------------------------------------------------------- */

/* The child: an agent that acknowledges, until it is killed. */
static void
be_agent(int from_parent)
{
	struct loop *loop = loop_create();
	struct end e;
	char endpoint[256] = "";

	if (read(from_parent, endpoint, sizeof endpoint - 1) <= 0)
		_exit(1);
	end_init(&e, "child", loop);
	connect_to(&e, endpoint, &agent_keys, server_keys.public_key);
	e.to_send = 100;
	loop_run(loop);
	_exit(1);
}

static bool
child_greeted(void *arg)
{
	struct ends *ends = arg;

	return ends->server.hellos > 0 && ends->server.received == 100;
}

static bool
server_has_sent_some(void *arg)
{
	struct ends *ends = arg;

	return ends->server.peer != NULL && peer_outgoing(ends->server.peer) >= OUTGOING_MAX;
}

static bool
child_has_all(void *arg)
{
	struct ends *ends = arg;

	return ends->server.peer != NULL && ends->server.sent == ends->server.to_send &&
	       peer_outgoing(ends->server.peer) == 0;
}

static void
loses_nothing_when_a_peer_is_stopped_and_goes_on(void **state)
{
	struct ends *ends;
	int to_child[2];
	bool greeted_by_child, stuck, all;
	pid_t child;

	assert_int_equal(pipe(to_child), 0);
	child = fork(); /* before any socket is made here */
	assert_true(child >= 0);
	if (child == 0)
		be_agent(to_child[0]);
	assert_int_equal(setup(state), 0);
	ends = *state;
	listen_at(&ends->server, "tcp://127.0.0.1:*");
	assert_true(write(to_child[1], channel_endpoint(ends->server.channel),
			strlen(channel_endpoint(ends->server.channel))) > 0);
	greeted_by_child = run_until(ends->loop, child_greeted, ends);
	kill(child, SIGSTOP);
	ends->server.to_send = UINT64_C(4) * OUTGOING_MAX;
	stuck = run_until(ends->loop, server_has_sent_some, ends);
	kill(child, SIGCONT);
	all = run_until(ends->loop, child_has_all, ends);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(to_child[0]);
	close(to_child[1]);
	assert_true(greeted_by_child);
	assert_true(stuck);
	assert_true(all);
	assert_int_equal(ends->server.gone, 0);
	assert_int_equal(ends->server.wrong, 0);
}

int
main(void)
{
#define BETWEEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		BETWEEN(names_a_peer_by_its_key),
		BETWEEN(refuses_an_unknown_key_in_words_at_both_ends),
		BETWEEN(says_that_the_server_key_is_wrong_at_both_ends),
		BETWEEN(says_that_nobody_listens),
		BETWEEN(says_that_there_is_no_such_socket),
		BETWEEN(lets_a_known_uid_in_over_ipc),
		BETWEEN(refuses_another_uid_in_words_at_both_ends),
		BETWEEN(never_listens_on_tcp_without_keys),
		BETWEEN(says_that_an_address_is_in_use),
		BETWEEN(resends_what_a_deaf_end_did_not_acknowledge),
		BETWEEN(comes_back_after_a_restart_of_the_server),
		BETWEEN(gives_a_name_to_its_newest_connection),
		BETWEEN(notices_soon_that_a_peer_has_closed),
		BETWEEN(tells_a_refused_peer_why),
		BETWEEN(stops_taking_messages_for_a_peer_that_acknowledges_none),
		cmocka_unit_test(delivers_a_burst_each_way_once_and_in_order),
		cmocka_unit_test_teardown(
		    loses_nothing_when_a_peer_is_stopped_and_goes_on, teardown),
	};

	key_pair_create(&server_keys);
	key_pair_create(&agent_keys);
	key_pair_create(&other_keys);
	return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
