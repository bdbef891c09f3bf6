/* The readings of NetBSD and FreeBSD, against a sysctlbyname() that answers with their bytes.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/sense/load.h"
#include "agent/sense/load_text.h"
#include "tests/unit/load_check.h"

/* ---- the stand-in ---- */

enum { ANSWERS_MAX = 16, BYTES_MAX = 1024 };

static struct answer {
	const char *name;
	size_t n;
	unsigned char bytes[BYTES_MAX];
	int asked;
} answers[ANSWERS_MAX];
static size_t nanswers;

int sysctlbyname(const char *name, void *old, size_t *old_bytes, const void *new, size_t new_bytes);

static struct answer *
find(const char *name)
{
	for (size_t i = 0; i < nanswers; i++) {
		if (strcmp(answers[i].name, name) == 0)
			return &answers[i];
	}
	return NULL;
}

int
sysctlbyname(const char *name, void *old, size_t *old_bytes, const void *new, size_t new_bytes)
{
	struct answer *answer = find(name);

	assert_null(new);
	assert_int_equal(new_bytes, 0);
	errno = answer == NULL ? ENOENT : ENOMEM;
	if (answer == NULL || *old_bytes < answer->n)
		return -1;
	memcpy(old, answer->bytes, answer->n);
	*old_bytes = answer->n;
	answer->asked++;
	return 0;
}

static void
say(const char *name, const void *bytes, size_t n)
{
	struct answer *answer = find(name);

	if (answer == NULL) {
		assert_true(nanswers < ANSWERS_MAX);
		answer = &answers[nanswers++];
		answer->asked = 0;
	}
	*answer = (struct answer){ .name = name, .n = n, .asked = answer->asked };
	memcpy(answer->bytes, bytes, n);
}

static void
say_64(const char *name, uint64_t n)
{
	say(name, &n, sizeof n);
}

static void
say_32(const char *name, uint32_t n)
{
	say(name, &n, sizeof n);
}

/* ---- what the kernels say ---- */

/* struct loadavg as 64-bit machines lay it out */
static void
say_loadavg(uint32_t one, uint32_t five, uint32_t fifteen, uint64_t scale)
{
	struct {
		uint32_t averages[3];
		uint32_t pad;
		uint64_t scale;
	} loadavg = { { one, five, fifteen }, 0, scale };

	_Static_assert(sizeof loadavg == 24, "as there");
	say("vm.loadavg", &loadavg, sizeof loadavg);
}

static void
say_uvm(int64_t swap_gets, int64_t swap_out, int64_t switches)
{
	int64_t uvm[105] = { [0] = 4096,
		[4] = 1000,
		[6] = 77,
		[20] = swap_gets,
		[27] = switches,
		[34] = swap_out,
		[72] = 500,
		[73] = 33 };

	say("vm.uvmexp2", uvm, sizeof uvm);
}

/* NetBSD 9 and 10, amd64 */
static void
be_netbsd(void)
{
	const uint64_t cp_time[5] = { 1000, 100, 500, 50, 8000 };
	int16_t vmmeter[24] = { 7, 1, 2, 90, 0 };

	nanswers = 0;
	say("kern.cp_time", cp_time, sizeof cp_time);
	say_loadavg(1024, 3072, 512, 2048);
	say_uvm(100, 200, 5000);
	say("vm.vmmeter", vmmeter, sizeof vmmeter);
}

/* FreeBSD 13 and 14, amd64 */
static void
be_freebsd(void)
{
	const uint64_t cp_time[5] = { 1000, 100, 500, 50, 8000 };
	unsigned char vmtotal[88] = { [72] = 5, [74] = 1, [76] = 3, [78] = 99 };
	static const char levels[] = "3500/80000 3000/60000 800/5000";

	nanswers = 0;
	say("kern.cp_time", cp_time, sizeof cp_time);
	say_loadavg(1024, 3072, 512, 2048);
	say("vm.vmtotal", vmtotal, sizeof vmtotal);
	say_32("vm.stats.vm.v_page_size", 4096);
	say_32("vm.stats.vm.v_free_count", 1000);
	say_32("vm.stats.vm.v_inactive_count", 500);
	say_64("vm.stats.vm.v_swappgsin", 100);
	say_64("vm.stats.vm.v_swappgsout", 200);
	say_64("vm.stats.sys.v_swtch", 5000);
	say_32("dev.cpu.0.freq", 2800);
	say("dev.cpu.0.freq_levels", levels, sizeof levels);
}

