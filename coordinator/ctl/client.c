/* A connection is opened for the first request, and anew for a later one when it was lost
 * meanwhile, so that the channel's growing pauses between attempts never make an operator wait.
 * Where nobody listens it is tried again for a moment: a coordinator that was started just now
 * opens its socket when it has read its journal.
 *
 * A reading request may be asked again over a new connection within its time. One that changes
 * something goes out once: the channel then says it until it is acknowledged, and when the
 * connection breaks before the reply came, the outcome is unknown and told as such.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/client.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/loop.h"
#include "proto/base/mem.h"
#include "proto/channel.h"
#include "proto/keys.h"

#define PATIENCE_US (2 * SECOND_US)
#define AGAIN_US (SECOND_US / 5)

struct client {
	char *server;
	int64_t timeout_us;
	struct key_pair keys;
	char server_key[KEY_TEXT_SIZE];
	bool tcp;
	struct loop *loop;
	struct hub *hub;
	struct channel *channel;
	struct peer *peer; /* NULL: not connected */
	uint64_t count; /* requests so far: their ids */
	bool interrupted;
	struct loop_watch *interrupt;
	/* of the request that is asked now */
	const struct request *request; /* NULL: none */
	struct message_reply *reply;
	mono_us asked_at;
	struct loop_watch *again; /* until the next try */
	bool was_up, sent;
	char why[ERR_TEXT_SIZE]; /* the last thing that went wrong with the connection */
};

/* ---- requests ---------------------------------------------------------------------------- */

void
request_init(struct request *r, const char *verb, bool once)
{
	memset(r, 0, sizeof *r);
	r->once = once;
	mem_copy_text(r->body.verb, sizeof r->body.verb, verb);
}

void
request_add(struct request *r, const char *key, const char *value)
{
	struct message_request *b = &r->body;

	if (value == NULL)
		return;
	b->args = mem_room(b->args, b->nargs, &r->capacity, sizeof *b->args);
	b->args[b->nargs++] = (struct request_arg){ mem_strdup(key), mem_strdup(value) };
}

void
request_add_number(struct request *r, const char *key, int64_t n)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, n);
	request_add(r, key, text);
}

void
request_clear(struct request *r)
{
	size_t i;

	for (i = 0; i < r->body.nargs; i++) {
		free(r->body.args[i].key);
		free(r->body.args[i].value);
	}
	free(r->body.args);
	memset(r, 0, sizeof *r);
}

void
reply_clear(struct message_reply *reply)
{
	free(reply->json);
	free(reply->bytes);
	memset(reply, 0, sizeof *reply);
}

/* ---- what ends a request ----------------------------------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
finish(struct client *c, enum reply_status status, const char *format, ...)
{
	va_list ap;

	if (c->request == NULL)
		return;
	c->reply->status = status;
	va_start(ap, format);
	vsnprintf(c->reply->text, sizeof c->reply->text, format, ap);
	va_end(ap);
	c->request = NULL;
	loop_stop(c->loop);
}

static void
unreachable(struct client *c)
{
	finish(c, REPLY_UNREACHABLE,
	    "no coordinator answers at %s: is flyball-coordinator running there? --server or "
	    "$FLYBALL_SERVER names another place (%.200s)",
	    c->server, c->why);
}

/* Nobody here knows whether it was heard. */
static void
unknown(struct client *c, const char *why)
{
	finish(c, REPLY_TIMED_OUT,
	    "%s: whether `%s` was carried out is not known; look before you ask again (flyball "
	    "status, "
	    "hosts, rounds)",
	    why, c->request->body.verb);
}

static void
send_request(struct client *c)
{
	struct message m = { .envelope.kind = MESSAGE_REQUEST };
	struct err err;

	m.request = c->request->body;
	m.request.id = c->count;
	c->sent = true;
	if (channel_send(c->channel, c->peer, &m, true, &err) != 0)
		finish(c, REPLY_FAILED, "the request could not be sent: %s", err.text);
}

