/* Tables of locks as tools print them: exact totals and rows of each sample; what tools say when they
 * cannot; and that no text, however it is cut or bent, gives a zero that it does not have.
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

#include "agent/sense/lock_parse.h"
#include "proto/base/mem.h"

#define FOLDER "tests/fixtures/lock/"

enum { CPUS = 24, FILE_MAX = 8192 };

static size_t
read_sample(const char *name, char *buf)
{
	char *path = mem_printf(FOLDER "%s", name);
	FILE *f = fopen(path, "re");
	size_t n;

	if (f == NULL)
		fail_msg("%s cannot be read: run the test in the top folder of the tree", path);
	n = fread(buf, 1, FILE_MAX, f);
	fclose(f);
	free(path);
	return n;
}

static void
parse_text(const char *text, struct lock_table *table)
{
	lock_text_parse(text, strlen(text), CPUS, 2 * SECOND_US, table);
}

/* ---- samples ---- */

static const struct sample {
	const char *file, *source;
	int64_t window_us;
	bool has_spin, has_sleep;
	int64_t spin_count, spin_ns, sleep_count, sleep_ns;
	size_t nrows;
	const char *lock, *caller; /* of the first row */
	int64_t count, ns;
} samples[] = {
	{ "netbsd-8.0rc2-j24.lockstat", "lockstat", INT64_C(3857330000), true, false, 838202502,
	    INT64_C(25353589880000), 0, 0, 39, "kernel_lock", "sleepq_block+1b5", 662529722,
	    INT64_C(21982378010000) },
	{ "netbsd-7.1-j24.lockstat", "lockstat", INT64_C(1475740000), true, false, 159874,
	    INT64_C(366690000), 0, 0, 22, "kernel_lock", "VOP_POLL+43", 65404, INT64_C(153120000) },
	{ "netbsd-man.lockstat", "lockstat", 10010000, true, false, 74941, INT64_C(1545540000), 0,
	    0, 13, "kernel_lock", "trap+71e", 28467, INT64_C(673000000) },
	{ "freebsd-man.lockstat", "dtrace", 5011000, true, true, 35217, 2695075, 10, 233832, 12,
	    "vm_page_queue_free_mtx", "vm_page_free_toq+0x12e", 13750, 990000 },
	{ "freebsd-new.lock_prof", "lock_prof", 2 * SECOND_US, true, true, 310, 4021000, 1003119,
	    INT64_C(4295885569000), 3, "ncvn 12", "/usr/src/sys/kern/vfs_cache.c:1420", 999999,
	    INT64_C(4294967296000) },
	{ "freebsd-old.lock_prof", "lock_prof", 2 * SECOND_US, true, true, 19, 877000, 520,
	    22871000, 2, "process lock", "kern/kern_synch.c:220", 520, 22871000 },
	{ "linux.lock_stat", "lock_stat", 2 * SECOND_US, false, true, 0, 0, 2554360,
	    INT64_C(11736019200), 3, "vmap_area_lock", "alloc_vmap_area+0x1c7/0x910", 1297948, 0 },
	{ "perf-1.csv", "perf", 2 * SECOND_US, true, true, 35, 426152, 21, 335969, 9, "spinlock",
	    "process_one_work+0x1f0", 19, 194232 },
	{ "perf-2.csv", "perf", 2 * SECOND_US, true, false, 0, 58347, 0, 0, 2, "spinlock",
	    "rcu_core+0xd4", 0, 37134 },
	{ "perf-3.csv", "perf", 2 * SECOND_US, true, false, 29, 372107, 0, 0, 4, "ffff9dcc9f7d60d0",
	    "", 6, 275025 },
	{ "perf-address.txt", "perf", 2 * SECOND_US, false, true, 0, 0, 11, 20113, 4, "pack_mutex",
	    "", 3, 14990 },
};

enum { NSAMPLES = sizeof samples / sizeof samples[0] };

static void
test_samples_give_their_totals(void **state)
{
	char text[FILE_MAX];

	(void)state;
	for (size_t i = 0; i < NSAMPLES; i++) {
		const struct sample *s = &samples[i];
		struct lock_table t;

		print_message("%s\n", s->file);
		lock_text_parse(text, read_sample(s->file, text), CPUS, 2 * SECOND_US, &t);
		assert_string_equal(t.missing, "");
		assert_string_equal(t.source, s->source);
		assert_int_equal(t.window_us, s->window_us);
		assert_int_equal(t.has_spin, s->has_spin);
		assert_int_equal(t.has_sleep, s->has_sleep);
		assert_int_equal(t.spin_count, s->spin_count);
		assert_int_equal(t.spin_ns, s->spin_ns);
		assert_int_equal(t.sleep_count, s->sleep_count);
		assert_int_equal(t.sleep_ns, s->sleep_ns);
		assert_int_equal(t.nrows, s->nrows);
		assert_string_equal(t.rows[0].lock, s->lock);
		assert_string_equal(t.rows[0].caller, s->caller);
		assert_int_equal(t.rows[0].count, s->count);
		if (s->ns != 0)
			assert_int_equal(t.rows[0].wait_ns, s->ns);
		for (size_t row = 1; row < t.nrows; row++)
			assert_true(t.rows[row - 1].wait_ns >= t.rows[row].wait_ns);
		lock_table_clear(&t);
	}
}

