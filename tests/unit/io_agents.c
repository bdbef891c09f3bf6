/* The coordinator's end of the wire to its agents, over real sockets: what an agent is told, and
 * when, and what it cannot do to others.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/agents.h"
#include "coordinator/io/build_log.h"
#include "proto/base/mem.h"
#include "tests/unit/io_disk.h"

#define DEADLINE_US (20 * SECOND_US)

enum { AGENTS = 2 };

struct rig;

/* An agent, as far as the wire shows one. */
struct agent {
	struct rig *rig;
	struct key_pair keys;
	struct hub *hub;
	struct channel *channel;
	struct peer *peer;
	struct text heard; /* words, in order */
	bool refused;
	int32_t limit;
	bool mute; /* acknowledges nothing */
};

struct rig {
	char folder[64], logs[80], readings[80], endpoint[256];
	struct disk disk;
	struct loop *loop;
	struct key_pair keys;
	struct config config;
	struct series *series;
	struct locks *locks;
	struct driver *driver;
	struct hub *hub;
	struct agents *agents;
	struct agent agent[AGENTS];
};

static const char *const names[AGENTS] = { "alpha", "beta" };

/* ---- the coordinator -------------------------------------------------------------------- */

static const char *
key_name(void *arg, const char *domain, const char *key)
{
	struct rig *rig = arg;
	int i;

	(void)domain;
	for (i = 0; i < AGENTS; i++)
		if (strcmp(rig->agent[i].keys.public_key, key) == 0)
			return names[i];
	return NULL;
}

static void
on_effect(void *arg, const struct effect *e)
{
	struct rig *rig = arg;

	if (e->kind != EFFECT_REFUSE && e->kind != EFFECT_REPLY)
		agents_effect(rig->agents, e);
}

static void
on_committed(void *arg)
{
	struct rig *rig = arg;

	agents_acknowledge(rig->agents);
}

static void
start_coordinator(struct rig *rig)
{
	struct driver_callbacks callbacks = { on_effect, on_committed, rig };
	struct err err;

	disk_init(&rig->disk);
	rig->hub = hub_create(rig->loop, key_name, NULL, rig);
	rig->series = series_open(rig->readings, &err);
	rig->locks = locks_open(rig->logs);
	rig->driver = driver_create(rig->loop, &rig->disk.store, NULL, &callbacks);
	assert_int_equal(driver_start(rig->driver, &err), 0);
	key_pair_create(&rig->keys);
	mem_copy_text(rig->config.agents, sizeof rig->config.agents, rig->endpoint);
	rig->config.report_busy_us = rig->config.report_idle_us = SECOND_US;
	rig->agents = agents_create(
	    rig->hub, &rig->config, &rig->keys, rig->logs, rig->series, rig->locks, &err);
	assert_non_null(rig->agents);
	agents_attach(rig->agents, rig->driver);
}

/* ---- agents ----------------------------------------------------------------------------- */

static void
say(struct agent *agent, struct message *m, bool reliable)
{
	struct err err = { "" };

	if (channel_send(agent->channel, agent->peer, m, reliable, &err) < 0)
		fail_msg("%s", err.text);
}

static void
on_message(void *arg, struct peer *peer, struct message *m)
{
	struct agent *agent = arg;

	(void)peer;
	if (m->envelope.kind == MESSAGE_LIMIT)
		agent->limit = m->limit.limit;
	text_printf(&agent->heard, "%s%s;", message_kind_name(m->envelope.kind),
	    m->envelope.kind != MESSAGE_LOG_HAVE ? ""
	    : m->log_have.complete               ? " complete"
	    : m->log_have.unwanted               ? " unwanted"
						 : " more");
	if (!agent->mute)
		channel_acknowledge(agent->channel);
}

static void
on_gone(void *arg, struct peer *peer, const char *why)
{
	struct agent *agent = arg;

	(void)peer;
	agent->peer = NULL;
	agent->refused = agent->refused || strstr(why, "refused us") != NULL;
	agent->limit = 0; /* what it hears from here on is of the next session */
	agent->heard.length = 0;
	text_add(&agent->heard, "");
}

