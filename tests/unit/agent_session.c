/* The agent's half of the conversation, without an agent: inputs in, actions out.
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

#include "agent/session.h"
#include "proto/base/mem.h"

enum { EPOCH = 5, ACTIONS_MAX = 256 };

static char recipe_names[][NAME_SIZE] = { "gmake", "bmake" };

/* What the last input gave. */
static struct action actions[ACTIONS_MAX];
static size_t nactions;
static mono_us now;

static void
take_actions(struct session *session)
{
	nactions = 0;
	while (session_next(session, &actions[nactions]))
		assert_true(++nactions < ACTIONS_MAX);
}

/* The n-th action of a kind, or NULL. */
static const struct action *
action_of(enum action_kind kind, size_t n)
{
	for (size_t i = 0; i < nactions; i++) {
		if (actions[i].kind == kind && n-- == 0)
			return &actions[i];
	}
	return NULL;
}

static const struct message *
sent(enum message_kind kind, size_t n)
{
	for (size_t i = 0; i < nactions; i++) {
		if (actions[i].kind == ACTION_SEND && actions[i].message.envelope.kind == kind &&
		    n-- == 0)
			return &actions[i].message;
	}
	return NULL;
}

static struct session *
session_of(int slots)
{
	struct host_facts facts = { .threads = 8,
		.memory_bytes = INT64_C(1) << 34,
		.slots = slots,
		.nrecipes = 2,
		.recipes = recipe_names };

	now = (mono_us){ 1000 * SECOND_US };
	return session_create(&facts);
}

static void
hear(struct session *session, struct message *m, enum message_kind kind)
{
	m->envelope.kind = kind;
	if (m->envelope.epoch == 0)
		m->envelope.epoch = EPOCH;
	session_message(session, now, m);
	take_actions(session);
}

static void
be_welcomed(struct session *session)
{
	struct message m = { .welcome = { .host = "h1",
				 .report_busy_us = SECOND_US,
				 .report_idle_us = 10 * SECOND_US } };

	session_connected(session, now);
	take_actions(session);
	hear(session, &m, MESSAGE_WELCOME);
}

static struct message
start_of(uint64_t id)
{
	return (struct message){ .start = { .id = { id },
				     .fence = id + 100,
				     .branch = "b",
				     .target = "t",
				     .recipe = "gmake",
				     .source = "s",
				     .jobs_min = 1,
				     .jobs_max = 16,
				     .limit = 8 } };
}

/* Started, and the keeper says so; returns the limit it began with. */
static int32_t
begin(struct session *session, uint64_t id)
{
	struct message m = start_of(id);
	int32_t limit;

	hear(session, &m, MESSAGE_START);
	assert_non_null(action_of(ACTION_START, 0));
	limit = action_of(ACTION_START, 0)->limit;
	session_started(session, now, (attempt_id){ id });
	take_actions(session);
	return limit;
}

static void
hear_stat(struct session *session, uint64_t id, int32_t limit, int32_t running, bool limited,
    int64_t log_bytes)
{
	struct attempt_status s = { .limit = limit,
		.running = running,
		.limited = limited,
		.percent = -1,
		.state = ATTEMPT_RUNNING,
		.log_bytes = log_bytes };

	session_stat(session, now, (attempt_id){ id }, &s);
	take_actions(session);
}

static void
end_it(struct session *session, uint64_t id, enum outcome outcome, int64_t log_bytes)
{
	struct phase_mark phase = { .name = "build", .at_us = 5 };
	struct message_attempt a = { .status = { .id = { id },
					 .state = ATTEMPT_ENDED,
					 .percent = 100,
					 .log_bytes = log_bytes },
		.result = { .outcome = outcome, .nphases = 1, .phases = &phase } };

	session_ended(session, now, &a);
	take_actions(session);
}

static void
hear_log_have(struct session *session, uint64_t id, int64_t offset, bool complete, bool unwanted)
{
	struct message m = { .log_have = { .id = { id },
				 .offset = offset,
				 .complete = complete,
				 .unwanted = unwanted } };

	hear(session, &m, MESSAGE_LOG_HAVE);
}

static void
tick(struct session *session, int64_t seconds)
{
	struct load load = { .missing = ~UINT64_C(0) };

	now = mono_add(now, seconds * SECOND_US);
	session_tick(session, now, 0, &load);
	take_actions(session);
}

/* ---- beginning to talk ---- */

