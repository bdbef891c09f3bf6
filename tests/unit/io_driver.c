/* The journal first, effects after; and what becomes of them while the disk is full.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/driver.h"
#include "proto/base/mem.h"
#include "tests/unit/io_disk.h"

/* ---- a driver on its own ---------------------------------------------------------------- */

struct rig {
	struct disk disk;
	struct loop *loop;
	struct driver *driver;
	struct text said; /* effects, in order */
	int commits; /* times that it was safe to acknowledge */
	bool done;
};

static void
on_effect(void *arg, const struct effect *e)
{
	struct rig *rig = arg;

	text_printf(&rig->said, "%s%s %s", rig->said.length ? ", " : "", effect_kind_name(e->kind),
	    e->host);
}

static void
on_committed(void *arg)
{
	struct rig *rig = arg;

	rig->commits++;
}

static int
set_up(void **state)
{
	struct rig *rig = mem_calloc(1, sizeof *rig);
	struct driver_callbacks callbacks = { on_effect, on_committed, rig };
	struct err err;

	disk_init(&rig->disk);
	rig->loop = loop_create();
	rig->driver = driver_create(rig->loop, &rig->disk.store, NULL, &callbacks);
	text_add(&rig->said, "");
	*state = rig;
	return driver_start(rig->driver, &err);
}

static int
tear_down(void **state)
{
	struct rig *rig = *state;

	driver_destroy(rig->driver);
	loop_destroy(rig->loop);
	disk_clear(&rig->disk);
	free(rig->said.text);
	free(rig);
	return 0;
}

static void
on_time(void *arg)
{
	loop_stop(arg);
}

/* The loop turns for so long; what is there by then has been done. */
static void
turn(struct rig *rig, int64_t us)
{
	struct loop_watch *timer = loop_timer_add(rig->loop, us, 0, on_time, rig->loop);

	loop_run(rig->loop);
	loop_remove(timer);
}

static void
hello(struct rig *rig, const char *host)
{
	struct host_facts facts = { .threads = 4, .start_id = "s", .os = "Linux" };
	struct event e = { .kind = EVENT_HELLO, .facts = &facts };

	mem_copy_text(e.host, sizeof e.host, host);
	driver_event(rig->driver, &e);
}

static void
gone(struct rig *rig, const char *host)
{
	struct event e = { .kind = EVENT_GONE, .text = "it hung up" };

	mem_copy_text(e.host, sizeof e.host, host);
	driver_event(rig->driver, &e);
}

static void
nonsense(struct rig *rig, const char *host)
{
	struct event e = { .kind = EVENT_ATTEMPT };

	mem_copy_text(e.host, sizeof e.host, host);
	driver_event(rig->driver, &e);
}

/* ---- tests ------------------------------------------------------------------------------ */

static void
facts_before_effects(void **state)
{
	struct rig *rig = *state;

	turn(rig, 0);
	assert_true(driver_settled(rig->driver));
	hello(rig, "a");
	assert_string_equal(rig->said.text, "");
	assert_false(driver_settled(rig->driver));
	turn(rig, 0);
	assert_true(driver_settled(rig->driver));
	assert_string_equal(rig->said.text, "welcome a, limit a");
}

static void
a_full_disk(void **state)
{
	struct rig *rig = *state;
	int64_t facts;
	int commits;

	turn(rig, 0);
	facts = store_count(&rig->disk.store);
	commits = rig->commits;
	rig->disk.full = true;
	hello(rig, "a");
	hello(rig, "b");
	turn(rig, SECOND_US / 10);
	assert_string_equal(rig->said.text, "");
	assert_int_equal(rig->commits, commits);
	assert_int_equal(store_count(&rig->disk.store), facts);
	assert_string_equal(driver_trouble(rig->driver), "the disk is full");
	rig->disk.full = false;
	turn(rig, 2 * SECOND_US);
	assert_null(driver_trouble(rig->driver));
	assert_string_equal(rig->said.text, "welcome a, limit a, welcome b, limit b");
	assert_int_equal(store_count(&rig->disk.store), facts + 4);
	assert_true(rig->commits > commits);
}

static void
a_host_that_comes_again_and_again(void **state)
{
	struct rig *rig = *state;
	int i;

	turn(rig, 0);
	rig->disk.full = true;
	hello(rig, "b");
	for (i = 0; i < 1000; i++) {
		hello(rig, "a");
		if (i % 2 == 0)
			gone(rig, "a");
	}
	turn(rig, 0);
	rig->disk.full = false;
	turn(rig, 2 * SECOND_US);
	assert_string_equal(rig->said.text, "welcome b, limit b, welcome a, limit a");
}

static void
nonsense_does_not_wait(void **state)
{
	struct rig *rig = *state;

	turn(rig, 0);
	rig->disk.full = true;
	hello(rig, "a");
	turn(rig, 0);
	nonsense(rig, "a");
	assert_string_equal(rig->said.text, "refuse a");
}

static void
a_bound(void **state)
{
	struct rig *rig = *state;
	struct attempt_status status = { .id = { 7 }, .state = ATTEMPT_RUNNING };
	int i;

	turn(rig, 0);
	rig->disk.full = true;
	hello(rig, "a");
	turn(rig, 0);
	for (i = 0; i < 1000000 && !driver_is_full(rig->driver); i++) {
		struct event e = {
			.kind = EVENT_ATTEMPT, .host = "a", .nattempts = 1, .attempts = &status
		};

		driver_event(rig->driver, &e);
	}
	assert_in_range(i, HOSTS_MAX, 999999);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(facts_before_effects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_host_that_comes_again_and_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense_does_not_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bound, set_up, tear_down),
	};

	return cmocka_run_group_tests_name(
	    "the driver: the journal first, effects after", tests, NULL, NULL);
}
