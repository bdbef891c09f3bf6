/* The lives of rounds, builds and attempts: docs/states.md. A row whose id starts with R, B or A
 * proves the line there that has the same. Branch "main" has two targets and one retry, "once" one
 * target and none; hosts a and b are up, with two slots each.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#define SETTING "policy main 2 1; policy once 1 0; hello a; hello b"
#define STARTING "run; grant 1 a; "
#define RUNNING STARTING "running a 1; "
#define GIVEN_UP RUNNING "wait 16; wait 300; hello b; "
#define REPLACED GIVEN_UP "grant 1 b; "
#define LOST_ONCE "run 1 once; grant 1 a; running a 1; wait 16; wait 300; "

static const struct row rounds[] = {
	{ "R1", "a policy comes into force", "", "policy new 1 1", "+policy 3", "" },
	{ "R1", "one that says the same again changes nothing", "", "policy main 2 1", "", "" },
	{ "R1", "one that says something else takes its place", "", "policy main 1 1", "+policy 3",
	    "" },
	{ "R2", "a branch whose file is gone has no policy", "", "gone_policy main",
	    "+policy_gone 0", "" },
	{ "R2", "and that it is gone twice is nothing", "gone_policy main", "gone_policy main", "",
	    "" },
	{ "R2", "one that comes back is in force again, as another version", "gone_policy main",
	    "policy main 2 1", "+policy 3", "" },
	{ "R3", "a round of all targets asked for", "", "run 2",
	    "+round 1, +build 1, +build 2, reply ok, plan", "queued queued" },
	{ "R3", "a round of a branch that has no policy is refused", "", "run 1 none",
	    "reply not found", "" },
	{ "R3", "a round of a branch whose policy is gone is refused", "gone_policy main", "run",
	    "reply not found", "" },
	{ "R3", "a target that the policy has not is refused, and no round is made", "", "run 3",
	    "reply not found", "" },
	{ "R4", "a round keeps the policy it began with, also when it is gone",
	    "run 2; gone_policy main", "plan", "+grant 1 a, start a 1, +grant 2 b, start b 2",
	    "starting starting" },
	{ "R4", "retries are those of the policy that the round began with",
	    "run 1 once; policy once 1 9; grant 1 a; running a 1", "ended a 1 lost",
	    "+ended 1 lost, +done 1 failed, kept a 1", "failed" },
	{ "R4", "a later round has the later policy",
	    "policy once 1 9; run 1 once; grant 1 a; running a 1", "ended a 1 lost",
	    "+ended 1 lost, kept a 1, plan", "queued" },
	{ "R5", "cancelling a round cancels what is open of it", STARTING "run 2; ended a 1",
	    "cancel r2", "+cancel 2, +done 2 cancelled, +cancel 3, +done 3 cancelled, reply ok",
	    "ok cancelled cancelled" },
	{ "R5", "a round that is done cannot be cancelled", "run; cancel r1", "cancel r1",
	    "reply conflict", "cancelled" },
	{ "R6", "retrying a round queues what failed or was cancelled, and nothing else",
	    "run 2; grant 1 a 2 a; ended a 1 ok; ended a 2 failed", "retry r1",
	    "+retry 2, reply ok, plan", "ok queued" },
	{ "R6", "there is no such round", "", "retry r7", "reply not found", "" },
};

static const struct row builds[] = {
	{ "B1", "a queued build is granted to the host that the plan names", "run", "grant 1 b",
	    "+grant 1 b, start b 1", "starting" },
	{ "B1", "a plan that no longer holds is left alone: the build is not queued", STARTING,
	    "grant 1 b", "", "starting" },
	{ "B1", "nor is a build granted twice by one plan", "run", "grant 1 a 1 b",
	    "+grant 1 a, start a 1", "starting" },
	{ "B1", "nor to a host without a place", "run 2; run 1; grant 1 a 2 a", "grant 3 a", "",
	    "starting starting queued" },
	{ "B1", "nor a build that is not there, nor to a host that is not", "run", "grant 7 a 1 x",
	    "", "queued" },
	{ "B2", "a build that waits is cancelled at once", "run", "cancel 1",
	    "+cancel 1, +done 1 cancelled, reply ok", "cancelled" },
	{ "B2", "a queued build cannot be retried", "run", "retry 1", "reply conflict", "queued" },
	{ "B3", "a granted build's agent says that it runs", STARTING, "running a 1", "+running 1",
	    "running" },
	{ "B3", "a report tells it as well", STARTING, "report a 1", "+running 1", "running" },
	{ "B4", "a starting build that is cancelled is cancelled there", STARTING, "cancel 1",
	    "+cancel 1, cancel a 1, reply ok", "cancelling" },
	{ "B4", "and again when it turns out to run", STARTING "cancel 1", "running a 1",
	    "+running 1, cancel a 1", "cancelling" },
	{ "B4", "a running build that is cancelled is cancelled there", RUNNING, "cancel 1",
	    "+cancel 1, cancel a 1, reply ok", "cancelling" },
	{ "B4", "one that is being cancelled cannot be again", RUNNING "cancel 1", "cancel 1",
	    "reply conflict", "cancelling" },
	{ "B4", "nor be retried before it is done", RUNNING "cancel 1", "retry 1", "reply conflict",
	    "cancelling" },
	{ "B5", "a build whose recipe ends well is ok", RUNNING, "ended a 1 ok",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "B5", "also when nobody had said that it runs", STARTING, "ended a 1 ok",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "B6", "the recipe's own failure is final", RUNNING, "ended a 1 failed",
	    "+ended 1 failed, +done 1 failed, kept a 1", "failed" },
	{ "B6", "so is a signal", RUNNING, "ended a 1 signal",
	    "+ended 1 signal, +done 1 failed, kept a 1", "failed" },
	{ "B6", "so is a timeout", RUNNING, "ended a 1 timeout",
	    "+ended 1 timeout, +done 1 failed, kept a 1", "failed" },
	{ "B6", "so is a stall", RUNNING, "ended a 1 stall",
	    "+ended 1 stall, +done 1 failed, kept a 1", "failed" },
	{ "B7", "a lost attempt is the host's fault: the build is queued again", RUNNING,
	    "ended a 1 lost", "+ended 1 lost, kept a 1, plan", "queued" },
	{ "B7", "as often as the policy's retries allow",
	    RUNNING "ended a 1 lost; grant 1 b; running b 2", "ended b 2 lost",
	    "+ended 2 lost, +done 1 failed, kept b 2", "failed" },
	{ "B7", "an attempt that the agent cancelled by itself counts as the host's fault", RUNNING,
	    "ended a 1 cancelled", "+ended 1 cancelled, kept a 1, plan", "queued" },
	{ "B8", "a refusal is tried elsewhere", STARTING, "ended a 1 refused",
	    "+ended 1 refused, kept a 1, plan", "queued" },
	{ "B8", "never again on the host that refused", STARTING "ended a 1 refused", "plan",
	    "+grant 2 b, start b 2", "starting" },
	{ "B8", "a refusal by the last host that could is final, whatever retries there are",
	    "policy far 1 9; drain b; gone b; "
	    "run 1 far; grant 1 a; ended a 1 refused; resume b; hello b; plan",
	    "ended b 2 refused", "+ended 2 refused, +done 1 failed, kept b 2", "failed" },
	{ "B8", "a host that is drained, silent or full could still take it",
	    "drain b; gone b; " STARTING, "ended a 1 refused", "+ended 1 refused, kept a 1",
	    "queued" },
	{ "B9", "being cancelled and ended as told", RUNNING "cancel 1", "ended a 1 cancelled",
	    "+ended 1 cancelled, +done 1 cancelled, kept a 1", "cancelled" },
	{ "B9", "being cancelled and refused", STARTING "cancel 1", "ended a 1 refused",
	    "+ended 1 refused, +done 1 cancelled, kept a 1", "cancelled" },
	{ "B9", "being cancelled and its host lost", RUNNING "cancel 1; wait 16", "wait 285",
	    "+ended 1 lost, +done 1 cancelled", "cancelled" },
	{ "B9", "being cancelled and done well before: it is ok", RUNNING "cancel 1",
	    "ended a 1 ok", "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "B10", "a failed build that is retried is queued", RUNNING "ended a 1 failed", "retry 1",
	    "+retry 1, reply ok, plan", "queued" },
	{ "B10", "so is a cancelled one", "run; cancel 1", "retry 1", "+retry 1, reply ok",
	    "queued" },
	{ "B10", "a build that is ok cannot be retried", RUNNING "ended a 1 ok", "retry 1",
	    "reply conflict", "ok" },
	{ "B10", "a running build cannot be retried", RUNNING, "retry 1", "reply conflict",
	    "running" },
	{ "B10", "attempts before a retry do not count",
	    RUNNING "ended a 1 lost; grant 1 b; ended b 2 lost; retry 1; grant 1 a",
	    "ended a 3 lost", "+ended 3 lost, kept a 3, plan", "queued" },
	{ "B10", "nor do refusals before it", STARTING "ended a 1 refused; cancel 1; retry 1",
	    "plan", "+grant 2 a, start a 2", "starting" },
	{ "B10", "a cancel before a retry is not wanted after it", "run; cancel 1; retry 1", "plan",
	    "+grant 1 a, start a 1", "starting" },
	{ "B11", "a build that is done cannot be cancelled", RUNNING "ended a 1 ok", "cancel 1",
	    "reply conflict", "ok" },
	{ "B11", "there is no such build", "run", "cancel 7", "reply not found", "queued" },
};

static const struct row attempts[] = {
	{ "A1", "granted, and HELLO does not list it: START may never have come, and is sent again",
	    STARTING "gone a", "hello a", "welcome a, start a 1, limit a 4", "starting" },
	{ "A1", "the same over a restart that came between the grant and START", STARTING "restart",
	    "hello a", "welcome a, start a 1, limit a 4", "starting" },
	{ "A2", "granted, and HELLO lists it", STARTING "gone a", "hello a 1",
	    "welcome a, +running 1, limit a 4", "running" },
	{ "A3", "granted, being cancelled, and HELLO does not list it: it never began",
	    STARTING "cancel 1; gone a", "hello a",
	    "welcome a, +ended 1 lost, +done 1 cancelled, limit a 4", "cancelled" },
	{ "A4", "running, and HELLO lists it", RUNNING "gone a", "hello a 1",
	    "welcome a, limit a 4", "running" },
	{ "A4", "running, being cancelled, and HELLO lists it: it is told again",
	    RUNNING "cancel 1; gone a", "hello a 1", "welcome a, cancel a 1, limit a 4",
	    "cancelling" },
	{ "A5", "running, and HELLO does not list it: it is lost, and queued again",
	    RUNNING "gone a", "hello a", "welcome a, +ended 1 lost, limit a 4, plan", "queued" },
	{ "A5", "each of several is compared",
	    "run 2; grant 1 a 2 a; running a 1; running a 2; gone a", "hello a 2",
	    "welcome a, +ended 1 lost, limit a 4, plan", "queued running" },
	{ "A6", "HELLO lists it as ended: its result follows, and until then it lives",
	    RUNNING "gone a", "hello a 1e", "welcome a, limit a 4", "running" },
	{ "A6", "and counts when it comes", RUNNING "gone a; hello a 1e", "ended a 1 ok",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "A7", "given up, nothing has its place, and HELLO lists it: it goes on", GIVEN_UP,
	    "hello a 1", "welcome a, +running 1, limit a 4", "running" },
	{ "A7", "and its result counts, once", GIVEN_UP "hello a 1", "ended a 1 ok",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "A7", "given up, and its result comes: it counts", GIVEN_UP, "ended a 1 ok",
	    "+ended 1 ok, +done 1 ok, kept a 1", "ok" },
	{ "A7", "given up, and it has failed: that counts as well", GIVEN_UP, "ended a 1 failed",
	    "+ended 1 failed, +done 1 failed, kept a 1", "failed" },
	{ "A7", "given up, and lost indeed: the build stays queued", GIVEN_UP, "ended a 1 lost",
	    "+ended 1 lost, kept a 1", "queued" },
	{ "A7", "given up and taken on again over a restart", GIVEN_UP "restart", "hello a 1",
	    "welcome a, +running 1, limit a 4", "running" },
	{ "A8", "given up and replaced, and HELLO lists it: it is told to stop", REPLACED,
	    "hello a 1", "welcome a, cancel a 1, drop a 1, limit a 4", "starting" },
	{ "A8", "given up and replaced, and its agent says that it runs", REPLACED, "running a 1",
	    "cancel a 1, drop a 1", "starting" },
	{ "A8", "given up and replaced, and its result comes: superseded", REPLACED, "ended a 1 ok",
	    "drop a 1", "starting" },
	{ "A8", "given up, replaced, and the other is ok: superseded", REPLACED "ended b 2 ok",
	    "ended a 1 ok", "drop a 1", "ok" },
	{ "A8", "given up, its build failed for good, and its result comes: superseded", LOST_ONCE,
	    "ended a 1 ok", "drop a 1", "failed" },
	{ "A8", "given up, its build cancelled, and HELLO lists it: it is told to stop",
	    GIVEN_UP "cancel 1", "hello a 1", "welcome a, cancel a 1, drop a 1, limit a 4",
	    "cancelled" },
	{ "A8", "given up before a retry: its agent was told to drop it, so it stays superseded",
	    LOST_ONCE "running a 1; retry 1", "hello a 1",
	    "welcome a, cancel a 1, drop a 1, limit a 4, plan", "queued" },
	{ "A9", "ended, and said again, since the answer was lost: KEPT, and it counts once",
	    RUNNING "ended a 1 ok", "ended a 1 ok", "kept a 1", "ok" },
	{ "A9", "the same after a restart", RUNNING "ended a 1 ok; restart; hello a 1e",
	    "ended a 1 ok", "kept a 1", "ok" },
	{ "A9", "a failure said again fails once", RUNNING "ended a 1 failed", "ended a 1 failed",
	    "kept a 1", "failed" },
	{ "A9", "ended, and now another outcome: superseded", RUNNING "ended a 1 failed",
	    "ended a 1 ok", "drop a 1", "failed" },
	{ "A9", "ended, and then it runs: superseded", RUNNING "ended a 1 ok", "running a 1",
	    "cancel a 1, drop a 1", "ok" },
	{ "A10", "a wrong fence: it speaks of another coordinator's attempt", RUNNING,
	    "running a 1:99", "refuse a, cancel a 1, drop a 1", "running" },
	{ "A10", "a result with a wrong fence does not count", RUNNING, "ended a 1:99 ok",
	    "refuse a, drop a 1", "running" },
	{ "A10", "a HELLO with a wrong fence does not keep ours alive", RUNNING, "hello a 1:99",
	    "welcome a, cancel a 1, drop a 1, limit a 4", "running" },
	{ "A10", "another host's attempt is not a host's to speak of", RUNNING, "ended b 1 ok",
	    "refuse b, drop b 1", "running" },
	{ "A10", "an attempt that there is not", RUNNING, "ended a 9 ok", "refuse a, drop a 9",
	    "running" },
	{ "A10", "an unknown host's word counts for nothing", RUNNING, "ended z 1 ok",
	    "refuse z, drop z 1", "running" },
	{ "A11", "a report of what has ended changes nothing", RUNNING "ended a 1 ok", "report a 1",
	    "", "ok" },
	{ "A11", "an end without an outcome is refused", RUNNING, "ended a 1 none", "refuse a",
	    "running" },
};

/* ---- what a row cannot say -------------------------------------------------------------- */

