/* After each input the session's queue is emptied, and only then does the loop go on. What a command
 * said is on disk when its callback returns, so that the end of the turn may acknowledge it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/runner.h"
#include "agent/sense/gauge.h"
#include "agent/sense/load.h"
#include "agent/sense/lock_last.h"
#include "agent/session.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"
#include "proto/channel.h"

#define LOCKS_DELAY_US SECOND_US

struct driver {
	struct driver_parts parts;
	struct session *session;
	struct runner *runner;
	struct load_sampler *load;
	struct gauges *gauges;
	struct locks *locks; /* NULL: none */
	struct lock_last lock_last;
	struct hub *hub;
	struct channel *channel;
	struct peer *peer; /* the coordinator while there is a connection */
	struct loop_watch *tick, *turn, *begin_locks;
	bool emptying;
	uint8_t chunk[LOG_CHUNK_BYTES];
};

/* ---- actions ---- */

static void
send_message(struct driver *d, struct message *m, bool reliable)
{
	struct err err;

	if (d->peer != NULL && channel_send(d->channel, d->peer, m, reliable, &err) != 0)
		log_throttled(message_kind_name(m->envelope.kind), "%s", err.text);
}

static void
start(struct driver *d, const struct action *action)
{
	struct err err;

	if (runner_start(d->runner, &action->start, action->limit, &err) == 0)
		session_started(d->session, loop_now(), action->id);
	else
		session_not_started(d->session, loop_now(), action->id, err.text);
}

static void
keep_refused(struct driver *d, const struct action *action)
{
	struct err err;

	if (spool_add_refused(d->parts.spool, &action->start, action->text, &err) != 0)
		log_error("%s; the refusal is told but not kept", err.text);
}

static void
send_log(struct driver *d, const struct action *action)
{
	struct message m = { .envelope.kind = MESSAGE_LOG };
	struct err err;
	size_t n = 0;

	if (action->nbytes > 0 && spool_log_read(d->parts.spool, action->id, action->offset,
				      (char *)d->chunk, (size_t)action->nbytes, &n, &err) != 0) {
		log_throttled("log", "%s", err.text);
		return;
	}
	m.log.id = action->id;
	m.log.fence = action->fence;
	m.log.offset = action->offset;
	m.log.last = action->last && n == (size_t)action->nbytes;
	m.log.nbytes = n;
	m.log.bytes = d->chunk;
	send_message(d, &m, false);
}

static void
keep(struct driver *d, const struct action *action)
{
	struct err err;

	if (spool_keep(d->parts.spool, action->epoch, action->limit, &err) != 0)
		log_error("%s", err.text);
}

static int connect_to_coordinator(struct driver *d, struct err *err);

static void
reconnect(struct driver *d)
{
	struct err err;

	channel_destroy(d->channel);
	d->channel = NULL;
	d->peer = NULL;
	if (connect_to_coordinator(d, &err) != 0)
		log_error("%s", err.text);
}

static void
carry_out(struct driver *d, struct action *action)
{
	switch (action->kind) {
	case ACTION_SEND:
		send_message(d, &action->message, action->reliable);
		break;
	case ACTION_START:
		start(d, action);
		break;
	case ACTION_REFUSED:
		keep_refused(d, action);
		break;
	case ACTION_LIMIT:
		runner_limit(d->runner, action->id, action->limit);
		break;
	case ACTION_PAUSE:
		runner_pause(d->runner, action->id, action->paused, action->duration_us);
		break;
	case ACTION_CANCEL:
		runner_cancel(d->runner, action->id, action->text);
		break;
	case ACTION_LOG:
		send_log(d, action);
		break;
	case ACTION_FORGET:
		runner_forget(d->runner, action->id);
		break;
	case ACTION_KEEP:
		keep(d, action);
		break;
	case ACTION_RECONNECT:
		reconnect(d);
		break;
	case ACTION_SAY:
		if (action->urgent)
			log_warning("%s", action->text);
		else
			log_notice("%s", action->text);
		break;
	case ACTION_KINDS:
		break;
	}
}

/* An action may be an input again (a start that failed): then the outer call goes on. */
static void
empty_queue(struct driver *d)
{
	struct action action;

	if (d->emptying)
		return;
	d->emptying = true;
	while (session_next(d->session, &action))
		carry_out(d, &action);
	d->emptying = false;
}

/* ---- inputs ---- */

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct driver *d = arg;

	(void)peer;
	session_message(d->session, loop_now(), m);
	empty_queue(d);
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct driver *d = arg;

	(void)peer;
	d->peer = NULL;
	log_warning("the coordinator at %s is gone: %s; builds go on, retrying builds=%zu",
	    d->parts.config->coordinator, why, runner_living(d->runner));
	session_gone(d->session);
	empty_queue(d);
}

static void
on_connected(void *arg, struct peer *peer)
{
	struct driver *d = arg;

	d->peer = peer;
	session_connected(d->session, loop_now());
	empty_queue(d);
}

static void
on_trouble(void *arg, const char *text)
{
	(void)arg;
	log_throttled("trouble", "%s", text);
}

static void
on_adopted(void *arg, const struct message_start *m, const struct attempt_status *status)
{
	struct driver *d = arg;

	session_adopt(d->session, m, status);
	empty_queue(d);
}

