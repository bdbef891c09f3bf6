/* The model host: it is the founding host in figures, its books close, and it does what hosts do.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "coordinator/sim/queue.h"
#include "coordinator/sim/replay.h"
#include "coordinator/sim/run.h"
#include "coordinator/sim/sensor.h"

static uint64_t seed;
static const struct surroundings calm = { .nfs = 1 };

static struct scenario
founding(void)
{
	struct scenario s;
	struct err err;

	if (scenario_read("tests/scenarios/founding.conf", &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static struct run_result
run_fixed(const struct work *work, int limit)
{
	struct run_options options = { .seed = 1, .fixed = limit };
	struct run *run = run_create(work, &options);
	struct run_result result;

	run_build(run, &result);
	run_destroy(run);
	return result;
}

#define assert_near(value, expected, share) \
	do { \
		double v = (value), e = (expected); \
		if (fabs(v / e - 1) > (share)) \
			fail_msg("seed %llu: " #value " is %.2f, expected %.2f within %g %%", \
			    (unsigned long long)seed, v, e, (share)*100); \
	} while (0)

/* ---- calibration ------------------------------------------------------------------------ */

static void
test_founding_host_without_the_lock(void **state)
{
	struct scenario s = founding();
	struct work work;

	(void)state;
	s.phases->lock = s.phases->holder = s.phases->rest = 0;
	work_draw(&work, &s, seed);
	assert_near(run_fixed(&work, 24).seconds, 1475.74, 0.03);
	work_clear(&work);
	scenario_clear(&s);
}

static void
test_founding_host_with_the_lock(void **state)
{
	struct scenario s = founding();
	struct run_result r;
	struct work work;

	(void)state;
	work_draw(&work, &s, seed);
	r = run_fixed(&work, 24);
	assert_near(r.seconds, 3857.33, 0.03);
	assert_near(r.spin, 25353.59, 0.1);
	work_clear(&work);
	scenario_clear(&s);
}

static void
test_founding_host_is_best_at_11_or_12(void **state)
{
	struct scenario s = founding();
	double least = INFINITY;
	struct work work;
	int best = 0;

	(void)state;
	work_draw(&work, &s, seed);
	for (int j = 1; j <= 48; j++) {
		double seconds = run_fixed(&work, j).seconds;

		if (seconds < least) {
			least = seconds;
			best = j;
		}
	}
	if (best != 11 && best != 12)
		fail_msg("seed %llu: best at -j%d", (unsigned long long)seed, best);
	work_clear(&work);
	scenario_clear(&s);
}

/* ---- the queue -------------------------------------------------------------------------- */

static const struct model_host plain = { .os = "Linux", .threads = 8, .cores = 8, .memory = 8 };

/* Two steps, half of whose work is under the lock: from 0 to 1 at rate 4, to 2 at 2, back at 2 each:
 * weights 1, 2, 2, so that the lock is idle a fifth of the time and 2 x 4/5 is done. */
static void
test_two_steps_by_hand(void **state)
{
	const struct model_phase p = { .lock = 0.5, .system = 0.5 };
	struct rates r;

	(void)state;
	queue_rates(&plain, &p, &calm, 2, &r);
	assert_near(r.of[RATE_USEFUL], 1.6, 1e-9);
	assert_near(r.of[RATE_SPIN], 0.4, 1e-9);
	assert_near(r.of[RATE_USER], 0.8, 1e-9);
	assert_near(r.of[RATE_SYSTEM], 1.2, 1e-9);
}

static void
test_one_step_meets_no_lock(void **state)
{
	const struct model_phase p = { .lock = 0.3, .holder = 5, .rest = 5, .system = 0.4 };
	struct rates r;

	(void)state;
	queue_rates(&plain, &p, &calm, 1, &r);
	assert_near(r.of[RATE_USEFUL], 1.0, 1e-9);
	assert_true(r.of[RATE_SPIN] < 1e-12);
}

