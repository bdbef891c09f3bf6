/* A policy as a value, and releases of operating systems as people compare them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "coordinator/core/policy.h"
#include "tests/unit/world.h"

static void
test_releases(void)
{
	static const struct {
		const char *have;
		enum release_test test;
		const char *want;
		bool good;
		const char *what;
	} cases[] = {
		{ "10.1", RELEASE_ANY, "", true, "any will do" },
		{ "", RELEASE_ANY, "", true, "any will do, and unknown too" },
		{ "10.1", RELEASE_EQ, "10.1", true, "the same" },
		{ "10.01", RELEASE_EQ, "10.1", true, "numbers, not letters, are the same" },
		{ "10.1", RELEASE_EQ, "10.10", false, "1 is not 10" },
		{ "10.1_STABLE", RELEASE_EQ, "10.1", false, "more is not the same" },
		{ "10.10", RELEASE_GT, "10.9", true, "10 is after 9" },
		{ "9.9", RELEASE_LT, "10.0", true, "9 is before 10" },
		{ "10.0", RELEASE_GE, "10.0", true, "as late" },
		{ "9.99.12", RELEASE_GE, "10.0", false, "nearly is not" },
		{ "6.1.0-18-amd64", RELEASE_GE, "6.1", true, "what comes behind counts as later" },
		{ "6.1", RELEASE_GE, "6.1.0", false, "and what is missing as earlier" },
		{ "6.1", RELEASE_LE, "6.1", true, "as early" },
		{ "6.12", RELEASE_LE, "6.1", false, "12 is after 1" },
		{ "10.0_BETA", RELEASE_LT, "10.0_RC1", true, "letters are in their order" },
		{ "10.0", RELEASE_GT, "10.0", false, "the same is not later" },
		{ "", RELEASE_GE, "6.1", false, "an unknown release satisfies nothing" },
		{ "10.1", (enum release_test)77, "1", false, "an unknown test is never satisfied" },
	};
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ok(release_satisfies(cases[i].have, cases[i].test, cases[i].want) == cases[i].good,
		    "\"%s\" %s \"%s\" is %s: %s", cases[i].have, release_test_name(cases[i].test),
		    cases[i].want, cases[i].good ? "true" : "false", cases[i].what);
}

static void
set_version(struct policy *p)
{
	p->version = 9;
	world_name(p->origin, "elsewhere");
}

static void
set_source(struct policy *p)
{
	world_name(p->source, "x");
}

static void
set_priority(struct policy *p)
{
	p->priority = 1;
}

static void
set_target_name(struct policy *p)
{
	world_name(p->targets[1].name, "x");
}

static void
set_need(struct policy *p)
{
	p->targets[1].needs.memory_bytes = 1;
}

static void
set_label(struct policy *p)
{
	p->targets[0].needs.nlabels = 1;
	p->targets[0].needs.labels = mem_calloc(1, NAME_SIZE);
	world_name(p->targets[0].needs.labels[0], "big");
}

static void
set_timeout(struct policy *p)
{
	p->targets[0].timeout_us = HOUR_US;
}

static void
test_equal(void)
{
	static const struct {
		const char *what;
		void (*change)(struct policy *);
		bool equal;
	} cases[] = {
		{ "the version and the file are not compared", set_version, true },
		{ "the source is", set_source, false },
		{ "the priority is", set_priority, false },
		{ "a target's name is", set_target_name, false },
		{ "a target's need is", set_need, false },
		{ "a target's label is", set_label, false },
		{ "a target's timeout is", set_timeout, false },
	};
	struct policy *a = world_policy("main", 2, 1), *b;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		b = policy_dup(a);
		ok(policy_equal(a, b), "a copy is equal");
		cases[i].change(b);
		ok(policy_equal(a, b) == cases[i].equal && policy_equal(b, a) == cases[i].equal,
		    "%s", cases[i].what);
		policy_destroy(b);
	}
	policy_destroy(a);
	policy_destroy(NULL);
}

static void
test_dup(void)
{
	struct policy *a = world_policy("main", 2, 1), *b;

	set_label(a);
	b = policy_dup(a);
	world_name(a->targets[0].needs.labels[0], "changed");
	world_name(a->targets[1].name, "changed");
	policy_destroy(a);
	ok(strcmp(b->targets[0].needs.labels[0], "big") == 0 &&
		strcmp(b->targets[1].name, "t2") == 0,
	    "a copy shares nothing with what it was made of");
	ok(policy_find_target(b, "t2") == &b->targets[1] && policy_find_target(b, "t3") == NULL,
	    "a target is found by its name, or is not");
	policy_destroy(b);
}

int
main(void)
{
	test_releases();
	test_equal();
	test_dup();
	return tap_done();
}
