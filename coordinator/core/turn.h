/* turn.h - one run of step(): what its parts share
 *
 * Shape:  the cluster, the event and the list of effects; helpers that decide nothing.
 * Units:  as units.h.
 * Errors: a fact that does not fit is a bug of the core's and aborts.
 * Memory: turn_fact takes over what is behind the fact's pointers.
 * Source: docs/states.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TURN_H
#define FLYBALL_TURN_H

#include "coordinator/core/effect.h"

struct turn {
	struct cluster *c;
	const struct event *event;
	struct effects *effects;
	bool changed; /* a fact was decided, or a host came or went */
};

/* Applies the fact at the event's time and asks for it to be journaled. */
void turn_fact(struct turn *t, const struct fact *fact);
/* Answers the operator behind the event, if there is one. */
void turn_reply(struct turn *t, enum answer answer, round_id round, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The event made no sense: an operator is answered, for a host it is logged. */
void turn_refuse(struct turn *t, enum answer answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* host.c */
void host_hello(struct turn *t);
void host_report(struct turn *t);
void host_gone(struct turn *t);
void host_tick(struct turn *t); /* silence, expiry of holds */
void host_boot(struct turn *t);
void host_limits(struct turn *t); /* the governor, for the hosts that were touched */
void host_say_limit(struct turn *t, const struct host *h); /* its limit and whether it is paused */
/* hold.c */
void hold_event(struct turn *t); /* drain, throttle, pin, pause, and their ends */
void hold_tick(struct turn *t, struct host *h); /* ends by themselves */
void hold_boot(struct turn *t, struct host *h);
/* mode.c */
void mode_event(struct turn *t); /* an order, or its end */
/* The law does not trust what it sees there: the host is observed until an operator says otherwise.
 * Said once. */
void host_alarm(struct turn *t, struct host *h, const char *why);
/* adapt.c */
void adapt_phase(struct turn *t, struct host *h); /* what it builds may have changed */
void adapt_sample(struct turn *t, struct host *h); /* it has reported */
/* lease.c */
void lease_renew(struct turn *t, struct host *h);
void lease_speak(struct turn *t, struct host *h); /* it spoke of an attempt, and has not reported */
void lease_tick(struct turn *t);
void lease_pause(struct cluster *c, int64_t away_us); /* the coordinator stood still */
/* build.c */
void build_attempt(struct turn *t); /* what an agent says of an attempt */
void build_status(struct turn *t, const struct host *h, const struct attempt_status *s);
void build_reconcile(struct turn *t, const struct host *h); /* a HELLO's attempts against ours */
void build_return(struct turn *t, const struct host *h); /* what one that was away still builds */
void build_lost(struct turn *t, struct attempt *a, const char *reason);
void build_cancel(struct turn *t);
void build_retry(struct turn *t);
void build_plan(struct turn *t);
/* round.c */
void round_policy(struct turn *t); /* in force, or gone */
void round_run(struct turn *t);

#endif