static struct world
played(const char *script)
{
	struct world w;

	world_init(&w, script);
	script_play(&w, SETTING);
	script_play(&w, script);
	return w;
}

static void
test_reasons(void)
{
	static const struct {
		const char *what, *script, *reason;
	} cases[] = {
		{ "a failure's reason is the agent's", RUNNING "ended a 1 failed",
		    "it was failed" },
		{ "a refusal by all tells how often and why",
		    STARTING "ended a 1 refused; plan; ended b 2 refused",
		    "after 2 attempts: it was refused" },
		{ "a loss without a retry tells it", LOST_ONCE,
		    "after 1 attempt: its host was silent for 5 minutes" },
		{ "a cancel tells who and why", "run; cancel 1", "by ann: no longer wanted" },
		{ "a cancel of a running one tells the same",
		    RUNNING "cancel 1; ended a 1 cancelled", "by ann: no longer wanted" },
		{ "a retry takes the reason away", RUNNING "ended a 1 failed; retry 1", "" },
	};
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct world w = played(cases[i].script);

		ok(strcmp(w.c->builds[0]->reason, cases[i].reason) == 0, "%s: \"%s\"",
		    cases[i].what, w.c->builds[0]->reason);
		world_clear(&w);
	}
}

/* An attempt of a later epoch carries it; fences grow over restarts. */
static void
test_epoch_and_fence(void)
{
	struct world w = played("run 2; grant 1 a; restart; hello a 1; grant 2 a");

	ok(w.c->epoch == 2 && w.c->attempts[0]->epoch == 1 && w.c->attempts[1]->epoch == 2,
	    "a start begins an epoch, and an attempt carries the one it was granted in");
	ok(w.c->attempts[1]->fence > w.c->attempts[0]->fence, "fences grow over a restart");
	world_clear(&w);
}

