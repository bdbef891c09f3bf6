/* Readings of waiting and of the hardware, from texts as kernels give them and from broken ones.
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/sense/load_slow.h"
#include "agent/sense/load_text.h"
#include "tests/unit/load_check.h"

enum { TEXT_BYTES = 64 * 1024 };

static char text[TEXT_BYTES];

static const char *
fixture(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "tests/fixtures/load/%s", name);
	if (load_read_text(path, text, sizeof text) == NULL)
		fail_msg("%s cannot be read: run from the top of the tree", path);
	return text;
}

static void
test_the_busiest_whole_disk_is_told(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_diskstats_parse(fixture("diskstats"), &before);
	load_diskstats_parse(fixture("diskstats-2"), &after);
	assert_int_equal(before.ndisks, 3);
	assert_string_equal(before.disks[2].name, "nvme0n1");
	load_detail_difference(&before, &after, SECOND_US, &load);
	assert_value(&load, LOAD_DISK_BUSY, 0.7); /* sda: 1200 -> 1900 ms */
	assert_value(&load, LOAD_DISK_AWAIT, 0.005); /* 1000 ms, 200 requests */
	load_clear(&load);
	load_detail_difference(&after, &before, SECOND_US, &load); /* counters that went back */
	assert_value(&load, LOAD_DISK_BUSY, 0); /* sdb alone did not */
	assert_false(load_has(&load, LOAD_DISK_AWAIT)); /* and had no request */
}

static void
test_time_in_the_run_queue_is_a_share_of_all_cpus(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_schedstat_parse(fixture("schedstat"), &before);
	after = before;
	after.run_wait_ns += 3000000000u;
	load_detail_difference(&before, &after, SECOND_US, &load);
	assert_value(&load, LOAD_RUN_WAIT, 1.5); /* two CPUs, one second */
	load_clear(&load);
	after.run_wait_cpus = 1; /* a CPU was taken out */
	load_detail_difference(&before, &after, SECOND_US, &load);
	assert_false(load_has(&load, LOAD_RUN_WAIT));
}

static void
test_pressure_is_what_its_total_gained(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_pressure_parse("some avg10=99.00 avg60=1.00 avg300=1.00 total=1000000\n"
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
	    LOAD_PRESSURE_CPU, &before);
	load_pressure_parse(
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1250000\n", LOAD_PRESSURE_CPU, &after);
	load_pressure_parse("some avg10=0.00\nfull total=7\n", LOAD_PRESSURE_IO, &after);
	load_detail_difference(&before, &after, SECOND_US, &load);
	assert_value(&load, LOAD_PRESSURE_CPU, 0.25);
	assert_value(&load, LOAD_RUN_WAIT, 0.25); /* the scheduler does not tell */
	assert_false(load_has(&load, LOAD_PRESSURE_IO));
}

static void
test_nfs_is_the_mean_over_all_calls(void **state)
{
	struct load_nfs before, after;
	struct load load;

	(void)state;
	load_mountstats_parse(fixture("mountstats"), &before);
	assert_true(before.has);
	assert_int_equal(before.calls, 200);
	assert_int_equal(before.sent, 203);
	assert_int_equal(before.execute_ms, 1000);
	after = before;
	after.calls += 100;
	after.sent += 120;
	after.execute_ms += 400;
	load_clear(&load);
	load_nfs_difference(&before, &after, 10 * SECOND_US, &load);
	assert_value(&load, LOAD_NFS_LATENCY, 0.004);
	assert_value(&load, LOAD_NFS_RETRANSMITS, 2);
	load_clear(&load);
	load_nfs_difference(&after, &before, SECOND_US, &load); /* one was unmounted */
	assert_false(load_has(&load, LOAD_NFS_RETRANSMITS));
	load_mountstats_parse("device proc mounted on /proc with fstype proc\n", &after);
	load_nfs_difference(&after, &after, SECOND_US, &load); /* no NFS is no latency of zero */
	assert_false(load_has(&load, LOAD_NFS_RETRANSMITS));
}

static void
test_dirty_memory_and_switches(void **state)
{
	struct load_counters before = { 0 }, after = { 0 };
	struct load load;

	(void)state;
	load_clear(&load);
	load_memory_parse("Dirty:  100 kB\nWriteback:  28 kB\nWritebackTmp: 7 kB\n", &load);
	load_stat_parse("ctxt 1000\n", &before, &load);
	load_stat_parse("ctxt 5000\n", &after, &load);
	load_detail_difference(&before, &after, 2 * SECOND_US, &load);
	assert_value(&load, LOAD_DIRTY, 128 * 1024);
	assert_value(&load, LOAD_SWITCHES, 2000);
}

/* ---- the clock: a tree of files as a kernel shows them ---- */

static char root[] = "/tmp/flyball-load.XXXXXX";

static void
put(const char *path, const char *content)
{
	char whole[512];
	FILE *f;

	for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
		snprintf(whole, sizeof whole, "%s/%.*s", root, (int)(slash - path), path);
		mkdir(whole, 0700);
	}
	snprintf(whole, sizeof whole, "%s/%s", root, path);
	f = fopen(whole, "w");
	assert_non_null(f);
	fputs(content, f);
	assert_int_equal(fclose(f), 0);
}

