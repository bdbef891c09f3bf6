/* A client against a coordinator of the test's own, in a process beside it: what comes back,
 * and what is said when nothing does.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/ctl/client.h"
#include "proto/base/loop.h"
#include "proto/base/mem.h"
#include "proto/channel.h"

static char folder[64], endpoint[96];

/* ---- the coordinator ----------------------------------------------------------------------- */

static struct channel *listening;
static unsigned asked;
static bool let_in;

static const char *
no_key(void *arg, const char *domain, const char *key)
{
	(void)arg;
	(void)domain;
	(void)key;
	return NULL;
}

static bool
uid_ok(void *arg, const char *domain, unsigned uid)
{
	(void)arg;
	(void)domain;
	(void)uid;
	return let_in;
}

/* "echo" answers with its first argument and how many requests there were; "mute" is silent;
 * "die" takes the coordinator down. */
static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct message reply = { .envelope.kind = MESSAGE_REPLY };
	struct err err;

	(void)arg;
	asked++;
	if (strcmp(m->request.verb, "die") == 0)
		_exit(0);
	if (strcmp(m->request.verb, "mute") != 0) {
		reply.reply.id = m->request.id;
		reply.reply.status = REPLY_CONFLICT;
		snprintf(reply.reply.text, sizeof reply.reply.text, "%s", m->request.args[0].value);
		reply.reply.json = mem_printf("{\"asked\":%u}", asked);
		channel_send(listening, peer, &reply, true, &err);
		free(reply.reply.json);
	}
	channel_acknowledge(listening);
}

static void
serve(int ready)
{
	struct loop *loop = loop_create();
	struct hub *hub = hub_create(loop, no_key, uid_ok, NULL);
	struct channel_callbacks callbacks = { .message = on_message };
	struct channel_listen_options options = { endpoint, "operators", NULL,
		OPERATOR_MESSAGE_BYTES };
	struct err err;

	listening = channel_listen(hub, &options, &callbacks, &err);
	if (listening == NULL || write(ready, "r", 1) != 1)
		_exit(1);
	loop_run(loop);
	_exit(0);
}

static pid_t
coordinator_start(bool welcome)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	let_in = welcome;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		serve(ready[1]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void
coordinator_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- asking ------------------------------------------------------------------------------ */

static struct client *
client_for(int64_t timeout_us)
{
	struct client_options options = { .server = endpoint, .timeout_us = timeout_us };
	struct err err;
	struct client *client = client_create(&options, &err);

	assert_non_null(client);
	return client;
}

static struct message_reply
ask(struct client *client, const char *verb, bool once)
{
	struct message_reply reply;
	struct request r;

	request_init(&r, verb, once);
	request_add(&r, "word", "hello");
	client_ask(client, &r, &reply);
	request_clear(&r);
	return reply;
}

static void
answered(void **state)
{
	pid_t pid = coordinator_start(true);
	struct client *client = client_for(10 * SECOND_US);
	struct message_reply reply;
	unsigned i;
	char json[32];

	(void)state;
	for (i = 1; i <= 3; i++) {
		reply = ask(client, "echo", true);
		assert_int_equal(reply.status, REPLY_CONFLICT);
		assert_string_equal(reply.text, "hello");
		snprintf(json, sizeof json, "{\"asked\":%u}", i);
		assert_string_equal(reply.json, json);
		reply_clear(&reply);
	}
	client_destroy(client);
	coordinator_end(pid);
}

static void
nobody(void **state)
{
	struct client *client = client_for(10 * SECOND_US);
	mono_us began = loop_now();
	struct message_reply reply = ask(client, "echo", false);

	(void)state;
	assert_int_equal(reply.status, REPLY_UNREACHABLE);
	assert_non_null(strstr(reply.text, endpoint));
	assert_non_null(strstr(reply.text, "is flyball-coordinator running"));
	assert_true(mono_since(began, loop_now()) < 5 * SECOND_US);
	client_destroy(client);
}

/* A coordinator that was started just now has no socket yet. */
static void
comes_late(void **state)
{
	struct client *client = client_for(10 * SECOND_US);
	struct message_reply reply;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		let_in = true;
		usleep(400000); /* so long is its start */
		serve(open("/dev/null", O_WRONLY | O_CLOEXEC));
	}
	reply = ask(client, "echo", true);
	assert_int_equal(reply.status, REPLY_CONFLICT);
	assert_string_equal(reply.json, "{\"asked\":1}");
	reply_clear(&reply);
	client_destroy(client);
	coordinator_end(pid);
}