static void
on_connected(void *arg, struct peer *peer)
{
	struct agent *agent = arg;
	struct message m = { .envelope.kind = MESSAGE_HELLO };
	char recipes[1][NAME_SIZE] = { "gmake" };

	agent->peer = peer;
	m.hello.host.nrecipes = 1;
	m.hello.host.recipes = recipes;
	m.hello.version_min = m.hello.version_max = PROTOCOL_VERSION;
	m.hello.host.threads = 4;
	m.hello.host.slots = 1;
	mem_copy_text(m.hello.host.start_id, UUID_SIZE, "s");
	mem_copy_text(m.hello.host.boot_id, UUID_SIZE, "b");
	mem_copy_text(m.hello.host.agent_version, NAME_SIZE, "1");
	mem_copy_text(m.hello.host.os, NAME_SIZE, "Linux");
	mem_copy_text(m.hello.host.release, NAME_SIZE, "6.1");
	mem_copy_text(m.hello.host.arch, NAME_SIZE, "x86_64");
	say(agent, &m, true);
}

static void
start_agent(struct rig *rig, int i)
{
	struct agent *agent = &rig->agent[i];
	const struct channel_callbacks callbacks = { on_message, on_gone, on_connected, NULL,
		agent };
	const struct channel_connect_options options = { rig->endpoint, &agent->keys,
		rig->keys.public_key, AGENT_MESSAGE_BYTES, 0 };
	struct err err;

	agent->rig = rig;
	text_add(&agent->heard, "");
	agent->hub = hub_create(rig->loop, NULL, NULL, NULL);
	agent->channel = channel_connect(agent->hub, &options, &callbacks, &err);
	assert_non_null(agent->channel);
}

/* ---- time ------------------------------------------------------------------------------- */

static void
on_time(void *arg)
{
	loop_stop(arg);
}

static void
turn(struct rig *rig, int64_t us)
{
	struct loop_watch *timer = loop_timer_add(rig->loop, us, 0, on_time, rig->loop);

	loop_run(rig->loop);
	loop_remove(timer);
}

static bool
has_heard(const struct rig *rig, int i, const char *words)
{
	return strstr(rig->agent[i].heard.text, words) != NULL;
}

static void
wait_for(struct rig *rig, int i, const char *words)
{
	mono_us end = mono_add(loop_now(), DEADLINE_US);

	while (!has_heard(rig, i, words)) {
		if (mono_since(end, loop_now()) > 0)
			fail_msg("%s has not heard \"%s\", but \"%s\"", names[i], words,
			    rig->agent[i].heard.text);
		turn(rig, SECOND_US / 100);
	}
}

/* ---- each test -------------------------------------------------------------------------- */

static int
set_up(void **state)
{
	struct rig *rig = mem_calloc(1, sizeof *rig);
	int i;

	strcpy(rig->folder, "/tmp/flyball-agents.XXXXXX");
	if (mkdtemp(rig->folder) == NULL)
		return -1;
	snprintf(rig->logs, sizeof rig->logs, "%s/logs", rig->folder);
	snprintf(rig->readings, sizeof rig->readings, "%s/series", rig->folder);
	mkdir(rig->logs, 0750);
	strcpy(rig->endpoint, "tcp://127.0.0.1:*");
	rig->loop = loop_create();
	for (i = 0; i < AGENTS; i++)
		key_pair_create(&rig->agent[i].keys);
	start_coordinator(rig);
	mem_copy_text(rig->endpoint, sizeof rig->endpoint, agents_endpoint(rig->agents));
	for (i = 0; i < AGENTS; i++)
		start_agent(rig, i);
	for (i = 0; i < AGENTS; i++)
		wait_for(rig, i, "limit;");
	*state = rig;
	return 0;
}

static int
tear_down(void **state)
{
	struct rig *rig = *state;
	char command[128];
	int i;

	for (i = 0; i < AGENTS; i++) {
		channel_destroy(rig->agent[i].channel);
		hub_destroy(rig->agent[i].hub);
		free(rig->agent[i].heard.text);
	}
	agents_destroy(rig->agents);
	driver_destroy(rig->driver);
	series_close(rig->series);
	locks_close(rig->locks);
	hub_destroy(rig->hub);
	loop_destroy(rig->loop);
	disk_clear(&rig->disk);
	snprintf(command, sizeof command, "rm -rf %s", rig->folder);
	free(rig);
	return system(command);
}