/* Two seconds of work on either. */
static void
go_on(void)
{
	const uint64_t cp_time[5] = { 1090, 110, 540, 60, 8050 };

	say("kern.cp_time", cp_time, sizeof cp_time);
	if (find("vm.uvmexp2") != NULL) {
		say_uvm(110, 200, 9000);
	} else {
		say_64("vm.stats.vm.v_swappgsin", 110);
		say_64("vm.stats.sys.v_swtch", 9000);
	}
}

/* ---- tests ---- */

static void
sample(struct load_sampler *sampler, int64_t second, struct load *load)
{
	load_sample(sampler, (mono_us){ second * SECOND_US }, load);
}

static void
assert_both(struct load_sampler *sampler, double running, double blocked)
{
	struct load load;

	sample(sampler, 1, &load);
	assert_false(load_has(&load, LOAD_USER)); /* one look is no window */
	go_on();
	sample(sampler, 3, &load);
	assert_value(&load, LOAD_USER, 0.5); /* 100 of 200 */
	assert_value(&load, LOAD_SYS, 0.25); /* 40 and 10 */
	assert_value(&load, LOAD_IDLE, 0.25);
	assert_value(&load, LOAD_1, 0.5);
	assert_value(&load, LOAD_5, 1.5);
	assert_value(&load, LOAD_15, 0.25);
	assert_value(&load, LOAD_MEMORY_FREE, 1500 * 4096);
	assert_value(&load, LOAD_SWAP_IN, 5 * 4096);
	assert_value(&load, LOAD_SWAP_OUT, 0);
	assert_value(&load, LOAD_SWITCHES, 2000);
	assert_value(&load, LOAD_RUNNING, running);
	assert_value(&load, LOAD_BLOCKED, blocked);
	assert_true(load_has(&load, LOAD_DISK_FREE));
	assert_false(load_has(&load, LOAD_STEAL)); /* what these systems do not tell is missing */
	assert_false(load_has(&load, LOAD_IOWAIT));
}

static void
test_netbsd(void **state)
{
	struct load_sampler *sampler = load_sampler_create("/");
	struct load load;

	(void)state;
	be_netbsd();
	assert_both(sampler, 7, 3);
	sample(sampler, 4, &load);
	assert_false(load_has(&load, LOAD_FREQUENCY));
	load_sampler_destroy(sampler);
}

static void
test_freebsd(void **state)
{
	struct load_sampler *sampler = load_sampler_create("/");
	struct load load;

	(void)state;
	be_freebsd();
	assert_both(sampler, 5, 4);
	sample(sampler, 4, &load);
	assert_value(&load, LOAD_FREQUENCY, 0.8);
	load_sampler_destroy(sampler);
}

static void
test_tasks_are_counted_seldom_and_say_how_old_they_are(void **state)
{
	struct load_sampler *sampler = load_sampler_create("/");
	struct load load;

	(void)state;
	be_freebsd();
	for (int64_t s = 1; s <= 30; s++)
		sample(sampler, s, &load);
	assert_int_equal(find("vm.vmtotal")->asked, 3);
	assert_int_equal(load.readings[LOAD_RUNNING].age_us, 9 * SECOND_US);
	load_sampler_destroy(sampler);
}

static void
test_older_and_narrower_answers_are_understood(void **state)
{
	struct load_sampler *sampler = load_sampler_create("/");
	const uint32_t cp_time[5] = { 10, 0, 0, 0, 10 }, later[5] = { 13, 0, 0, 0, 11 };
	const uint32_t loadavg[4] = { 2048, 4096, 6144, 2048 };
	struct load load;

	(void)state;
	be_freebsd();
	say("kern.cp_time", cp_time, sizeof cp_time);
	say("vm.loadavg", loadavg, sizeof loadavg);
	say_32("vm.stats.sys.v_swtch", 10);
	sample(sampler, 1, &load);
	say("kern.cp_time", later, sizeof later);
	say_32("vm.stats.sys.v_swtch", 30);
	sample(sampler, 2, &load);
	assert_value(&load, LOAD_USER, 0.75);
	assert_value(&load, LOAD_15, 3);
	assert_value(&load, LOAD_SWITCHES, 20);
	load_sampler_destroy(sampler);
}

