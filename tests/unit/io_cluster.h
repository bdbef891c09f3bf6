/* io_cluster.h - a small made-up cluster for the tests of control and snapshot
 *
 * Shape:  two hosts on one machine, a branch with two targets, a round whose first build is done
 *         (limits 2, 6, 2, 8) and whose second runs; then a round that waits.
 * Units:  wall clock from T0, monotonic from 0.
 * Errors: asserts.
 * Memory: cluster_destroy.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TEST_CLUSTER_H
#define FLYBALL_TEST_CLUSTER_H

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/cluster.h"
#include "proto/base/mem.h"

#define T0 INT64_C(1767312000000000) /* 2026-01-02T00:00:00Z */

static inline wall_us
after_s(int64_t seconds)
{
	return (wall_us){ T0 + seconds * SECOND_US };
}

static inline struct moment
moment_s(int64_t seconds)
{
	return (struct moment){ { (1000 + seconds) * SECOND_US }, after_s(seconds) };
}

static inline void
apply(struct cluster *c, int64_t at_s, struct fact f)
{
	struct err err;

	f.at = after_s(at_s);
	if (cluster_apply(c, &f, &err) != 0)
		fail_msg("%s", err.text);
}

static inline void
apply_host(struct cluster *c, const char *name)
{
	static char recipes[1][NAME_SIZE] = { "gmake" };
	struct host_facts facts = { .agent_version = "0.1",
		.boot_id = "boot-1",
		.start_id = "start",
		.os = "Linux",
		.release = "6.1",
		.arch = "x86_64",
		.cpu = "Test CPU",
		.threads = 4,
		.memory_bytes = INT64_C(8) << 30,
		.slots = 1,
		.nrecipes = 1,
		.recipes = recipes };
	struct fact f = { .kind = FACT_HOST, .facts = &facts };

	mem_copy_text(f.host, sizeof f.host, name);
	apply(c, 0, f);
}

static inline void
apply_policy(struct cluster *c)
{
	static struct target targets[] = {
		{ .name = "lib", .timeout_us = HOUR_US, .retries = 2 },
		{ .name = "prog", .needs = { .memory_bytes = INT64_C(1) << 30 } },
	};
	struct policy p = { .version = 1,
		.branch = "zstd",
		.recipe = "gmake",
		.source = "zstd",
		.origin = "zstd.policy",
		.priority = 50,
		.governor = GOVERNOR_ACT,
		.jobs_min = 1,
		.jobs_max = 8,
		.ntargets = 2,
		.targets = targets };

	apply(c, 0,
	    (struct fact){ .kind = FACT_POLICY, .branch = "zstd", .number = 1, .policy = &p });
}

static inline void
apply_limit(struct cluster *c, int64_t at_s, int32_t limit)
{
	apply(c, at_s,
	    (struct fact){ .kind = FACT_LIMIT,
		.host = "a1",
		.limit = limit,
		.number = LEVEL_OPERATOR,
		.text = "as the test wants it" });
}

/* Attempt 1 of build 1 on a1: ends ok after a minute with two phases. */
static inline void
apply_first_attempt(struct cluster *c)
{
	struct phase_mark phases[] = { { .name = "depend", .at_us = 0 },
		{ .name = "all",
		    .source = MARK_LOG,
		    .at_us = 10 * SECOND_US,
		    .log_offset = 100,
		    .steps = 20,
		    .usage = { .user_us = 10 * SECOND_US,
			.sys_us = 1 * SECOND_US,
			.max_resident_bytes = 20 << 20,
			.minor_faults = 500,
			.voluntary_switches = -1,
			.involuntary_switches = -1 } } };
	struct attempt_status status = { .id = { 1 },
		.fence = 7,
		.state = ATTEMPT_ENDED,
		.limit = 8,
		.phase = "all",
		.steps = 120,
		.percent = -1,
		.granted = 130,
		.returned = 119,
		.drained = 10,
		.lost = 1,
		.elapsed_us = MINUTE_US,
		.log_bytes = 11,
		.serial = true };
	struct attempt_result result = { .outcome = OUTCOME_OK,
		.real_us = MINUTE_US,
		.usage = { .user_us = 100 * SECOND_US,
		    .sys_us = 12 * SECOND_US,
		    .max_resident_bytes = 50 << 20,
		    .minor_faults = 450,
		    .blocks_out = 8 },
		.nphases = 2,
		.phases = phases };

	apply(c, 10,
	    (struct fact){ .kind = FACT_GRANT,
		.attempt = { 1 },
		.build = { 1 },
		.host = "a1",
		.number = 1,
		.fence = 7 });
	apply(c, 11, (struct fact){ .kind = FACT_RUNNING, .attempt = { 1 } });
	apply_limit(c, 20, 6);
	apply_limit(c, 30, 2);
	apply_limit(c, 40, 8);
	apply(c, 71,
	    (struct fact){
		.kind = FACT_ENDED, .attempt = { 1 }, .status = &status, .result = &result });
	apply(c, 71, (struct fact){ .kind = FACT_DONE, .build = { 1 }, .verdict = VERDICT_OK });
}

