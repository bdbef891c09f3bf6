/* Nothing is kept here that the cluster knows: commands are made from it when they are sent,
 * so what a host is told after a reconnect is what holds then.
 *
 * Logs do not pass through the core: they change nothing that is decided. A piece is taken
 * when its attempt is one of ours on that host, whatever has become of it since.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/agents.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/lease.h"
#include "coordinator/core/predict.h"
#include "coordinator/io/build_log.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

/* A host has one: its newest. */
struct connection {
	const char *host; /* the channel's */
	struct peer *peer;
	size_t nlisted;
	attempt_id *listed; /* by its HELLO: their log offsets are told after the WELCOME */
	bool deaf; /* a command could not be sent */
};

struct agents {
	struct channel *channel;
	struct driver *driver;
	const struct config *config;
	const char *log_folder;
	struct series *series;
	struct locks *locks;
	void *connections; /* of tsearch(3), by host */
	bool any_deaf;
};

typedef unsigned long long ull;

static int
compare_hosts(const void *x, const void *y)
{
	const struct connection *a = x, *b = y;

	return strcmp(a->host, b->host);
}

static struct connection *
find_connection(const struct agents *agents, const char *host)
{
	struct connection key = { .host = host };
	struct connection **found = tfind(&key, &agents->connections, compare_hosts);

	return found != NULL ? *found : NULL;
}

/* A command that cannot be sent must not be missing in silence: the connection ends, and on the next
 * one the host is told what holds then. Not at once: the caller still has the connection. */
static void
send(struct agents *agents, struct connection *k, struct message *m, bool reliable)
{
	struct err err;

	if (channel_send(agents->channel, k->peer, m, reliable, &err) == 0)
		return;
	log_throttled(k->host, "%s not sent: %s host=%s", message_kind_name(m->envelope.kind),
	    err.text, k->host);
	k->deaf = k->deaf || reliable;
	agents->any_deaf = agents->any_deaf || reliable;
}

static bool
is_its(const struct agents *agents, const struct connection *k, attempt_id id, uint64_t fence)
{
	const struct attempt *a = cluster_find_attempt(driver_cluster(agents->driver), id);

	return a != NULL && strcmp(a->host, k->host) == 0 && (fence == 0 || fence == a->fence);
}

/* ---- logs ------------------------------------------------------------------------------- */

static void
tell_log(struct agents *agents, struct connection *k, attempt_id id, bool complete, bool unwanted)
{
	struct message m = { .envelope.kind = MESSAGE_LOG_HAVE };

	m.log_have.id = id;
	m.log_have.offset = unwanted ? 0 : build_log_size(agents->log_folder, id);
	m.log_have.complete = complete;
	m.log_have.unwanted = unwanted;
	send(agents, k, &m, false);
}

/* "Complete" lets the agent forget the attempt: the result must be safe, and the log on the disk. */
static bool
log_complete(const struct agents *agents, const struct message_log *log, int64_t size)
{
	const struct attempt *a = cluster_find_attempt(driver_cluster(agents->driver), log->id);
	struct err err;

	if (!log->last || size != log->offset + (int64_t)log->nbytes || a->state != ATTEMPT_ENDED ||
	    !driver_settled(agents->driver))
		return false;
	if (build_log_sync(agents->log_folder, log->id, &err) == 0)
		return true;
	log_throttled("log", "%s", err.text);
	return false;
}

static void
take_log(struct agents *agents, struct connection *k, const struct message_log *log)
{
	struct err err;
	int64_t size;

	if (!is_its(agents, k, log->id, log->fence)) {
		tell_log(agents, k, log->id, false, true);
		return;
	}
	if (log->offset + (int64_t)log->nbytes > LOG_MOST_BYTES + LOG_CHUNK_BYTES) {
		log_throttled("log", "more log than any may have, ignoring host=%s attempt=%llu",
		    k->host, (ull)log->id.n);
		tell_log(agents, k, log->id, false, false);
		return;
	}
	if (build_log_append(agents->log_folder, log->id, log->offset, log->bytes, log->nbytes,
		&size, &err) < 0) {
		log_throttled("log", "%s; the agent keeps it, retrying", err.text);
		return;
	}
	tell_log(agents, k, log->id, log_complete(agents, log, size), false);
}