static void
not_welcome(void **state)
{
	pid_t pid = coordinator_start(false);
	struct client *client = client_for(10 * SECOND_US);
	struct message_reply reply = ask(client, "echo", false);

	(void)state;
	assert_int_equal(reply.status, REPLY_DENIED);
	assert_non_null(strstr(reply.text, "refuses this user"));
	client_destroy(client);
	coordinator_end(pid);
}

static void
silent(void **state)
{
	pid_t pid = coordinator_start(true);
	struct client *client = client_for(SECOND_US / 2);
	struct message_reply reply = ask(client, "mute", false);

	(void)state;
	assert_int_equal(reply.status, REPLY_TIMED_OUT);
	assert_non_null(strstr(reply.text, "--timeout"));
	reply = ask(client, "mute", true);
	assert_int_equal(reply.status, REPLY_TIMED_OUT);
	assert_non_null(strstr(reply.text, "whether `mute` was carried out is not known"));
	client_destroy(client);
	coordinator_end(pid);
}

/* A late answer to a request that was given up must not pass for the next one's. */
static void
went_away(void **state)
{
	pid_t pid = coordinator_start(true);
	struct client *client = client_for(10 * SECOND_US);
	struct message_reply reply = ask(client, "die", true);

	(void)state;
	assert_int_equal(reply.status, REPLY_TIMED_OUT);
	assert_non_null(strstr(reply.text, "not known"));
	coordinator_end(pid);
	unlink(endpoint + strlen("ipc://"));
	reply = ask(client, "echo", true);
	assert_int_equal(reply.status, REPLY_UNREACHABLE);
	pid = coordinator_start(true);
	reply = ask(client, "echo", true);
	assert_int_equal(reply.status, REPLY_CONFLICT);
	assert_string_equal(reply.json, "{\"asked\":1}");
	reply_clear(&reply);
	client_destroy(client);
	coordinator_end(pid);
}

static void
wrong_servers(void **state)
{
	static const struct {
		const char *server, *key, *server_key, *says;
	} cases[] = {
		{ "localhost", NULL, NULL, "ipc://PATH or tcp://HOST:PORT" },
		{ "tcp://127.0.0.1:1", NULL, NULL, "--key FILE" },
		{ "tcp://127.0.0.1:1", "/nonexistent.key", "x", "/nonexistent.key" },
	};
	struct err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct client_options options = { cases[i].server, cases[i].key,
			cases[i].server_key, SECOND_US };

		assert_null(client_create(&options, &err));
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
	}
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/flyball-client.XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(endpoint, sizeof endpoint, "ipc://%s/sock", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(endpoint + strlen("ipc://"));
	return rmdir(folder);
}

#define SAYS(sentence, f) \
	{ \
		sentence, f, set_up, tear_down, NULL \
	}

int
main(void)
{
	const struct CMUnitTest client[] = {
		SAYS("each request has its reply, and is heard once", answered),
		SAYS("where nobody listens that is told soon, with what to do", nobody),
		SAYS("a coordinator that is starting is waited for", comes_late),
		SAYS("who is refused is told so", not_welcome),
		SAYS("silence: a change's outcome is unknown", silent),
		SAYS("a coordinator that dies, and one that comes back", went_away),
		SAYS("servers that cannot be are refused in words", wrong_servers),
	};

	return cmocka_run_group_tests_name("client", client, NULL, NULL);
}
