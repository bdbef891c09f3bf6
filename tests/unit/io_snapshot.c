/* The JSON of a small made-up cluster, to the letter where it is short: keys are a promise.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/io/snapshot.h"
#include "tests/unit/io_cluster.h"

static struct cluster *cluster;

static void
assert_dump(json_t *json, const char *golden)
{
	char *text = snapshot_dump(json);

	assert_string_equal(text, golden);
	free(text);
	json_decref(json);
}

/* One key of an object, as text, compared. */
static void
assert_key(const json_t *json, const char *key, const char *golden)
{
	char *text = json_dumps(json_object_get(json, key),
	    JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(6));

	if (text == NULL)
		fail_msg("there is no key %s", key);
	assert_string_equal(text, golden);
	free(text);
}

static struct build *
build(uint64_t n)
{
	return cluster_find_build(cluster, (build_id){ n });
}

static void
running_row(void **state)
{
	(void)state;
	assert_dump(snapshot_build_row(cluster, build(2), moment_s(100)),
	    "{\"attempt\":2,\"branch\":\"zstd\",\"build\":2,\"done_at\":null,\"elapsed_us\":"
	    "17000000,"
	    "\"host\":\"a1\",\"limit\":8,\"limit_path\":[8],\"limited\":true,\"log_bytes\":4096,"
	    "\"max_resident_bytes\":null,\"nattempts\":1,\"percent\":50,\"phase\":\"depend\","
	    "\"queued_at\":\"2026-01-02T00:00:05.000Z\",\"real_us\":null,\"reason\":null,"
	    "\"revision\":\"v1.5.7\",\"round\":1,\"serial\":false,\"state\":\"running\",\"steps\":"
	    "40,"
	    "\"steps_running\":3,\"sys_us\":null,\"target\":\"prog\",\"ungoverned\":true,\"user_"
	    "us\":null,"
	    "\"verdict\":null}");
}

static void
queued_row(void **state)
{
	(void)state;
	assert_dump(snapshot_build_row(cluster, build(3), moment_s(100)),
	    "{\"attempt\":null,\"branch\":\"zstd\",\"build\":3,\"done_at\":null,\"elapsed_us\":"
	    "null,"
	    "\"host\":null,\"limit\":null,\"limit_path\":null,\"limited\":null,\"log_bytes\":null,"
	    "\"max_resident_bytes\":null,\"nattempts\":0,\"percent\":null,\"phase\":null,"
	    "\"queued_at\":\"2026-01-02T00:01:30.000Z\",\"real_us\":null,\"reason\":null,"
	    "\"revision\":null,\"round\":2,\"serial\":null,\"state\":\"queued\",\"steps\":null,"
	    "\"steps_running\":null,\"sys_us\":null,\"target\":\"lib\",\"ungoverned\":null,"
	    "\"user_us\":null,\"verdict\":null}");
}

static void
done_build(void **state)
{
	json_t *json = snapshot_build(cluster, build(1), moment_s(100)), *attempt;

	(void)state;
	assert_key(json, "verdict", "\"ok\"");
	assert_key(json, "state", "\"done\"");
	assert_key(json, "limit_path", "[2,6,2,8]");
	assert_key(json, "real_us", "60000000");
	assert_key(json, "limited", "null");
	attempt = json_array_get(json_object_get(json, "attempts"), 0);
	assert_key(attempt, "outcome", "\"ok\"");
	assert_key(attempt, "tokens",
	    "{\"drained\":10,\"granted\":130,\"lost\":1,\"returned\":119,\"unclaimed\":0}");
	assert_key(attempt, "phases",
	    "[{\"at_us\":0,\"blocks_in\":0,\"blocks_out\":0,\"involuntary_switches\":null,"
	    "\"log_offset\":0,\"major_faults\":0,\"max_resident_bytes\":20971520,"
	    "\"minor_faults\":500,\"phase\":\"depend\",\"source\":\"recipe\",\"steps\":20,"
	    "\"sys_us\":1000000,\"took_us\":10000000,\"user_us\":10000000,"
	    "\"voluntary_switches\":null},"
	    "{\"at_us\":10000000,\"blocks_in\":0,\"blocks_out\":8,\"involuntary_switches\":null,"
	    "\"log_offset\":100,\"major_faults\":0,\"max_resident_bytes\":52428800,"
	    "\"minor_faults\":0,\"phase\":\"all\",\"source\":\"log\",\"steps\":100,"
	    "\"sys_us\":11000000,\"took_us\":50000000,\"user_us\":90000000,"
	    "\"voluntary_switches\":null}]");
	json_decref(json);
}