/* ---- messages to events ----------------------------------------------------------------- */

static void
event_of_host(struct event *event, enum event_kind kind, const struct connection *k)
{
	memset(event, 0, sizeof *event);
	event->kind = kind;
	mem_copy_text(event->host, sizeof event->host, k->host);
}

static void
take_hello(struct agents *agents, struct connection *k, struct message_hello *hello)
{
	struct event event;
	size_t i;

	k->nlisted = hello->nattempts;
	free(k->listed);
	k->listed = mem_calloc(k->nlisted, sizeof *k->listed);
	for (i = 0; i < k->nlisted; i++)
		k->listed[i] = hello->attempts[i].id;
	log_notice("agent connected host=%s address=%s version=%s attempts=%zu", k->host,
	    peer_address(k->peer), hello->host.agent_version, hello->nattempts);
	event_of_host(&event, EVENT_HELLO, k);
	event.facts = &hello->host;
	event.attempts = hello->attempts;
	event.nattempts = hello->nattempts;
	driver_event(agents->driver, &event);
}

static void
keep_readings(
    struct agents *agents, const struct connection *k, const struct message_report *report)
{
	wall_us now = loop_wall();
	int32_t running = 0;
	size_t i;

	for (i = 0; i < report->nattempts; i++) {
		running += report->attempts[i].running;
		if (is_its(agents, k, report->attempts[i].id, report->attempts[i].fence))
			series_add_attempt(agents->series, now, &report->attempts[i]);
	}
	series_add_host(agents->series, k->host, now, &report->load, report->limit, running);
	series_tick(agents->series, loop_now());
}

static void
take_report(struct agents *agents, struct connection *k, struct message_report *report)
{
	struct event event;

	event_of_host(&event, EVENT_REPORT, k);
	event.limit = report->limit;
	event.load = &report->load;
	event.guard = report->guard;
	memcpy(event.text, report->guard_reason, sizeof event.text);
	event.gauges = report->gauges;
	event.ngauges = report->ngauges;
	event.attempts = report->attempts;
	event.nattempts = report->nattempts;
	driver_event(agents->driver, &event);
	keep_readings(agents, k, report);
}

static void
take_attempt(struct agents *agents, struct connection *k, struct message_attempt *attempt)
{
	bool ended = attempt->status.state == ATTEMPT_ENDED;
	struct event event;

	if (ended)
		log_notice("attempt ended attempt=%llu host=%s outcome=%s reason=\"%s\"",
		    (ull)attempt->status.id.n, k->host, outcome_name(attempt->result.outcome),
		    attempt->result.reason);
	event_of_host(&event, EVENT_ATTEMPT, k);
	event.attempts = &attempt->status;
	event.nattempts = 1;
	event.result = ended ? &attempt->result : NULL;
	driver_event(agents->driver, &event);
	if (ended)
		locks_ended(agents->locks, attempt->status.id);
}

/* A table of an agent that has been started anew since is of another run: it never comes, since the
 * connection does not outlive the agent. */
static void
take_locks(struct agents *agents, struct connection *k, const struct message_locks *m)
{
	const struct cluster *c = driver_cluster(agents->driver);
	const struct host *h = cluster_find_host(c, k->host);

	if (h != NULL)
		locks_take(agents->locks, c, h, &m->table, loop_now());
}

/* ---- connections ------------------------------------------------------------------------ */

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct agents *agents = arg;
	struct connection *k = peer_user(peer);
	struct event event;

	if (k == NULL)
		return;
	peer_set_user(peer, NULL);
	log_notice("agent gone host=%s why=\"%s\"", k->host, why);
	event_of_host(&event, EVENT_GONE, k);
	mem_copy_text(event.text, sizeof event.text, why);
	tdelete(k, &agents->connections, compare_hosts);
	free(k->listed);
	free(k);
	driver_event(agents->driver, &event);
}