static void
test_hello_lists_what_is_held_and_nothing_else_is_said_before_welcome(void **state)
{
	struct session *session = session_of(2);
	const struct message_start start = start_of(7).start;
	const struct attempt_status status = { .state = ATTEMPT_RUNNING, .percent = -1 };
	const struct message *hello;

	(void)state;
	session_adopt(session, &start, &status);
	tick(session, 60);
	assert_null(action_of(ACTION_SEND, 0));
	session_connected(session, now);
	take_actions(session);
	hello = sent(MESSAGE_HELLO, 0);
	assert_non_null(hello);
	assert_true(action_of(ACTION_SEND, 0)->reliable);
	assert_int_equal(hello->hello.nattempts, 1);
	assert_int_equal(hello->hello.attempts[0].id.n, 7);
	assert_int_equal(hello->hello.attempts[0].fence, 107);
	assert_int_equal(hello->hello.host.nrecipes, 2);
	tick(session, 30);
	assert_null(action_of(ACTION_SEND, 0));
	session_destroy(session);
}

static void
test_reports_come_each_second_with_a_build_and_seldom_without(void **state)
{
	struct session *session = session_of(1);
	int n = 0;

	(void)state;
	be_welcomed(session);
	assert_non_null(sent(MESSAGE_REPORT, 0));
	for (int i = 0; i < 20; i++) {
		tick(session, 1);
		n += sent(MESSAGE_REPORT, 0) != NULL;
	}
	assert_int_equal(n, 2);
	begin(session, 1);
	n = 0;
	for (int i = 0; i < 20; i++) {
		tick(session, 1);
		n += sent(MESSAGE_REPORT, 0) != NULL;
	}
	assert_int_equal(n, 20);
	assert_false(action_of(ACTION_SEND, 0)->reliable);
	assert_int_equal(sent(MESSAGE_REPORT, 0)->report.nattempts, 1);
	session_destroy(session);
}

static void
test_a_refusal_is_said_and_tried_again_slowly(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .refused = { .reason = "upgrade the agent" } };

	(void)state;
	session_connected(session, now);
	take_actions(session);
	hear(session, &m, MESSAGE_REFUSED);
	assert_non_null(strstr(action_of(ACTION_SAY, 0)->text, "upgrade the agent"));
	assert_true(action_of(ACTION_SAY, 0)->urgent);
	for (int i = 0; i < 29; i++) {
		tick(session, 1);
		assert_null(action_of(ACTION_RECONNECT, 0));
	}
	tick(session, 1);
	assert_non_null(action_of(ACTION_RECONNECT, 0));
	tick(session, 1);
	assert_null(action_of(ACTION_RECONNECT, 0));
	session_destroy(session);
}

static void
test_an_unanswered_hello_leads_to_a_new_connection(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	session_connected(session, now);
	take_actions(session);
	tick(session, 59);
	assert_null(action_of(ACTION_RECONNECT, 0));
	tick(session, 1);
	assert_non_null(action_of(ACTION_RECONNECT, 0));
	session_destroy(session);
}

static void
test_an_older_coordinator_is_not_obeyed(void **state)
{
	struct session *session = session_of(1);
	struct message m = start_of(1);

	(void)state;
	session_recall(session, EPOCH + 1, 4);
	be_welcomed(session); /* with EPOCH */
	assert_null(sent(MESSAGE_REPORT, 0));
	assert_non_null(strstr(action_of(ACTION_SAY, 0)->text, "older copy"));
	hear(session, &m, MESSAGE_START);
	assert_null(action_of(ACTION_START, 0));
	m.envelope.epoch = EPOCH + 2;
	hear(session, &m, MESSAGE_START);
	assert_non_null(action_of(ACTION_START, 0));
	assert_int_equal(action_of(ACTION_KEEP, 0)->epoch, EPOCH + 2);
	session_destroy(session);
}

/* ---- starting ---- */

static void
test_a_start_is_told_when_its_keeper_runs_and_only_once(void **state)
{
	struct session *session = session_of(2);
	struct message m = start_of(1);

	(void)state;
	be_welcomed(session);
	hear(session, &m, MESSAGE_START);
	assert_int_equal(action_of(ACTION_START, 0)->limit, 8);
	assert_null(sent(MESSAGE_ATTEMPT, 0));
	session_started(session, now, m.start.id);
	take_actions(session);
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.status.state, ATTEMPT_RUNNING);
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.status.fence, 101);
	hear(session, &m, MESSAGE_START); /* the acknowledgement was lost */
	assert_null(action_of(ACTION_START, 0));
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.status.state, ATTEMPT_RUNNING);
	m.start.fence = 99;
	hear(session, &m, MESSAGE_START);
	assert_null(action_of(ACTION_START, 0));
	assert_null(sent(MESSAGE_ATTEMPT, 0));
	session_destroy(session);
}

