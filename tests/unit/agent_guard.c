/* The guard of memory against a small host: steps that take memory, a limit that holds them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/guard.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* A second as the guard sees it; -1: the reading is missing. */
static int32_t
step_begun(struct guard *guard, int64_t second, int64_t free_bytes, double swap_in, int32_t limit,
    int32_t running, int64_t begun)
{
	struct load load = { .missing = (UINT64_C(1) << LOAD_READINGS) - 1 };
	const struct guard_input in = { .now = { second * SECOND_US },
		.load = &load,
		.memory_bytes = 16 * GIB,
		.limit = limit,
		.running = running,
		.begun = begun };

	if (free_bytes >= 0) {
		load.missing &= ~(UINT64_C(1) << LOAD_MEMORY_FREE);
		load.readings[LOAD_MEMORY_FREE].value = (double)free_bytes;
	}
	if (swap_in >= 0) {
		load.missing &= ~(UINT64_C(1) << LOAD_SWAP_IN);
		load.readings[LOAD_SWAP_IN].value = swap_in;
	}
	return guard_step(guard, &in);
}

/* No step ends but those that do not run any more. */
static int32_t
step(struct guard *guard, int64_t second, int64_t free_bytes, double swap_in, int32_t limit,
    int32_t running)
{
	return step_begun(guard, second, free_bytes, swap_in, limit, running, running);
}

/* ---- one reading, one answer ---- */