static void
host_readings(void **state)
{
	json_t *json = snapshot_host(cluster, cluster_find_host(cluster, "a1"), moment_s(100));
	json_t *readings = json_object_get(json, "readings"), *reading;
	const char *name;

	(void)state;
	assert_key(
	    readings, "idle_share", "{\"age_us\":1001000,\"value\":0.25,\"window_us\":1000000}");
	assert_key(readings, "memory_free_bytes",
	    "{\"age_us\":1000000,\"value\":2147483648,\"window_us\":0}");
	assert_int_equal(json_object_size(readings), LOAD_READINGS);
	json_object_foreach(readings, name, reading) assert_int_equal(json_is_null(reading),
	    strcmp(name, "idle_share") != 0 && strcmp(name, "memory_free_bytes") != 0);
	assert_key(json, "limit", "8");
	assert_key(json, "limit_level", "\"operator\"");
	assert_key(json, "shares_machine_with", "[\"a2\"]");
	assert_key(json, "steps_running", "3");
	assert_key(json, "silent_us", "1000000");
	assert_key(json, "drain", "null");
	assert_int_equal(json_array_size(json_object_get(json, "builds")), 1);
	json_decref(json);
}

static void
what_the_agent_found(void **state)
{
	struct host *h = cluster_find_host(cluster, "a1");
	struct gauge gauges[2] = { { .name = "dirhash", .reading = { 12.5, 0, 1000 } },
		{ .name = "fan", .missing = "no such file" } };
	struct host was = *h;
	json_t *json;

	(void)state;
	h->guard = 3;
	mem_copy_text(h->guard_reason, sizeof h->guard_reason, "it swaps");
	h->gauges = gauges;
	h->ngauges = 2;
	h->load.missing = 0;
	h->load.readings[LOAD_USER].value = 0.25;
	h->load.readings[LOAD_SYS].value = 0.25;
	h->load.readings[LOAD_SPIN].value = 0.125;
	json = snapshot_host(cluster, h, moment_s(100));
	assert_key(json, "guard", "{\"limit\":3,\"reason\":\"it swaps\"}");
	assert_key(json, "spin", "{\"busy_share\":0.25,\"estimate\":false}");
	assert_key(json, "gauges",
	    "[{\"age_us\":1001000,\"gauge\":\"dirhash\",\"missing\":null,\"value\":12.5},"
	    "{\"age_us\":null,\"gauge\":\"fan\",\"missing\":\"no such file\",\"value\":null}]");
	json_decref(json);
	h->reported = false;
	json = snapshot_host(cluster, h, moment_s(100));
	assert_key(json, "guard", "null");
	assert_key(json, "spin", "null");
	assert_key(json, "gauges", "[]");
	json_decref(json);
	*h = was;
}

/* Its load was never reported, its limit never set, and an operator holds it. */
static void
silent_host(void **state)
{
	json_t *json = snapshot_host(cluster, cluster_find_host(cluster, "a2"), moment_s(100));

	(void)state;
	assert_key(json, "state", "\"silent\"");
	assert_key(json, "limit", "null");
	assert_key(json, "limit_level", "null");
	assert_key(json, "steps_running", "null");
	assert_key(json, "silent_us", "40000000");
	assert_key(json, "trouble", "\"the connection is closed\"");
	assert_key(json, "drain",
	    "{\"limit\":null,\"reason\":\"new disk\",\"remaining_us\":3591000000,"
	    "\"since\":\"2026-01-02T00:01:31.000Z\",\"who\":\"bob\"}");
	assert_true(json_is_null(json_object_get(json_object_get(json, "readings"), "load_1")));
	json_decref(json);
}

static void
rounds(void **state)
{
	(void)state;
	assert_dump(snapshot_round_row(
			cluster, cluster_find_round(cluster, (round_id){ 1 }), moment_s(100)),
	    "{\"at\":\"2026-01-02T00:00:05.000Z\",\"branch\":\"zstd\",\"counts\":{\"cancelled\":0,"
	    "\"cancelling\":0,\"failed\":0,\"ok\":1,\"queued\":0,\"running\":1,\"starting\":0},"
	    "\"elapsed_us\":95000000,\"makespan_us\":null,\"over_at\":null,\"policy_version\":1,"
	    "\"revision\":\"v1.5.7\",\"round\":1,\"state\":\"running\",\"verdict\":null,\"who\":"
	    "\"ann\","
	    "\"why\":\"a test\"}");
}

