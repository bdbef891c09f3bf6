/* The lives of hosts, and of what operators set on them: docs/states.md "Host" and "Limit". A row
 * whose id starts with H or L proves the line there that has the same.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#include "coordinator/core/lease.h"

static const struct row hosts[] = {
	{ "H1", "a host's first HELLO makes it known, with a limit of a step for each thread", "",
	    "hello c", "+host c, welcome c, +limit c 4, limit c 4", "" },
	{ "H2", "a report of a host that never said HELLO is refused", "", "report c", "refuse c",
	    "" },
	{ "H3", "the connection of an unknown host ends: nothing", "", "gone c", "", "" },
	{ "H4", "HELLO again: welcome, and the limit that is in force", "", "hello a",
	    "welcome a, limit a 4", "" },
	{ "H5", "a report changes nothing that is promised", "", "report a", "", "" },
	{ "H6", "a host whose connection ended gets no build, though it has not lost its lease",
	    "gone a; gone b; run", "plan", "", "queued" },
	{ "H7", "a host that says nothing for 16 s gets no build", "wait 16; run", "plan", "",
	    "queued" },
	{ "H7", "a host that says nothing for 15 s is still up", "wait 15; run", "plan",
	    "+grant 1 a, start a 1", "starting" },
	{ "H8", "a silent host that reports is up, and a plan is wanted at once", "wait 16; run",
	    "report a", "plan", "queued" },
	{ "H9", "a silent host that says HELLO is up", "gone a; gone b; run", "hello b",
	    "welcome b, limit b 4, plan", "queued" },
	{ "H10", "after a lease of silence its attempts are given up, and queued again",
	    "run; grant 1 a; running a 1; wait 16", "wait 285", "+ended 1 lost", "queued" },
	{ "H10", "within the lease they are not", "run; grant 1 a; running a 1; wait 16",
	    "wait 284", "", "running" },
	{ "H10", "each report renews the lease",
	    "run; grant 1 a; running a 1; wait 200; report a 1; wait 200; report a 1; wait 16",
	    "wait 200", "", "running" },
	{ "H10", "a lease ends for one host and not for another",
	    "run 2; grant 1 a 2 b; running a 1; running b 2; wait 100; report b 2; wait 100; "
	    "report b 2",
	    "wait 101", "+ended 1 lost", "queued running" },
	{ "H11", "a lost host that says HELLO is up, and what it still builds goes on",
	    "run; grant 1 a; running a 1; wait 16; wait 300", "hello a 1",
	    "welcome a, +running 1, limit a 4", "running" },
	{ "H12", "a lost host that reports, on a connection that never broke: as its HELLO",
	    "run; grant 1 a; running a 1; wait 16; wait 300", "report a 1", "+running 1",
	    "running" },
	{ "H12", "a lost host that reports what has been replaced is told to stop it",
	    "run; grant 1 a; running a 1; wait 16; wait 300; hello b; grant 1 b", "report a 1",
	    "cancel a 1, drop a 1", "starting" },
	{ "H12",
	    "a lost host that speaks of an attempt is not lost, and is compared when it reports",
	    "run 2; grant 1 a 2 a; running a 1; running a 2; wait 16; wait 300; running a 2",
	    "report a 1 2", "+running 1", "running running" },
	{ "H13", "after a restart a host is absent, which is not lost: it goes on where it was",
	    "run; grant 1 a; running a 1; restart 10", "hello a 1", "welcome a, limit a 4",
	    "running" },
	{ "H13", "an absent host gets no build", "restart; run", "plan", "", "queued" },
	{ "H14", "an absent host with nothing to lose stays absent", "restart; wait 301",
	    "wait 1000", "", "" },
	{ "H15", "an absent host's attempts are given up, a lease after the start",
	    "run; grant 1 a; running a 1; restart 10", "wait 301", "+ended 1 lost", "queued" },
	{ "H15", "and not before, however long the coordinator was away",
	    "run; grant 1 a; running a 1; restart 100000", "wait 300", "", "running" },
	{ "H16", "a host that goes again just after a start has its whole lease",
	    "run; grant 1 a; running a 1; restart; hello a 1; wait 200; report a 1; gone a",
	    "wait 299", "", "running" },
	{ "H16", "and loses it then",
	    "run; grant 1 a; running a 1; restart; hello a 1; wait 200; report a 1; gone a",
	    "wait 301", "+ended 1 lost", "queued" },
	{ "H17", "a coordinator that was stopped does not take its own silence for its hosts'",
	    "run; grant 1 a; running a 1", "stop 1000", "", "running" },
	{ "H17", "a host is up after that as before", "run; stop 1000", "plan",
	    "+grant 1 a, start a 1", "starting" },
	{ "H17", "what was left of a lease is left",
	    "run; grant 1 a; running a 1; wait 16; stop 1000", "wait 284", "", "running" },
	{ "H17", "and no more", "run; grant 1 a; running a 1; wait 16; stop 1000", "wait 285",
	    "+ended 1 lost", "queued" },
	{ "H17", "nor does the first word of another host end it",
	    "run; grant 1 a; running a 1; stop 1000; report b", "wait 1", "", "running" },
	{ "H17", "a lease after a start is as long, too",
	    "run; grant 1 a; running a 1; restart 10; wait 100; stop 1000", "wait 200", "",
	    "running" },
};

static const struct row holds[] = {
	{ "L1", "a throttle bounds the limit at once", "", "throttle a 2",
	    "+throttle a 2, +limit a 2, limit a 2, reply ok", "" },
	{ "L1", "a throttle above the limit changes nothing but is kept", "", "throttle a 100",
	    "+throttle a 100, reply ok", "" },
	{ "L1", "a second throttle takes the first one's place", "throttle a 2", "throttle a 3",
	    "+throttle a 3, +limit a 3, limit a 3, reply ok", "" },
	{ "L2", "unthrottle gives the limit back", "throttle a 2", "unthrottle a",
	    "+unthrottle a, +limit a 4, limit a 4, reply ok", "" },
	{ "L2", "a host that is not throttled cannot be unthrottled", "", "unthrottle a",
	    "reply conflict", "" },
	{ "L3", "a throttle ends by itself", "throttle a 2 60", "wait 60",
	    "+unthrottle a, +limit a 4, limit a 4", "" },
	{ "L3", "and not before its time", "throttle a 2 60", "wait 59", "", "" },
	{ "L3", "one without a time does not end", "throttle a 2", "wait 100000", "", "" },
	{ "L4", "a throttle survives a restart", "throttle a 2", "restart 10", "+epoch 2", "" },
	{ "L4", "what is left of its time is counted over a restart",
	    "throttle a 2 60; wait 10; restart 20", "wait 30",
	    "+unthrottle a, +limit a 4, limit a 4", "" },
	{ "L4", "and no less", "throttle a 2 60; wait 10; restart 20", "wait 29", "", "" },
	{ "L4", "a wall clock a day back over a restart: never longer than it was given",
	    "throttle a 2 60; wait 10; restart 20 -86400", "wait 60",
	    "+unthrottle a, +limit a 4, limit a 4", "" },
	{ "L4",
	    "a wall clock a day ahead over a restart: it ends early, and nothing else comes of it",
	    "throttle a 2 60; wait 10; restart 20 86400", "wait 1",
	    "+unthrottle a, +limit a 4, limit a 4", "" },
	{ "L4", "one without a time survives a clock that is a day off",
	    "throttle a 2; restart 10 86400", "wait 100000", "", "" },
	{ "L5", "a limit of 0 is refused", "", "throttle a 0", "reply usage", "" },
	{ "L5", "a limit above what a pipe holds is refused", "", "throttle a 481", "reply usage",
	    "" },
	{ "L5", "a time below 0 is refused", "", "throttle a 2 -1", "reply usage", "" },
	{ "L5", "a time that no clock could count is refused", "", "drain a 9000000000000",
	    "reply usage", "" },
	{ "L5", "a host that is not known is not found", "", "throttle x 2", "reply not found",
	    "" },
	{ "L6", "a drained host takes nothing new", "drain a; drain b; run", "plan", "", "queued" },
	{ "L6", "what runs there goes on", "run; grant 1 a; running a 1", "drain a",
	    "+drain a, reply ok", "running" },
	{ "L6", "its builds' results count", "run; grant 1 a; running a 1; drain a", "ended a 1",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "L7", "a resumed host takes builds again, and a plan is wanted at once",
	    "drain a; drain b; run", "resume a", "+resume a, reply ok, plan", "queued" },
	{ "L7", "a host that is not drained cannot be resumed", "", "resume a", "reply conflict",
	    "" },
	{ "L8", "a drain ends by itself", "drain a 60; drain b; run", "wait 60", "+resume a",
	    "queued" },
	{ "L8", "to end a throttle does not prolong a drain",
	    "drain a 60; throttle a 2; wait 50; unthrottle a; report a", "wait 10", "+resume a",
	    "" },
	{ "L8", "to resume does not prolong a throttle",
	    "throttle a 2 60; drain a; wait 50; resume a; report a", "wait 10",
	    "+unthrottle a, +limit a 4, limit a 4", "" },
	{ "L9", "a drained host that says HELLO stays drained", "drain a; gone a; run 2; drain b",
	    "hello a", "welcome a, limit a 4", "queued queued" },
	{ "L10", "a pin sets the limit to exactly that, also above the threads", "", "pin a 7",
	    "+pin a 7, +limit a 7, limit a 7, reply ok", "" },
	{ "L10", "whatever a throttle says", "throttle a 2", "pin a 7",
	    "+pin a 7, +limit a 7, limit a 7, reply ok", "" },
	{ "L10", "a pin out of bounds is refused", "", "pin a 481", "reply usage", "" },
	{ "L10", "when its time is over the throttle is in force again", "throttle a 2; pin a 7 60",
	    "wait 60", "+unpin a, +limit a 2, limit a 2", "" },
	{ "L10", "its time goes on over a restart", "pin a 7 60; wait 10; restart 20", "wait 30",
	    "+unpin a, +limit a 4, limit a 4", "" },
	{ "L10", "unthrottle ends throttle and pin", "throttle a 2; pin a 7", "unthrottle a",
	    "+unthrottle a, +unpin a, +limit a 4, limit a 4, reply ok", "" },
	{ "L10", "and a pin alone", "pin a 7", "unthrottle a",
	    "+unpin a, +limit a 4, limit a 4, reply ok", "" },
	{ "L11", "a pause is told to the agent with the limit", "", "pause a",
	    "+pause a, limit a 4 paused, reply ok", "" },
	{ "L11", "a paused host takes nothing new", "pause a; pause b; run", "plan", "", "queued" },
	{ "L11", "its end is told, and a plan is wanted at once", "pause a; pause b; run",
	    "resume a", "+unpause a, limit a 4, reply ok, plan", "queued" },
	{ "L11", "it ends by itself", "pause a 60", "wait 60", "+unpause a, limit a 4", "" },
	{ "L11", "and not before its time", "pause a 60", "wait 59", "", "" },
	{ "L11", "its time goes on over a restart", "pause a 60; wait 10; restart 20", "wait 30",
	    "+unpause a, limit a 4", "" },
	{ "L11", "resume ends drain and pause", "drain a; pause a", "resume a",
	    "+resume a, +unpause a, limit a 4, reply ok", "" },
	{ "L12", "a limit that moves meanwhile says that it is paused", "pause a", "throttle a 2",
	    "+throttle a 2, +limit a 2, limit a 2 paused, reply ok", "" },
	{ "L12", "a HELLO meanwhile is told of the pause", "pause a; gone a", "hello a",
	    "welcome a, limit a 4 paused", "" },
	{ "L12", "also after a restart", "pause a; restart 10", "hello a",
	    "welcome a, limit a 4 paused", "" },
	{ NULL, "a HELLO across a throttle is told the throttled limit", "throttle a 2; gone a",
	    "hello a", "welcome a, limit a 2", "" },
};

static const struct row modes[] = {
	{ "G1", "an order for a host", "", "governor act host a", "+governor host a act, reply ok",
	    "" },
	{ "G1", "a second one takes the first one's place", "governor act host a",
	    "governor off host a", "+governor host a off, reply ok", "" },
	{ "G1", "an order for a branch", "", "governor advise branch main",
	    "+governor branch main advise, reply ok", "" },
	{ "G1", "an order for a class", "", "governor act class Linux-6.1-x86_64-4t-8g-704a",
	    "+governor class Linux-6.1-x86_64-4t-8g-704a act, reply ok", "" },
	{ "G2", "a host that is not known is not found", "", "governor act host x",
	    "reply not found", "" },
	{ "G2", "nor a branch", "", "governor act branch x", "reply not found", "" },
	{ "G2", "nor a class", "", "governor act class x", "reply not found", "" },
	{ "G3", "one for the farm", "governor act host a; governor off branch main",
	    "governor observe", "+governor farm observe, reply ok", "" },
	{ "G3", "has ended all others", "governor act host a; governor observe",
	    "governor policy host a", "reply conflict", "" },
	{ "G4", "an order is lifted", "governor act host a", "governor policy host a",
	    "+governor_lifted host a, reply ok", "" },
	{ "G4", "where there is none that is a conflict", "governor act host a",
	    "governor policy host b", "reply conflict", "" },
	{ "G4", "for the farm, all are lifted", "governor act host a", "governor policy",
	    "+governor_lifted farm, reply ok", "" },
	{ "G4", "and then there is none", "governor act host a; governor policy", "governor policy",
	    "reply conflict", "" },
	{ "G4", "also of a branch that is gone", "governor act branch main; gone_policy main",
	    "governor policy branch main", "+governor_lifted branch main, reply ok", "" },
	{ "G5", "orders survive a restart", "governor act host a; restart 10",
	    "governor policy host a", "+governor_lifted host a, reply ok", "" },
};

/* ---- what a row cannot say -------------------------------------------------------------- */

