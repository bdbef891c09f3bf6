/* The ledger is tested against a model that knows what the ledger cannot see: who really has
 * which tokens. Whatever the makes do, no more may be out than the limit allows.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "agent/tokens.h"
#include "proto/limits.h"

/* The pool does at once what is due. */
static void
settle_pool(struct tokens *t)
{
	int64_t due = tokens_due(t);

	if (due > 0)
		tokens_granted(t, due);
	else
		tokens_drained(t, -due);
}

static void
take(struct tokens *t, int64_t n)
{
	tokens_see(t, t->unclaimed - n);
}

static void
give_back(struct tokens *t, int64_t n)
{
	tokens_returned(t, n);
	tokens_see(t, t->unclaimed);
}

static void
test_growth(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 1);
	assert_int_equal(tokens_due(&t), 0);
	tokens_limit(&t, 6);
	assert_int_equal(tokens_due(&t), 5);
	settle_pool(&t);
	assert_int_equal(tokens_due(&t), 0);
	assert_int_equal(t.unclaimed, 5);
}

static void
test_shrink_drains_the_unclaimed_first(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 8);
	settle_pool(&t);
	take(&t, 4);
	tokens_limit(&t, 2);
	assert_int_equal(tokens_due(&t), -3);
	settle_pool(&t);
	assert_int_equal(tokens_held(&t), 4);
	give_back(&t, 3);
	assert_int_equal(tokens_due(&t), 0);
	give_back(&t, 1);
	assert_int_equal(tokens_due(&t), 1);
}

static void
test_limit_is_bounded(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 0);
	assert_int_equal(t.limit, 1);
	tokens_limit(&t, 1000000);
	assert_int_equal(t.limit, JOBS_MAX);
}

static void
test_lost_tokens_are_given_out_anew(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 5);
	settle_pool(&t);
	take(&t, 4);
	tokens_lose(&t, 2);
	assert_int_equal(tokens_held(&t), 2);
	assert_int_equal(tokens_due(&t), 2);
	tokens_lose(&t, 100);
	assert_int_equal(t.lost, 4);
}

static void
test_lost_tokens_that_come_back_are_not_granted_again(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 5);
	settle_pool(&t);
	take(&t, 4);
	tokens_lose(&t, 4);
	settle_pool(&t); /* four anew, so eight may be in use */
	take(&t, 4);
	give_back(&t, 4);
	settle_pool(&t);
	take(&t, 4);
	give_back(&t, 8); /* all of them */
	assert_int_equal(t.lost, 0);
	assert_int_equal(tokens_held(&t), 0);
	settle_pool(&t);
	assert_int_equal(t.unclaimed, 4);
	assert_int_equal(t.extra, 0);
}

static void
test_made_up_tokens_are_extra(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 3);
	settle_pool(&t);
	give_back(&t, 2);
	assert_int_equal(t.extra, 2);
	assert_int_equal(tokens_due(&t), 0);
}

static void
test_found_tokens_hold_back_grants(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 4);
	settle_pool(&t);
	take(&t, 3);
	tokens_lose(&t, 2);
	settle_pool(&t);
	take(&t, 2);
	tokens_find(&t, 2);
	assert_int_equal(tokens_held(&t), 5);
	assert_true(tokens_due(&t) <= 0);
}

static void
test_unpaid_steps_take_the_place_of_tokens(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 4);
	tokens_unpaid(&t, 2);
	assert_int_equal(tokens_due(&t), 1);
	tokens_unpaid(&t, 9);
	assert_int_equal(tokens_due(&t), 0);
	tokens_unpaid(&t, 0);
	assert_int_equal(tokens_due(&t), 3);
}

static void
test_stop_takes_back_what_lies_there(void **state)
{
	struct tokens t;

	(void)state;
	tokens_init(&t, 4);
	settle_pool(&t);
	take(&t, 1);
	tokens_stop(&t);
	assert_int_equal(tokens_due(&t), -2);
	settle_pool(&t);
	give_back(&t, 1);
	assert_int_equal(tokens_due(&t), 0);
	tokens_close(&t);
	assert_int_equal(t.granted, t.returned + t.drained);
}