static void
on_connected(void *arg, struct peer *peer)
{
	struct client *c = arg;

	c->peer = peer;
	c->was_up = true;
	if (c->request != NULL)
		send_request(c);
}

/* The reply is taken over; one to an earlier request that was given up is of no use. */
static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct client *c = arg;

	(void)peer;
	if (c->request == NULL)
		return;
	if (m->envelope.kind == MESSAGE_REFUSED) {
		finish(c, REPLY_DENIED, "the coordinator at %s refused us: %.400s", c->server,
		    m->refused.reason);
		return;
	}
	if (m->envelope.kind != MESSAGE_REPLY || m->reply.id != c->count)
		return;
	*c->reply = m->reply;
	m->reply.json = NULL;
	m->reply.bytes = NULL;
	m->reply.nbytes = 0;
	c->request = NULL;
	loop_stop(c->loop);
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct client *c = arg;

	(void)peer;
	c->peer = NULL;
	mem_copy_text(c->why, sizeof c->why, why);
	if (c->request != NULL && c->request->once && c->sent)
		unknown(c, "the connection broke before an answer came");
}

/* What never was there is told soon; what was lost may come back within the request's time.
 * That we are known and not wanted the channel tells in words alone. */
static void
on_trouble(void *arg, const char *text)
{
	struct client *c = arg;
	char *end;

	mem_copy_text(c->why, sizeof c->why, text);
	end = strstr(c->why, "; retrying");
	if (end != NULL)
		*end = '\0';
	if (strstr(text, " refuses ") != NULL)
		finish(c, REPLY_DENIED, "%.400s", c->why);
	if (c->was_up || c->request == NULL)
		return;
	if (mono_since(c->asked_at, loop_now()) + AGAIN_US < PATIENCE_US)
		loop_timer_reset(c->again, AGAIN_US, 0);
	else
		unreachable(c);
}

static void
on_timeout(void *arg)
{
	struct client *c = arg;
	char why[96];

	if (c->request == NULL)
		return;
	if (c->peer == NULL) {
		if (c->why[0] == '\0')
			snprintf(c->why, sizeof c->why,
			    "no connection came about within %" PRId64 " s",
			    c->timeout_us / SECOND_US);
		unreachable(c);
		return;
	}
	snprintf(why, sizeof why, "no answer came within %" PRId64 " s", c->timeout_us / SECOND_US);
	if (c->request->once)
		unknown(c, why);
	else
		finish(c, REPLY_TIMED_OUT, "%s; --timeout gives it more time", why);
}

/* ---- asking ------------------------------------------------------------------------------ */

/* A socket that may not be opened is not the same as nobody listening. */
static bool
is_denied(struct client *c)
{
	const char *path = c->server + strlen("ipc://");

	if (c->tcp || access(path, R_OK | W_OK) == 0 || errno != EACCES)
		return false;
	finish(c, REPLY_DENIED,
	    "you may not open %s: ask to be in the group that its socket belongs to", path);
	return true;
}

static void
open_channel(struct client *c)
{
	struct channel_callbacks callbacks = { on_message, on_gone, on_connected, on_trouble, c };
	struct channel_connect_options options = { c->server, c->tcp ? &c->keys : NULL,
		c->tcp ? c->server_key : NULL, OPERATOR_MESSAGE_BYTES, 0 };
	struct err err;

	channel_destroy(c->channel);
	c->was_up = false;
	c->channel = channel_connect(c->hub, &options, &callbacks, &err);
	if (c->channel == NULL)
		finish(c, REPLY_UNREACHABLE, "%s", err.text);
}

static void
await(struct client *c)
{
	struct loop_watch *timer = loop_timer_add(c->loop, c->timeout_us, 0, on_timeout, c);

	loop_run(c->loop);
	loop_remove(timer);
}

static void
on_again(void *arg)
{
	struct client *c = arg;

	if (c->request != NULL && !c->was_up)
		open_channel(c);
}

