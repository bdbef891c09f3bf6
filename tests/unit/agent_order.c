/* The files of an attempt's folder: whole, from another version, or damaged.
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
#include <unistd.h>

#include <cmocka.h>

#include "agent/order.h"
#include "proto/base/mem.h"

static char folder[] = "/tmp/flyball-order.XXXXXX";

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof path, "%s/order", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/result", folder);
	unlink(path);
	return rmdir(folder);
}

static void
put_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char good_order[] = "id=5\nprogram=/r\nwork=/w\nout=/o\ntag=t\npool=fifo\nlimit=4\n"
				 "log_cap_bytes=1000\n";

static void
test_an_order_comes_back_as_it_was(void **state)
{
	struct order order = {
		.limit = 12, .ceiling = 48, .pool = POOL_FIFO, .log_cap_bytes = 1 << 20
	};
	struct order back;
	struct err err;

	(void)state;
	order.start.id.n = UINT64_MAX;
	order.start.fence = 9;
	order.start.timeout_us = INT64_MAX;
	order.start.expected_us = -1;
	mem_copy_text(order.start.branch, NAME_SIZE, "netbsd-9");
	mem_copy_text(order.program, SOURCE_SIZE, "/usr/libexec/a recipe");
	mem_copy_text(order.source, SOURCE_SIZE, "/src/with\nnewline\\and=more");
	mem_copy_text(order.work, SOURCE_SIZE, "/w");
	memset(order.out, 'o', SOURCE_SIZE - 1);
	order.out[0] = '/';
	mem_copy_text(order.tag, UUID_SIZE, "tag");
	assert_int_equal(order_write(folder, &order, &err), 0);
	assert_int_equal(order_read(folder, &back, &err), 0);
	assert_memory_equal(&order, &back, sizeof order);
}

static void
test_a_result_comes_back_as_it_was(void **state)
{
	struct message_attempt attempt = { 0 }, back;
	struct err err;
	bool there;

	(void)state;
	attempt.status.id.n = 3;
	attempt.status.state = ATTEMPT_ENDED;
	attempt.status.ungoverned = true;
	attempt.status.granted = 856;
	attempt.result.outcome = OUTCOME_STALL;
	attempt.result.exit_code = 137;
	mem_copy_text(attempt.result.reason, TEXT_SIZE, "it printed nothing\nfor long");
	attempt.result.usage.user_us = INT64_C(1) << 50;
	assert_int_equal(result_write(folder, &attempt, &err), 0);
	assert_int_equal(result_read(folder, &back, &there, &err), 0);
	assert_true(there);
	assert_memory_equal(&attempt, &back, sizeof attempt);
}

static void
test_no_result_yet_is_no_error(void **state)
{
	struct message_attempt attempt;
	struct err err;
	bool there = true;

	(void)state;
	assert_int_equal(result_read("/nonexistent", &attempt, &there, &err), 0);
	assert_false(there);
}

static void
test_keys_of_a_later_version_are_passed_over(void **state)
{
	struct order order;
	struct err err;
	char text[512];

	(void)state;
	snprintf(text, sizeof text, "colour=blue\n%send=order\n", good_order);
	put_file("order", text);
	assert_int_equal(order_read(folder, &order, &err), 0);
	assert_int_equal(order.start.id.n, 5);
	assert_int_equal(order.pool, POOL_FIFO);
}

static const struct {
	const char *what, *add, *says;
} damaged[] = {
	{ "a file without its last line is cut short", "fence=1\n", "cut short: line 10" },
	{ "a line without its end is cut short", "fence=1", ":9: the line is cut short" },
	{ "a line without = is malformed", "fence\nend=order\n", ":9: the value of \"fence\"" },
	{ "a number with letters is malformed", "fence=1x\nend=order\n", ":9:" },
	{ "a number out of range is malformed", "ceiling=99999999999\nend=order\n", ":9:" },
	{ "a negative fence is malformed", "fence=-1\nend=order\n", ":9:" },
	{ "an empty number is malformed", "ceiling=\nend=order\n", ":9:" },
	{ "an unknown pool is malformed", "pool=lake\nend=order\n", "\"pool\"" },
	{ "an unknown escape is malformed", "source=a\\tb\nend=order\n", "\"source\"" },
	{ "a relative workspace is refused", "work=w\nend=order\n", "absolute" },
	{ "a limit of none is refused", "limit=0\nend=order\n", "between 1 and 480" },
};

static void
test_damage_is_named_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
		struct order order;
		struct err err;
		char text[512];

		print_message("%s\n", damaged[i].what);
		snprintf(text, sizeof text, "%s%s", good_order, damaged[i].add);
		put_file("order", text);
		assert_int_equal(order_read(folder, &order, &err), -1);
		if (strstr(err.text, damaged[i].says) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err.text, damaged[i].says);
	}
}

static void
test_a_missing_key_is_named(void **state)
{
	struct order order;
	struct err err;

	(void)state;
	put_file("order", "id=5\nend=order\n");
	assert_int_equal(order_read(folder, &order, &err), -1);
	assert_non_null(strstr(err.text, "\"program=\""));
}

static void
test_a_usage_comes_back_as_it_was(void **state)
{
	const struct usage usage = { 1, 2, INT64_C(1) << 40, 4, 5, 6, 7, -1, -1 };
	struct usage back;
	char text[USAGE_TEXT_SIZE];

	(void)state;
	usage_print(&usage, text, sizeof text);
	assert_non_null(usage_parse(text, &back));
	assert_memory_equal(&usage, &back, sizeof back);
	assert_null(usage_parse("1 2 3", &back));
	assert_null(usage_parse("1 2 3 4 5 6 7 8 x", &back));
	assert_memory_equal(&usage, &back, sizeof back); /* untouched */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_order_comes_back_as_it_was),
		cmocka_unit_test(test_a_result_comes_back_as_it_was),
		cmocka_unit_test(test_no_result_yet_is_no_error),
		cmocka_unit_test(test_keys_of_a_later_version_are_passed_over),
		cmocka_unit_test(test_damage_is_named_with_its_line),
		cmocka_unit_test(test_a_missing_key_is_named),
		cmocka_unit_test(test_a_usage_comes_back_as_it_was),
	};

	return cmocka_run_group_tests_name(
	    "order and result files", tests, make_folder, remove_folder);
}