/* Attempt 1, of build 1, on alpha. */
static void
grant(struct rig *rig)
{
	struct policy *policy = policy_create();
	struct event e = { .kind = EVENT_POLICY, .policy = policy };
	struct plan_move move = { .build.n = 1, .host = "alpha" };

	mem_copy_text(policy->branch, NAME_SIZE, "main");
	mem_copy_text(policy->recipe, NAME_SIZE, "gmake");
	mem_copy_text(policy->source, SOURCE_SIZE, "main");
	policy->jobs_min = 1;
	policy->jobs_max = 4;
	policy->ntargets = 1;
	policy->targets = mem_calloc(1, sizeof *policy->targets);
	mem_copy_text(policy->targets[0].name, NAME_SIZE, "all");
	driver_event(rig->driver, &e);
	event_clear(&e);
	e = (struct event){ .kind = EVENT_RUN, .branch = "main" };
	driver_event(rig->driver, &e);
	e = (struct event){ .kind = EVENT_PLAN, .nmoves = 1, .moves = &move };
	driver_event(rig->driver, &e);
	wait_for(rig, 0, "start;");
}

static uint64_t
fence_of(const struct rig *rig)
{
	return cluster_find_attempt(driver_cluster(rig->driver), (attempt_id){ 1 })->fence;
}

static void
say_report(struct agent *agent, struct attempt_status *attempts, size_t n)
{
	struct message m = { .envelope.kind = MESSAGE_REPORT };

	m.report.limit = 4;
	m.report.load.missing = (UINT64_C(1) << LOAD_READINGS) - 1;
	m.report.attempts = attempts;
	m.report.nattempts = n;
	mem_copy_text(m.report.start_id, UUID_SIZE, "s");
	mem_copy_text(m.report.boot_id, UUID_SIZE, "b");
	say(agent, &m, false);
}

static void
say_ended(struct rig *rig)
{
	struct message m = { .envelope.kind = MESSAGE_ATTEMPT };

	m.attempt.status = (struct attempt_status){
		.id = { 1 }, .fence = fence_of(rig), .state = ATTEMPT_ENDED, .percent = -1
	};
	m.attempt.result.outcome = OUTCOME_OK;
	say(&rig->agent[0], &m, true);
}

static void
say_log(struct rig *rig, int64_t offset, const char *bytes, bool last)
{
	struct message m = { .envelope.kind = MESSAGE_LOG };

	m.log.id.n = 1;
	m.log.fence = fence_of(rig);
	m.log.offset = offset;
	m.log.bytes = (uint8_t *)bytes;
	m.log.nbytes = strlen(bytes);
	m.log.last = last;
	say(&rig->agent[0], &m, false);
}

/* ---- tests ------------------------------------------------------------------------------ */

/* An agent forgets an attempt when it hears "complete". */
static void
complete_is_said_after_the_journal_has_the_result(void **state)
{
	struct rig *rig = *state;

	grant(rig);
	rig->disk.full = true;
	say_ended(rig);
	say_log(rig, 0, "all of it\n", true);
	usleep(200000); /* so that, as a rule, both come in one turn: the harder case */
	wait_for(rig, 0, "log-have");
	turn(rig, SECOND_US / 2);
	assert_false(has_heard(rig, 0, "complete"));
	rig->disk.full = false;
	turn(rig, 2 * SECOND_US);
	say_log(rig, 10, "", true);
	wait_for(rig, 0, "log-have complete");
}

static void
a_log_that_would_never_end(void **state)
{
	struct rig *rig = *state;
	char path[128];
	int fd;

	grant(rig);
	say_log(rig, 0, "begins\n", false);
	wait_for(rig, 0, "log-have more");
	snprintf(path, sizeof path, "%s/1.log", rig->logs);
	fd = open(path, O_WRONLY);
	assert_int_equal(ftruncate(fd, LOG_MOST_BYTES + LOG_CHUNK_BYTES - 5), 0);
	close(fd);
	say_log(rig, LOG_MOST_BYTES + LOG_CHUNK_BYTES - 5, "12345", false);
	say_log(rig, LOG_MOST_BYTES + LOG_CHUNK_BYTES, "6", false);
	wait_for(rig, 0, "log-have more;log-have more;log-have more");
	assert_int_equal(
	    build_log_size(rig->logs, (attempt_id){ 1 }), LOG_MOST_BYTES + LOG_CHUNK_BYTES);
}

