/* Who builds what, where: each hard filter with its reason, then the order of builds, then the
 * host that would finish first.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#include "coordinator/core/predict.h"

/* ---- hard filters ----------------------------------------------------------------------- */

struct pair {
	struct policy *policy;
	struct needs *needs;
	struct host *host;
};

static void
as_it_is(struct pair *p)
{
	(void)p;
}

static void
other_recipe(struct pair *p)
{
	world_name(p->policy->recipe, "netbsd");
}

static void
netbsd(struct pair *p)
{
	world_name(p->needs->os, "NetBSD");
}

static void
linux_in_capitals(struct pair *p)
{
	world_name(p->needs->os, "LINUX");
}

static void
late_release(struct pair *p)
{
	p->needs->release_test = RELEASE_GE;
	world_name(p->needs->release, "6.12");
}

static void
label(struct pair *p)
{
	p->needs->nlabels = 1;
	p->needs->labels = mem_calloc(1, NAME_SIZE);
	world_name(p->needs->labels[0], "big");
}

static void
label_that_it_has(struct pair *p)
{
	label(p);
	p->host->facts.nlabels = 1;
	p->host->facts.labels = mem_calloc(1, NAME_SIZE);
	world_name(p->host->facts.labels[0], "big");
}

static void
much_memory(struct pair *p)
{
	p->needs->memory_bytes = INT64_C(16) << 30;
}

static void
all_its_memory(struct pair *p)
{
	p->needs->memory_bytes = p->host->facts.memory_bytes;
}

static void
silent(struct pair *p)
{
	p->host->state = HOST_SILENT;
}

static void
drained(struct pair *p)
{
	p->host->holds[HOLD_DRAIN].set = true;
	world_name(p->host->holds[HOLD_DRAIN].who, "ann");
	mem_copy_text(p->host->holds[HOLD_DRAIN].reason, TEXT_SIZE, "new disks");
}

static void
disk(struct pair *p, double free_bytes)
{
	p->needs->disk_bytes = INT64_C(10) << 30;
	p->host->reported = true;
	p->host->load.missing = 0;
	p->host->load.readings[LOAD_DISK_FREE].value = free_bytes;
}

static void
little_disk(struct pair *p)
{
	disk(p, 1 << 30);
}

static void
enough_disk(struct pair *p)
{
	disk(p, 1e12);
}

static void
disk_unknown(struct pair *p)
{
	disk(p, 0);
	p->host->load.missing = UINT64_C(1) << LOAD_DISK_FREE;
}

static void
disk_of_an_old_connection(struct pair *p)
{
	disk(p, 0);
	p->host->reported = false;
}

static void
one_slot(struct pair *p)
{
	p->host->facts.slots = 1;
}

static void
slots_unsaid(struct pair *p)
{
	p->host->facts.slots = 0;
}

static const struct {
	const char *what;
	const char *script; /* before; build 1 and host a are asked about */
	void (*change)(struct pair *);
	enum filter filter;
	const char *reason;
} filters[] = {
	{ "nothing keeps it off", "", as_it_is, FILTER_NONE, "" },
	{ "no recipe", "", other_recipe, FILTER_RECIPE,
	    "recipe \"netbsd\" is not installed there" },
	{ "another OS", "", netbsd, FILTER_OS, "needs NetBSD, it is Linux" },
	{ "the OS in other letters is the same", "", linux_in_capitals, FILTER_NONE, "" },
	{ "an old release", "", late_release, FILTER_RELEASE, "needs release >= 6.12, it has 6.1" },
	{ "no label", "", label, FILTER_LABELS, "needs label \"big\", it has not" },
	{ "the label", "", label_that_it_has, FILTER_NONE, "" },
	{ "too little memory", "", much_memory, FILTER_MEMORY,
	    "needs 16.0 GiB of memory, it has 8.0" },
	{ "just enough memory", "", all_its_memory, FILTER_NONE, "" },
	{ "it refused before", "grant 1 a; ended a 1 refused", as_it_is, FILTER_REFUSED,
	    "it refused: it was refused" },
	{ "another build it refused is no reason", "run; grant 2 a; ended a 1 refused", as_it_is,
	    FILTER_NONE, "" },
	{ "silent", "", silent, FILTER_STATE, "it is silent" },
	{ "drained", "", drained, FILTER_DRAINED, "drained by ann: new disks" },
	{ "too little disk", "", little_disk, FILTER_DISK, "needs 10.0 GiB of disk, 1.0 are free" },
	{ "enough disk", "", enough_disk, FILTER_NONE, "" },
	{ "an unknown disk is no reason: the agent looks again", "", disk_unknown, FILTER_NONE,
	    "" },
	{ "nor is what an old connection said", "", disk_of_an_old_connection, FILTER_NONE, "" },
	{ "no slot", "run; grant 2 a", one_slot, FILTER_SLOTS,
	    "busy: it runs 1 of 1 builds at once" },
	{ "slots that nobody said are one", "run; grant 2 a", slots_unsaid, FILTER_SLOTS,
	    "busy: it runs 1 of 1 builds at once" },
	{ "two slots, one taken", "run; grant 2 a", as_it_is, FILTER_NONE, "" },
};