static enum host_state
state_after(const char *script)
{
	struct world w;
	enum host_state state;

	world_init(&w, script);
	script_play(&w, "policy main 2 1; hello a");
	script_play(&w, script);
	state = cluster_find_host(w.c, "a")->state;
	world_clear(&w);
	return state;
}

static void
test_state_names(void)
{
	static const struct {
		const char *script;
		enum host_state state;
	} cases[] = {
		{ "report a", HOST_UP },
		{ "gone a", HOST_SILENT },
		{ "wait 16", HOST_SILENT },
		{ "wait 16; wait 300", HOST_LOST },
		{ "gone a; wait 301", HOST_LOST },
		{ "wait 16; wait 300; gone a", HOST_LOST },
		{ "wait 16; report a", HOST_UP },
		{ "wait 16; wait 300; report a", HOST_UP },
		{ "run; grant 1 a; wait 16; wait 300; running a 1", HOST_SILENT },
		{ "wait 16; wait 300; hello a", HOST_UP },
		{ "restart", HOST_ABSENT },
		{ "restart; wait 1000", HOST_ABSENT },
		{ "restart; report a", HOST_UP },
		{ "run; grant 1 a; restart; wait 301", HOST_LOST },
	};
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ok(state_after(cases[i].script) == cases[i].state, "after \"%s\" a host is %s",
		    cases[i].script, host_state_name(cases[i].state));
}