static void
test_an_answer_of_another_size_is_no_reading(void **state)
{
	static const struct {
		const char *name;
		size_t n;
		enum load_reading missing;
	} cases[] = {
		{ "kern.cp_time", 48, LOAD_USER },
		{ "kern.cp_time", 0, LOAD_USER },
		{ "kern.cp_time", 39, LOAD_USER },
		{ "vm.loadavg", 20, LOAD_1 },
		{ "vm.vmmeter", 44, LOAD_RUNNING },
		{ "vm.uvmexp2", 576, LOAD_MEMORY_FREE },
		{ "vm.uvmexp2", 801, LOAD_SWAP_IN },
	};
	static const unsigned char bytes[BYTES_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct load_sampler *sampler = load_sampler_create("/");
		struct load load;

		be_netbsd();
		say(cases[i].name, bytes, cases[i].n);
		sample(sampler, 1, &load);
		sample(sampler, 2, &load);
		if (load_has(&load, cases[i].missing))
			fail_msg("%s with %zu bytes gave a reading", cases[i].name, cases[i].n);
		load_sampler_destroy(sampler);
	}
}

static void
test_nothing_answers_and_any_bytes_do_no_harm(void **state)
{
	static const char *const names[] = { "kern.cp_time", "vm.loadavg", "vm.uvmexp2",
		"vm.vmmeter", "vm.vmtotal", "vm.stats.vm.v_page_size", "dev.cpu.0.freq",
		"dev.cpu.0.freq_levels" };
	struct load_sampler *sampler = load_sampler_create("/");
	unsigned seed = (unsigned)time(NULL);
	struct load load;

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	nanswers = 0;
	sample(sampler, 1, &load);
	sample(sampler, 2, &load);
	load_set(&load, LOAD_DISK_FREE, 0, 0);
	assert_int_equal(
	    load.missing, ((UINT64_C(1) << LOAD_READINGS) - 1) & ~(UINT64_C(1) << LOAD_DISK_FREE));
	for (int64_t i = 3; i < 3000; i++) {
		static const size_t sizes[] = { 4, 8, 16, 20, 24, 40, 48, 88, 600, 840 };
		unsigned char bytes[BYTES_MAX];

		for (size_t k = 0; k < sizeof bytes; k++)
			bytes[k] = (unsigned char)rand();
		say(names[(size_t)rand() % 8], bytes,
		    rand() % 2 ? sizes[(size_t)rand() % 10] : (size_t)rand() % BYTES_MAX);
		sample(sampler, i, &load);
	}
	load_sampler_destroy(sampler);
}

static void
test_a_number_by_name(void **state)
{
	char text[32];

	(void)state;
	be_freebsd();
	say_64("vfs.ufs.dirhash_mem", 123456789012);
	say_32("debug.minus", (uint32_t)-5);
	say("debug.words", "12 33", 6);
	say("debug.bytes", "\1\2\0\4\5", 5);
	assert_true(load_oid_text("vfs.ufs.dirhash_mem", text, sizeof text));
	assert_string_equal(text, "123456789012");
	assert_true(load_oid_text("debug.minus", text, sizeof text));
	assert_string_equal(text, "-5");
	assert_true(load_oid_text("debug.words", text, sizeof text));
	assert_string_equal(text, "12 33");
	assert_false(load_oid_text("debug.bytes", text, sizeof text));
	assert_false(load_oid_text("debug.words", text, 3)); /* no room */
	assert_false(load_oid_text("debug.none", text, sizeof text));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netbsd),
		cmocka_unit_test(test_freebsd),
		cmocka_unit_test(test_tasks_are_counted_seldom_and_say_how_old_they_are),
		cmocka_unit_test(test_older_and_narrower_answers_are_understood),
		cmocka_unit_test(test_an_answer_of_another_size_is_no_reading),
		cmocka_unit_test(test_a_number_by_name),
		cmocka_unit_test(test_nothing_answers_and_any_bytes_do_no_harm),
	};

	return cmocka_run_group_tests_name("load_bsd", tests, NULL, NULL);
}