static void
test_what_a_second_calls_for(void **state)
{
	static const struct {
		const char *what;
		int64_t at_rest, free_before, free_now; /* MiB; -1 missing */
		double swap_in; /* bytes a second; -1 missing */
		int32_t limit, running;
		int32_t expect;
		const char *reason; /* a part of it; "": none */
	} cases[] = {
		{ "ample memory: the coordinator's limit", 9000, 9000, 9000, 0, 16, 16, 16, "" },
		{ "a burst of pages from swap", 9000, 9000, 9000, 5 << 20, 16, 16, 11,
		    "swapping in 5 MB/s: limit 16 -> 11 for 30 s" },
		{ "some pages of a daemon that woke", 9000, 9000, 9000, 40960, 16, 16, 16, "" },
		{ "free memory under the floor", -1, 600, 600, 0, 16, 16, 11,
		    "free memory 600 MB is under the floor of 655 MB: limit 16 -> 11" },
		{ "a cut is of what runs, not of what could", -1, 600, 600, 0, 16, 10, 7,
		    "limit 10 -> 7" },
		{ "steps that will be too big as they grow on", 14000, 14000, 10000, 0, 16, 16, 3,
		    "may come to need" },
		{ "steps that grow to what is there for them", 15500, 15500, 14000, 0, 16, 16, 16,
		    "" },
		{ "memory that is freed", -1, 3000, 7000, 0, 16, 16, 16, "" },
		{ "one step stays one step", -1, 600, 600, 0, 16, 1, 1, "limit 1 -> 1" },
		{ "a limit of one is kept", -1, 600, 600, 9 << 20, 1, 1, 1, "limit 1 -> 1" },
		{ "nothing runs and memory is short: begin with one", -1, 600, 600, 0, 16, 0, 1,
		    "" },
		{ "no reading of memory, no judgement", -1, -1, -1, 0, 16, 16, 16, "" },
		{ "no reading of swap, memory alone", 9000, 9000, 9000, -1, 16, 16, 16, "" },
		{ "no reading at all", -1, -1, -1, -1, 16, 16, 16, "" },
		{ "no memory reading, but it swaps", -1, -1, -1, 9 << 20, 16, 16, 11, "swapping" },
		{ "nobody has said a limit", -1, 9000, 9000, 0, 0, 4, 0, "" },
		{ "nobody has said a limit and it swaps", -1, 9000, 9000, 9 << 20, 0, 10, 7, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct guard guard = { 0 };
		int64_t before = cases[i].free_before, now = cases[i].free_now;
		int32_t limit;

		if (cases[i].at_rest >= 0)
			step(&guard, 0, cases[i].at_rest * MIB, 0, cases[i].limit, 0);
		step(
		    &guard, 1, before < 0 ? -1 : before * MIB, 0, cases[i].limit, cases[i].running);
		memset(&guard.limit, 0, sizeof guard.limit);
		limit = step(&guard, 2, now < 0 ? -1 : now * MIB, cases[i].swap_in, cases[i].limit,
		    cases[i].running);
		if (limit != cases[i].expect || strstr(guard.reason, cases[i].reason) == NULL ||
		    ((guard.limit != 0) != (guard.reason[0] != '\0')))
			fail_msg("%s: limit %d, \"%s\"", cases[i].what, (int)limit, guard.reason);
	}
}

static void
test_the_floor_follows_the_host(void **state)
{
	(void)state;
	assert_int_equal(guard_floor_bytes(0), 256 * MIB); /* not known */
	assert_int_equal(guard_floor_bytes(512 * MIB), 128 * MIB); /* never more than a quarter */
	assert_int_equal(guard_floor_bytes(4 * GIB), 256 * MIB);
	assert_in_range(guard_floor_bytes(100 * GIB), 4 * GIB - MIB, 4 * GIB);
}

/* ---- a course of seconds ---- */

static void
test_a_cut_is_held_then_grows_back_gently_and_lets_go(void **state)
{
	struct guard guard = { 0 };
	int32_t before = 11;
	int64_t s;

	(void)state;
	assert_int_equal(step(&guard, 1, 9 * GIB, 9 << 20, 16, 16), 11);
	for (s = 2; s <= GUARD_HOLD_S; s++)
		assert_int_equal(step(&guard, s, 9 * GIB, 0, 16, 11), 11);
	for (; guard.limit != 0; s++) {
		int32_t limit = step(&guard, s, 9 * GIB, 0, 16, before);

		assert_in_range(limit, before, before + 1);
		assert_true(s < GUARD_HOLD_S + 30);
		before = limit;
	}
	assert_int_equal(before, 16);
	assert_string_equal(guard.reason, "");
}

static void
test_cuts_deeper_each_time_steps_have_ended_and_danger_lasts(void **state)
{
	struct guard guard = { 0 };
	int64_t s;

	(void)state;
	assert_int_equal(step(&guard, 1, 500 * MIB, 0, 16, 16), 11);
	for (s = 2; s < 20; s++) /* steps end slowly */
		assert_int_equal(step(&guard, s, 500 * MIB, 0, 16, 13), 11);
	assert_int_equal(step(&guard, s, 500 * MIB, 0, 16, 11), 7); /* it was not enough */
	assert_int_equal(
	    step(&guard, s + 1, 500 * MIB, 0, 16, 7), 7); /* the kernel takes a while */
	for (; s < 100; s++) /* and never below one */
		assert_true(step(&guard, s, 100 * MIB, 9 << 20, 16, guard.limit) >= 1);
	assert_int_equal(guard.limit, 1);
}

static void
test_does_not_grow_while_it_swaps(void **state)
{
	struct guard guard = { 0 };

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 16, 0);
	step(&guard, 1, 0, 9 << 20, 16, 16);
	for (int64_t s = 2; s < 300; s++) {
		int32_t before = guard.limit;

		assert_in_range(step(&guard, s, 0, 9 << 20, 16, 16), 1, before);
	}
}

/* Each begins and ends every ten seconds, at the same size. */
static int32_t
settle(struct guard *guard, int64_t *second, int64_t step_bytes, int32_t limit, int32_t running)
{
	int32_t ret = 0;

	for (int64_t until = *second + 600; *second < until; ++*second)
		ret = step_begun(guard, *second, 15 * GIB - running * step_bytes, 0, limit, running,
		    *second * running / 10);
	return ret;
}