static int
remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

static void
sample(struct load_slow *slow, int64_t second, struct load *load)
{
	load_clear(load);
	load_slow_sample(slow, (mono_us){ second * SECOND_US }, text, sizeof text, load);
}

static void
test_the_clock_as_the_hardware_holds_it(void **state)
{
	struct load_slow *slow;
	struct load load;

	(void)state;
	assert_non_null(mkdtemp(root));
	slow = load_slow_create(root);
	sample(slow, 1, &load); /* a machine that shows nothing */
	assert_int_equal(load.missing, (UINT64_C(1) << LOAD_READINGS) - 1);
	load_slow_destroy(slow);

	slow = load_slow_create(root);
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
	put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n");
	put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms", "0\n");
	put("sys/devices/system/cpu/cpu1/online", "0\n");
	put("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "3000000\n");
	put("sys/devices/system/cpu/cpu2/cpufreq/cpuinfo_max_freq", "4000000\n");
	put("sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_total_time_ms", "100\n");
	sample(slow, 1, &load);
	assert_value(&load, LOAD_FREQUENCY, 0.75);
	assert_false(load_has(&load, LOAD_THROTTLED)); /* one look is no window */
	put("sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_total_time_ms", "2600\n");
	sample(slow, 5, &load); /* not looked at again, and it says how old it is */
	assert_int_equal(load.readings[LOAD_FREQUENCY].age_us, 4 * SECOND_US);
	assert_false(load_has(&load, LOAD_THROTTLED));
	sample(slow, 11, &load);
	assert_value(&load, LOAD_THROTTLED, 0.25);
	assert_int_equal(load.readings[LOAD_THROTTLED].window_us, 10 * SECOND_US);
	load_slow_destroy(slow);
}

/* ---- any bytes ---- */

static void
test_any_bytes_are_read_without_harm(void **state)
{
	static const char *const files[] = { "diskstats", "schedstat", "mountstats" };
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 6000; round++) {
		struct load_counters before = { 0 }, after = { 0 };
		struct load_nfs nfs;
		struct load load;
		size_t n;

		load_clear(&load);
		fixture(files[round % 3]);
		n = strlen(text);
		for (int i = rand() % 20; i > 0; i--)
			text[(size_t)rand() % n] =
			    (char)(rand() % 3 ? "0 \n\t:9"[rand() % 6] : rand() % 256);
		text[(size_t)rand() % n] = '\0';
		load_diskstats_parse(text, &after);
		load_schedstat_parse(text, &after);
		load_pressure_parse(text, LOAD_PRESSURE_IO, &after);
		load_mountstats_parse(text, &nfs);
		load_detail_difference(&before, &after, 1, &load);
		load_nfs_difference(&(struct load_nfs){ .has = true }, &nfs, 1, &load);
	}
	for (int i = 0; i < 5; i++) {
		struct load_counters none = { 0 };
		struct load_nfs nfs;

		load_diskstats_parse(NULL, &none);
		load_schedstat_parse(NULL, &none);
		load_pressure_parse(NULL, LOAD_PRESSURE_CPU, &none);
		load_mountstats_parse(NULL, &nfs);
		assert_false(
		    none.has_run_wait || none.has_pressure[0] || nfs.has || none.ndisks > 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_busiest_whole_disk_is_told),
		cmocka_unit_test(test_time_in_the_run_queue_is_a_share_of_all_cpus),
		cmocka_unit_test(test_pressure_is_what_its_total_gained),
		cmocka_unit_test(test_nfs_is_the_mean_over_all_calls),
		cmocka_unit_test(test_dirty_memory_and_switches),
		cmocka_unit_test_teardown(test_the_clock_as_the_hardware_holds_it, remove_root),
		cmocka_unit_test(test_any_bytes_are_read_without_harm),
	};

	return cmocka_run_group_tests_name("load_detail", tests, NULL, NULL);
}
