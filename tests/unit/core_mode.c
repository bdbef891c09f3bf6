/* Which mode of the governor holds for a host, and what an alarm does to it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#include "coordinator/core/governor.h"
#include "coordinator/core/mode.h"
#include "coordinator/core/predict.h"
#include "coordinator/core/turn.h"

static struct world
played(const char *script)
{
	struct policy *p = world_policy("careful", 1, 1);
	struct world w;

	world_init(&w, script);
	p->governor = GOVERNOR_OBSERVE;
	world_set_policy(&w, p);
	p = world_policy("bold", 1, 1);
	p->governor = GOVERNOR_ACT;
	world_set_policy(&w, p);
	script_play(&w, "hello a; hello b");
	script_play(&w, script);
	return w;
}

#define CLASS "Linux-6.1-x86_64-4t-8g-704a"

static void
test_which_holds(void)
{
	static const struct {
		const char *what, *script;
		enum governor_mode mode;
	} cases[] = {
		{ "a host without builds is observed", "", GOVERNOR_OBSERVE },
		{ "a policy says it for its build", "run 1 bold; grant 1 a", GOVERNOR_ACT },
		{ "of two builds the more careful one's holds",
		    "run 1 bold; run 1 careful; grant 1 a 2 a", GOVERNOR_OBSERVE },
		{ "the farm before the policy", "run 1 bold; grant 1 a; governor off",
		    GOVERNOR_OFF },
		{ "a branch before the farm",
		    "run 1 bold; grant 1 a; governor off; governor advise branch bold",
		    GOVERNOR_ADVISE },
		{ "an order for another branch has no say",
		    "run 1 bold; grant 1 a; governor off branch careful", GOVERNOR_ACT },
		{ "a class before the branch",
		    "run 1 bold; grant 1 a; governor off branch bold; governor advise class " CLASS,
		    GOVERNOR_ADVISE },
		{ "a host before its class",
		    "run 1 careful; grant 1 a; governor off class " CLASS "; governor act host a",
		    GOVERNOR_ACT },
		{ "an order for another host has no say",
		    "run 1 bold; grant 1 a; governor off host b", GOVERNOR_ACT },
		{ "one for the farm ends what was set on single hosts",
		    "run 1 careful; grant 1 a; governor act host a; governor observe",
		    GOVERNOR_OBSERVE },
		{ "a lifted one gives way to the policy",
		    "run 1 bold; grant 1 a; governor off host a; governor policy host a",
		    GOVERNOR_ACT },
		{ "over a restart too", "run 1 bold; grant 1 a; governor off host a; restart 10",
		    GOVERNOR_OFF },
	};
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct world w = played(cases[i].script);
		struct governor_input in;

		governor_input_get(w.c, cluster_find_host(w.c, "a"), &in);
		ok(in.mode == cases[i].mode, "%s: %s", cases[i].what, governor_mode_name(in.mode));
		world_clear(&w);
	}
}

static void
raise(struct world *w, const char *why)
{
	struct event e = { .kind = EVENT_TICK, .at = w->now };
	struct turn t = { .c = w->c, .event = &e, .effects = &w->effects };

	effects_clear(&w->effects);
	host_alarm(&t, cluster_find_host(w->c, "a"), why);
}

static void
test_alarm(void)
{
	struct world w = played("run 1 bold; grant 1 a; governor act host a");
	const struct host *h = cluster_find_host(w.c, "a");
	const struct mode_order *order;

	raise(&w, "its limit has no effect");
	order = mode_find(w.c, SCOPE_HOST, "a");
	ok(w.effects.n == 1 && order != NULL && order->mode == GOVERNOR_OBSERVE &&
		strcmp(order->who, MODE_ALARM) == 0 &&
		strcmp(order->reason, "its limit has no effect") == 0,
	    "an alarm is an order to observe, with its reason");
	ok(strcmp(h->trouble, "its limit has no effect") == 0, "and the host's trouble");
	ok(governor_mode_of_host(w.c, h, &order) == GOVERNOR_OBSERVE, "it holds");
	raise(&w, "again");
	ok(w.effects.n == 0, "it is said once");
	script_play(&w, "governor act host a");
	raise(&w, "again");
	ok(w.effects.n == 1, "and again after an operator has given his own order");
	script_play(&w, "governor off host a");
	raise(&w, "a third time");
	ok(w.effects.n == 0, "a host that is not governed has nothing to fall back from");
	world_clear(&w);
}

static void
test_class(void)
{
	static const struct {
		double gib;
		const char *name;
	} sizes[] = { { 0.4, "-1g-" }, { 1, "-1g-" }, { 2.9, "-3g-" }, { 7.6, "-8g-" },
		{ 15.5, "-16g-" }, { 23.4, "-24g-" }, { 62.7, "-64g-" }, { 64, "-64g-" },
		{ 125.6, "-128g-" }, { 377, "-384g-" } };
	struct host h = { .name = "a" }, other;
	char name[NAME_SIZE], again[NAME_SIZE];
	size_t i;

	world_name(h.facts.os, "Linux");
	world_name(h.facts.release, "6.1.0-28-amd64");
	world_name(h.facts.arch, "x86_64");
	mem_copy_text(h.facts.cpu, sizeof h.facts.cpu, "Model (R) 7 @ 3.5 GHz");
	h.facts.threads = 24;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		h.facts.memory_bytes = (int64_t)(sizes[i].gib * (double)(INT64_C(1) << 30));
		host_class(&h, name);
		ok(strstr(name, sizes[i].name) != NULL, "%.1f GiB: %s", sizes[i].gib, name);
	}
	other = h;
	other.facts.memory_bytes -= INT64_C(300) << 20;
	host_class(&other, again);
	ok(strcmp(name, again) == 0 && host_same_class(&h, &other),
	    "some memory less is the same class");
	mem_copy_text(other.facts.cpu, sizeof other.facts.cpu, "Model (R) 7 @ 3.6 GHz");
	host_class(&other, again);
	ok(strcmp(name, again) != 0 && !host_same_class(&h, &other),
	    "another CPU is another class");
	mem_copy_text(other.facts.release, NAME_SIZE, "6.1/evil \x1b");
	host_class(&other, again);
	ok(strncmp(again, "Linux-6.1_evil__-", 17) == 0, "it is a name whatever the facts say: %s",
	    again);
}

int
main(void)
{
	test_which_holds();
	test_alarm();
	test_class();
	return tap_done();
}