static void
test_limited_needs_more_than_eight_of_ten(void **state)
{
	struct limited limited = { 0 };
	struct tokens t;

	(void)state;
	tokens_init(&t, 3);
	settle_pool(&t);
	take(&t, 2);
	for (int i = 0; i < 8; i++)
		assert_false(limited_sample(&limited, &t));
	assert_true(limited_sample(&limited, &t));
	give_back(&t, 1); /* a token just back, not yet granted again */
	assert_true(limited_sample(&limited, &t));
	assert_false(limited_sample(&limited, &t));
}

/* ---- random makes ---- */

struct model {
	struct tokens t;
	int64_t pool, held, dead; /* dead: held by clients that were killed */
	int64_t on_the_way; /* returned, not yet read */
};

static int64_t
some(int64_t most)
{
	return most > 0 ? rand() % (most + 1) : 0;
}

static void
let_makes_act(struct model *m)
{
	int64_t n = some(m->pool);

	m->pool -= n;
	m->held += n;
	n = some(m->held);
	m->held -= n;
	m->on_the_way += n;
	if (rand() % 20 == 0) {
		n = some(m->held);
		m->held -= n;
		m->dead += n;
	}
}

static void
let_keeper_act(struct model *m)
{
	int64_t due;

	tokens_returned(&m->t, m->on_the_way);
	m->on_the_way = 0;
	tokens_see(&m->t, m->pool);
	if (m->dead > 0 && rand() % 5 == 0) {
		tokens_lose(&m->t, m->dead);
		m->dead = 0;
	}
	due = tokens_due(&m->t);
	m->pool += due;
	if (due > 0)
		tokens_granted(&m->t, due);
	else
		tokens_drained(&m->t, -due);
}

static void
test_random_makes_never_exceed_the_limit(void **state)
{
	unsigned seed = (unsigned)time(NULL);
	struct model m = { 0 };

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	tokens_init(&m.t, 4);
	for (int i = 0; i < 100000; i++) {
		int64_t was = m.held + m.pool + m.dead;
		int64_t granted = m.t.granted;

		if (rand() % 50 == 0)
			tokens_limit(&m.t, 1 + rand() % 40);
		let_makes_act(&m);
		let_keeper_act(&m);
		assert_int_equal(tokens_held(&m.t), m.held + m.dead);
		assert_true(m.held + m.pool <= m.t.limit - 1 || m.t.granted == granted);
		assert_true(
		    m.held + m.pool + m.dead <= m.t.limit - 1 || m.held + m.pool + m.dead <= was);
	}
	tokens_returned(&m.t, m.held);
	tokens_stop(&m.t);
	tokens_see(&m.t, m.pool);
	tokens_drained(&m.t, m.pool);
	tokens_close(&m.t);
	assert_int_equal(m.t.granted, m.t.returned + m.t.drained + m.t.lost);
	assert_int_equal(m.t.extra, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_shrink_drains_the_unclaimed_first),
		cmocka_unit_test(test_limit_is_bounded),
		cmocka_unit_test(test_lost_tokens_are_given_out_anew),
		cmocka_unit_test(test_lost_tokens_that_come_back_are_not_granted_again),
		cmocka_unit_test(test_made_up_tokens_are_extra),
		cmocka_unit_test(test_found_tokens_hold_back_grants),
		cmocka_unit_test(test_unpaid_steps_take_the_place_of_tokens),
		cmocka_unit_test(test_stop_takes_back_what_lies_there),
		cmocka_unit_test(test_limited_needs_more_than_eight_of_ten),
		cmocka_unit_test(test_random_makes_never_exceed_the_limit),
	};

	return cmocka_run_group_tests_name("token ledger", tests, NULL, NULL);
}
