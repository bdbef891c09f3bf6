/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/io/operators.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/io/control.h"
#include "coordinator/io/reload.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

/* A request whose event has been stepped and whose reply has not come. */
struct waiting {
	uint64_t number;
	struct channel *channel;
	struct peer *peer; /* NULL: gone meanwhile */
	uint64_t id; /* as the operator counts */
	struct waiting *next;
};

enum { LISTENERS = 2 }; /* on this machine, and on the network where wanted */

struct listener {
	struct operators *operators;
	struct channel *channel;
};

struct operators {
	struct listener listeners[LISTENERS];
	struct driver *driver;
	const char *log_folder;
	struct locks *locks;
	char policy_error[ERR_TEXT_SIZE];
	wall_us started;
	uint64_t count;
	struct waiting *waiting;
};

static void
send_reply(struct channel *channel, struct peer *peer, struct message *m)
{
	struct err err;

	m->envelope.kind = MESSAGE_REPLY;
	if (channel_send(channel, peer, m, true, &err) < 0)
		log_warning("reply not sent: %s operator=%s", err.text, peer_name(peer));
}

/* People are known by name where the machine has one for the uid that the kernel vouches for. */
static void
who_is(const struct peer *peer, char ret_who[NAME_SIZE])
{
	const char *name = peer_name(peer);
	const struct passwd *pw = NULL;

	if (strncmp(name, "uid:", 4) == 0)
		pw = getpwuid((uid_t)strtoul(name + 4, NULL, 10));
	mem_copy_text(ret_who, NAME_SIZE, pw != NULL ? pw->pw_name : name);
}

/* What was asked, of the fields that it has. */
static void
log_asked(const struct event *e, const char *who)
{
	struct text t = { 0 };

	text_printf(&t, "operator asks %s who=%s", event_kind_name(e->kind), who);
	if (e->host[0] != '\0')
		text_printf(&t, " host=%s", e->host);
	if (e->branch[0] != '\0')
		text_printf(&t, " branch=%s", e->branch);
	if (e->round.n != 0)
		text_printf(&t, " round=%llu", (unsigned long long)e->round.n);
	if (e->build.n != 0)
		text_printf(&t, " build=%llu", (unsigned long long)e->build.n);
	if (e->limit != 0)
		text_printf(&t, " limit=%d", e->limit);
	if (e->duration_us != 0)
		text_printf(&t, " for_s=%lld", (long long)(e->duration_us / SECOND_US));
	if (e->text[0] != '\0')
		text_printf(&t, " reason=\"%s\"", e->text);
	log_notice("%s", t.text);
	free(t.text);
}

static void
ask_core(struct operators *o, struct channel *channel, struct peer *peer, uint64_t id,
    struct event *event, const char *who)
{
	struct waiting *w = mem_calloc(1, sizeof *w);

	*w = (struct waiting){ ++o->count, channel, peer, id, o->waiting };
	o->waiting = w;
	event->request = w->number;
	mem_copy_text(event->who, sizeof event->who, who);
	log_asked(event, who);
	driver_event(o->driver, event);
}

static void
refuse_for_trouble(struct operators *o, struct channel *channel, struct peer *peer, uint64_t id)
{
	struct message m = { 0 };

	m.reply.id = id;
	m.reply.status = REPLY_FAILED;
	snprintf(m.reply.text, sizeof m.reply.text, "nothing can be changed now: %.400s",
	    driver_trouble(o->driver));
	send_reply(channel, peer, &m);
}

static void
take_request(struct operators *o, struct channel *channel, struct peer *peer,
    const struct message_request *request)
{
	struct control_context context = { .cluster = driver_cluster(o->driver),
		.now = driver_now(),
		.log_folder = o->log_folder,
		.locks = o->locks,
		.policy_error = o->policy_error,
		.version = FLYBALL_VERSION,
		.started = o->started };
	struct message m = { 0 };
	struct event event = { 0 };
	char who[NAME_SIZE];
	const char **recipes = reload_known_recipes(context.cluster, &context.nrecipes);

	context.recipes = recipes;
	who_is(peer, who);
	if (control_request(&context, who, request, &m.reply, &event) == CONTROL_ANSWERED) {
		m.reply.id = request->id;
		send_reply(channel, peer, &m);
		free(m.reply.json);
		free(m.reply.bytes);
	} else if (driver_trouble(o->driver) != NULL)
		refuse_for_trouble(o, channel, peer, request->id);
	else
		ask_core(o, channel, peer, request->id, &event, who);
	event_clear(&event);
	free(recipes);
}

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct listener *l = arg;

	if (m->envelope.kind == MESSAGE_REQUEST)
		take_request(l->operators, l->channel, peer, &m->request);
	else
		log_throttled(peer_name(peer),
		    "a %s is not for an operator to say, ignoring operator=%s",
		    message_kind_name(m->envelope.kind), peer_name(peer));
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct listener *l = arg;
	struct waiting *w;

	(void)why;
	for (w = l->operators->waiting; w != NULL; w = w->next)
		if (w->peer == peer)
			w->peer = NULL;
}

