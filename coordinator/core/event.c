/* As facts: one table for all kinds, what is empty is left out, "kind (fields)".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/event.h"

#include <string.h>

#include "coordinator/core/fields.h"

static const char *const names[EVENT_KINDS] = {
	[EVENT_NONE] = "none",
	[EVENT_BOOT] = "boot",
	[EVENT_TICK] = "tick",
	[EVENT_POLICY] = "policy",
	[EVENT_POLICY_GONE] = "policy_gone",
	[EVENT_HELLO] = "hello",
	[EVENT_REPORT] = "report",
	[EVENT_GONE] = "gone",
	[EVENT_ATTEMPT] = "attempt",
	[EVENT_RUN] = "run",
	[EVENT_CANCEL] = "cancel",
	[EVENT_RETRY] = "retry",
	[EVENT_THROTTLE] = "throttle",
	[EVENT_UNTHROTTLE] = "unthrottle",
	[EVENT_DRAIN] = "drain",
	[EVENT_RESUME] = "resume",
	[EVENT_PLAN] = "plan",
	[EVENT_PIN] = "pin",
	[EVENT_PAUSE] = "pause",
	[EVENT_GOVERNOR] = "governor",
	[EVENT_GOVERNOR_LIFT] = "governor_lift",
};

const char *
event_kind_name(enum event_kind kind)
{
	return (unsigned)kind < EVENT_KINDS ? names[kind] : "?";
}

struct event_line {
	struct event event;
	size_t npolicy, nfacts, nload, nresult;
};

static const struct field move_fields[] = {
	FIELD_AT(FIELD_INT, struct plan_move, "build", build.n),
	FIELD_AT(FIELD_TEXT, struct plan_move, "host", host),
	FIELD_END,
};

#define INT(name_, member_) FIELD_AT(FIELD_INT, struct event_line, name_, event.member_)
#define TEXT(name_) FIELD_AT(FIELD_TEXT, struct event_line, #name_, event.name_)
#define MANY(type_, name_, count_, table_) \
	FIELD_MANY(type_, struct event_line, #name_, event.name_, count_, table_)

static const struct field event_fields[] = {
	INT("mono", at.mono.us),
	INT("wall", at.wall.us),
	INT("request", request),
	TEXT(who),
	TEXT(host),
	TEXT(branch),
	TEXT(revision),
	TEXT(text),
	INT("round", round.n),
	INT("build", build.n),
	INT("limit", limit),
	INT("guard", guard),
	INT("duration_us", duration_us),
	INT("version", version),
	INT("scope", scope),
	INT("mode", mode),
	TEXT(name),
	MANY(FIELD_NAMES, names, event.nnames, NULL),
	MANY(FIELD_LIST, policy, npolicy, policy_fields),
	MANY(FIELD_LIST, facts, nfacts, host_facts_fields),
	MANY(FIELD_LIST, load, nload, load_fields),
	MANY(FIELD_LIST, gauges, event.ngauges, gauge_fields),
	MANY(FIELD_LIST, attempts, event.nattempts, attempt_status_fields),
	MANY(FIELD_LIST, result, nresult, attempt_result_fields),
	MANY(FIELD_LIST, moves, event.nmoves, move_fields),
	FIELD_END,
};

static struct event_line
line_of(const struct event *event)
{
	return (struct event_line){ *event, event->policy != NULL, event->facts != NULL,
		event->load != NULL, event->result != NULL };
}

void
event_clear(struct event *event)
{
	struct event_line line = line_of(event);

	codec_clear(event_fields, &line);
	memset(event, 0, sizeof *event);
}

void
event_encode(const struct event *event, struct text *t)
{
	struct event_line line = line_of(event);

	text_printf(t, "%s ", event_kind_name(event->kind));
	codec_encode(t, event_fields, &line);
}

static enum event_kind
find_kind(const char *name, size_t n)
{
	int kind;

	for (kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++)
		if (strlen(names[kind]) == n && memcmp(names[kind], name, n) == 0)
			return (enum event_kind)kind;
	return EVENT_NONE;
}

int
event_decode(const char *text, struct event *ret_event, struct err *err)
{
	size_t n = strcspn(text, " ");
	enum event_kind kind = find_kind(text, n);
	struct event_line line = { 0 };
	const char *p = text + n + 1;

	if (kind == EVENT_NONE || text[n] != ' ')
		return err_set(err, "expected the name of an event at \"%.40s\"", text);
	if (codec_decode(&p, event_fields, &line, err) < 0)
		return -1;
	if (*p != '\0' || line.npolicy > 1 || line.nfacts > 1 || line.nload > 1 ||
	    line.nresult > 1) {
		codec_clear(event_fields, &line);
		return err_set(err, "expected one record and nothing behind it at \"%.40s\"", text);
	}
	line.event.kind = kind;
	*ret_event = line.event;
	return 0;
}