/* A day off either way over a restart: nothing is lost, and no duration is negative. */
static void
test_wrong_clock(int64_t wrong_s)
{
	struct world w;
	char script[128];

	world_init(&w, "a wrong clock");
	script_play(&w, "policy main 2 1; hello a; run; grant 1 a; running a 1");
	snprintf(script, sizeof script, "restart 10 %lld; hello a 1; wait 5; report a 1; wait 16",
	    (long long)wrong_s);
	script_play(&w, script);
	ok(build_state_get(w.c, w.c->builds[0]) == BUILD_RUNNING,
	    "a clock %lld s off: the build runs on", (long long)wrong_s);
	script_play(&w, "wait 301");
	ok(w.c->attempts[0]->result.outcome == OUTCOME_LOST &&
		w.c->attempts[0]->result.real_us >= 0 && w.c->attempts[0]->result.real_us < HOUR_US,
	    "a clock %lld s off: an attempt that is lost then did not take a day, or less than "
	    "nothing",
	    (long long)wrong_s);
	world_clear(&w);
}

/* An agent that starts again is another one on the same host: its facts are kept anew. */
static void
test_new_start(void)
{
	struct world w;
	struct event e = { .kind = EVENT_HELLO, .host = "a" };

	world_init(&w, "a new start");
	script_play(&w, "policy main 2 1; hello a");
	e.facts = world_facts("a");
	e.facts->threads = 16;
	world_step(&w, &e);
	event_clear(&e);
	world_compare(&w);
	ok(cluster_find_host(w.c, "a")->limit == 16 && w.c->nhosts == 1,
	    "a host that comes back with more threads is the same host, with a new limit");
	world_clear(&w);
}

