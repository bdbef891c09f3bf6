/* event.h - everything that can happen to the core
 *
 * Shape:  an event has a time and a kind; nothing else enters the core.
 * Units:  as units.h; at is the coordinator's clocks when the event was taken in.
 * Errors: none; step() answers what makes no sense with an effect.
 * Memory: event_clear frees lists and texts.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_EVENT_H
#define FLYBALL_EVENT_H

#include "coordinator/core/cluster.h"
#include "coordinator/core/codec.h"

enum event_kind {
	EVENT_NONE,
	EVENT_BOOT, /* once, when the journal is loaded */
	EVENT_TICK, /* once a second */
	EVENT_POLICY, /* policy: this is what the files say now */
	EVENT_POLICY_GONE, /* branch: no file has it any longer */
	EVENT_HELLO, /* host, facts, attempts */
	EVENT_REPORT, /* host, limit, load, guard and its text, gauges, attempts */
	EVENT_GONE, /* host, text: its connection ended */
	EVENT_ATTEMPT, /* host, attempts[0], result */
	EVENT_RUN, /* branch, names (targets, empty: all), revision, text why */
	EVENT_CANCEL, /* build or round, text reason */
	EVENT_RETRY, /* build or round */
	EVENT_THROTTLE, /* host, limit, duration_us, text reason */
	EVENT_UNTHROTTLE, /* host: neither throttle nor pin */
	EVENT_DRAIN, /* host, duration_us, text reason */
	EVENT_RESUME, /* host: neither drain nor pause */
	EVENT_PLAN, /* version, moves */
	EVENT_PIN, /* host, limit, duration_us, text reason */
	EVENT_PAUSE, /* host, duration_us, text reason */
	EVENT_GOVERNOR, /* scope, name, mode, text reason */
	EVENT_GOVERNOR_LIFT, /* scope, name, text reason */
	EVENT_KINDS
};

const char *event_kind_name(enum event_kind kind);

struct plan_move {
	build_id build;
	char host[NAME_SIZE];
};

struct event {
	enum event_kind kind;
	struct moment at;
	uint64_t request; /* an operator's, to be answered by EFFECT_REPLY */
	char who[NAME_SIZE]; /* the operator */
	char host[NAME_SIZE];
	char branch[NAME_SIZE];
	char revision[REVISION_SIZE];
	char text[TEXT_SIZE];
	round_id round;
	build_id build;
	int32_t limit;
	int32_t guard; /* what the agent's own guard holds the host to; 0: nothing */
	int64_t duration_us;
	uint64_t version;
	enum mode_scope scope;
	enum governor_mode mode;
	char name[NAME_SIZE]; /* of what the scope says */
	size_t nnames;
	char (*names)[NAME_SIZE];
	struct policy *policy;
	struct host_facts *facts;
	struct load *load;
	size_t ngauges;
	struct gauge *gauges;
	size_t nattempts;
	struct attempt_status *attempts;
	struct attempt_result *result;
	size_t nmoves;
	struct plan_move *moves;
};

void event_clear(struct event *event);
void event_encode(const struct event *event, struct text *t);
int event_decode(const char *line, struct event *ret_event, struct err *err);

#endif