static void
on_trouble(void *arg, const char *text)
{
	(void)arg;
	log_warning("%s", text);
}

void
operators_reply(struct operators *o, const struct effect *e)
{
	struct waiting **p = &o->waiting, *w;
	struct message m = { 0 };

	while (*p != NULL && (*p)->number != e->request)
		p = &(*p)->next;
	if (*p == NULL)
		return;
	w = *p;
	*p = w->next;
	m.reply.id = w->id;
	m.reply.status = (enum reply_status)e->answer;
	memcpy(m.reply.text, e->text, sizeof m.reply.text);
	if (e->round.n != 0)
		m.reply.json = mem_printf("{\"round\": %llu}", (unsigned long long)e->round.n);
	if (w->peer != NULL)
		send_reply(w->channel, w->peer, &m);
	free(m.reply.json);
	free(w);
}

void
operators_acknowledge(struct operators *o)
{
	int i;

	for (i = 0; i < LISTENERS; i++)
		if (o->listeners[i].channel != NULL)
			channel_acknowledge(o->listeners[i].channel);
}

void
operators_revoke(struct operators *o, const char *name)
{
	int i;

	for (i = 0; i < LISTENERS; i++)
		if (o->listeners[i].channel != NULL)
			channel_revoke(
			    o->listeners[i].channel, name, "it was taken out of the configuration");
}

void
operators_policy_error(struct operators *o, const char *text)
{
	mem_copy_text(o->policy_error, sizeof o->policy_error, text);
}

void
operators_attach(struct operators *o, struct driver *driver)
{
	int i;

	o->driver = driver;
	for (i = 0; i < LISTENERS; i++)
		if (o->listeners[i].channel != NULL)
			channel_set_epoch(o->listeners[i].channel, driver_cluster(driver)->epoch);
}

static int
listen_at(struct operators *o, int i, struct hub *hub, const char *endpoint,
    const struct key_pair *keys, struct err *err)
{
	struct channel_callbacks callbacks = { on_message, on_gone, NULL, on_trouble,
		&o->listeners[i] };
	struct channel_listen_options options = { endpoint, "operators", keys,
		OPERATOR_MESSAGE_BYTES };

	o->listeners[i].operators = o;
	o->listeners[i].channel = channel_listen(hub, &options, &callbacks, err);
	return o->listeners[i].channel != NULL ? 0 : -1;
}

static int
give_to_group(const char *endpoint, gid_t group, struct err *err)
{
	const char *path = endpoint + strlen("ipc://");

	if (group == (gid_t)-1 || chown(path, (uid_t)-1, group) == 0)
		return 0;
	return err_set_errno(err, errno, "%s cannot be given to group %u", path, (unsigned)group);
}

struct operators *
operators_create(struct hub *hub, const struct config *config, const struct key_pair *keys,
    const char *log_folder, struct locks *locks, struct err *err)
{
	struct operators *o = mem_calloc(1, sizeof *o);

	o->log_folder = log_folder;
	o->locks = locks;
	o->started = loop_wall();
	if (listen_at(o, 0, hub, config->operators, NULL, err) == 0 &&
	    give_to_group(config->operators, config->group, err) == 0 &&
	    (config->operators_tcp[0] == '\0' ||
		listen_at(o, 1, hub, config->operators_tcp, keys, err) == 0))
		return o;
	operators_destroy(o);
	return NULL;
}

void
operators_destroy(struct operators *o)
{
	struct waiting *w;
	int i;

	if (o == NULL)
		return;
	for (i = 0; i < LISTENERS; i++)
		if (o->listeners[i].channel != NULL)
			channel_destroy(o->listeners[i].channel);
	while ((w = o->waiting) != NULL) {
		o->waiting = w->next;
		free(w);
	}
	free(o);
}