/* Whatever the phase: CPU time is never more than there is, and each step is somewhere. */
static void
test_books_close(void **state)
{
	const double locks[] = { 0, 0.01, 0.2 }, sleeps[] = { 0, 0.6 };
	const struct surroundings around = { .steal = 0.3, .nfs = 4 };

	(void)state;
	for (int i = 0; i < 3 * 2 * 2; i++)
		for (int n = 1; n <= 64; n++) {
			const struct model_phase p = { .lock = locks[i % 3],
				.holder = 0.3,
				.rest = 0.1,
				.sleep = sleeps[i / 3 % 2],
				.system = 0.25,
				.lock_kind = i < 6 ? LOCK_SPIN : LOCK_SLEEP };
			struct rates r;
			double cpu;

			queue_rates(&plain, &p, &around, n, &r);
			cpu = r.of[RATE_USER] + r.of[RATE_SYSTEM] + r.of[RATE_STEAL];
			assert_true(cpu <= plain.threads + 1e-9);
			assert_true(r.of[RATE_SPIN] <= r.of[RATE_SYSTEM] + 1e-9);
			assert_true(
			    r.of[RATE_USEFUL] <= r.of[RATE_USER] + r.of[RATE_SYSTEM] + 1e-5);
			assert_near(r.of[RATE_RUNNABLE] + r.of[RATE_ASLEEP] + r.of[RATE_LOCK_SLEEP],
			    (double)n, 1e-9);
		}
}

static void
test_a_sleeping_lock_spins_nowhere(void **state)
{
	const struct model_phase p = {
		.lock = 0.3, .holder = 0.3, .system = 0.3, .lock_kind = LOCK_SLEEP
	};
	struct rates few, many;

	(void)state;
	queue_rates(&plain, &p, &calm, 3, &few);
	queue_rates(&plain, &p, &calm, 16, &many);
	assert_true(many.of[RATE_SPIN] < 1e-12);
	assert_true(many.of[RATE_USEFUL] < few.of[RATE_USEFUL]);
	assert_true(many.of[RATE_USER] + many.of[RATE_SYSTEM] < 2);
	assert_true(many.of[RATE_LOCK_SLEEP] > 10);
}

/* Stolen time and a slow file server are not cured by fewer steps. */
static void
test_trouble_from_outside_is_no_collapse(void **state)
{
	const struct surroundings stolen = { .steal = 0.4, .nfs = 1 }, slow = { .nfs = 10 };
	const struct model_phase p = { .lock = 0.005, .sleep = 0.3, .system = 0.1 };
	struct model_host h = plain;
	double before_stolen = 0, before_slow = 0;

	(void)state;
	h.nfs = 8;
	for (int n = 1; n <= 8; n++) {
		struct rates r;

		queue_rates(&h, &p, &stolen, n, &r);
		assert_true(r.of[RATE_USEFUL] > before_stolen * 1.01);
		before_stolen = r.of[RATE_USEFUL];
		queue_rates(&h, &p, &slow, n, &r);
		assert_true(r.of[RATE_USEFUL] >= before_slow - 1e-6);
		before_slow = r.of[RATE_USEFUL];
	}
	assert_true(before_slow <= 0.8 + 1e-6); /* what the server feeds */
}

/* ---- the build -------------------------------------------------------------------------- */

static void
test_limits_take_effect_as_they_do(void **state)
{
	struct scenario s = founding();
	struct work work;
	struct model *m;
	int before;

	(void)state;
	work_draw(&work, &s, seed);
	m = model_create(&work);
	model_start(m, 20);
	model_advance(m, 1);
	assert_int_equal(model_running(m), 20);
	model_limit(m, 2);
	model_advance(m, 0.01);
	before = model_running(m);
	assert_true(before > 10); /* they run on */
	while (model_running(m) > 2) {
		model_advance(m, 0.1);
		assert_true(model_running(m) <= before);
		before = model_running(m);
	}
	assert_true(model_now(m) > 3);
	model_limit(m, 12);
	model_advance(m, 0.01);
	assert_int_equal(model_running(m), 12);
	model_destroy(m);
	work_clear(&work);
	scenario_clear(&s);
}