/* The limits that were in force over an attempt's course. */
static void
test_path(void)
{
	struct world w = played(RUNNING "wait 1; throttle a 2; wait 1; unthrottle a; wait 1");
	const struct attempt *a = w.c->attempts[0];
	int i;

	ok(a->npath == 3 && a->path[0].limit == 4 && a->path[1].limit == 2 && a->path[2].limit == 4,
	    "an attempt keeps the limits of its course, from its grant on");
	for (i = 0; i < LIMIT_PATH_MAX; i++)
		script_play(&w, "wait 1; throttle a 2; wait 1; throttle a 3");
	ok(a->npath == LIMIT_PATH_MAX && a->path[0].limit == 4 && a->path[a->npath - 1].limit == 3,
	    "a long course keeps its first limit and the last ones");
	script_play(&w, "ended a 1 ok; throttle a 1");
	ok(a->path[a->npath - 1].limit == 3, "what comes after its end is not of its course");
	world_clear(&w);
}

/* Whatever is repeated, and in whatever order: one result. */
static void
test_one_result(void)
{
	struct world w =
	    played(REPLACED "ended b 2 ok; ended a 1 ok; ended b 2 ok; restart; hello a 1e; "
			    "hello b 2e; ended a 1 ok; ended b 2 ok");
	size_t i, n = 0, counted = 0;

	for (i = 0; i < w.nlines; i++) {
		n += strncmp(w.lines[i].text, "done ", 5) == 0;
		counted += strstr(w.lines[i].text, "outcome=1") != NULL;
	}
	ok(n == 1 && counted == 1, "two attempts are ok, one result is in the journal");
	world_clear(&w);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
		row_play(&rounds[i], SETTING);
	for (i = 0; i < sizeof builds / sizeof builds[0]; i++)
		row_play(&builds[i], SETTING);
	for (i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
		row_play(&attempts[i], SETTING);
	test_reasons();
	test_epoch_and_fence();
	test_path();
	test_one_result();
	return tap_done();
}
