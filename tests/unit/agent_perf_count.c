/* Counting over all CPUs, with a clock of the kernel's in the place of a hardware counter, which not every machine has.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "agent/sense/perf_count.h"

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
test_a_sample_is_what_all_cpus_counted_since_the_last(void **state)
{
	struct perf_count *count = perf_count_create(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), began, before, after, n = 0;
	struct timespec nap = { 0, 20000000 };

	(void)state;
	began = now_ns();
	assert_false(perf_count_sample(count, &n));
	before = now_ns();
	for (int i = 0; i < 3; i++) {
		nanosleep(&nap, NULL);
		if (!perf_count_sample(count, &n)) {
			perf_count_destroy(count);
			skip(); /* perf events are not allowed here */
		}
		after = now_ns();
		assert_true(n <= cpus * (after - began));
		assert_true(n >= cpus * 20e6 * 0.9);
		began = before;
		before = after;
	}
	perf_count_destroy(count);
}

static void
test_what_nothing_counts_is_missing(void **state)
{
	struct perf_count *count = perf_count_create(PERF_TYPE_SOFTWARE, 9999);
	double n;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_false(perf_count_sample(count, &n));
	perf_count_destroy(count);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sample_is_what_all_cpus_counted_since_the_last),
		cmocka_unit_test(test_what_nothing_counts_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
