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
step(struct guard *guard, int64_t second, int64_t free_bytes, double swap_in, int32_t limit,
    int32_t running)
{
	struct load load = { .missing = (UINT64_C(1) << LOAD_READINGS) - 1 };
	const struct guard_input in = { .now = { second * SECOND_US },
		.load = &load,
		.memory_bytes = 16 * GIB,
		.limit = limit,
		.running = running };

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

/* ---- one reading, one answer ---- */

static void
test_what_a_second_calls_for(void **state)
{
	static const struct {
		const char *what;
		int64_t free_before, free_now; /* MiB; -1 missing */
		double swap_in; /* bytes a second; -1 missing */
		int32_t limit, running;
		int32_t expect;
		const char *reason; /* a part of it; "": none */
	} cases[] = {
		{ "ample memory: the coordinator's limit", 9000, 9000, 0, 16, 16, 16, "" },
		{ "a burst of pages from swap", 9000, 9000, 5 << 20, 16, 16, 11,
		    "swapping in 5 MB/s: limit 16 -> 11 for 30 s" },
		{ "some pages of a daemon that woke", 9000, 9000, 40960, 16, 16, 16, "" },
		{ "free memory under the floor", 600, 600, 0, 16, 16, 11,
		    "free memory 600 MB is under the floor of 655 MB: limit 16 -> 11" },
		{ "a cut is of what runs, not of what could", 600, 600, 0, 16, 10, 7,
		    "limit 10 -> 7" },
		{ "memory that will be gone in seconds", 7000, 3000, 0, 16, 16, 11,
		    "falls to the floor of 655 MB within" },
		{ "a fall that ends far above the floor", 15000, 13000, 0, 16, 16, 16, "" },
		{ "memory that is freed", 3000, 7000, 0, 16, 16, 16, "" },
		{ "one step stays one step", 600, 600, 0, 16, 1, 1, "limit 1 -> 1" },
		{ "a limit of one is kept", 600, 600, 9 << 20, 1, 1, 1, "limit 1 -> 1" },
		{ "nothing runs and memory is short: begin with one", 600, 600, 0, 16, 0, 1, "" },
		{ "no reading of memory, no judgement", -1, -1, 0, 16, 16, 16, "" },
		{ "no reading of swap, memory alone", 9000, 9000, -1, 16, 16, 16, "" },
		{ "no reading at all", -1, -1, -1, 16, 16, 16, "" },
		{ "no memory reading, but it swaps", -1, -1, 9 << 20, 16, 16, 11, "swapping" },
		{ "nobody has said a limit", 9000, 9000, 0, 0, 4, 0, "" },
		{ "nobody has said a limit and it swaps", 9000, 9000, 9 << 20, 0, 10, 7, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct guard guard = { 0 };
		int64_t before = cases[i].free_before, now = cases[i].free_now;
		int32_t limit;

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
	int32_t limit, before = 11;
	int64_t s;

	(void)state;
	assert_int_equal(step(&guard, 1, 9 * GIB, 9 << 20, 16, 16), 11);
	for (s = 2; s <= GUARD_HOLD_S; s++)
		assert_int_equal(step(&guard, s, 9 * GIB, 0, 16, 11), 11);
	for (; guard.limit != 0; s++) {
		limit = step(&guard, s, 9 * GIB, 0, 16, before);
		assert_in_range(limit, before, before + 1);
		assert_true(s < GUARD_HOLD_S + 30);
		before = limit;
	}
	assert_int_equal(before, 16);
	assert_string_equal(guard.reason, "");
}

static void
test_cuts_deeper_step_by_step_while_danger_lasts(void **state)
{
	struct guard guard = { 0 };
	int64_t s;

	(void)state;
	assert_int_equal(step(&guard, 1, 500 * MIB, 0, 16, 16), 11);
	for (s = 2; s < 20; s++) /* steps end slowly */
		assert_in_range(step(&guard, s, 500 * MIB, 0, 16, 13), s < 5 ? 11 : 4, 11);
	assert_int_equal(guard.limit, 4); /* a quarter */
	assert_int_equal(step(&guard, s, 500 * MIB, 0, 16, 4), 2); /* it was not enough */
	assert_int_equal(step(&guard, s + 1, 500 * MIB, 0, 16, 2), 2);
	for (; s < 100; s++) /* and never below one */
		assert_true(step(&guard, s, 100 * MIB, 9 << 20, 16, guard.limit) >= 1);
	assert_int_equal(guard.limit, 1);
}

static void
test_does_not_grow_while_there_is_no_room(void **state)
{
	struct guard guard = { 0 };
	int64_t s;

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 16, 0); /* calm */
	step(&guard, 1, 500 * MIB, 0, 16, 16); /* each took some 930 MiB */
	assert_in_range(guard.step_bytes, 900 * MIB, 950 * MIB);
	for (s = 2; s < 200; s++) /* eleven hold all of theirs; for one more there is no room */
		assert_int_equal(step(&guard, s, 1400 * MIB, 0, 16, 11), 11);
	for (; s < 300 && guard.limit == 11; s++)
		step(&guard, s, 4 * GIB, 0, 16, 11);
	assert_int_equal(guard.limit, 12);
}

static void
test_the_coordinator_cannot_raise_into_full_memory(void **state)
{
	struct guard guard = { 0 };

	(void)state;
	step(&guard, 0, 15 * GIB, 0, 8, 0);
	for (int64_t s = 1; s <= 60; s++) /* in the end 1.6 GiB each */
		assert_int_equal(step(&guard, s, 15 * GIB - s * 13 * GIB / 60, 0, 8, 8), 8);
	assert_int_equal(step(&guard, 61, 2 * GIB, 0, 16, 8), 8);
	assert_non_null(strstr(guard.reason, "no room for more than 8 steps"));
	for (int64_t s = 62; s < 120; s++)
		step(&guard, s, 15 * GIB, 0, 8, 0); /* the coordinator thinks again */
	assert_int_equal(guard.limit, 0);
}

/* ---- a host ---- */

enum { STEPS_MAX = 64, STEP_S = 20, LIMIT = 32 };

struct model {
	int64_t memory_bytes, step_bytes;
	int age_s[STEPS_MAX]; /* of each running step; 0: none */
	int running;
	int64_t used_bytes;
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
			host->running++;
		}
		if (*age == 0)
			continue;
		*age += 1;
		host->used_bytes += host->step_bytes * (*age < 10 ? *age : 10) / 10;
	}
}

