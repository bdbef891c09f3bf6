/* A request is taken apart by a flat ladder: is the verb known, are its arguments known
 * and each there once, is each of the right form, is what it names there. Only then it
 * becomes an event. What the state of the cluster forbids is step()'s to say: between
 * here and there nothing may be decided.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/control.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/io/control_ask.h"
#include "proto/base/mem.h"
#include "proto/base/near.h"
#include "proto/wire.h"
#include "proto/wire_text.h"

/* Nobody means a longer throttle than a year. */
#define HOLD_MOST_US (INT64_C(366) * 24 * HOUR_US)

/* ---- arguments of what changes something ------------------------------------------------- */

bool
take_reason(struct ask *ask, bool needed)
{
	const char *reason = arg_get(ask, "reason");

	if (reason == NULL || reason[0] == '\0') {
		if (needed)
			answer(ask, REPLY_USAGE,
			    "a reason is needed, for whoever wonders about it later: --reason "
			    "TEXT");
		return !needed;
	}
	if (!wire_text_ok(reason) || strpbrk(reason, "\n\r\t") != NULL) {
		answer(ask, REPLY_USAGE,
		    "the reason must be one line of UTF-8 text without control characters");
		return false;
	}
	if (mem_copy_text(ask->event->text, sizeof ask->event->text, reason))
		return true;
	answer(ask, REPLY_USAGE, "the reason has %zu bytes: at most %d were expected",
	    strlen(reason), TEXT_SIZE - 1);
	return false;
}

static bool
take_host(struct ask *ask)
{
	const struct host *h = find_host(ask, arg_get(ask, "host"));

	if (h != NULL)
		mem_copy_text(ask->event->host, sizeof ask->event->host, h->name);
	return h != NULL;
}

static bool
take_duration(struct ask *ask)
{
	return arg_number(ask, "for_us", SECOND_US, HOLD_MOST_US, &ask->event->duration_us);
}

/* Whether --for was left out is told by the zero that stays: without end. */
static enum control_result
change(struct ask *ask, enum event_kind kind)
{
	ask->event->kind = kind;
	return CONTROL_EVENT;
}

static enum control_result
bound(struct ask *ask, enum event_kind kind)
{
	int64_t limit = 0;

	if (!take_host(ask) || !arg_number(ask, "limit", 1, JOBS_MAX, &limit) ||
	    !take_duration(ask) || !take_reason(ask, true))
		return CONTROL_ANSWERED;
	if (limit == 0)
		return answer(ask, REPLY_USAGE,
		    "how many steps at once? -j N was expected, 1 to %d", JOBS_MAX);
	ask->event->limit = (int32_t)limit;
	return change(ask, kind);
}

static enum control_result
throttle(struct ask *ask)
{
	return bound(ask, EVENT_THROTTLE);
}

static enum control_result
pin(struct ask *ask)
{
	return bound(ask, EVENT_PIN);
}

static enum control_result
unthrottle(struct ask *ask)
{
	return take_host(ask) ? change(ask, EVENT_UNTHROTTLE) : CONTROL_ANSWERED;
}

static enum control_result
close_host(struct ask *ask, enum event_kind kind)
{
	if (!take_host(ask) || !take_duration(ask) || !take_reason(ask, true))
		return CONTROL_ANSWERED;
	return change(ask, kind);
}

static enum control_result
drain(struct ask *ask)
{
	return close_host(ask, EVENT_DRAIN);
}

static enum control_result
pause_host(struct ask *ask)
{
	return close_host(ask, EVENT_PAUSE);
}

static enum control_result
resume(struct ask *ask)
{
	return take_host(ask) ? change(ask, EVENT_RESUME) : CONTROL_ANSWERED;
}

/* ---- rounds and builds ------------------------------------------------------------------- */

static bool
take_target(struct ask *ask, const struct policy *p, const char *name)
{
	struct event *e = ask->event;
	size_t i;

	if (!wire_name_ok(name) || policy_find_target(p, name) == NULL) {
		answer(ask, wire_name_ok(name) ? REPLY_NOT_FOUND : REPLY_USAGE,
		    "branch \"%s\" has no target \"%.60s\"; flyball policy show %s lists them",
		    p->branch, name, p->branch);
		return false;
	}
	for (i = 0; i < e->nnames; i++)
		if (strcmp(e->names[i], name) == 0) {
			answer(ask, REPLY_USAGE, "target \"%s\" is asked for twice", name);
			return false;
		}
	e->names = mem_grow(e->names, e->nnames, e->nnames + 1, sizeof *e->names);
	mem_copy_text(e->names[e->nnames++], NAME_SIZE, name);
	return true;
}

static bool
take_revision(struct ask *ask)
{
	const char *revision = arg_get(ask, "revision");

	if (revision == NULL)
		return true;
	if (revision[0] != '\0' && wire_word_ok(revision) &&
	    mem_copy_text(ask->event->revision, sizeof ask->event->revision, revision))
		return true;
	answer(ask, REPLY_USAGE,
	    "the revision \"%.60s\" must be a word of at most %d printable ASCII characters that "
	    "does not "
	    "begin with -",
	    revision, REVISION_SIZE - 1);
	return false;
}