static void
test_filters(void)
{
	size_t i;

	for (i = 0; i < sizeof filters / sizeof filters[0]; i++) {
		char reason[TEXT_SIZE];
		enum filter filter;
		struct pair p;
		struct world w;

		world_init(&w, filters[i].what);
		script_play(&w, "policy main 2 9; hello a; hello b; run");
		script_play(&w, filters[i].script);
		p = (struct pair){ w.c->policies[0], &w.c->policies[0]->targets[0].needs,
			w.c->hosts[0] };
		filters[i].change(&p);
		filter = plan_filter(w.c, w.c->builds[0], p.host, reason);
		ok(filter == filters[i].filter && strcmp(reason, filters[i].reason) == 0,
		    "%s: %s, \"%s\"", filters[i].what, filter_name(filter), reason);
		world_clear(&w);
	}
}

/* What a host is comes before what it is doing: the reason that will not go away by itself. */
static void
test_filter_order(void)
{
	char reason[TEXT_SIZE];
	struct pair p;
	struct world w;

	world_init(&w, "the order of reasons");
	script_play(&w, "policy main 2 9; hello a; run");
	p = (struct pair){ w.c->policies[0], &w.c->policies[0]->targets[0].needs, w.c->hosts[0] };
	little_disk(&p);
	drained(&p);
	silent(&p);
	ok(plan_filter(w.c, w.c->builds[0], p.host, reason) == FILTER_STATE,
	    "silent before drained");
	much_memory(&p);
	ok(plan_filter(w.c, w.c->builds[0], p.host, reason) == FILTER_MEMORY,
	    "memory before silent");
	other_recipe(&p);
	ok(plan_filter(w.c, w.c->builds[0], p.host, reason) == FILTER_RECIPE,
	    "the recipe before all");
	world_clear(&w);
}

/* ---- the order of builds, and their hosts ------------------------------------------------ */

/* A host with a class, a machine and slots of its own. */
static void
add_host(struct world *w, const char *name, const char *machine, int32_t threads, int32_t slots)
{
	struct event e = { .kind = EVENT_HELLO };

	world_name(e.host, name);
	e.facts = world_facts(name);
	snprintf(e.facts->boot_id, sizeof e.facts->boot_id, "%.40s", machine);
	e.facts->threads = threads;
	e.facts->slots = slots;
	world_step(w, &e);
	event_clear(&e);
}

static void
add_policy(struct world *w, const char *branch, int32_t priority)
{
	struct policy *p = world_policy(branch, 2, 1);

	p->priority = priority;
	world_set_policy(w, p);
}

/* What is learned: a build of this branch's target 1 took so long on that host. */
static void
teach(struct world *w, const char *branch, const char *target, const char *host, int64_t seconds)
{
	struct event e = { .kind = EVENT_RUN, .nnames = 1 };
	struct plan_move move = { .build.n = w->c->nbuilds + 1 };
	struct attempt_status status = { .id.n = w->c->nattempts + 1, .state = ATTEMPT_ENDED };
	struct attempt_result result = { .outcome = OUTCOME_OK, .real_us = seconds * SECOND_US };
	char name[1][NAME_SIZE];

	world_name(e.branch, branch);
	world_name(name[0], target);
	e.names = name;
	world_step(w, &e);
	world_name(move.host, host);
	e = (struct event){ .kind = EVENT_PLAN, .nmoves = 1, .moves = &move };
	world_step(w, &e);
	status.fence = w->c->attempts[status.id.n - 1]->fence;
	e = (struct event){
		.kind = EVENT_ATTEMPT, .nattempts = 1, .attempts = &status, .result = &result
	};
	world_name(e.host, host);
	world_step(w, &e);
}

