/* The table below is the list of everything that can happen. After each event the
 * governor looks at the hosts that were touched and, when builds wait that a host could take, a
 * plan is asked for: both follow from the state, so no handler needs to remember them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/step.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/lease.h"
#include "coordinator/core/plan.h"
#include "coordinator/core/turn.h"
#include "proto/base/mem.h"

void
turn_fact(struct turn *t, const struct fact *fact)
{
	struct effect *e = effects_add(t->effects, EFFECT_FACT);
	struct err err;

	e->fact = mem_calloc(1, sizeof *e->fact);
	*e->fact = *fact;
	e->fact->at = t->event->at.wall;
	if (cluster_apply(t->c, e->fact, &err) < 0) {
		fprintf(stderr, "flyball: %s\n", err.text);
		abort();
	}
	t->changed = t->changed || !fact_soft(fact->kind);
}

static void
say(struct turn *t, enum effect_kind kind, enum answer answer, round_id round, const char *format,
    va_list ap)
{
	struct effect *e = effects_add(t->effects, kind);

	e->request = t->event->request;
	e->answer = answer;
	e->round = round;
	memcpy(e->host, t->event->host, sizeof e->host);
	vsnprintf(e->text, sizeof e->text, format, ap);
}

void
turn_reply(struct turn *t, enum answer answer, round_id round, const char *format, ...)
{
	va_list ap;

	if (t->event->request == 0)
		return;
	va_start(ap, format);
	say(t, EFFECT_REPLY, answer, round, format, ap);
	va_end(ap);
}

void
turn_refuse(struct turn *t, enum answer answer, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(t, t->event->request ? EFFECT_REPLY : EFFECT_REFUSE, answer, (round_id){ 0 }, format,
	    ap);
	va_end(ap);
}

static void
boot(struct turn *t)
{
	struct fact f = { .kind = FACT_EPOCH, .number = t->c->epoch + 1 };

	turn_fact(t, &f);
	host_boot(t);
}

static void
tick(struct turn *t)
{
	host_tick(t);
	lease_tick(t);
}

static void
ask_for_plan(struct turn *t)
{
	if (t->c->plan_wanted || !(t->changed || t->event->kind == EVENT_TICK) ||
	    !plan_could_help(t->c))
		return;
	t->c->plan_wanted = true;
	effects_add(t->effects, EFFECT_PLAN)->version = t->c->version;
}

void
step(struct cluster *c, const struct event *event, struct effects *effects)
{
	static void (*const handle[EVENT_KINDS])(struct turn *) = {
		[EVENT_BOOT] = boot,
		[EVENT_TICK] = tick,
		[EVENT_POLICY] = round_policy,
		[EVENT_POLICY_GONE] = round_policy,
		[EVENT_HELLO] = host_hello,
		[EVENT_REPORT] = host_report,
		[EVENT_GONE] = host_gone,
		[EVENT_ATTEMPT] = build_attempt,
		[EVENT_RUN] = round_run,
		[EVENT_CANCEL] = build_cancel,
		[EVENT_RETRY] = build_retry,
		[EVENT_THROTTLE] = hold_event,
		[EVENT_UNTHROTTLE] = hold_event,
		[EVENT_DRAIN] = hold_event,
		[EVENT_RESUME] = hold_event,
		[EVENT_PLAN] = build_plan,
		[EVENT_PIN] = hold_event,
		[EVENT_PAUSE] = hold_event,
		[EVENT_GOVERNOR] = mode_event,
		[EVENT_GOVERNOR_LIFT] = mode_event,
	};
	struct turn t = { .c = c, .event = event, .effects = effects };
	int64_t since_us = mono_since(c->now.mono, event->at.mono);

	if (c->now.mono.us != 0 && since_us > AWAY_US)
		lease_pause(c, since_us);
	c->now = event->at;
	if ((unsigned)event->kind >= EVENT_KINDS || handle[event->kind] == NULL) {
		turn_refuse(&t, ANSWER_FAILED, "an event of an unknown kind, %d", (int)event->kind);
		return;
	}
	if (c->epoch == 0 && event->kind != EVENT_BOOT) {
		turn_refuse(&t, ANSWER_FAILED, "an event before the start: %s",
		    event_kind_name(event->kind));
		return;
	}
	handle[event->kind](&t);
	host_limits(&t);
	if (t.changed)
		c->version++;
	ask_for_plan(&t);
}