static void
on_stat(void *arg, attempt_id id, const struct attempt_status *status)
{
	struct driver *d = arg;

	session_stat(d->session, loop_now(), id, status);
	empty_queue(d);
}

static void
on_ended(void *arg, const struct message_attempt *attempt)
{
	struct driver *d = arg;

	session_ended(d->session, loop_now(), attempt);
	empty_queue(d);
}

static void
on_locks(void *arg, const struct lock_table *table)
{
	struct driver *d = arg;
	struct message m = { .envelope.kind = MESSAGE_LOCKS };

	if (lock_last_news(&d->lock_last, table))
		log_notice("no reading of locks by %s: %s", table->source, table->missing);
	if (!lock_last_take(&d->lock_last, loop_now(), table))
		return;
	mem_copy_text(m.locks.start_id, sizeof m.locks.start_id, d->parts.facts->start_id);
	m.locks.table = *table;
	send_message(d, &m, false);
}

static void
on_tick(void *arg)
{
	struct driver *d = arg;
	mono_us now = loop_now();
	const struct gauge *gauges;
	struct load load;
	size_t n;

	load_sample(d->load, now, &load);
	lock_last_fill(&d->lock_last, now, &load);
	locks_steps(d->locks, session_steps(d->session));
	runner_tick(d->runner);
	gauges = gauges_read(d->gauges, now, &n);
	session_gauges(d->session, gauges, n);
	session_tick(d->session, now, loop_wall().us - now.us, &load);
	empty_queue(d);
}

static void
on_turn(void *arg)
{
	struct driver *d = arg;

	if (d->channel != NULL)
		channel_acknowledge(d->channel);
}

/* ---- begin and end ---- */

static int
connect_to_coordinator(struct driver *d, struct err *err)
{
	const struct channel_connect_options options = {
		.endpoint = d->parts.config->coordinator,
		.keys = d->parts.keys,
		.server_key = d->parts.config->coordinator_key,
		.max_bytes = AGENT_MESSAGE_BYTES,
		.jitter_us = d->parts.config->jitter_us,
	};
	const struct channel_callbacks callbacks = { .message = on_message,
		.gone = on_gone,
		.connected = on_connected,
		.trouble = on_trouble,
		.arg = d };

	d->channel = channel_connect(d->hub, &options, &callbacks, err);
	return d->channel != NULL ? 0 : -1;
}

/* A host without any works all the same: the coordinator estimates. To load a tracer holds the loop for
 * a fifth of a second, so builds are taken up and the coordinator is greeted first. */
static void
on_begin_locks(void *arg)
{
	struct driver *d = arg;
	const struct config *config = d->parts.config;
	struct err err = { "" };
	const char *name;

	d->locks =
	    locks_open(d->parts.loop, config->lock_source, &config->locks, on_locks, d, &err);
	if (err.text[0] != '\0')
		log_notice("locks are not measured by %s", err.text);
	for (size_t i = 0; (name = locks_name(d->locks, i)) != NULL; i++) {
		lock_last_source(&d->lock_last, name);
		log_notice("measures locks lock_source=%s", name);
	}
}

static int
begin(struct driver *d, struct err *err)
{
	const struct runner_callbacks callbacks = {
		.adopted = on_adopted, .stat = on_stat, .ended = on_ended, .arg = d
	};
	uint64_t epoch;
	int32_t limit;

	d->session = session_create(d->parts.facts);
	d->load = load_sampler_create(d->parts.config->work);
	if (spool_recall(d->parts.spool, &epoch, &limit, err) != 0)
		return -1;
	session_recall(d->session, epoch, limit);
	d->runner = runner_create(
	    d->parts.loop, d->parts.config, d->parts.recipes, d->parts.spool, &callbacks);
	if (runner_adopt(d->runner, err) != 0)
		return -1;
	d->hub = hub_create(d->parts.loop, NULL, NULL, NULL);
	if (connect_to_coordinator(d, err) != 0)
		return -1;
	d->gauges = gauges_open(d->parts.loop, d->parts.config->gauges, d->parts.config->ngauges);
	lock_last_init(&d->lock_last, d->parts.config->locks.every_us);
	d->begin_locks = loop_timer_add(d->parts.loop, LOCKS_DELAY_US, 0, on_begin_locks, d);
	d->tick = loop_timer_add(d->parts.loop, 0, SECOND_US, on_tick, d);
	d->turn = loop_turn_add(d->parts.loop, on_turn, d);
	return 0;
}

struct driver *
driver_create(const struct driver_parts *parts, struct err *err)
{
	struct driver *d = mem_calloc(1, sizeof *d);

	d->parts = *parts;
	if (begin(d, err) == 0)
		return d;
	driver_destroy(d);
	return NULL;
}

void
driver_destroy(struct driver *d)
{
	if (d == NULL)
		return;
	locks_close(d->locks);
	gauges_close(d->gauges);
	loop_remove(d->begin_locks);
	loop_remove(d->tick);
	loop_remove(d->turn);
	if (d->channel != NULL)
		channel_destroy(d->channel);
	if (d->hub != NULL)
		hub_destroy(d->hub);
	runner_destroy(d->runner);
	load_sampler_destroy(d->load);
	session_destroy(d->session);
	free(d);
}

size_t
driver_builds(const struct driver *d)
{
	return runner_living(d->runner);
}