static void
test_a_seed_gives_the_same_build_again(void **state)
{
	struct scenario s = founding();
	struct run_result a, b;
	struct work work, again;

	(void)state;
	work_draw(&work, &s, seed);
	work_draw(&again, &s, seed);
	a = run_fixed(&work, 9);
	b = run_fixed(&again, 9);
	assert_memory_equal(&a, &b, sizeof a);
	work_clear(&work);
	work_clear(&again);
	scenario_clear(&s);
}

/* ---- sensors ---------------------------------------------------------------------------- */

/* A minute of a build, its lock readings as they come. */
static void
test_locks_are_read_late_and_rarely(void **state)
{
	struct scenario s = founding();
	struct sensor sensor;
	struct work work;
	struct model *m;
	struct load load = { .missing = UINT64_MAX };
	double youngest = INFINITY, oldest = 0;
	int fresh = 0;

	(void)state;
	work_draw(&work, &s, seed);
	m = model_create(&work);
	model_start(m, 24);
	sensor_init(&sensor, &s, seed, false);
	sensor_begin(&sensor);
	for (int i = 1; i <= 9000; i++) {
		double before = load_has(&load, LOAD_SPIN) ? load.readings[LOAD_SPIN].value : 0;

		model_advance(m, SENSOR_S);
		sensor_look(&sensor, m);
		if (i % 10 != 0)
			continue;
		sensor_fill(&sensor, m, &load);
		if (!load_has(&load, LOAD_SPIN))
			continue;
		assert_int_equal(load.readings[LOAD_SPIN].window_us, 2 * SECOND_US);
		youngest = fmin(youngest, (double)load.readings[LOAD_SPIN].age_us / 1e6);
		oldest = fmax(oldest, (double)load.readings[LOAD_SPIN].age_us / 1e6);
		fresh += i > 10 && load.readings[LOAD_SPIN].value != before;
	}
	if (fresh < 20 || fresh > 30 || youngest < 0.9 || oldest > 62)
		fail_msg("seed %llu: %d readings in 900 s, aged %g to %g s",
		    (unsigned long long)seed, fresh, youngest, oldest);
	model_destroy(m);
	work_clear(&work);
	scenario_clear(&s);
}

/* ---- the core --------------------------------------------------------------------------- */

static void
test_what_is_recorded_replays(void **state)
{
	struct scenario s = founding();
	struct run_options options = { .seed = seed };
	struct run_result result;
	struct replay replay;
	struct work work;
	struct run *run;
	struct err err;

	(void)state;
	options.record = tmpfile();
	assert_non_null(options.record);
	s.phases->work /= 20;
	work_draw(&work, &s, seed);
	run = run_create(&work, &options);
	run_build(run, &result);
	run_build(run, &result);
	run_destroy(run);
	rewind(options.record);
	if (replay_run(&replay, options.record, &err) < 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
	assert_true(replay.events > 100);
	replay_clear(&replay);
	fclose(options.record);
	work_clear(&work);
	scenario_clear(&s);
}

static void
test_what_a_file_says_wrongly_is_told(void **state)
{
	struct scenario s;
	struct err err;

	(void)state;
	assert_int_equal(scenario_read("tests/fixtures/bad.scenario", &s, &err), -1);
	assert_non_null(strstr(err.text, "phase \"p\": lock is 2; expected 0 to 0.95"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_founding_host_without_the_lock),
		cmocka_unit_test(test_founding_host_with_the_lock),
		cmocka_unit_test(test_founding_host_is_best_at_11_or_12),
		cmocka_unit_test(test_two_steps_by_hand),
		cmocka_unit_test(test_one_step_meets_no_lock),
		cmocka_unit_test(test_books_close),
		cmocka_unit_test(test_a_sleeping_lock_spins_nowhere),
		cmocka_unit_test(test_trouble_from_outside_is_no_collapse),
		cmocka_unit_test(test_limits_take_effect_as_they_do),
		cmocka_unit_test(test_a_seed_gives_the_same_build_again),
		cmocka_unit_test(test_locks_are_read_late_and_rarely),
		cmocka_unit_test(test_what_is_recorded_replays),
		cmocka_unit_test(test_what_a_file_says_wrongly_is_told),
	};
	const char *given = getenv("SEED");

	seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	printf("# SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests_name("model hosts", tests, NULL, NULL);
}