/* The plan as "build host, build host". */
static char *
planned(const struct world *w, int64_t budget)
{
	struct plan_move *moves;
	struct text t = { 0 };
	size_t i, n;

	text_add(&t, "");
	plan_search(w->c, budget, &moves, &n);
	for (i = 0; i < n; i++)
		text_printf(&t, "%s%llu %s", i ? ", " : "", (ull)moves[i].build.n, moves[i].host);
	free(moves);
	return t.text;
}

static void
check_plan(struct world *w, const char *expect, const char *what)
{
	char *plan = planned(w, 100000);

	if (!ok(strcmp(plan, expect) == 0, "%s: %s", what, plan))
		printf("# expected %s\n", expect);
	free(plan);
	world_clear(w);
}

static void
test_order(void)
{
	struct world w;

	world_init(&w, "priority");
	add_host(&w, "a", "m1", 4, 1);
	add_policy(&w, "low", 1);
	add_policy(&w, "high", 2);
	script_play(&w, "run 1 low; run 1 high");
	check_plan(&w, "2 a", "the higher priority goes first, though it came later");

	world_init(&w, "rounds");
	add_host(&w, "a", "m1", 4, 1);
	add_policy(&w, "main", 1);
	script_play(&w, "run; run");
	check_plan(&w, "1 a", "then the older round");

	world_init(&w, "longest");
	add_host(&w, "a", "m1", 4, 1);
	add_policy(&w, "main", 1);
	teach(&w, "main", "t1", "a", 10);
	teach(&w, "main", "t2", "a", 100);
	script_play(&w, "run 2");
	check_plan(&w, "4 a", "then the longer build");

	world_init(&w, "ids");
	add_host(&w, "a", "m1", 4, 1);
	add_policy(&w, "main", 1);
	script_play(&w, "run 2");
	check_plan(&w, "1 a", "and where nothing is known, as they stand in the policy");
}

static void
test_hosts(void)
{
	struct world w;

	world_init(&w, "spread");
	add_host(&w, "a", "m1", 4, 2);
	add_host(&w, "b", "m2", 4, 2);
	add_policy(&w, "main", 1);
	script_play(&w, "run 2");
	check_plan(&w, "1 a, 2 b", "an idle host before one that builds");

	world_init(&w, "machines");
	add_host(&w, "a", "m1", 4, 2);
	add_host(&w, "b", "m1", 4, 2);
	add_host(&w, "c", "m2", 4, 2);
	add_policy(&w, "main", 1);
	script_play(&w, "run 2");
	check_plan(&w, "1 a, 2 c", "and an idle machine before a host that shares a busy one");

	world_init(&w, "threads");
	add_host(&w, "a", "m1", 4, 1);
	add_host(&w, "b", "m2", 16, 1);
	add_policy(&w, "main", 1);
	script_play(&w, "run");
	check_plan(&w, "1 b", "where nothing is known, the host with more threads");

	world_init(&w, "fast");
	add_host(&w, "a", "m1", 4, 1);
	add_host(&w, "b", "m2", 16, 1);
	add_policy(&w, "main", 1);
	teach(&w, "main", "t1", "a", 10);
	teach(&w, "main", "t1", "b", 100);
	script_play(&w, "run");
	check_plan(&w, "3 a", "where it is known, the one that finishes first");
}

/* A build waits for a busy host only when it is known that this is the shorter way. */
static void
test_waiting(void)
{
	struct world w;

	world_init(&w, "a faster host");
	add_host(&w, "fast", "m1", 16, 1);
	add_host(&w, "slow", "m2", 4, 1);
	add_policy(&w, "main", 1);
	teach(&w, "main", "t1", "fast", 10);
	teach(&w, "main", "t1", "slow", 100);
	script_play(&w, "run; grant 3 fast; running fast 3; run");
	check_plan(&w, "",
	    "it waits for a faster host that is busy for 10 s more, rather than 100 s on a slow "
	    "one");

	world_init(&w, "long busy");
	add_host(&w, "fast", "m1", 16, 1);
	add_host(&w, "slow", "m2", 4, 1);
	add_policy(&w, "main", 1);
	teach(&w, "main", "t1", "fast", 60);
	teach(&w, "main", "t1", "slow", 100);
	script_play(&w, "run; grant 3 fast; running fast 3; run");
	check_plan(&w, "4 slow", "it does not wait 60 s to take 60 s, when 100 s do elsewhere");

	world_init(&w, "unknown");
	add_host(&w, "fast", "m1", 16, 1);
	add_host(&w, "slow", "m2", 4, 1);
	add_policy(&w, "main", 1);
	add_policy(&w, "other", 1);
	teach(&w, "main", "t1", "fast", 10);
	teach(&w, "main", "t1", "slow", 100);
	script_play(&w, "run 1 other; grant 3 fast; running fast 3; run");
	check_plan(&w, "4 slow", "it does not wait for a build of which nothing is known");

	world_init(&w, "planned");
	add_host(&w, "fast", "m1", 16, 1);
	add_host(&w, "slow", "m2", 4, 1);
	add_policy(&w, "main", 1);
	teach(&w, "main", "t1", "fast", 60);
	teach(&w, "main", "t1", "slow", 100);
	script_play(&w, "run; run");
	check_plan(&w, "3 fast, 4 slow", "a place that this plan has taken counts as busy");
}