static void
test_what_cannot_be_started_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *what, *recipe, *expect;
		int64_t memory;
	} cases[] = {
		{ "an unknown recipe", "cargo", "\"cargo\" is not installed", 0 },
		{ "more memory than there is", "gmake", "bytes of memory", INT64_C(1) << 40 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct session *session = session_of(1);
		struct message m = start_of(1);
		const struct message *told;

		be_welcomed(session);
		mem_copy_text(m.start.recipe, NAME_SIZE, cases[i].recipe);
		m.start.need_memory_bytes = cases[i].memory;
		hear(session, &m, MESSAGE_START);
		told = sent(MESSAGE_ATTEMPT, 0);
		assert_null(action_of(ACTION_START, 0));
		assert_non_null(action_of(ACTION_REFUSED, 0));
		if (told == NULL || told->attempt.result.outcome != OUTCOME_REFUSED ||
		    strstr(told->attempt.result.reason, cases[i].expect) == NULL)
			fail_msg("%s", cases[i].what);
		assert_true(action_of(ACTION_LOG, 0)->last); /* its empty log is complete */
		session_destroy(session);
	}
}

static void
test_a_full_host_refuses_and_has_room_again_after_an_end(void **state)
{
	struct session *session = session_of(1);
	struct message second = start_of(2), third = start_of(3);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear(session, &second, MESSAGE_START);
	assert_non_null(strstr(sent(MESSAGE_ATTEMPT, 0)->attempt.result.reason, "slots"));
	assert_int_equal(session_running(session), 1);
	end_it(session, 1, OUTCOME_OK, 0);
	hear(session, &third, MESSAGE_START);
	assert_non_null(action_of(ACTION_START, 0));
	session_destroy(session);
}

static void
test_a_start_that_failed_is_kept_and_told(void **state)
{
	struct session *session = session_of(1);
	struct message m = start_of(1);

	(void)state;
	be_welcomed(session);
	hear(session, &m, MESSAGE_START);
	session_not_started(session, now, m.start.id, "no room on the disk");
	take_actions(session);
	assert_string_equal(action_of(ACTION_REFUSED, 0)->text, "no room on the disk");
	assert_string_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.result.reason, "no room on the disk");
	hear_log_have(session, 1, 0, true, false);
	assert_int_equal(action_of(ACTION_FORGET, 0)->id.n, 1);
	session_destroy(session);
}

/* ---- cancelling ---- */

static void
test_cancel_goes_to_the_keeper_and_may_come_twice(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .cancel = { .id = { 1 }, .fence = 101, .reason = "by ann" } };

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	for (int i = 0; i < 2; i++) {
		hear(session, &m, MESSAGE_CANCEL);
		assert_string_equal(action_of(ACTION_CANCEL, 0)->text, "by ann");
	}
	end_it(session, 1, OUTCOME_CANCELLED, 0);
	hear(session, &m, MESSAGE_CANCEL); /* already over: said again */
	assert_null(action_of(ACTION_CANCEL, 0));
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.result.outcome, OUTCOME_CANCELLED);
	session_destroy(session);
}

static void
test_cancel_of_an_unknown_attempt_is_answered_with_lost(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .cancel = { .id = { 9 }, .fence = 3 } };

	(void)state;
	be_welcomed(session);
	hear(session, &m, MESSAGE_CANCEL);
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.result.outcome, OUTCOME_LOST);
	assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.status.fence, 3);
	assert_string_equal(
	    sent(MESSAGE_ATTEMPT, 0)->attempt.result.reason, "this agent does not know attempt 9");
	session_destroy(session);
}

static void
test_cancel_with_a_foreign_fence_is_ignored(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .cancel = { .id = { 1 }, .fence = 100 } };

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear(session, &m, MESSAGE_CANCEL);
	assert_null(action_of(ACTION_CANCEL, 0));
	session_destroy(session);
}

/* ---- the end, and forgetting ---- */

static void
test_an_end_is_told_again_until_the_coordinator_has_it(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	session_gone(session);
	end_it(session, 1, OUTCOME_FAILED, 10);
	assert_null(action_of(ACTION_SEND, 0));
	for (int i = 0; i < 2; i++) {
		be_welcomed(session);
		assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.result.outcome, OUTCOME_FAILED);
		assert_int_equal(sent(MESSAGE_ATTEMPT, 0)->attempt.result.nphases, 1);
		session_gone(session);
	}
	be_welcomed(session);
	hear_log_have(session, 1, 10, true, false);
	assert_non_null(action_of(ACTION_FORGET, 0));
	be_welcomed(session);
	assert_null(sent(MESSAGE_ATTEMPT, 0));
	session_destroy(session);
}