static enum control_result
run(struct ask *ask)
{
	const struct policy *p = find_policy(ask, arg_get(ask, "branch"));
	size_t i;

	if (p == NULL || !take_revision(ask) || !take_reason(ask, false))
		return CONTROL_ANSWERED;
	mem_copy_text(ask->event->branch, sizeof ask->event->branch, p->branch);
	for (i = 0; i < ask->request->nargs; i++)
		if (strcmp(ask->request->args[i].key, "target") == 0 &&
		    !take_target(ask, p, ask->request->args[i].value))
			return CONTROL_ANSWERED;
	return change(ask, EVENT_RUN);
}

/* One build, or all of a round. */
static bool
take_build_or_round(struct ask *ask)
{
	const char *build = arg_get(ask, "build"), *round = arg_get(ask, "round");
	const struct build *b;
	const struct round *r;

	if ((build == NULL) == (round == NULL)) {
		answer(ask, REPLY_USAGE, "one build or one round was expected");
		return false;
	}
	if (build != NULL) {
		b = find_build(ask, build);
		if (b != NULL)
			ask->event->build = b->id;
		return b != NULL;
	}
	r = find_round(ask, round);
	if (r != NULL)
		ask->event->round = r->id;
	return r != NULL;
}

static enum control_result
cancel(struct ask *ask)
{
	if (!take_build_or_round(ask) || !take_reason(ask, false))
		return CONTROL_ANSWERED;
	if (ask->event->text[0] == '\0')
		mem_copy_text(ask->event->text, sizeof ask->event->text, "no reason given");
	return change(ask, EVENT_CANCEL);
}

static enum control_result
retry(struct ask *ask)
{
	return take_build_or_round(ask) ? change(ask, EVENT_RETRY) : CONTROL_ANSWERED;
}

/* ---- the verbs --------------------------------------------------------------------------- */

/* keys: all arguments that the verb knows, in words; one with * may be there more than once. */
static const struct verb {
	const char *name;
	enum control_result (*f)(struct ask *ask);
	const char *keys;
} verbs[] = {
	{ "status", show_status, "" },
	{ "hosts", show_hosts, "after" },
	{ "host", show_host, "host" },
	{ "throttle", throttle, "host limit for_us reason" },
	{ "unthrottle", unthrottle, "host" },
	{ "pin", pin, "host limit for_us reason" },
	{ "drain", drain, "host for_us reason" },
	{ "pause", pause_host, "host for_us reason" },
	{ "resume", resume, "host" },
	{ "locks", show_locks, "host build" },
	{ "governor", show_governor, "" },
	{ "governor-set", change_governor, "mode branch class host reason" },
	{ "run", run, "branch target* revision reason" },
	{ "rounds", show_rounds, "branch before count" },
	{ "round", show_round, "round" },
	{ "builds", show_builds, "branch round state before count" },
	{ "build", show_build, "build" },
	{ "log", show_log, "build attempt offset follow" },
	{ "cancel", cancel, "build round reason" },
	{ "retry", retry, "build round" },
	{ "explain", show_explain, "host build" },
	{ "policy-check", show_policy_check, "name text" },
	{ "policy-show", show_policy, "branch" },
};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

/* Is key one of the words, and may it be there this often? */
static bool
key_known(const char *keys, const char *key, bool repeated)
{
	size_t length = strlen(key);
	const char *at = keys;

	while (length > 0 && at[0] != '\0') {
		size_t word = strcspn(at, " *");
		bool many = at[word] == '*';

		if (word == length && memcmp(at, key, length) == 0)
			return many || !repeated;
		at += word + strspn(at + word, " *");
	}
	return false;
}

static bool
keys_ok(struct ask *ask, const struct verb *verb)
{
	const struct message_request *request = ask->request;
	size_t i, k;

	for (i = 0; i < request->nargs; i++) {
		const char *key = request->args[i].key;
		bool repeated = false;

		for (k = 0; k < i; k++)
			repeated = repeated || strcmp(request->args[k].key, key) == 0;
		if (key_known(verb->keys, key, repeated))
			continue;
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" is %s of %s; is this flyball of another version than %s?", key,
		    key_known(verb->keys, key, false) ? "there twice among the arguments"
						      : "no argument",
		    verb->name, ask->context->version);
		return false;
	}
	return true;
}

static enum control_result
unknown_verb(struct ask *ask)
{
	const char *names[VERBS], *near;
	size_t i;

	for (i = 0; i < VERBS; i++)
		names[i] = verbs[i].name;
	near = near_find(ask->request->verb, names, VERBS);
	return answer(ask, REPLY_USAGE, "coordinator %s knows no verb \"%.60s\"%s%s",
	    ask->context->version, ask->request->verb, near != NULL ? "; near: " : "",
	    near != NULL ? near : "");
}

enum control_result
control_request(const struct control_context *context, const char *who,
    const struct message_request *request, struct message_reply *ret_reply, struct event *ret_event)
{
	struct ask ask = { context, context->cluster, request, ret_reply, ret_event };
	size_t i;

	memset(ret_reply, 0, sizeof *ret_reply);
	memset(ret_event, 0, sizeof *ret_event);
	ret_reply->id = request->id;
	mem_copy_text(ret_event->who, sizeof ret_event->who, who);
	for (i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, request->verb) == 0)
			return keys_ok(&ask, &verbs[i]) ? verbs[i].f(&ask) : CONTROL_ANSWERED;
	return unknown_verb(&ask);
}
