/* Days of a small cluster, made up at random: agents that start, run and end attempts, lose
 * their connection or fall silent; operators; a coordinator that dies at any moment. The
 * messages between them are lost, late or repeated as on a network, never forged.
 *
 * After every event the cluster's invariants hold; every now and then the journal gives
 * the same state; and a model that sees only what was promised holds the core to it:
 * - a build that an operator was told of is never forgotten;
 * - no build has two good results that its agents were told are kept;
 * - once all is whole again, every build comes to its end.
 *
 * SEED=n repeats one run; FLYBALL_LONG=1 runs many more; FLYBALL_RECORD=FILE keeps a recording of the
 * last coordinator's life in the last run, for flyball-sim.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <time.h>
#include <unistd.h>

#include "tests/unit/world.h"

enum {
	HOSTS = 4,
	BRANCHES = 3,
	TARGETS = 3,
	STEPS = 250,
	RUNS = 1500,
	LONG_RUNS = 20000,
	HELD_MAX = 64,
	INBOX_MAX = 256,
	QUIET_MAX = 4000
};

/* An attempt as its agent has it. */
struct held {
	attempt_id id;
	uint64_t fence;
	enum attempt_state state;
	enum outcome outcome;
	bool cancelled, dropped;
};

struct agent {
	char name[NAME_SIZE];
	bool connected; /* said HELLO on this connection */
	bool cut; /* nothing goes through, and neither side has noticed */
	size_t nheld;
	struct held held[HELD_MAX];
	size_t ninbox;
	struct effect inbox[INBOX_MAX];
};

struct play {
	struct world w;
	uint64_t random;
	struct agent agents[HOSTS];
	bool plan_due;
	struct event plan; /* found, and not yet given */
	size_t promised; /* builds that an operator was told of */
	size_t nkept, kept_capacity;
	attempt_id *kept; /* good results that were told to be kept, once each */
	const char *record;
};