static void
test_an_unwanted_attempt_is_not_spoken_of_and_goes_at_its_end(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_log_have(session, 1, 0, false, true);
	assert_null(action_of(ACTION_FORGET, 0)); /* it still runs */
	hear_stat(session, 1, 8, 1, false, 5000);
	assert_null(action_of(ACTION_LOG, 0));
	end_it(session, 1, OUTCOME_CANCELLED, 5000);
	assert_null(sent(MESSAGE_ATTEMPT, 0));
	assert_non_null(action_of(ACTION_FORGET, 0));
	assert_int_equal(session_running(session), 0);
	session_destroy(session);
}

/* ---- logs ---- */

static void
test_a_log_is_sent_a_window_ahead_of_what_is_there(void **state)
{
	struct session *session = session_of(1);
	const int64_t size = 20 * LOG_CHUNK_BYTES;

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 1, false, size);
	assert_non_null(action_of(ACTION_LOG, LOG_WINDOW_CHUNKS - 1));
	assert_null(action_of(ACTION_LOG, LOG_WINDOW_CHUNKS));
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, 0);
	assert_int_equal(action_of(ACTION_LOG, 7)->offset, 7 * LOG_CHUNK_BYTES);
	hear_log_have(session, 1, 2 * LOG_CHUNK_BYTES, false, false);
	assert_non_null(action_of(ACTION_LOG, 1));
	assert_null(action_of(ACTION_LOG, 2));
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, 8 * LOG_CHUNK_BYTES);
	session_destroy(session);
}

static void
test_a_log_ends_with_its_result_and_not_before(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 1, false, 100);
	assert_false(action_of(ACTION_LOG, 0)->last);
	hear_log_have(session, 1, 100, false, false);
	assert_null(action_of(ACTION_LOG, 0));
	end_it(session, 1, OUTCOME_OK, 150);
	assert_true(action_of(ACTION_LOG, 0)->last);
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, 100);
	assert_int_equal(action_of(ACTION_LOG, 0)->nbytes, 50);
	session_destroy(session);
}

static void
test_the_end_is_said_again_when_the_result_was_not_safe_yet(void **state)
{
	struct session *session = session_of(1);
	int n = 0;

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	end_it(session, 1, OUTCOME_OK, 50);
	for (int i = 0; i < 100; i++) { /* and not without bound */
		hear_log_have(session, 1, 50, false, false);
		n += action_of(ACTION_LOG, 0) != NULL;
	}
	assert_in_range(n, 1, 10);
	tick(session, 1);
	hear_log_have(session, 1, 50, false, false);
	assert_true(action_of(ACTION_LOG, 0)->last);
	session_destroy(session);
}

static void
test_after_silence_a_log_is_sent_from_where_the_coordinator_is(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 1, false, 3 * LOG_CHUNK_BYTES);
	hear_log_have(session, 1, LOG_CHUNK_BYTES, false, false);
	tick(session, 4);
	assert_null(action_of(ACTION_LOG, 0));
	tick(session, 1);
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, LOG_CHUNK_BYTES);
	session_destroy(session);
}

static void
test_after_a_reconnect_the_coordinator_says_where_it_is(void **state)
{
	struct session *session = session_of(1);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 1, false, 3 * LOG_CHUNK_BYTES);
	session_gone(session);
	be_welcomed(session);
	hear_stat(session, 1, 8, 1, false, 3 * LOG_CHUNK_BYTES);
	assert_null(action_of(ACTION_LOG, 0));
	hear_log_have(session, 1, 77, false, false);
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, 77);
	session_gone(session);
	be_welcomed(session); /* and when it does not say so */
	tick(session, 5);
	assert_int_equal(action_of(ACTION_LOG, 0)->offset, 77);
	session_destroy(session);
}