/* What reports have said: a1 is up, its memory is known and its load missing. */
static inline void
soft_state(struct cluster *c)
{
	struct host *a1 = cluster_find_host(c, "a1"), *a2 = cluster_find_host(c, "a2");
	struct attempt *a = cluster_find_attempt(c, (attempt_id){ 2 });

	a1->state = HOST_UP;
	a1->seen = a1->load_at = moment_s(99).mono;
	a1->reported = true;
	a1->limit_reported = 8;
	a1->load.missing = ~(UINT64_C(1) << LOAD_MEMORY_FREE | UINT64_C(1) << LOAD_IDLE);
	a1->load.readings[LOAD_MEMORY_FREE] = (struct reading){ (double)(INT64_C(2) << 30), 0, 0 };
	a1->load.readings[LOAD_IDLE] = (struct reading){ 0.25, SECOND_US, 1000 };
	a2->state = HOST_SILENT;
	a2->seen = moment_s(60).mono;
	mem_copy_text(a2->trouble, sizeof a2->trouble, "the connection is closed");
	a->status_at = moment_s(98).mono;
	a->status = (struct attempt_status){ .id = { 2 },
		.fence = 8,
		.state = ATTEMPT_RUNNING,
		.limit = 8,
		.running = 3,
		.limited = true,
		.ungoverned = true,
		.phase = "depend",
		.steps = 40,
		.percent = 50,
		.elapsed_us = 15 * SECOND_US,
		.log_bytes = 4096 };
}

static inline struct cluster *
small_cluster(void)
{
	struct cluster *c = cluster_create();

	apply(c, 0, (struct fact){ .kind = FACT_EPOCH, .number = 1 });
	apply_policy(c);
	apply_host(c, "a1");
	apply_host(c, "a2");
	apply_limit(c, 1, 2);
	apply(c, 5,
	    (struct fact){ .kind = FACT_ROUND,
		.round = { 1 },
		.branch = "zstd",
		.number = 1,
		.who = "ann",
		.revision = "v1.5.7",
		.text = "a test" });
	apply(c, 5,
	    (struct fact){ .kind = FACT_BUILD, .round = { 1 }, .build = { 1 }, .target = "lib" });
	apply(c, 5,
	    (struct fact){ .kind = FACT_BUILD, .round = { 1 }, .build = { 2 }, .target = "prog" });
	apply_first_attempt(c);
	apply(c, 80,
	    (struct fact){ .kind = FACT_GRANT,
		.attempt = { 2 },
		.build = { 2 },
		.host = "a1",
		.number = 1,
		.fence = 8 });
	apply(c, 81, (struct fact){ .kind = FACT_RUNNING, .attempt = { 2 } });
	apply(c, 90,
	    (struct fact){
		.kind = FACT_ROUND, .round = { 2 }, .branch = "zstd", .number = 1, .who = "bob" });
	apply(c, 90,
	    (struct fact){ .kind = FACT_BUILD, .round = { 2 }, .build = { 3 }, .target = "lib" });
	apply(c, 91,
	    (struct fact){ .kind = FACT_DRAIN,
		.host = "a2",
		.who = "bob",
		.text = "new disk",
		.duration_us = HOUR_US });
	cluster_find_host(c, "a2")->holds[HOLD_DRAIN].until = moment_s(91 + 3600).mono;
	soft_state(c);
	c->now = moment_s(100);
	return c;
}

#endif