/* Sends it away; it will come again. Its peer is forgotten soon, and k at once. */
static void
turn_away(struct agents *agents, struct peer *peer, const char *why)
{
	on_gone(agents, peer, why);
	channel_refuse(agents->channel, peer, why);
}

static struct connection *
connection_make(struct agents *agents, struct peer *peer)
{
	struct connection *k = mem_calloc(1, sizeof *k), *older;

	k->peer = peer;
	k->host = peer_name(peer);
	older = find_connection(agents, k->host);
	if (older != NULL)
		turn_away(agents, older->peer, "a newer connection took its place");
	if (tsearch(k, &agents->connections, compare_hosts) == NULL)
		abort();
	peer_set_user(peer, k);
	return k;
}

static void
find_deaf(const void *node, VISIT which, void *closure)
{
	struct connection *k = *(struct connection *const *)node;
	struct connection **ret_deaf = closure;

	if ((which == preorder || which == leaf) && k->deaf)
		*ret_deaf = k;
}

/* One at a time: each changes the tree. */
static void
turn_deaf_away(struct agents *agents)
{
	struct connection *k;

	while (agents->any_deaf) {
		k = NULL;
		twalk_r(agents->connections, find_deaf, &k);
		agents->any_deaf = k != NULL;
		if (k != NULL)
			turn_away(agents, k->peer, "it does not take its commands");
	}
}

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct agents *agents = arg;
	struct connection *k = peer_user(peer);

	if (k == NULL && m->envelope.kind != MESSAGE_HELLO) {
		log_throttled(peer_name(peer), "%s before HELLO, ignoring host=%s",
		    message_kind_name(m->envelope.kind), peer_name(peer));
		return;
	}
	if (driver_is_full(agents->driver)) {
		turn_away(agents, peer, "the coordinator's journal cannot be written");
		return;
	}
	if (k == NULL)
		k = connection_make(agents, peer);
	switch (m->envelope.kind) {
	case MESSAGE_HELLO:
		take_hello(agents, k, &m->hello);
		break;
	case MESSAGE_REPORT:
		take_report(agents, k, &m->report);
		break;
	case MESSAGE_ATTEMPT:
		take_attempt(agents, k, &m->attempt);
		break;
	case MESSAGE_LOCKS:
		take_locks(agents, k, &m->locks);
		break;
	case MESSAGE_LOG:
		take_log(agents, k, &m->log);
		break;
	default:
		log_throttled(k->host, "a %s is not for an agent to say, ignoring host=%s",
		    message_kind_name(m->envelope.kind), k->host);
	}
}

static void
on_trouble(void *arg, const char *text)
{
	(void)arg;
	log_warning("%s", text);
}

/* ---- effects to messages ---------------------------------------------------------------- */

static void
say_welcome(struct agents *agents, struct connection *k)
{
	struct message m = { .envelope.kind = MESSAGE_WELCOME };
	size_t i;

	mem_copy_text(m.welcome.host, sizeof m.welcome.host, k->host);
	m.welcome.report_busy_us = agents->config->report_busy_us;
	m.welcome.report_idle_us = agents->config->report_idle_us;
	m.welcome.lease_us = LEASE_US;
	send(agents, k, &m, true);
	for (i = 0; i < k->nlisted; i++)
		tell_log(agents, k, k->listed[i], false, !is_its(agents, k, k->listed[i], 0));
	k->nlisted = 0;
}