/* Chunks and answers may be lost and come late; the log arrives whole, in order, and once. */
static void
test_a_log_arrives_whole_over_a_bad_wire(void **state)
{
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 30; round++) {
		struct session *session = session_of(1);
		int64_t size = 0, have = 0;
		bool complete = false, ended = false;

		be_welcomed(session);
		begin(session, 1);
		for (int i = 0; i < 5000 && !complete; i++) {
			bool told = false;

			if (!ended && rand() % 20 == 0) {
				ended = true;
				end_it(session, 1, OUTCOME_OK, size);
			} else if (!ended && rand() % 2 == 0) {
				size += rand() % (5 * LOG_CHUNK_BYTES);
				hear_stat(session, 1, 8, 1, false, size);
			} else {
				tick(session, 1);
			}
			for (size_t k = 0; k < nactions; k++) {
				if (actions[k].kind != ACTION_LOG || rand() % 4 == 0)
					continue;
				assert_true(actions[k].offset + actions[k].nbytes <= size);
				if (actions[k].offset <= have &&
				    actions[k].offset + actions[k].nbytes > have)
					have = actions[k].offset + actions[k].nbytes;
				complete = complete || (actions[k].last && have == size);
				told = true;
			}
			if (told && !complete && rand() % 4 != 0)
				hear_log_have(session, 1, have, false, false);
		}
		if (!complete || have != size)
			fail_msg("%d of %d bytes (seed %u)", (int)have, (int)size, seed);
		session_destroy(session);
	}
}

/* ---- the limit ---- */

static void
test_a_limit_reaches_the_keeper_at_once_and_is_kept(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .limit = { .limit = 3, .reason = "throttled" } };

	(void)state;
	be_welcomed(session);
	assert_int_equal(begin(session, 1), 8);
	hear(session, &m, MESSAGE_LIMIT);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 3);
	assert_int_equal(action_of(ACTION_KEEP, 0)->limit, 3);
	assert_int_equal(sent(MESSAGE_REPORT, 0)->report.limit, 3);
	hear(session, &m, MESSAGE_LIMIT);
	assert_null(action_of(ACTION_LIMIT, 0));
	m.limit.limit = 400; /* the branch allows 16 */
	hear(session, &m, MESSAGE_LIMIT);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 16);
	session_destroy(session);
}

static void
test_a_pause_reaches_every_keeper_with_what_is_left_of_it(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .limit = { .limit = 3, .paused = true, .pause_us = 60 * SECOND_US } };

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear(session, &m, MESSAGE_LIMIT);
	assert_true(action_of(ACTION_PAUSE, 0)->paused);
	assert_int_equal(action_of(ACTION_PAUSE, 0)->duration_us, 60 * SECOND_US);
	m.limit.pause_us = 0;
	hear(session, &m, MESSAGE_LIMIT);
	assert_true(action_of(ACTION_PAUSE, 0)->paused);
	assert_int_equal(action_of(ACTION_PAUSE, 0)->duration_us, 0);
	m.limit.paused = false;
	hear(session, &m, MESSAGE_LIMIT);
	assert_false(action_of(ACTION_PAUSE, 0)->paused);
	hear(session, &m, MESSAGE_LIMIT);
	assert_null(action_of(ACTION_PAUSE, 0));
	session_destroy(session);
}

static void
test_an_adopted_build_is_told_once_whether_it_is_paused(void **state)
{
	struct session *session = session_of(1);
	struct message_start start = { .id = { 1 }, .fence = 1, .jobs_max = 16 };
	struct attempt_status running = { .state = ATTEMPT_RUNNING, .limit = 3 };
	struct message m = { .limit = { .limit = 3 } };

	(void)state;
	session_adopt(session, &start, &running);
	be_welcomed(session);
	assert_null(action_of(ACTION_PAUSE, 0));
	hear(session, &m, MESSAGE_LIMIT);
	assert_non_null(action_of(ACTION_PAUSE, 0));
	assert_false(action_of(ACTION_PAUSE, 0)->paused);
	hear(session, &m, MESSAGE_LIMIT);
	assert_null(action_of(ACTION_PAUSE, 0));
	session_destroy(session);
}

static void
test_a_keeper_that_did_not_hear_its_limit_is_told_again(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .limit = { .limit = 3 } };

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear(session, &m, MESSAGE_LIMIT);
	hear_stat(session, 1, 8, 2, false, 0);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 3);
	hear_stat(session, 1, 3, 2, false, 0);
	assert_null(action_of(ACTION_LIMIT, 0));
	session_destroy(session);
}

static void
test_without_a_coordinator_the_last_limit_stays(void **state)
{
	struct session *session = session_of(1);
	const struct message_start start = start_of(1).start;
	const struct attempt_status status = { .state = ATTEMPT_RUNNING };

	(void)state;
	session_recall(session, EPOCH, 6);
	session_adopt(session, &start, &status);
	hear_stat(session, 1, 2, 2, true, 0);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 6);
	session_destroy(session);
}