void
client_ask(struct client *c, const struct request *request, struct message_reply *ret_reply)
{
	memset(ret_reply, 0, sizeof *ret_reply);
	c->request = request;
	c->reply = ret_reply;
	c->sent = false;
	c->count++;
	c->asked_at = loop_now();
	c->why[0] = '\0';
	/* Nothing but a trouble sets it to go off before the request's time is over. */
	c->again = loop_timer_add(c->loop, c->timeout_us + PATIENCE_US, 0, on_again, c);
	if (c->peer != NULL)
		send_request(c);
	else if (!is_denied(c))
		open_channel(c);
	if (c->request != NULL)
		await(c);
	loop_remove(c->again);
	c->again = NULL;
	if (c->channel != NULL)
		channel_acknowledge(c->channel);
	if (c->request != NULL) {
		c->request = NULL;
		ret_reply->status = REPLY_FAILED;
		mem_copy_text(ret_reply->text, sizeof ret_reply->text, "interrupted");
	}
}

/* ---- the life of a client ---------------------------------------------------------------- */

/* It serves nobody, so that nobody is let in. */
static const char *
no_key(void *arg, const char *domain, const char *public_key)
{
	(void)arg;
	(void)domain;
	(void)public_key;
	return NULL;
}

static bool
no_uid(void *arg, const char *domain, unsigned uid)
{
	(void)arg;
	(void)domain;
	(void)uid;
	return false;
}

static int
load_keys(struct client *c, const struct client_options *options, struct err *err)
{
	if (options->key == NULL || options->server_key == NULL)
		return err_set(err,
		    "%s needs keys: --key FILE (your own, flyball key create makes one) and "
		    "--server-key KEY (the coordinator's public key or a file with it)",
		    c->server);
	if (key_pair_load(options->key, &c->keys, err) != 0)
		return -1;
	if (!key_text_ok(options->server_key))
		return key_public_load(options->server_key, c->server_key, err);
	mem_copy_text(c->server_key, sizeof c->server_key, options->server_key);
	return 0;
}

struct client *
client_create(const struct client_options *options, struct err *err)
{
	struct client *c = mem_calloc(1, sizeof *c);

	c->server = mem_strdup(options->server);
	c->timeout_us = options->timeout_us;
	c->tcp = strncmp(c->server, "tcp://", 6) == 0;
	if (!c->tcp && strncmp(c->server, "ipc://", 6) != 0) {
		err_set(err, "the server is \"%.100s\": ipc://PATH or tcp://HOST:PORT was expected",
		    c->server);
		goto fail;
	}
	if (c->tcp && load_keys(c, options, err) != 0)
		goto fail;
	c->loop = loop_create();
	c->hub = hub_create(c->loop, no_key, no_uid, NULL);
	return c;
fail:
	client_destroy(c);
	return NULL;
}

void
client_destroy(struct client *c)
{
	if (c == NULL)
		return;
	channel_destroy(c->channel);
	if (c->hub != NULL)
		hub_destroy(c->hub);
	if (c->loop != NULL) {
		loop_remove(c->interrupt);
		loop_destroy(c->loop);
	}
	key_pair_clear(&c->keys);
	free(c->server);
	free(c);
}

/* ---- waiting ----------------------------------------------------------------------------- */

static void
on_slept(void *arg)
{
	loop_stop(((struct client *)arg)->loop);
}

bool
client_sleep(struct client *c, int64_t us)
{
	struct loop_watch *timer;

	if (c->interrupted)
		return false;
	timer = loop_timer_add(c->loop, us, 0, on_slept, c);
	loop_run(c->loop);
	loop_remove(timer);
	return !c->interrupted;
}

static void
on_interrupt(void *arg)
{
	struct client *c = arg;

	c->interrupted = true;
	loop_stop(c->loop);
}

void
client_catch_interrupt(struct client *c)
{
	if (c->interrupt == NULL)
		c->interrupt = loop_signal_add(c->loop, SIGINT, on_interrupt, c);
}

bool
client_interrupted(const struct client *c)
{
	return c->interrupted;
}