static void
cut_text(void **state)
{
	struct host *h = cluster_find_host(cluster, "a1");
	json_t *json;

	(void)state;
	memcpy(h->trouble, "caf\xc3", 5); /* the half of an e with an accent */
	json = snapshot_host(cluster, h, moment_s(100));
	assert_key(json, "trouble", "\"caf?\"");
	json_decref(json);
}

static void
status(void **state)
{
	json_t *json = snapshot_status(cluster, moment_s(100));

	(void)state;
	assert_key(json, "now", "\"2026-01-02T00:01:40.000Z\"");
	assert_key(json, "hosts", "{\"absent\":0,\"asleep\":0,\"lost\":0,\"silent\":1,\"up\":1}");
	assert_key(json, "builds", "{\"cancelling\":0,\"queued\":1,\"running\":1,\"starting\":0}");
	assert_key(json, "today", "{\"cancelled\":0,\"failed\":0,\"ok\":1}");
	assert_key(json, "branches", "[\"zstd\"]");
	assert_int_equal(json_array_size(json_object_get(json, "rounds")), 2);
	json_decref(json);
	/* The next day nothing has ended yet. */
	json = snapshot_status(cluster, moment_s(24 * 3600 + 1));
	assert_key(json, "today", "{\"cancelled\":0,\"failed\":0,\"ok\":0}");
	json_decref(json);
}

static void
policy(void **state)
{
	json_t *json = snapshot_policy(cluster_find_policy(cluster, "zstd")), *targets;

	(void)state;
	assert_key(json, "governor", "\"act\"");
	assert_key(json, "jobs_max", "8");
	assert_key(json, "jobs_start", "null");
	targets = json_object_get(json, "targets");
	assert_key(json_array_get(targets, 0), "timeout_us", "3600000000");
	assert_key(json_array_get(targets, 1), "timeout_us", "null");
	assert_key(json_array_get(targets, 1), "need_memory_bytes", "1073741824");
	assert_key(json_array_get(targets, 1), "need_release", "null");
	json_decref(json);
}

static void
explanations(void **state)
{
	json_t *json =
	    snapshot_explain_host(cluster, cluster_find_host(cluster, "a1"), moment_s(100));

	(void)state;
	assert_true(json_string_length(json_object_get(json, "explanation")) > 0);
	assert_key(json_object_get(json, "inputs"), "threads", "4");
	assert_key(json_object_get(json, "inputs"), "throttle", "null");
	assert_key(json_object_get(json, "readings"), "spin_share", "null");
	json_decref(json);
	json = snapshot_explain_build(cluster, build(2));
	assert_key(json_array_get(json_object_get(json, "hosts"), 0), "here", "true");
	assert_key(json_array_get(json_object_get(json, "hosts"), 1), "here", "false");
	json_decref(json);
}

static int
set_up(void **state)
{
	(void)state;
	cluster = small_cluster();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	cluster_destroy(cluster);
	return 0;
}

#define SAYS(sentence, f) \
	{ \
		sentence, f, set_up, tear_down, NULL \
	}

int
main(void)
{
	const struct CMUnitTest snapshot[] = {
		SAYS("a running build's result is null, its progress is not", running_row),
		SAYS("a queued build has null for all of an attempt", queued_row),
		SAYS("a build's attempts have phases, tokens and limits", done_build),
		SAYS("readings that are missing are null", host_readings),
		SAYS("guard, spin and gauges are of this connection, missing with their reason",
		    what_the_agent_found),
		SAYS("a silent host's load is null; what holds it is told", silent_host),
		SAYS("a round counts its builds and has no makespan before it is over", rounds),
		SAYS("a text that was cut within a character is repaired", cut_text),
		SAYS("status counts by state, and by the day for what ended", status),
		SAYS("a policy's limits that are not set are null", policy),
		SAYS("explanations have a sentence, the inputs and a row a host", explanations),
	};

	return cmocka_run_group_tests_name("snapshot", snapshot, NULL, NULL);
}