static void
test_an_agent_that_knows_no_limit_leaves_builds_alone(void **state)
{
	struct session *session = session_of(1);
	const struct message_start start = start_of(1).start;
	const struct attempt_status status = { .state = ATTEMPT_RUNNING };

	(void)state;
	session_adopt(session, &start, &status);
	hear_stat(session, 1, 5, 5, true, 0);
	assert_null(action_of(ACTION_LIMIT, 0));
	session_destroy(session);
}

/* Some seconds with so much free memory and pages that come back from swap. */
static void
tick_under(struct session *session, int seconds, double free_bytes, double swap_in)
{
	struct load load = { .missing =
				 ~(UINT64_C(1) << LOAD_MEMORY_FREE | UINT64_C(1) << LOAD_SWAP_IN) };

	load.readings[LOAD_MEMORY_FREE].value = free_bytes;
	load.readings[LOAD_SWAP_IN].value = swap_in;
	for (int i = 0; i < seconds; i++) {
		now = mono_add(now, SECOND_US);
		session_tick(session, now, 0, &load);
		take_actions(session);
	}
}

static void
test_a_host_that_swaps_cuts_its_builds_at_once_and_says_so(void **state)
{
	struct session *session = session_of(2);
	const struct message_report *report;

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 8, true, 0);
	tick_under(session, 1, 9e9, 50e6);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 5);
	assert_true(action_of(ACTION_SAY, 0)->urgent);
	assert_non_null(
	    strstr(action_of(ACTION_SAY, 0)->text, "swapping in 48 MB/s: limit 8 -> 5"));
	report = &sent(MESSAGE_REPORT, 0)->report;
	assert_int_equal(report->limit, 5);
	assert_int_equal(report->guard, 5);
	assert_non_null(strstr(report->guard_reason, "swapping in"));
	session_destroy(session);
}

static void
test_reports_carry_gauges_with_their_age_or_why_there_is_none(void **state)
{
	struct gauge gauges[] = { { .name = "a", .reading = { .value = 7, .age_us = 5 } },
		{ .name = "b", .missing = "no such device" } };
	struct session *session = session_of(1);
	const struct message_report *report;

	(void)state;
	be_welcomed(session);
	session_gauges(session, gauges, 2);
	tick(session, 11);
	report = &sent(MESSAGE_REPORT, 0)->report;
	assert_int_equal(report->ngauges, 2);
	assert_int_equal(report->gauges[0].reading.value, 7);
	assert_string_equal(report->gauges[1].missing, "no such device");
	session_destroy(session);
}

static void
test_the_guard_works_while_the_coordinator_is_away(void **state)
{
	struct session *session = session_of(2);
	struct message m = { .limit = { .limit = 16 } };

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 8, true, 0);
	session_gone(session);
	tick_under(session, 1, 100e6, 0);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 5);
	assert_null(sent(MESSAGE_REPORT, 0));
	be_welcomed(session);
	hear(session, &m, MESSAGE_LIMIT); /* it knows of nothing, and may say what it likes */
	assert_null(action_of(ACTION_LIMIT, 0));
	assert_int_equal(sent(MESSAGE_REPORT, 0)->report.limit, 5);
	hear_stat(session, 1, 5, 5, true, 0);
	tick_under(session, 200, 15e9, 0);
	assert_int_equal(sent(MESSAGE_REPORT, 0)->report.limit, 16);
	assert_int_equal(sent(MESSAGE_REPORT, 0)->report.guard, 0);
	session_destroy(session);
}

static void
test_a_guarded_host_still_runs_a_step_of_each_build(void **state)
{
	struct session *session = session_of(2);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	begin(session, 2);
	for (int i = 0; i < 60; i++) {
		tick_under(session, 1, 50e6, 50e6);
		hear_stat(session, 1, 1, 1, true, 0);
		hear_stat(session, 2, 1, 1, true, 0);
		for (size_t k = 0; action_of(ACTION_LIMIT, k) != NULL; k++)
			assert_int_equal(action_of(ACTION_LIMIT, k)->limit, 1);
	}
	session_destroy(session);
}

