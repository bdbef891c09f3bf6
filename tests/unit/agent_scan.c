/* Trees as makes really build them, each with the sentence that it stands for.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/scan.h"
#include "proto/base/mem.h"

enum { KEEPER = 100, ROOT = 101, TREE_MAX = 12 };

/* "PID PARENT NAME" for each process; a Z behind it: zombie, S: a session of its own. */
struct tree {
	const char *what, *processes;
	struct scan want;
};

static const struct tree trees[] = {
	{ "a recipe that runs no make has no steps and uses no token",
	    "101 100 recipe, 102 101 cc1", { .makes = 0 } },
	{ "a top make with three steps has its free one and uses two tokens",
	    "101 100 recipe, 102 101 make, 103 102 sh, 104 103 gcc, 105 104 cc1, 106 102 gcc, 107 "
	    "102 ld",
	    { .makes = 1, .tops = 1, .steps = 3, .occupied = 3 } },
	{ "a pipeline is one step", "101 100 make, 102 101 sh, 103 102 sed, 104 102 awk",
	    { .makes = 1, .tops = 1, .steps = 1, .occupied = 1 } },
	{ "a shell around a sub-make is no step; the sub-make's children are",
	    "101 100 recipe, 102 101 make, 103 102 sh, 104 103 make, 105 104 cc, 106 104 cc",
	    { .makes = 2, .tops = 1, .steps = 2, .occupied = 2 } },
	{ "a sub-make that is reading its makefile occupies its parent's token",
	    "101 100 gmake, 102 101 gmake, 103 101 cc",
	    { .makes = 2, .tops = 1, .steps = 1, .occupied = 2 } },
	{ "a dead step that its make has not seen still occupies its token",
	    "101 100 bmake, 102 101 cc Z, 103 101 cc",
	    { .makes = 1, .tops = 1, .steps = 1, .occupied = 2 } },
	{ "two makes side by side in a recipe have a free step each",
	    "101 100 recipe, 102 101 make, 103 102 cc, 104 101 nbmake-amd64, 105 104 cc, 106 104 "
	    "cc",
	    { .makes = 2, .tops = 2, .steps = 3, .occupied = 3 } },
	{ "the steps of a killed make are orphans and occupy tokens",
	    "101 100 make, 103 101 cc, 104 100 sh, 105 104 cc1, 106 100 cc",
	    { .makes = 1, .tops = 1, .steps = 1, .orphans = 2, .occupied = 3 } },
	{ "a make whose own parent was killed is no top: its token is the dead one's",
	    "101 100 make, 102 101 cc, 103 100 make, 104 103 cc",
	    { .makes = 2, .tops = 1, .steps = 2, .orphan_makes = 1, .occupied = 2 } },
	{ "a daemon that left the recipe's session is nobody's step",
	    "101 100 make, 102 101 cc, 103 100 sccache S",
	    { .makes = 1, .tops = 1, .steps = 1, .occupied = 1 } },
	{ "where rustc runs, tokens are held in threads and nothing is sure",
	    "101 100 make, 102 101 cargo, 103 102 rustc",
	    { .makes = 1, .tops = 1, .steps = 1, .occupied = 1, .unsure = true } },
	{ "ninja's children are steps", "101 100 ninja, 102 101 sh, 103 101 sh",
	    { .makes = 1, .tops = 1, .steps = 2, .occupied = 2 } },
	{ "parents that form a ring, as a torn list may show them, do not hang the scan",
	    "101 100 make, 102 103 sh, 103 102 make", { .makes = 2, .tops = 1, .occupied = 1 } },
};

static size_t
fill(const struct tree *tree, struct os_process *list)
{
	char text[512], *save = NULL;
	size_t n = 0;

	mem_copy_text(text, sizeof text, tree->processes);
	for (char *p = strtok_r(text, ",", &save); p != NULL; p = strtok_r(NULL, ",", &save), n++) {
		char flag = ' ';

		assert_true(n < TREE_MAX);
		assert_true(sscanf(p, "%d %d %31s %c", &list[n].pid, &list[n].parent, list[n].name,
				&flag) >= 3);
		list[n].zombie = flag == 'Z';
		list[n].session = flag == 'S' ? list[n].pid : ROOT;
	}
	return n;
}

static void
test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		struct os_process list[TREE_MAX] = { 0 };
		struct scan scan;

		print_message("%s\n", trees[i].what);
		scan_tree(list, fill(&trees[i], list), KEEPER, ROOT, &scan);
		assert_int_equal(scan.makes, trees[i].want.makes);
		assert_int_equal(scan.tops, trees[i].want.tops);
		assert_int_equal(scan.steps, trees[i].want.steps);
		assert_int_equal(scan.orphans, trees[i].want.orphans);
		assert_int_equal(scan.orphan_makes, trees[i].want.orphan_makes);
		assert_int_equal(scan.occupied, trees[i].want.occupied);
		assert_int_equal(scan.unsure, trees[i].want.unsure);
	}
}

/* ---- judging ---- */

static struct verdict
judge(struct suspicion *s, struct scan scan, int64_t held, int64_t lost)
{
	struct verdict v;

	suspicion_judge(s, &scan, held, held, lost, &v);
	return v;
}

static void
test_a_healthy_build_is_left_alone(void **state)
{
	struct scan healthy = { .makes = 3, .tops = 1, .steps = 5, .occupied = 5 };
	struct suspicion s = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct verdict v = judge(&s, healthy, 4, 0);

		assert_int_equal(v.lose, 0);
		assert_int_equal(v.unpaid, 0);
		assert_false(v.ungoverned);
		assert_true(v.again_us >= 5000000);
	}
}