static void
test_the_coordinator_cannot_raise_into_full_memory(void **state)
{
	struct guard guard = { 0 };
	int64_t s = 1;

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 8, 0);
	for (; s <= 600; s++) /* in the end a GiB each */
		assert_int_equal(
		    step_begun(&guard, s, 15 * GIB - s * 8 * GIB / 600, 0, 8, 8, s * 8 / 10), 8);
	assert_in_range(step_begun(&guard, s, 7 * GIB, 0, 16, 8, s * 8 / 10), 8, 14);
	assert_non_null(strstr(guard.reason, "may come to need"));
	assert_in_range(settle(&guard, &s, GIB, 16, 8), 8, 14);
	for (int64_t end = s + 120; s < end; s++)
		step(&guard, s, 15 * GIB, 0, 8, 0); /* the coordinator thinks again */
	assert_int_equal(guard.limit, 0);
}

static void
test_what_big_steps_took_is_remembered_over_a_rest(void **state)
{
	struct guard guard = { 0 };
	int64_t s = 1;

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 6, 0);
	settle(&guard, &s, 1536 * MIB, 6, 6);
	for (int64_t end = s + 300; s < end; s++)
		step(&guard, s, 15 * GIB, 0, 6, 0);
	assert_in_range(step(&guard, s, 15 * GIB, 0, 32, 0), 1, 9);
}

static void
test_what_was_big_is_forgotten_as_small_steps_run(void **state)
{
	struct guard guard = { 0 };
	int64_t s = 1;

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 6, 0);
	settle(&guard, &s, 1536 * MIB, 6, 6);
	assert_in_range(settle(&guard, &s, 64 * MIB, 32, 6), 1, 32);
	assert_int_equal(settle(&guard, &s, 64 * MIB, 32, 6), 32);
	assert_int_equal(guard.limit, 0);
}

static void
test_an_agent_that_starts_while_steps_run_judges_danger_alone(void **state)
{
	struct guard guard = { 0 };
	int64_t s = 1;

	(void)state;
	for (; s < 60; s++)
		assert_int_equal(step(&guard, s, (12000 - s * 100) * MIB, 0, 16, 8), 16);
	assert_int_equal(step(&guard, s, 600 * MIB, 0, 16, 8), 5);
}

/* ---- a host ---- */

enum { STEPS_MAX = 64, STEP_S = 20, LIMIT = 32 };

struct model {
	int64_t memory_bytes, step_bytes;
	int age_s[STEPS_MAX]; /* of each running step; 0: none */
	int64_t size_bytes[STEPS_MAX];
	int running;
	int64_t begun, used_bytes;
	int32_t limit; /* 0: none yet */
};

/* Steps grow to their size over half their life, end, and others begin up to the limit. */
static void
live(struct model *host, int32_t limit)
{
	host->used_bytes = 1 * GIB;
	for (int i = 0; i < STEPS_MAX; i++) {
		int *age = &host->age_s[i];

		if (*age > STEP_S) {
			*age = 0;
			host->running--;
		}
		if (*age == 0 && host->running < limit) {
			*age = 1 + rand() % 5; /* they do not end all at once */
			host->size_bytes[i] =
			    host->step_bytes / 2 + rand() % 1001 * host->step_bytes / 1000;
			host->running++;
			host->begun++;
		}
		if (*age == 0)
			continue;
		*age += 1;
		host->used_bytes += host->size_bytes[i] * (*age < 10 ? *age : 10) / 10;
	}
}

/* Seconds from the first to the last in which more memory was used than there is. */
static int
run(struct model *host, struct guard *guard, int first, int last)
{
	int over = 0;

	for (int s = first; s < last; s++) {
		int64_t free_bytes = host->memory_bytes - host->used_bytes;
		double swap_in = free_bytes < 0 ? 50 << 20 : 0;

		live(host, s < 3 ? 0 : host->limit);
		over += free_bytes < 0;
		host->limit = step_begun(guard, s, free_bytes < 0 ? 0 : free_bytes, swap_in, LIMIT,
		    host->running, host->begun);
		assert_in_range(host->limit, 1, LIMIT);
	}
	return over;
}