static void
test_shares_of_one_limit(void **state)
{
	static const struct {
		const char *what;
		int32_t limit;
		size_t n;
		struct share shares[3];
		int32_t expect[3];
	} cases[] = {
		{ "one build has it all", 8, 1, { { 16, 16 } }, { 8 } },
		{ "but not more than its most", 8, 1, { { 4, 4 } }, { 4 } },
		{ "two hungry ones share evenly", 8, 2, { { 16, 16 }, { 16, 16 } }, { 4, 4 } },
		{ "what is left over goes to the first", 9, 2, { { 16, 16 }, { 16, 16 } },
		    { 5, 4 } },
		{ "a serial one leaves its tokens to its neighbour", 8, 2,
		    { { 16, 2 }, { 16, 16 } }, { 2, 6 } },
		{ "what nobody wants is given out all the same", 12, 2, { { 16, 2 }, { 16, 3 } },
		    { 6, 6 } },
		{ "but not above the most", 12, 2, { { 3, 2 }, { 4, 3 } }, { 3, 4 } },
		{ "a floor of one step, even above the limit", 2, 3,
		    { { 16, 16 }, { 16, 16 }, { 16, 16 } }, { 1, 1, 1 } },
		{ "no limit at all", 0, 1, { { 16, 16 } }, { 1 } },
		{ "a build that wants nothing", 8, 2, { { 16, 0 }, { 16, 16 } }, { 1, 7 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int32_t limits[3] = { 0 };

		session_share(cases[i].limit, cases[i].shares, cases[i].n, limits);
		if (memcmp(limits, cases[i].expect, cases[i].n * sizeof limits[0]) != 0)
			fail_msg("%s: %d %d %d", cases[i].what, limits[0], limits[1], limits[2]);
	}
}

static void
test_any_shares_keep_the_law(void **state)
{
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 2000; round++) {
		struct share shares[SLOTS_MAX];
		int32_t limits[SLOTS_MAX], limit = rand() % JOBS_MAX, sum = 0, room = 0;
		size_t n = (size_t)rand() % SLOTS_MAX + 1;

		for (size_t i = 0; i < n; i++)
			shares[i] = (struct share){ rand() % 40 + 1, rand() % 50 };
		session_share(limit, shares, n, limits);
		for (size_t i = 0; i < n; i++) {
			assert_in_range(limits[i], 1, shares[i].most);
			sum += limits[i];
			room += shares[i].most;
		}
		assert_true(sum <= limit || sum == (int32_t)n);
		assert_true(sum == limit || sum == room || limit < (int32_t)n);
	}
}

static void
test_a_second_build_gets_only_what_the_first_has_let_go(void **state)
{
	struct session *session = session_of(2);
	struct message m = start_of(2);

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	hear_stat(session, 1, 8, 8, true, 0);
	hear(session, &m, MESSAGE_START);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->id.n, 1);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 4);
	assert_int_equal(action_of(ACTION_START, 0)->limit, 1); /* eight still run */
	session_started(session, now, m.start.id);
	take_actions(session);
	hear_stat(session, 1, 4, 6, true, 0);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 2);
	hear_stat(session, 1, 4, 4, true, 0);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->id.n, 2);
	assert_int_equal(action_of(ACTION_LIMIT, 0)->limit, 4);
	session_destroy(session);
}

static void
test_needs_that_alternate_do_not_trade_tokens_every_second(void **state)
{
	struct session *session = session_of(2);
	int changes = 0;

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	begin(session, 2);
	tick(session, 30);
	for (int i = 0; i < 60; i++) {
		bool odd = i & 1;

		now = mono_add(now, SECOND_US);
		hear_stat(session, 1, 4, odd ? 4 : 1, odd, 0);
		changes += action_of(ACTION_LIMIT, 0) != NULL && i > 5;
		hear_stat(session, 2, 4, odd ? 1 : 4, !odd, 0);
		changes += action_of(ACTION_LIMIT, 0) != NULL && i > 5;
	}
	assert_int_equal(changes, 0);
	session_destroy(session);
}

static void
test_a_message_for_others_is_ignored_with_a_word(void **state)
{
	struct session *session = session_of(1);
	struct message m = { .report = { .limit = 1 } };

	(void)state;
	be_welcomed(session);
	hear(session, &m, MESSAGE_REPORT);
	assert_int_equal(nactions, 1);
	assert_int_equal(actions[0].kind, ACTION_SAY);
	session_destroy(session);
}

/* A coordinator that takes results but no logs (its disk is full) must not be given so many attempts
 * that HELLO and REPORT cannot name them any more. */
static void
test_attempts_that_nobody_takes_do_not_pile_up(void **state)
{
	struct session *session = session_of(2);
	struct message m;
	uint64_t id;

	(void)state;
	be_welcomed(session);
	begin(session, 1);
	for (id = 2;; id++) {
		m = start_of(id);
		hear(session, &m, MESSAGE_START);
		if (action_of(ACTION_START, 0) == NULL)
			break;
		session_started(session, now, (attempt_id){ id });
		end_it(session, id, OUTCOME_OK, 10);
		assert_true(id < ATTEMPTS_MAX);
	}
	assert_true(id > ATTEMPTS_MAX / 2);
	assert_non_null(strstr(action_of(ACTION_REFUSED, 0)->text, "has not taken"));
	hear_log_have(session, 2, 10, true, false);
	hear_log_have(session, id, 0, true, false);
	begin(session, id + 1);
	session_destroy(session);
}