static void
test_time_of_a_class_is_divided_among_its_callers(void **state)
{
	char text[FILE_MAX];
	struct lock_table t;

	(void)state;
	lock_text_parse(text, read_sample("linux.lock_stat", text), CPUS, SECOND_US, &t);
	assert_string_equal(t.rows[1].caller, "free_vmap_block+0x4a/0xe0");
	/* no time is lost or made: two callers of the first class, and the second class */
	assert_int_equal(t.rows[0].wait_ns + t.rows[1].wait_ns + t.rows[2].wait_ns, t.sleep_ns);
	assert_string_equal(t.rows[2].lock, "&mm->mmap_sem-W");
	assert_int_equal(t.rows[2].wait_ns, 16371530);
	lock_table_clear(&t);
}

/* ---- texts ---- */

#define HEAD \
	"Elapsed time: 2.00 seconds.\n\n-- Kernel lock spin\n\n" \
	"Total%  Count   Time/ms          Lock                       Caller\n" \
	"------ ------- --------- ---------------------- ------------------------------\n"
#define PERF "# output: contended, total wait, max wait, avg wait, type, caller\n"

static void
test_averages_become_what_was_measured(void **state)
{
	static const char rows[] =
	    "\n-- Kernel lock spin\n\n100.00      10      1.50 kernel_lock <all>\n";
	static const struct {
		const char *what;
		int64_t count, ns;
	} cases[] = {
		{ "", 10, 1500000 },
		{ " Displaying per-CPU averages.", 240, 36000000 },
		{ " Displaying per-second averages.", 40, 6000000 },
		{ " Displaying per-CPU per-second averages.", 960, 144000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = mem_printf("Elapsed time: 4.00 seconds.%s\n%s", cases[i].what, rows);
		struct lock_table t;

		parse_text(text, &t);
		assert_string_equal(t.missing, "");
		assert_int_equal(t.spin_count, cases[i].count);
		assert_int_equal(t.spin_ns, cases[i].ns);
		assert_int_equal(t.nrows, 1);
		assert_string_equal(t.rows[0].caller, "");
		lock_table_clear(&t);
		free(text);
	}
}

static void
test_sections_of_every_kind(void **state)
{
	struct lock_table t;

	(void)state;
	parse_text("lockstat: a warning\nElapsed time: 2.00 seconds.\n\n-- Adaptive mutex spin\n"
		   " 60.00 6 3.00 m <all>\n 40.00 4 2.00 m f+0xd1\n 20.00 2 1.00 m g+1\n"
		   " 40.00 5 2.00 other h+71e\n\n-- RW lock sleep (writer)\n100.00 1 7.00 rw k+2\n"
		   "\n-- lockmgr sleep\n100.00 3 5000000000.25 lm k+2\n",
	    &t);
	assert_string_equal(t.missing, "");
	assert_int_equal(t.spin_count, 11);
	assert_int_equal(t.spin_ns, 5000000);
	assert_int_equal(t.sleep_count, 4);
	assert_int_equal(t.sleep_ns, INT64_C(5000000007250000)); /* far past 32 bits */
	assert_int_equal(t.nrows, 5);
	lock_table_clear(&t);
}

static const struct {
	const char *what, *text, *says;
} reasons[] = {
	{ "nothing", "", "printed nothing" },
	{ "blank lines", "\n \n\n", "printed nothing" },
	{ "another program", "total 12\n", "\"total 12\" begins no table" },
	{ "overflow", "lockstat: overflowed available kernel trace buffers\n", "trace buffers" },
	{ "busy", "lockstat: cannot open /dev/lockstat: Device busy\n", "one at a time" },
	{ "left enabled", "lockstat: cannot enable tracing: Device busy\n", "lockstat -d" },
	{ "no device", "lockstat: cannot open /dev/lockstat: Device not configured\n",
	    "pseudo-device" },
	{ "no file", "lockstat: cannot open /dev/lockstat: No such file or directory\n",
	    "not there" },
	{ "permission", "lockstat: cannot open /dev/lockstat: Permission denied\n", "as root" },
	{ "empty table",
	    "Elapsed time: 2.00 seconds.\nNone of the selected events were recorded.\n",
	    "no event" },
	{ "head alone", HEAD, "no row" },
	{ "no window", "Elapsed time: 0.00 seconds.\n", "more than 0" },
	{ "grown together", HEAD "100.00838202502 25353589.88 kernel_lock <all>\n",
	    "grown together" },
	{ "grown together behind", HEAD "100.00 83820250225353589.88 kernel_lock <all>\n",
	    "grown together" },
	{ "a wrapped count", HEAD "100.00 -2147483648 25353589.88 kernel_lock <all>\n", "32 bits" },
	{ "a cut count", HEAD "100.00 2147483647 25353589.88 kernel_lock <all>\n", "32 bits" },
	{ "past 63 bits", HEAD "100.00 1 99999999999999999.00 kernel_lock <all>\n", "63 bits" },
	{ "parts above the whole", HEAD "100.00 10 1.00 k <all>\n90.00 9 5.00 k f\n",
	    "sum to more" },
	{ "other columns",
	    "Elapsed time: 2.00 seconds.\n\n-- Kernel lock spin\n\nTotal%  Time  Lock\n",
	    "other columns" },
	{ "unknown section", "Elapsed time: 2.00 seconds.\n\n-- Kernel lock dance\n", "dance" },
	{ "a cut line", HEAD "100.00 10 1.00 kernel_lock <a", "ends within" },
	{ "freebsd columns", "Spin lock spin: 1 events in 2.0 seconds (1 events/sec)\n",
	    "no title" },
	{ "freebsd stacks",
	    "Spin lock spin: 1 events in 2.000 seconds (1 events/sec)\n\n"
	    "nsec ------ Time Distribution ------ count     Stack\n",
	    "no row" },
	{ "freebsd rates",
	    "Spin lock spin: 1 events in 2.000 seconds (1 events/sec)\n\n"
	    "ops/s indv cuml rcnt     nsec Lock                   Caller\n",
	    "-R" },
	{ "freebsd product",
	    "Spin lock spin: 9 events in 2.000 seconds (1 events/sec)\n"
	    "9000000000 1% 1% 0.00 9000000000 l c\n",
	    "63 bits" },
	{ "no locking", "No locking recorded\n", "debug.lock.prof.enable" },
	{ "no option", "sysctl: unknown oid 'debug.lock.prof.stats'\n", "LOCK_PROFILING" },
	{ "prof without waits",
	    "   max        total       count   avg     cnt_hold     cnt_lock name\n",
	    "wait_total" },
	{ "a new column", "max total wait_total count wait_dev name\n", "wait_dev" },
	{ "another version", "lock_stat version 0.3\n", "version 0.4" },
	{ "lock_stat off", "lock_stat version 0.4\n-----\n", "no row" },
	{ "perf by task", "# output: contended, total wait, max wait, avg wait, pid, comm\n",
	    "type" },
	{ "a new perf column", "# output: contended, total wait, mood, type\n", "mood" },
	{ "a new type", PERF "1, 2, 3, 4, futex, f+1\n", "futex" },
	{ "a negative time", PERF "1, -2, 3, 4, mutex, f+1\n", "line 2" },
	{ "totals past 63 bits",
	    PERF "1, 9223372036854775807, 3, 4, mutex, f+1\n"
		 "1, 9223372036854775807, 3, 4, mutex, f+1\n",
	    "63 bits" },
	{ "not installed", "sh: 1: lockstat: not found\n", "not installed" },
};

static void
test_what_is_no_reading_has_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		struct lock_table t;

		parse_text(reasons[i].text, &t);
		if (strstr(t.missing, reasons[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"", reasons[i].what, t.missing,
			    reasons[i].says);
		assert_false(t.has_spin || t.has_sleep);
		assert_int_equal(t.spin_ns + t.sleep_ns + t.spin_count + t.sleep_count, 0);
		assert_int_equal(t.nrows, 0);
		lock_table_clear(&t);
	}
}

/* ---- counters that go on ---- */

static void
since(const char *rows, struct lock_past **past, struct lock_table *table)
{
	char *text = mem_printf("lock_stat version 0.4\n%s", rows);

	lock_text_parse_since(text, strlen(text), CPUS, 2 * SECOND_US, past, table);
	free(text);
}

static void
test_counters_that_go_on_are_read_as_differences(void **state)
{
	struct lock_past *past = NULL;
	struct lock_table t;

	(void)state;
	since("a: 1 10 0.10 1.00 100.00 1 1\nb: 1 5 0.10 1.00 50.00 1 1\n", &past, &t);
	assert_non_null(strstr(t.missing, "first reading"));
	lock_table_clear(&t);
	since("a: 1 14 0.10 1.00 180.00 1 1\nb: 1 5 0.10 1.00 50.00 1 1\nc: 1 2 0 1 3.00 1\n",
	    &past, &t);
	assert_string_equal(t.missing, "");
	assert_int_equal(t.sleep_count, 6);
	assert_int_equal(t.sleep_ns, 83000);
	assert_int_equal(t.nrows, 2); /* nobody waited for b */
	lock_table_clear(&t);
	since("a: 1 1 0.10 1.00 1.00 1 1\n", &past, &t);
	assert_non_null(strstr(t.missing, "cleared"));
	lock_table_clear(&t);
	since("a: 1 2 0.10 1.00 2.00 1 1\n", &past, &t);
	assert_non_null(strstr(t.missing, "first reading"));
	lock_table_clear(&t);
	since("a: 1 3 0.10 1.00 3.00 1 1\n", &past, &t);
	assert_int_equal(t.sleep_ns, 1000);
	lock_table_clear(&t);
	lock_past_destroy(past);
}

static void
test_many_rows_keep_the_top_and_the_whole_total(void **state)
{
	char *text = mem_strdup(PERF);
	struct lock_table t;

	(void)state;
	for (int i = 1; i <= 3 * LOCK_ROWS_MAX; i++) {
		char *more = mem_printf("%s1, %d, 1, 1, mutex, f+%d\n", text, i, i);

		free(text);
		text = more;
	}
	parse_text(text, &t);
	free(text);
	assert_int_equal(t.nrows, LOCK_ROWS_MAX);
	assert_int_equal(t.rows[0].wait_ns, 3 * LOCK_ROWS_MAX);
	assert_int_equal(t.sleep_count, 3 * LOCK_ROWS_MAX);
	assert_int_equal(t.sleep_ns, 3 * LOCK_ROWS_MAX * (3 * LOCK_ROWS_MAX + 1) / 2);
	lock_table_clear(&t);
}

/* ---- any text ---- */

static void
assert_sane(const char *text, size_t n)
{
	struct lock_table t;

	lock_text_parse(text, n, CPUS, SECOND_US, &t);
	/* either a reason, or a kind that some row told */
	assert_true((t.missing[0] != '\0') == (!t.has_spin && !t.has_sleep));
	assert_true(t.spin_count >= 0 && t.spin_ns >= 0 && t.sleep_count >= 0 && t.sleep_ns >= 0);
	assert_true(t.has_spin || (t.spin_count == 0 && t.spin_ns == 0));
	assert_true(t.has_sleep || (t.sleep_count == 0 && t.sleep_ns == 0));
	assert_true(t.nrows <= LOCK_ROWS_MAX && (t.missing[0] == '\0' || t.nrows == 0));
	for (size_t i = 0; i < t.nrows; i++)
		assert_true(t.rows[i].count >= 0 && t.rows[i].wait_ns >= 0);
	lock_table_clear(&t);
}

static void
test_cut_samples_give_a_reason_or_rows(void **state)
{
	char text[FILE_MAX];

	(void)state;
	for (size_t i = 0; i < NSAMPLES; i++) {
		size_t n = read_sample(samples[i].file, text);

		for (size_t cut = 0; cut < n; cut++) {
			char *copy = malloc(cut + 1); /* so that a read past the end is seen */

			memcpy(copy, text, cut);
			assert_sane(copy, cut);
			free(copy);
		}
	}
}

static void
test_bent_samples_give_a_reason_or_rows(void **state)
{
	static const char tokens[] = "0123456789.-:,()<>[]% \n\t\0\377#";
	unsigned seed = (unsigned)time(NULL);
	char text[FILE_MAX];

	(void)state;
	print_message("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		size_t n = read_sample(samples[(size_t)rand() % NSAMPLES].file, text);

		for (int edits = 1 + rand() % 4; edits > 0 && n > 2; edits--) {
			size_t at = (size_t)rand() % n, length = 1 + (size_t)rand() % 40;

			if (rand() % 3 > 0) {
				text[at] = tokens[(size_t)rand() % sizeof tokens];
				continue;
			}
			if (at + length > n)
				length = n - at;
			memmove(text + at, text + at + length, n - at - length);
			n -= length;
		}
		assert_sane(text, n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_give_their_totals),
		cmocka_unit_test(test_time_of_a_class_is_divided_among_its_callers),
		cmocka_unit_test(test_averages_become_what_was_measured),
		cmocka_unit_test(test_sections_of_every_kind),
		cmocka_unit_test(test_what_is_no_reading_has_a_reason),
		cmocka_unit_test(test_counters_that_go_on_are_read_as_differences),
		cmocka_unit_test(test_many_rows_keep_the_top_and_the_whole_total),
		cmocka_unit_test(test_cut_samples_give_a_reason_or_rows),
		cmocka_unit_test(test_bent_samples_give_a_reason_or_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
