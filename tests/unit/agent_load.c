/* Readings from the texts of /proc: good ones, poor ones, broken ones.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/sense/load.h"
#include "agent/sense/load_text.h"
#include "tests/unit/load_check.h"

static const char stat_text[] = "cpu  100 10 50 800 30 5 5 0 7 0\n"
				"cpu0 100 10 50 800 30 5 5 0 7 0\n"
				"intr 5 5\nctxt 77\nprocs_running 3\nprocs_blocked 1\n";

static void
test_shares_are_of_the_window(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_stat_parse(stat_text, &before, &load);
	load_stat_parse("cpu  140 20 70 900 40 10 5 15 0 0\n", &after, &load);
	load_difference(&before, &after, 2 * SECOND_US, 4096, &load);
	assert_value(&load, LOAD_USER, 0.25); /* 50 of 200 */
	assert_value(&load, LOAD_SYS, 0.125); /* 25 */
	assert_value(&load, LOAD_IDLE, 0.5); /* 100 */
	assert_value(&load, LOAD_IOWAIT, 0.05); /* 10 */
	assert_value(&load, LOAD_STEAL, 0.075); /* 15 */
	assert_int_equal(load.readings[LOAD_USER].window_us, 2 * SECOND_US);
	assert_value(&load, LOAD_RUNNING, 3);
	assert_value(&load, LOAD_BLOCKED, 1);
}

static void
test_momentary_readings(void **state)
{
	struct load load;

	(void)state;
	load_clear(&load);
	load_average_parse("0.50 1.25 12.00 3/456 7890\n", &load);
	load_memory_parse("MemTotal:  100 kB\nMemFree: 7 kB\nMemAvailable:   42 kB\n", &load);
	assert_value(&load, LOAD_1, 0.5);
	assert_value(&load, LOAD_5, 1.25);
	assert_value(&load, LOAD_15, 12);
	assert_value(&load, LOAD_MEMORY_FREE, 42 * 1024);
	assert_false(load_has(&load, LOAD_SPIN)); /* no source yet */
}

static void
test_swap_is_a_rate_in_bytes(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_vmstat_parse("nr_free 5\npswpin 10\npswpout 20\n", &before);
	load_vmstat_parse("pswpin 14\npswpout 20\n", &after);
	load_difference(&before, &after, 2 * SECOND_US, 4096, &load);
	assert_value(&load, LOAD_SWAP_IN, 8192);
	assert_value(&load, LOAD_SWAP_OUT, 0);
	assert_false(load_has(&load, LOAD_USER));
}

static void
test_what_is_not_there_is_missing_and_never_zero(void **state)
{
	static const struct {
		const char *what, *stat, *average, *memory, *vmstat;
	} cases[] = {
		{ "no files", NULL, NULL, NULL, NULL },
		{ "empty files", "", "", "", "" },
		{ "words for numbers", "cpu  a b\nprocs_running x\n", "x y z",
		    "MemAvailable: x kB\n", "pswpin -\n" },
		{ "an old kernel without steal", "cpu  1 2 3 4 5 6 7\n", "", "MemFree: 5 kB\n",
		    "pswpin 5\n" },
		{ "numbers that are none", "cpu 99999999999999999999999 1 1 1 1 1 1 1\n",
		    "nan inf -1", "MemAvailable: 99999999999999999999 kB\n",
		    "pswpin 1x\npswpout 1\n" },
		{ "words inside other words", "xcpu  1 1 1 1 1 1 1 1\n", "",
		    "XMemAvailable: 1 kB\n", "xpswpin 1\nxpswpout 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct load_counters before = { 0 }, after = { 0 };
		struct load load;

		load_clear(&load);
		for (int k = 0; k < 2; k++) {
			struct load_counters *c = k ? &after : &before;

			load_stat_parse(cases[i].stat, c, &load);
			load_average_parse(cases[i].average, &load);
			load_memory_parse(cases[i].memory, &load);
			load_vmstat_parse(cases[i].vmstat, c);
		}
		load_difference(&before, &after, SECOND_US, 4096, &load);
		if (load.missing != (UINT64_C(1) << LOAD_READINGS) - 1)
			fail_msg(
			    "%s: missing %llx", cases[i].what, (unsigned long long)load.missing);
	}
}

static void
test_counters_that_go_back_give_no_nonsense(void **state)
{
	struct load_counters before = { .has_cpu = true, .has_swap = true, .swap_in_pages = 100 };
	struct load_counters after = before;
	struct load load;

	(void)state;
	before.cpu[CPU_IOWAIT] = 50;
	before.cpu[CPU_IDLE] = 100;
	after.cpu[CPU_IOWAIT] = 40;
	after.cpu[CPU_IDLE] = 200;
	after.swap_in_pages = 5;
	load_clear(&load);
	load_difference(&before, &after, SECOND_US, 4096, &load);
	assert_value(&load, LOAD_IOWAIT, 0);
	assert_value(&load, LOAD_IDLE, 1);
	assert_false(load_has(&load, LOAD_SWAP_IN));
	load_clear(&load);
	load_difference(&before, &before, SECOND_US, 4096, &load); /* nothing counted */
	assert_false(load_has(&load, LOAD_IDLE));
	load_difference(&before, &after, 0, 4096, &load); /* no time */
	assert_false(load_has(&load, LOAD_IDLE));
}

static void
test_any_bytes_are_read_without_harm(void **state)
{
	unsigned seed = (unsigned)time(NULL);
	static const char alphabet[] = "cpu pswpinout0123456789 .\n-:MemAvailable";

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		struct load_counters counters = { 0 };
		struct load load;
		char text[80];
		size_t n = (size_t)rand() % sizeof text;

		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
		text[n] = '\0';
		load_clear(&load);
		load_stat_parse(text, &counters, &load);
		load_average_parse(text, &load);
		load_memory_parse(text, &load);
		load_vmstat_parse(text, &counters);
	}
}

static void
test_this_machine_has_a_load(void **state)
{
	struct load_sampler *sampler = load_sampler_create("/nonexistent/folder/to/be");
	struct load load;

	(void)state;
	load_sample(sampler, (mono_us){ 1 }, &load);
	assert_false(load_has(&load, LOAD_USER)); /* one sample is no window */
	assert_true(load_has(&load, LOAD_1) && load_has(&load, LOAD_MEMORY_FREE));
	assert_true(load_has(&load, LOAD_DISK_FREE)); /* of where the folder will be made */
	load_sampler_destroy(sampler);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares_are_of_the_window),
		cmocka_unit_test(test_momentary_readings),
		cmocka_unit_test(test_swap_is_a_rate_in_bytes),
		cmocka_unit_test(test_what_is_not_there_is_missing_and_never_zero),
		cmocka_unit_test(test_counters_that_go_back_give_no_nonsense),
		cmocka_unit_test(test_any_bytes_are_read_without_harm),
		cmocka_unit_test(test_this_machine_has_a_load),
	};

	return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