static void
test_hello_names_what_it_can_and_what_runs_first(void **state)
{
	struct session *session = session_of(1);
	struct attempt_status status = { .state = ATTEMPT_ENDED, .percent = -1 };
	struct message m;
	const struct message *hello;

	(void)state;
	for (uint64_t id = 1; id <= ATTEMPTS_MAX + 10; id++) {
		m = start_of(id);
		if (id == ATTEMPTS_MAX + 10)
			status.state = ATTEMPT_RUNNING;
		session_adopt(session, &m.start, &status);
	}
	session_connected(session, now);
	take_actions(session);
	hello = sent(MESSAGE_HELLO, 0);
	assert_int_equal(hello->hello.nattempts, ATTEMPTS_MAX);
	assert_int_equal(hello->hello.attempts[0].id.n, ATTEMPTS_MAX + 10);
	assert_int_equal(hello->hello.attempts[1].id.n, 1);
	session_destroy(session);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    test_hello_lists_what_is_held_and_nothing_else_is_said_before_welcome),
		cmocka_unit_test(test_reports_come_each_second_with_a_build_and_seldom_without),
		cmocka_unit_test(test_a_refusal_is_said_and_tried_again_slowly),
		cmocka_unit_test(test_an_unanswered_hello_leads_to_a_new_connection),
		cmocka_unit_test(test_an_older_coordinator_is_not_obeyed),
		cmocka_unit_test(test_a_start_is_told_when_its_keeper_runs_and_only_once),
		cmocka_unit_test(test_what_cannot_be_started_is_refused_with_the_reason),
		cmocka_unit_test(test_a_full_host_refuses_and_has_room_again_after_an_end),
		cmocka_unit_test(test_a_start_that_failed_is_kept_and_told),
		cmocka_unit_test(test_cancel_goes_to_the_keeper_and_may_come_twice),
		cmocka_unit_test(test_cancel_of_an_unknown_attempt_is_answered_with_lost),
		cmocka_unit_test(test_cancel_with_a_foreign_fence_is_ignored),
		cmocka_unit_test(test_an_end_is_told_again_until_the_coordinator_has_it),
		cmocka_unit_test(test_an_unwanted_attempt_is_not_spoken_of_and_goes_at_its_end),
		cmocka_unit_test(test_a_log_is_sent_a_window_ahead_of_what_is_there),
		cmocka_unit_test(test_a_log_ends_with_its_result_and_not_before),
		cmocka_unit_test(test_the_end_is_said_again_when_the_result_was_not_safe_yet),
		cmocka_unit_test(test_after_silence_a_log_is_sent_from_where_the_coordinator_is),
		cmocka_unit_test(test_after_a_reconnect_the_coordinator_says_where_it_is),
		cmocka_unit_test(test_a_log_arrives_whole_over_a_bad_wire),
		cmocka_unit_test(test_a_limit_reaches_the_keeper_at_once_and_is_kept),
		cmocka_unit_test(test_a_pause_reaches_every_keeper_with_what_is_left_of_it),
		cmocka_unit_test(test_an_adopted_build_is_told_once_whether_it_is_paused),
		cmocka_unit_test(test_a_keeper_that_did_not_hear_its_limit_is_told_again),
		cmocka_unit_test(test_without_a_coordinator_the_last_limit_stays),
		cmocka_unit_test(test_an_agent_that_knows_no_limit_leaves_builds_alone),
		cmocka_unit_test(test_a_host_that_swaps_cuts_its_builds_at_once_and_says_so),
		cmocka_unit_test(test_reports_carry_gauges_with_their_age_or_why_there_is_none),
		cmocka_unit_test(test_the_guard_works_while_the_coordinator_is_away),
		cmocka_unit_test(test_a_guarded_host_still_runs_a_step_of_each_build),
		cmocka_unit_test(test_shares_of_one_limit),
		cmocka_unit_test(test_any_shares_keep_the_law),
		cmocka_unit_test(test_a_second_build_gets_only_what_the_first_has_let_go),
		cmocka_unit_test(test_needs_that_alternate_do_not_trade_tokens_every_second),
		cmocka_unit_test(test_a_message_for_others_is_ignored_with_a_word),
		cmocka_unit_test(test_attempts_that_nobody_takes_do_not_pile_up),
		cmocka_unit_test(test_hello_names_what_it_can_and_what_runs_first),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