static void
readings_of_attempts_of_others(void **state)
{
	struct rig *rig = *state;
	struct attempt_status attempts[] = {
		{ .id = { 1 }, .fence = 1, .state = ATTEMPT_RUNNING, .percent = -1 },
		{ .id = { 999 }, .fence = 1, .state = ATTEMPT_RUNNING, .percent = -1 },
	};
	char path[128];
	int i;

	grant(rig);
	attempts[0].fence = fence_of(rig);
	say_report(&rig->agent[1], attempts, 2);
	for (i = 0; i < 50; i++)
		turn(rig, SECOND_US / 100);
	series_close(rig->series);
	rig->series = NULL;
	snprintf(path, sizeof path, "%s/attempt/1", rig->readings);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof path, "%s/attempt/999", rig->readings);
	assert_int_equal(access(path, F_OK), -1);
}

static void
logs_of_attempts_of_others(void **state)
{
	struct rig *rig = *state;
	struct message m = { .envelope.kind = MESSAGE_LOG };

	grant(rig);
	m.log.id.n = 1;
	m.log.fence = fence_of(rig);
	m.log.bytes = (uint8_t *)"forged";
	m.log.nbytes = 6;
	say(&rig->agent[1], &m, false);
	wait_for(rig, 1, "log-have unwanted");
	assert_int_equal(build_log_size(rig->logs, (attempt_id){ 1 }), 0);
}

/* A flood while the journal cannot be written: its author is sent away, and others are not. */
static void
a_flood_while_the_disk_is_full(void **state)
{
	struct rig *rig = *state;
	struct message m = { .envelope.kind = MESSAGE_ATTEMPT };
	struct event e;
	int i;

	rig->disk.full = true;
	m.attempt.status = (struct attempt_status){
		.id = { 7 }, .fence = 1, .state = ATTEMPT_RUNNING, .percent = -1
	};
	e = (struct event){ .kind = EVENT_DRAIN, .host = "alpha", .who = "ann" };
	driver_event(rig->driver, &e);
	turn(rig, 0);
	for (i = 0; i < 1000000 && !driver_is_full(rig->driver); i++) {
		e = (struct event){ .kind = EVENT_ATTEMPT,
			.host = "beta",
			.nattempts = 1,
			.attempts = &m.attempt.status };
		driver_event(rig->driver, &e);
	}
	say(&rig->agent[1], &m, true);
	for (i = 0; i < 2000 && !rig->agent[1].refused; i++)
		turn(rig, SECOND_US / 100);
	assert_true(rig->agent[1].refused);
	assert_false(driver_is_full(rig->driver));
	assert_non_null(rig->agent[0].peer);
}

/* Commands that an agent does not take must not be dropped in silence: it is made to come again, and
 * is told what holds then. */
static void
an_agent_that_takes_no_commands(void **state)
{
	struct rig *rig = *state;
	struct event e = { .kind = EVENT_THROTTLE, .host = "alpha", .who = "ann" };
	int i;

	rig->agent[0].mute = true;
	for (i = 0; i < OUTGOING_MAX + 10; i++) {
		e.limit = 2 + i % 2;
		driver_event(rig->driver, &e);
		turn(rig, 0);
	}
	for (i = 0; i < 2000 && !rig->agent[0].refused; i++) {
		if (rig->agent[0].peer != NULL)
			say_report(&rig->agent[0], NULL, 0);
		turn(rig, SECOND_US / 100);
	}
	assert_true(rig->agent[0].refused);
	rig->agent[0].mute = false;
	wait_for(rig, 0, "welcome;limit;");
	/* The last throttles may still be on their way through the journal: they come as limits. */
	for (i = 0; i < 2000 && rig->agent[0].limit != 3; i++)
		turn(rig, SECOND_US / 100);
	assert_int_equal(rig->agent[0].limit, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    complete_is_said_after_the_journal_has_the_result, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_log_that_would_never_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readings_of_attempts_of_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(logs_of_attempts_of_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_flood_while_the_disk_is_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_agent_that_takes_no_commands, set_up, tear_down),
	};

	return cmocka_run_group_tests_name(
	    "the coordinator's end of the wire to agents", tests, NULL, NULL);
}