static void
say_start(struct agents *agents, struct connection *k, const struct effect *e)
{
	const struct cluster *c = driver_cluster(agents->driver);
	const struct attempt *a = cluster_find_attempt(c, e->attempt);
	const struct build *b = cluster_find_build(c, a->build);
	const struct round *r = build_round(c, b);
	const struct policy *p = build_policy(c, b);
	const struct target *target = build_target(c, b);
	const struct host *h = cluster_find_host(c, e->host);
	struct prediction known = predict_build(c, b, h);
	struct message m = { .envelope.kind = MESSAGE_START };

	m.start = (struct message_start){ .id = a->id,
		.fence = a->fence,
		.build = b->id,
		.round = r->id,
		.jobs_min = p->jobs_min,
		.jobs_max = p->jobs_max,
		.limit = h->limit,
		.timeout_us = target->timeout_us,
		.stall_us = target->stall_us,
		.need_disk_bytes = target->needs.disk_bytes,
		.need_memory_bytes = target->needs.memory_bytes,
		.expected_steps = known.steps,
		.expected_us = known.real_us };
	memcpy(m.start.branch, r->branch, sizeof m.start.branch);
	memcpy(m.start.target, b->target, sizeof m.start.target);
	memcpy(m.start.recipe, p->recipe, sizeof m.start.recipe);
	memcpy(m.start.revision, r->revision, sizeof m.start.revision);
	memcpy(m.start.source, p->source, sizeof m.start.source);
	log_notice("attempt granted attempt=%llu build=%llu branch=%s target=%s host=%s",
	    (ull)a->id.n, (ull)b->id.n, r->branch, b->target, k->host);
	send(agents, k, &m, true);
}

static void
say_cancel(struct agents *agents, struct connection *k, const struct effect *e)
{
	struct message m = { .envelope.kind = MESSAGE_CANCEL };

	m.cancel.id = e->attempt;
	m.cancel.fence = e->fence;
	memcpy(m.cancel.reason, e->text, sizeof m.cancel.reason);
	send(agents, k, &m, true);
}

static void
say_limit(struct agents *agents, struct connection *k, const struct effect *e)
{
	struct message m = { .envelope.kind = MESSAGE_LIMIT };

	m.limit.limit = e->limit;
	memcpy(m.limit.reason, e->text, sizeof m.limit.reason);
	m.limit.paused = e->paused;
	m.limit.pause_us = e->duration_us;
	log_notice("limit set host=%s limit=%d%s reason=\"%s\"", k->host, e->limit,
	    e->paused ? " paused=1" : "", e->text);
	send(agents, k, &m, true);
}

void
agents_effect(struct agents *agents, const struct effect *e)
{
	struct connection *k = find_connection(agents, e->host);

	if (k == NULL)
		return;
	switch (e->kind) {
	case EFFECT_WELCOME:
		say_welcome(agents, k);
		break;
	case EFFECT_START:
		say_start(agents, k, e);
		break;
	case EFFECT_CANCEL:
		say_cancel(agents, k, e);
		break;
	case EFFECT_DROP:
		tell_log(agents, k, e->attempt, false, true);
		break;
	case EFFECT_KEPT:
		tell_log(agents, k, e->attempt, false, false);
		break;
	case EFFECT_LIMIT:
		say_limit(agents, k, e);
		break;
	default:
		break;
	}
}

void
agents_acknowledge(struct agents *agents)
{
	turn_deaf_away(agents);
	channel_acknowledge(agents->channel);
}

void
agents_revoke(struct agents *agents, const char *host)
{
	channel_revoke(agents->channel, host, "its key was taken out of the allow-list");
}

const char *
agents_endpoint(const struct agents *agents)
{
	return channel_endpoint(agents->channel);
}

void
agents_attach(struct agents *agents, struct driver *driver)
{
	agents->driver = driver;
	channel_set_epoch(agents->channel, driver_cluster(driver)->epoch);
}

struct agents *
agents_create(struct hub *hub, const struct config *config, const struct key_pair *keys,
    const char *log_folder, struct series *series, struct locks *locks, struct err *err)
{
	struct agents *agents = mem_calloc(1, sizeof *agents);
	struct channel_callbacks callbacks = { on_message, on_gone, NULL, on_trouble, agents };
	struct channel_listen_options options = { config->agents, "agents", keys,
		AGENT_MESSAGE_BYTES };

	agents->config = config;
	agents->log_folder = log_folder;
	agents->series = series;
	agents->locks = locks;
	agents->channel = channel_listen(hub, &options, &callbacks, err);
	if (agents->channel != NULL)
		return agents;
	free(agents);
	return NULL;
}

static void
connection_free(void *node)
{
	struct connection *k = node;

	free(k->listed);
	free(k);
}

void
agents_destroy(struct agents *agents)
{
	if (agents == NULL)
		return;
	channel_destroy(agents->channel);
	tdestroy(agents->connections, connection_free);
	free(agents);
}