static void
test_missing_tokens_are_booked_when_four_scans_agree_and_the_least_counts(void **state)
{
	struct scan few = { .makes = 1, .tops = 1, .steps = 2, .occupied = 2 };
	struct suspicion s = { 0 };

	(void)state;
	assert_int_equal(judge(&s, few, 4, 0).lose, 0);
	assert_int_equal(judge(&s, few, 5, 0).lose, 0);
	assert_true(judge(&s, few, 3, 0).again_us <= 1000000);
	assert_int_equal(judge(&s, few, 5, 0).lose, 2);
}

static void
test_one_scan_that_disagrees_clears_the_suspicion(void **state)
{
	struct scan few = { .makes = 1, .tops = 1, .steps = 2, .occupied = 2 };
	struct scan enough = { .makes = 1, .tops = 1, .steps = 5, .occupied = 5 };
	struct suspicion s = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(judge(&s, few, 4, 0).lose, 0);
	assert_int_equal(judge(&s, enough, 4, 0).lose, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(judge(&s, few, 4, 0).lose, 0);
}

static void
test_nothing_is_booked_while_unsure(void **state)
{
	struct scan cargo = { .makes = 1, .tops = 1, .steps = 1, .occupied = 1, .unsure = true };
	struct suspicion s = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(judge(&s, cargo, 7, 0).lose, 0);
}

static void
test_too_many_steps_twice_is_ungoverned_until_they_fit_twice(void **state)
{
	struct scan eight = { .makes = 2, .tops = 1, .steps = 8, .occupied = 8 };
	struct scan four = { .makes = 2, .tops = 1, .steps = 4, .occupied = 4 };
	struct suspicion s = { 0 };

	(void)state;
	assert_false(judge(&s, eight, 3, 0).ungoverned);
	assert_true(judge(&s, eight, 3, 0).ungoverned);
	assert_true(judge(&s, four, 3, 0).ungoverned);
	assert_false(judge(&s, four, 3, 0).ungoverned);
}

static void
test_one_step_too_many_is_a_shell_function(void **state)
{
	struct scan five = { .makes = 2, .tops = 1, .steps = 5, .occupied = 5 };
	struct suspicion s = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_false(judge(&s, five, 3, 0).ungoverned);
}

static void
test_orphans_beyond_the_held_tokens_are_unpaid(void **state)
{
	/* limit 6: the killed make's three steps go on, of which two are paid by its tokens */
	struct scan after = { .makes = 1, .tops = 1, .steps = 4, .orphans = 3, .occupied = 7 };
	struct scan ended = { .makes = 1, .tops = 1, .steps = 4, .occupied = 4 };
	struct suspicion s = { 0 };

	(void)state;
	assert_int_equal(judge(&s, after, 5, 0).unpaid, 0);
	assert_int_equal(judge(&s, after, 5, 0).unpaid, 1);
	assert_int_equal(judge(&s, ended, 5, 0).unpaid, 0);
}

/* A step that is just being begun is in no list: one scan without it gives nothing out. */
static void
test_scans_that_see_fewer_in_between_lift_nothing(void **state)
{
	struct scan scan = { .makes = 2, .tops = 1, .steps = 7, .orphan_makes = 1, .occupied = 7 };
	struct scan fewer = scan;
	struct suspicion s = { 0 };

	(void)state;
	fewer.steps = fewer.occupied = 6;
	judge(&s, scan, 5, 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(judge(&s, fewer, 5, 0).unpaid, i == 0 ? 0 : 1);
		assert_int_equal(judge(&s, scan, 5, 0).unpaid, 1);
	}
	for (int i = 0; i < UNPAID_SCANS; i++)
		judge(&s, fewer, 5, 0);
	assert_int_equal(judge(&s, fewer, 5, 0).unpaid, 0);
}

static void
test_the_free_step_of_an_orphaned_make_is_unpaid(void **state)
{
	struct scan scan = { .makes = 2, .tops = 1, .steps = 7, .orphan_makes = 1, .occupied = 7 };
	struct suspicion s = { 0 };

	(void)state;
	judge(&s, scan, 5, 0);
	assert_int_equal(judge(&s, scan, 5, 0).unpaid, 1);
	assert_false(s.ungoverned);
}

static void
test_lost_tokens_in_use_are_found_and_not_called_ungoverned(void **state)
{
	struct scan seven = { .makes = 2, .tops = 1, .steps = 7, .occupied = 7 };
	struct suspicion s = { 0 };

	(void)state;
	assert_int_equal(judge(&s, seven, 4, 3).find, 0);
	assert_int_equal(judge(&s, seven, 4, 3).find, 0);
	assert_false(s.ungoverned);
	assert_int_equal(judge(&s, seven, 4, 3).find, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_a_healthy_build_is_left_alone),
		cmocka_unit_test(
		    test_missing_tokens_are_booked_when_four_scans_agree_and_the_least_counts),
		cmocka_unit_test(test_one_scan_that_disagrees_clears_the_suspicion),
		cmocka_unit_test(test_nothing_is_booked_while_unsure),
		cmocka_unit_test(test_too_many_steps_twice_is_ungoverned_until_they_fit_twice),
		cmocka_unit_test(test_one_step_too_many_is_a_shell_function),
		cmocka_unit_test(test_orphans_beyond_the_held_tokens_are_unpaid),
		cmocka_unit_test(test_scans_that_see_fewer_in_between_lift_nothing),
		cmocka_unit_test(test_the_free_step_of_an_orphaned_make_is_unpaid),
		cmocka_unit_test(test_lost_tokens_in_use_are_found_and_not_called_ungoverned),
	};

	return cmocka_run_group_tests_name("process scan", tests, NULL, NULL);
}