static void
test_budget(void)
{
	struct world w;
	char *plan;

	world_init(&w, "budget");
	add_host(&w, "a", "m1", 4, 2);
	add_host(&w, "b", "m2", 4, 2);
	add_policy(&w, "main", 1);
	script_play(&w, "run 2");
	plan = planned(&w, 3);
	ok(strcmp(plan, "1 a") == 0, "a small budget plans what it can: %s", plan);
	free(plan);
	plan = planned(&w, 0);
	ok(strcmp(plan, "") == 0, "and none plans nothing");
	free(plan);
	world_clear(&w);
}

/* A plan that comes from so small a search. */
static void
give_plan(struct world *w, int64_t budget)
{
	struct event e = { .kind = EVENT_PLAN, .version = w->c->version };

	plan_search(w->c, budget, &e.moves, &e.nmoves);
	world_step(w, &e);
	event_clear(&e);
}

/* Four branches that each want something that no host has, all before one that any could build. */
static void
test_rare_needs(void)
{
	struct policy *p;
	struct world w;
	char name[NAME_SIZE];
	int i, plans;

	world_init(&w, "rare needs");
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof name, "host-%d", i);
		add_host(&w, name, name, 4, 1);
	}
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "rare-%d", i);
		p = world_policy(name, 1, 1);
		p->priority = 9;
		p->targets[0].needs.nlabels = 1;
		p->targets[0].needs.labels = mem_calloc(1, NAME_SIZE);
		world_name(p->targets[0].needs.labels[0], name);
		world_set_policy(&w, p);
		script_play(&w, i == 0   ? "run 1 rare-0"
				: i == 1 ? "run 1 rare-1"
				: i == 2 ? "run 1 rare-2"
					 : "run 1 rare-3");
	}
	add_policy(&w, "main", 1);
	script_play(&w, "run");
	for (plans = 0; plans < 5 && w.c->builds[4]->nattempts == 0; plans++)
		give_plan(&w, 20);
	ok(w.c->builds[4]->nattempts == 1,
	    "builds that wait for what is not there do not keep others waiting: %d plans", plans);
	world_clear(&w);
}

/* ---- what is learned --------------------------------------------------------------------- */

static void
test_predictions(void)
{
	struct prediction p;
	struct world w;

	world_init(&w, "predictions");
	add_host(&w, "a", "m1", 4, 1);
	add_host(&w, "b", "m2", 4, 1);
	add_host(&w, "c", "m3", 16, 1);
	add_policy(&w, "main", 1);
	script_play(&w, "run 2");
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[0]);
	ok(p.samples == 0 && p.real_us == 0, "nothing is known at first");
	teach(&w, "main", "t1", "a", 100);
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[1]);
	ok(p.samples == 1 && p.real_us == 100 * SECOND_US,
	    "a host learns from others of its class");
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[2]);
	ok(p.real_us == 100 * SECOND_US, "and from any, where its class knows nothing");
	p = predict_build(w.c, w.c->builds[1], w.c->hosts[0]);
	ok(p.samples == 0, "another target teaches nothing");
	teach(&w, "main", "t1", "b", 40);
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[0]);
	ok(p.samples == 2 && p.real_us == 60 * SECOND_US, "the newer counts twice: %lld us",
	    (long long)p.real_us);
	teach(&w, "main", "t1", "c", 1);
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[0]);
	ok(p.samples == 2, "a host of another class is not asked then");
	script_play(&w, "grant 1 a; ended a 4 failed");
	p = predict_build(w.c, w.c->builds[0], w.c->hosts[0]);
	ok(p.samples == 2, "failures teach no durations");
	world_clear(&w);
}

int
main(void)
{
	test_filters();
	test_filter_order();
	test_order();
	test_hosts();
	test_waiting();
	test_budget();
	test_rare_needs();
	test_predictions();
	return tap_done();
}