static void
seed(void)
{
	unsigned drawn = (unsigned)time(NULL);

	print_message("# seed %u\n", drawn);
	srand(drawn);
}

static void
test_a_host_whose_steps_are_too_big_learns_how_many_fit(void **state)
{
	(void)state;
	seed();
	for (int64_t fit = 4; fit <= 24; fit++) {
		struct model host = { .memory_bytes = 16 * GIB, .step_bytes = 15 * GIB / fit };
		struct guard guard = { 0 };
		int64_t begun;
		int over;

		/* what began before anything was known has to end */
		run(&host, &guard, 0, 4 * STEP_S);
		over = run(&host, &guard, 4 * STEP_S, 300);
		begun = host.begun;
		over += run(&host, &guard, 300, 300 + 20 * STEP_S);
		begun = (host.begun - begun) / 20; /* at a time */
		if (over > 0 || begun < fit / 4 || begun > fit + fit / 2)
			fail_msg("%d fit: %d ran at a time, %d s of swapping", (int)fit, (int)begun,
			    over);
	}
}

static void
test_steps_that_get_bigger_never_make_the_host_swap(void **state)
{
	(void)state;
	seed();
	for (int64_t last = 300; last <= 2100; last += 300) {
		struct model host = { .memory_bytes = 16 * GIB };
		struct guard guard = { 0 };
		int over = 0;

		for (int s = 0; s < 1200; s += 10) {
			host.step_bytes = (100 + (last - 100) * s / 1200) * MIB;
			over += run(&host, &guard, s, s + 10);
		}
		if (over > 0)
			fail_msg("up to %d MB: %d s of swapping", (int)last, over);
	}
}

static void
test_a_host_whose_steps_are_suddenly_big_swaps_for_seconds_at_most(void **state)
{
	(void)state;
	seed();
	for (int64_t big = 400; big <= 700; big += 100) { /* 480 each would fit */
		struct model host = { .memory_bytes = 16 * GIB, .step_bytes = 100 * MIB };
		struct guard guard = { 0 };
		int over;

		run(&host, &guard, 0, 300);
		host.step_bytes = big * MIB;
		over = run(&host, &guard, 300, 900);
		if (over > 5) /* steps that began while nothing showed have to end */
			fail_msg("%d MB: %d s of swapping", (int)big, over);
	}
}

static void
test_a_host_with_enough_is_left_alone(void **state)
{
	struct model host = { .memory_bytes = 64 * GIB, .step_bytes = 300 * MIB };
	struct guard guard = { 0 };

	(void)state;
	seed();
	for (int s = 0; s < 600; s++) {
		run(&host, &guard, s, s + 1);
		assert_int_equal(guard.limit, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_second_calls_for),
		cmocka_unit_test(test_the_floor_follows_the_host),
		cmocka_unit_test(test_a_cut_is_held_then_grows_back_gently_and_lets_go),
		cmocka_unit_test(test_cuts_deeper_each_time_steps_have_ended_and_danger_lasts),
		cmocka_unit_test(test_does_not_grow_while_it_swaps),
		cmocka_unit_test(test_the_coordinator_cannot_raise_into_full_memory),
		cmocka_unit_test(test_what_big_steps_took_is_remembered_over_a_rest),
		cmocka_unit_test(test_what_was_big_is_forgotten_as_small_steps_run),
		cmocka_unit_test(test_an_agent_that_starts_while_steps_run_judges_danger_alone),
		cmocka_unit_test(test_a_host_whose_steps_are_too_big_learns_how_many_fit),
		cmocka_unit_test(test_steps_that_get_bigger_never_make_the_host_swap),
		cmocka_unit_test(
		    test_a_host_whose_steps_are_suddenly_big_swaps_for_seconds_at_most),
		cmocka_unit_test(test_a_host_with_enough_is_left_alone),
	};

	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