/* Seconds after the first so many in which more memory was used than there is. */
static int
run(struct model *host, struct guard *guard, int first, int seconds)
{
	int32_t limit = LIMIT;
	int over = 0;

	for (int s = 0; s < seconds; s++) {
		int64_t free_bytes = host->memory_bytes - host->used_bytes;
		double swap_in = free_bytes < 0 ? 50 << 20 : 0;

		live(host, s < 3 ? 0 : limit);
		over += free_bytes < 0 && s >= first;
		limit =
		    step(guard, s, free_bytes < 0 ? 0 : free_bytes, swap_in, LIMIT, host->running);
		assert_in_range(limit, 1, LIMIT);
	}
	return over;
}

static void
test_a_host_whose_steps_are_too_big_learns_how_many_fit(void **state)
{
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int64_t fit = 4; fit <= 24; fit++) {
		struct model host = { .memory_bytes = 16 * GIB, .step_bytes = 15 * GIB / fit };
		struct guard guard = { 0 };
		/* what began before anything was known has to end */
		int over = run(&host, &guard, 4 * STEP_S, 600);

		if (over > 0 || guard.limit < fit / 2 || guard.limit > fit)
			fail_msg(
			    "%d fit: limit %d, %d s of swapping", (int)fit, (int)guard.limit, over);
	}
}

static void
test_a_host_with_enough_is_left_alone(void **state)
{
	struct model host = { .memory_bytes = 16 * GIB, .step_bytes = 300 * MIB };
	struct guard guard = { 0 };

	(void)state;
	assert_int_equal(run(&host, &guard, 0, 600), 0);
	assert_int_equal(guard.limit, 0);
	assert_true(mono_since(guard.cut_at, (mono_us){ 0 }) == 0); /* never cut */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_second_calls_for),
		cmocka_unit_test(test_the_floor_follows_the_host),
		cmocka_unit_test(test_a_cut_is_held_then_grows_back_gently_and_lets_go),
		cmocka_unit_test(test_cuts_deeper_step_by_step_while_danger_lasts),
		cmocka_unit_test(test_does_not_grow_while_there_is_no_room),
		cmocka_unit_test(test_the_coordinator_cannot_raise_into_full_memory),
		cmocka_unit_test(test_a_host_whose_steps_are_too_big_learns_how_many_fit),
		cmocka_unit_test(test_a_host_with_enough_is_left_alone),
	};

	return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