static void
test_events_without_sense(void)
{
	struct world w;
	struct event e = { .kind = EVENT_HELLO, .host = "a" };
	int kind;

	world_init(&w, "events without sense");
	for (kind = -1; kind <= EVENT_KINDS; kind++) {
		memset(&e, 0, sizeof e);
		e.kind = (enum event_kind)kind;
		if (kind != EVENT_NONE && kind > 0 && kind < EVENT_KINDS)
			world_step(&w, &e);
	}
	ok(true, "an empty event of each kind harms nothing");
	e.kind = EVENT_KINDS;
	e.at = w.now;
	effects_clear(&w.effects);
	step(w.c, &e, &w.effects);
	ok(w.effects.n == 1 && w.effects.list[0].kind == EFFECT_REFUSE,
	    "an unknown kind is refused");
	cluster_destroy(w.c);
	w.c = cluster_create();
	e.kind = EVENT_TICK;
	effects_clear(&w.effects);
	step(w.c, &e, &w.effects);
	ok(w.effects.n == 1 && w.effects.list[0].kind == EFFECT_REFUSE && w.c->epoch == 0,
	    "nothing happens before the start");
	world_clear(&w);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
		row_play(&hosts[i], "policy main 2 1; hello a; hello b");
	for (i = 0; i < sizeof holds / sizeof holds[0]; i++)
		row_play(&holds[i], "policy main 2 1; hello a; hello b");
	for (i = 0; i < sizeof modes / sizeof modes[0]; i++)
		row_play(&modes[i], "policy main 2 1; hello a; hello b");
	test_state_names();
	test_wrong_clock(86400);
	test_wrong_clock(-86400);
	test_new_start();
	test_events_without_sense();
	return tap_done();
}