static uint64_t
next(struct play *p)
{
	uint64_t z = (p->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t
below(struct play *p, size_t n)
{
	return (size_t)(next(p) % n);
}

static bool
chance(struct play *p, size_t percent)
{
	return below(p, 100) < percent;
}

static void __attribute__((noreturn)) broken(struct play *p, const char *what, uint64_t number)
{
	char text[200];

	snprintf(text, sizeof text, "%s %llu", what, (unsigned long long)number);
	world_die(&p->w, text);
}

/* ---- what the driver does --------------------------------------------------------------- */

static struct agent *
agent_of(struct play *p, const char *name)
{
	size_t i;

	for (i = 0; i < HOSTS; i++)
		if (strcmp(p->agents[i].name, name) == 0)
			return &p->agents[i];
	return NULL;
}

/* No build may have two attempts whose good results are kept. */
static void
keep(struct play *p, const struct agent *agent, attempt_id id)
{
	const struct attempt *a = cluster_find_attempt(p->w.c, id), *other;
	size_t i;

	for (i = 0; i < agent->nheld; i++)
		if (agent->held[i].id.n == id.n && agent->held[i].outcome != OUTCOME_OK)
			return;
	for (i = 0; i < p->nkept; i++) {
		other = cluster_find_attempt(p->w.c, p->kept[i]);
		if (p->kept[i].n == id.n)
			return;
		if (other->build.n == a->build.n)
			broken(p, "two good results are kept for build", a->build.n);
	}
	p->kept = mem_room(p->kept, p->nkept, &p->kept_capacity, sizeof *p->kept);
	p->kept[p->nkept++] = id;
}

static void
carry_out(struct play *p)
{
	size_t i;

	for (i = 0; i < p->w.effects.n; i++) {
		const struct effect *e = &p->w.effects.list[i];
		struct agent *agent = agent_of(p, e->host);

		if (e->kind == EFFECT_PLAN)
			p->plan_due = true;
		else if (e->kind == EFFECT_REPLY && e->round.n != 0)
			p->promised = p->w.c->nbuilds;
		else if (e->kind == EFFECT_KEPT && agent != NULL)
			keep(p, agent, e->attempt);
		if (agent != NULL && agent->connected && e->kind != EFFECT_FACT &&
		    agent->ninbox < INBOX_MAX)
			agent->inbox[agent->ninbox++] = *e;
	}
}

static void
happen(struct play *p, struct event *e)
{
	world_step(&p->w, e);
	event_clear(e);
	carry_out(p);
}

/* ---- agents ----------------------------------------------------------------------------- */

static struct attempt_status
status_of(const struct held *held)
{
	return (struct attempt_status){ .id = held->id,
		.fence = held->fence,
		.state = held->state,
		.limit = 4,
		.running = held->state == ATTEMPT_RUNNING,
		.percent = -1,
		.elapsed_us = (int64_t)held->id.n * SECOND_US };
}

static void
list_held(const struct agent *agent, struct event *e)
{
	size_t i;

	e->nattempts = agent->nheld;
	e->attempts = mem_calloc(agent->nheld, sizeof *e->attempts);
	for (i = 0; i < agent->nheld; i++)
		e->attempts[i] = status_of(&agent->held[i]);
}

static void
say_ended(struct play *p, struct agent *agent, const struct held *held)
{
	struct event e = { .kind = EVENT_ATTEMPT, .nattempts = 1 };

	world_name(e.host, agent->name);
	e.attempts = mem_calloc(1, sizeof *e.attempts);
	e.attempts[0] = status_of(held);
	if (held->state == ATTEMPT_ENDED) {
		e.result = mem_calloc(1, sizeof *e.result);
		e.result->outcome = held->outcome;
		e.result->real_us = (int64_t)(1 + below(p, 1000)) * SECOND_US;
		snprintf(e.result->reason, sizeof e.result->reason, "so it was (%d)",
		    (int)held->outcome);
	}
	happen(p, &e);
}

static void
hello(struct play *p, struct agent *agent)
{
	struct event e = { .kind = EVENT_HELLO };
	size_t i;

	world_name(e.host, agent->name);
	e.facts = world_facts(agent->name);
	if (chance(p, 10))
		snprintf(e.facts->start_id, sizeof e.facts->start_id, "start-%zu", below(p, 1000));
	list_held(agent, &e);
	agent->connected = true;
	agent->cut = false;
	agent->ninbox = 0;
	happen(p, &e);
	for (i = 0; i < agent->nheld; i++)
		if (agent->held[i].state == ATTEMPT_ENDED && chance(p, 80))
			say_ended(p, agent, &agent->held[i]);
}

static void
report(struct play *p, struct agent *agent)
{
	struct event e = { .kind = EVENT_REPORT, .limit = 4 };

	world_name(e.host, agent->name);
	e.load = mem_calloc(1, sizeof *e.load);
	e.load->readings[LOAD_DISK_FREE].value = chance(p, 95) ? 1e12 : 0;
	list_held(agent, &e);
	happen(p, &e);
}

static struct held *
held_of(struct agent *agent, const struct effect *e)
{
	size_t i;

	for (i = 0; i < agent->nheld; i++)
		if (agent->held[i].id.n == e->attempt.n && agent->held[i].fence == e->fence)
			return &agent->held[i];
	return NULL;
}

static void
forget(struct agent *agent, struct held *held)
{
	*held = agent->held[--agent->nheld];
}

/* One message from the coordinator. */
static void
take_in(struct agent *agent)
{
	struct effect e = agent->inbox[0];
	struct held *held = held_of(agent, &e);

	memmove(&agent->inbox[0], &agent->inbox[1], --agent->ninbox * sizeof e);
	if (e.kind == EFFECT_START && held == NULL && agent->nheld < HELD_MAX)
		agent->held[agent->nheld++] = (struct held){ .id = e.attempt, .fence = e.fence };
	else if (held != NULL && e.kind == EFFECT_CANCEL)
		held->cancelled = true;
	else if (held != NULL && e.kind == EFFECT_DROP && held->state != ATTEMPT_ENDED)
		held->dropped = true;
	else if (held != NULL && (e.kind == EFFECT_DROP || e.kind == EFFECT_KEPT))
		forget(agent, held);
}

static void
end_held(struct play *p, struct agent *agent, struct held *held)
{
	static const enum outcome ends[] = { OUTCOME_OK, OUTCOME_OK, OUTCOME_OK, OUTCOME_OK,
		OUTCOME_FAILED, OUTCOME_SIGNAL, OUTCOME_TIMEOUT, OUTCOME_STALL, OUTCOME_LOST,
		OUTCOME_REFUSED };

	held->outcome = ends[below(p, sizeof ends / sizeof ends[0])];
	if (held->cancelled && chance(p, 80))
		held->outcome = OUTCOME_CANCELLED;
	held->state = ATTEMPT_ENDED;
	if (held->dropped)
		forget(agent, held);
	else if (agent->connected && !agent->cut)
		say_ended(p, agent, held);
}

/* One of an agent's attempts goes on a bit. */
static void
work(struct play *p, struct agent *agent)
{
	struct held *held;

	if (agent->nheld == 0)
		return;
	held = &agent->held[below(p, agent->nheld)];
	if (held->state == ATTEMPT_GRANTED && chance(p, 80)) {
		held->state = ATTEMPT_RUNNING;
		if (agent->connected && !agent->cut && chance(p, 70))
			say_ended(p, agent, held);
	} else if (held->state != ATTEMPT_ENDED)
		end_held(p, agent, held);
	else if (agent->connected && !agent->cut)
		say_ended(p, agent, held);
}

static void
hang_up(struct play *p, struct agent *agent)
{
	struct event e = { .kind = EVENT_GONE };

	if (!agent->connected)
		return;
	agent->connected = agent->cut = false;
	agent->ninbox = 0;
	world_name(e.host, agent->name);
	mem_copy_text(e.text, sizeof e.text, "its connection ended");
	happen(p, &e);
}

/* An agent on its own: anything may happen to it. */
static void
agent_act(struct play *p)
{
	struct agent *agent = &p->agents[below(p, HOSTS)];
	size_t what = below(p, 100);

	if (!agent->connected)
		what < 60 ? hello(p, agent) : work(p, agent);
	else if (what < 4)
		hang_up(p, agent);
	else if (what < 6)
		agent->cut = true;
	else if (what < 10)
		agent->cut = false;
	else if (what < 11)
		agent->nheld =
		    0; /* its disk was wiped, and it says nothing of it until its next HELLO */
	else if (what < 50)
		work(p, agent);
	else if (agent->cut)
		return;
	else if (what < 60)
		report(p, agent);
	else
		while (agent->ninbox > 0 && chance(p, 80))
			take_in(agent);
}

/* ---- operators and files ---------------------------------------------------------------- */

static void
some_policy(struct play *p, size_t branch)
{
	char name[NAME_SIZE];
	struct policy *policy;

	snprintf(name, sizeof name, "branch-%zu", branch);
	policy = world_policy(name, TARGETS, (int32_t)below(p, 3));
	policy->priority = (int32_t)below(p, 3);
	policy->jobs_start = (int32_t)below(p, 3) * 4;
	world_set_policy(&p->w, policy);
	carry_out(p);
}

static void
operator_act(struct play *p)
{
	static const enum event_kind kinds[] = { EVENT_RUN, EVENT_RUN, EVENT_RUN, EVENT_CANCEL,
		EVENT_CANCEL, EVENT_RETRY, EVENT_RETRY, EVENT_THROTTLE, EVENT_UNTHROTTLE, EVENT_PIN,
		EVENT_GOVERNOR, EVENT_GOVERNOR_LIFT, EVENT_DRAIN, EVENT_PAUSE, EVENT_RESUME,
		EVENT_RESUME, EVENT_POLICY_GONE };
	struct event e = { .kind = kinds[below(p, sizeof kinds / sizeof kinds[0])],
		.request = 1,
		.who = "ann",
		.text = "so it was (wanted)" };

	if (chance(p, 10)) {
		some_policy(p, below(p, BRANCHES));
		return;
	}
	snprintf(e.branch, sizeof e.branch, "branch-%zu", below(p, BRANCHES));
	if (e.kind >= EVENT_THROTTLE)
		world_name(e.host, p->agents[below(p, HOSTS)].name);
	e.limit = (int32_t)below(p, 9);
	e.scope = chance(p, 20) ? SCOPE_FARM : SCOPE_HOST;
	e.mode = (enum governor_mode)below(p, GOVERNOR_ACT + 1);
	if (e.scope == SCOPE_HOST)
		memcpy(e.name, e.host, sizeof e.name);
	e.duration_us = chance(p, 50) ? 0 : (int64_t)below(p, 600) * SECOND_US;
	if (chance(p, 20))
		e.round.n = below(p, p->w.c->nrounds + 2);
	else
		e.build.n = below(p, p->w.c->nbuilds + 2);
	happen(p, &e);
}

/* ---- time, plans, crashes --------------------------------------------------------------- */

static void
pass(struct play *p, int64_t us)
{
	struct event e = { .kind = EVENT_TICK };

	world_pass(&p->w, us);
	happen(p, &e);
}

/* Now and then the coordinator stands still for a while. */
static void
tick(struct play *p, int64_t us)
{
	for (; us > AWAY_US && !chance(p, 1); us -= AWAY_US)
		pass(p, AWAY_US);
	pass(p, us);
}

static void
plan_act(struct play *p)
{
	if (p->plan.kind != EVENT_NONE) {
		happen(p, &p->plan);
	} else if (p->plan_due) {
		p->plan_due = false;
		p->plan = (struct event){ .kind = EVENT_PLAN, .version = p->w.c->version };
		plan_search(p->w.c, 100000, &p->plan.moves, &p->plan.nmoves);
		if (chance(p, 70)) /* else it is given later, when it may no longer hold */
			happen(p, &p->plan);
	}
}

/* A step whose facts did not reach the disk: none of its effects was carried out. */
static void
half_a_step(struct play *p)
{
	size_t n = p->w.nlines;
	struct event e = { .kind = EVENT_RETRY, .request = 1, .who = "ann" };

	e.build.n = below(p, p->w.c->nbuilds + 1);
	if (chance(p, 50))
		e.kind = EVENT_CANCEL;
	world_step(&p->w, &e);
	while (p->w.nlines > n)
		free(p->w.lines[--p->w.nlines].text);
}

static void
record_anew(struct play *p)
{
	if (p->record == NULL)
		return;
	if (p->w.record != NULL)
		fclose(p->w.record);
	p->w.record = fopen(p->record, "w");
	if (p->w.record == NULL)
		broken(p, "the recording cannot be written", 0);
	fprintf(p->w.record, "flyball-recording 1\n");
}

static void
crash(struct play *p)
{
	size_t i;

	if (chance(p, 30))
		half_a_step(p);
	while (p->w.nlines > 0 && p->w.lines[p->w.nlines - 1].soft && chance(p, 50))
		free(p->w.lines[--p->w.nlines].text);
	event_clear(&p->plan);
	p->plan_due = false;
	for (i = 0; i < HOSTS; i++) {
		p->agents[i].connected = p->agents[i].cut = false;
		p->agents[i].ninbox = 0;
	}
	record_anew(p);
	world_restart(
	    &p->w, (int64_t)below(p, 600) * SECOND_US, ((int64_t)below(p, 3) - 1) * 24 * HOUR_US);
	carry_out(p);
	if (p->w.c->nbuilds < p->promised)
		broken(p, "forgotten: build", p->w.c->nbuilds + 1);
}

static void
anything(struct play *p)
{
	size_t what = below(p, 1000);

	if (what < 8)
		crash(p);
	else if (what < 18)
		tick(p, 100 * SECOND_US);
	else if (what < 150)
		tick(p, (int64_t)below(p, 5) * SECOND_US);
	else if (what < 250)
		operator_act(p);
	else if (what < 400)
		plan_act(p);
	else
		agent_act(p);
}

/* ---- one run ---------------------------------------------------------------------------- */

/* All is whole again, and operators want nothing: every build comes to its end. */
static void
quiet(struct play *p)
{
	struct event resume;
	size_t i, n;

	for (i = 0; i < HOSTS; i++) {
		resume = (struct event){ .kind = EVENT_RESUME };
		world_name(resume.host, p->agents[i].name);
		hello(p, &p->agents[i]);
		happen(p, &resume);
	}
	for (n = 0; p->w.c->nopen > 0; n++) {
		if (n == QUIET_MAX)
			broken(p, "never ends: build", p->w.c->open[0].n);
		for (i = 0; i < HOSTS; i++) {
			while (p->agents[i].ninbox > 0)
				take_in(&p->agents[i]);
			report(p, &p->agents[i]);
			work(p, &p->agents[i]);
		}
		plan_act(p);
		tick(p, SECOND_US);
	}
}

static void
judge(struct play *p)
{
	size_t i, k, good = 0;

	for (i = 0; i < p->w.c->nbuilds; i++) {
		const struct build *b = p->w.c->builds[i];

		good = 0;
		for (k = 0; k < b->nattempts; k++)
			good += cluster_find_attempt(p->w.c, b->attempts[k])->result.outcome ==
				OUTCOME_OK;
		if (good != (b->verdict == VERDICT_OK))
			broken(p, "good results do not agree with the verdict of build", b->id.n);
	}
	for (i = 0; i < p->nkept; i++) {
		const struct attempt *a = cluster_find_attempt(p->w.c, p->kept[i]);

		if (a == NULL || a->result.outcome != OUTCOME_OK)
			broken(p, "kept and then forgotten: the result of attempt", p->kept[i].n);
	}
}

static void
play_one(uint64_t seed, const char *record)
{
	struct play *p = mem_calloc(1, sizeof *p);
	char name[64];
	size_t i;

	p->random = seed;
	p->record = record;
	snprintf(name, sizeof name, "SEED=%llu", (unsigned long long)seed);
	for (i = 0; i < HOSTS; i++)
		snprintf(p->agents[i].name, NAME_SIZE, "host-%zu", i);
	world_init(&p->w, name);
	for (i = 0; i < BRANCHES; i++)
		some_policy(p, i);
	for (i = 0; i < STEPS; i++) {
		anything(p);
		if (i % 50 == 49)
			world_compare(&p->w);
	}
	quiet(p);
	judge(p);
	world_compare(&p->w);
	if (p->w.record != NULL)
		fclose(p->w.record);
	event_clear(&p->plan);
	world_clear(&p->w);
	free(p->kept);
	free(p);
}

int
main(void)
{
	const char *one = getenv("SEED"), *record = getenv("FLYBALL_RECORD");
	uint64_t base = one != NULL ? strtoull(one, NULL, 10)
				    : (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid() << 40;
	int i, runs = one != NULL ? 1 : getenv("FLYBALL_LONG") != NULL ? LONG_RUNS : RUNS;

	printf("# %d runs from SEED=%llu\n", runs, (unsigned long long)base);
	for (i = 0; i < runs; i++)
		play_one(base + (uint64_t)i, i == runs - 1 ? record : NULL);
	ok(true, "%d random days: invariants hold, nothing is forgotten, no result counts twice",
	    runs);
	return tap_done();
}
