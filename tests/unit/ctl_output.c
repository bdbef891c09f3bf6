/* Figures, tables, harmless text, and whole answers as people see them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/output.h"
#include "coordinator/ctl/table.h"
#include "coordinator/ctl/width.h"
#include "proto/units.h"

/* ---- figures ----------------------------------------------------------------------------- */

static void
durations(void **state)
{
	static const struct {
		int64_t us;
		const char *text;
	} cases[] = { { 0, "0.0s" }, { 12345678, "12.3s" }, { 59960000, "1:00" },
		{ 59940000, "59.9s" }, { 61 * SECOND_US, "1:01" }, { 3723 * SECOND_US, "1:02:03" },
		{ 86400 * SECOND_US, "1d00h" }, { 100 * HOUR_US, "4d04h" }, { -1, "-" } };
	char buf[FORMAT_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(format_duration(buf, cases[i].us), cases[i].text);
}

static void
sizes(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} cases[] = { { 0, "0" }, { 1023, "1023" }, { 1024, "1.0K" }, { 1610612736, "1.5G" },
		{ INT64_C(150) << 30, "150G" }, { 1048575, "1.0M" }, { INT64_MAX, "8.0E" } };
	char buf[FORMAT_SIZE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(format_size(buf, cases[i].bytes), cases[i].text);
}

static char *show(output_f f, const char *json, bool wide);

static void
plurals(void **state)
{
	char buf[FORMAT_SIZE];

	(void)state;
	assert_string_equal(format_plural(buf, 0, "build"), "0 builds");
	assert_string_equal(format_plural(buf, 1, "build"), "1 build");
	assert_string_equal(format_plural(buf, 2, "build"), "2 builds");
}

static void
explained(void **state)
{
	char *text = show(output_text.explain_host,
	    "{\"host\":\"a1\",\"inputs\":{\"threads\":2,\"builds\":1,\"governor\":\"load\","
	    "\"steps_running\":1,\"limited\":false}}",
	    false);

	(void)state;
	assert_non_null(strstr(text, "2 threads; 1 build here, governor load\n"));
	assert_non_null(strstr(
	    text, "throttle none; pin none; 1 step running; its builds do not ask for more\n"));
	free(text);
}

static void
locks(void **state)
{
	char *text = show(output_text.locks,
	    "{\"host\":\"a1\",\"sources\":[{\"source\":\"lockstat\",\"coverage\":\"sees 2 s in "
	    "30\","
	    "\"window_us\":2000000,\"age_us\":3000000,\"cost_cpu_share\":0.0005,"
	    "\"spin\":{\"count\":10,\"wait_ns\":1000,\"cpu_share\":0.125,\"busy_share\":null},"
	    "\"rows\":[{\"lock\":\"kernel_lock\",\"caller\":\"exec+0x7\",\"kind\":\"spin\","
	    "\"count\":7,\"wait_ns\":800000000,\"total_share\":0.8}]},"
	    "{\"source\":\"bpf\",\"missing\":\"not permitted\",\"rows\":[]}]}",
	    false);

	(void)state;
	assert_string_equal(text,
	    "lockstat      window 2.0s, 3.0s old; spin - of busy CPU time, 12.5 % of all; it costs "
	    "0.05 % of one CPU\n"
	    "              sees 2 s in 30\n"
	    "-- spin\n"
	    "TOTAL%  COUNT  TIME/ms  LOCK         CALLER\n"
	    " 80.00      7   800.00  kernel_lock  exec+0x7\n"
	    "\n"
	    "bpf           no reading: not permitted; what it costs is not measured\n");
	free(text);
	text = show(output_text.locks, "{\"host\":\"a1\",\"sources\":[]}", false);
	assert_non_null(strstr(text, "no table of locks has come"));
	free(text);
}

static void
times(void **state)
{
	char buf[FORMAT_SIZE];

	(void)state;
	assert_string_equal(format_time(buf, "2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05");
	assert_string_equal(format_time(buf, "2026-01-02T03:04:05Z"), "2026-01-02 03:04:05");
	assert_string_equal(format_time(buf, "soon"), "soon");
}

/* ---- harmless ---------------------------------------------------------------------------- */

#define BYTES(s) s, sizeof(s) - 1

static const struct {
	const char *what, *bytes;
	size_t n;
	const char *shown;
} harmless_cases[] = {
	{ "plain text stays", BYTES("make[1]: 'all'\tdone\n"), "make[1]: 'all'\tdone\n" },
	{ "an escape sequence is shown", BYTES("\x1b[2Jx"), "\\x1b[2Jx" },
	{ "a carriage return could overwrite a line", BYTES("a\rb"), "a\\x0db" },
	{ "zero and delete", BYTES("a\0b\x7f"), "a\\x00b\\x7f" },
	{ "UTF-8 passes", BYTES("\xe2\x80\x98q\xe2\x80\x99 \xc3\xa9 \xf0\x9f\x90\x91"),
	    "\xe2\x80\x98q\xe2\x80\x99 \xc3\xa9 \xf0\x9f\x90\x91" },
	{ "C1 controls do not",
	    BYTES("\xc2\x9b"
		  "2J"),
	    "\\xc2\\x9b2J" },
	{ "a lone CSI byte does not",
	    BYTES("\x9b"
		  "2J"),
	    "\\x9b2J" },
	{ "overlong forms do not", BYTES("\xc0\x9b \xe0\x80\x9b"), "\\xc0\\x9b \\xe0\\x80\\x9b" },
	{ "surrogates do not", BYTES("\xed\xa0\x80"), "\\xed\\xa0\\x80" },
	{ "what turns the writing round does not", BYTES("\xe2\x80\xae"), "\\xe2\\x80\\xae" },
	{ "a character cut off by another",
	    BYTES("\xe2\x80"
		  "a"),
	    "\\xe2\\x80a" },
	{ "a character cut off by an escape", BYTES("\xe2\x1b[m"), "\\xe2\\x1b[m" },
	{ "a character cut off at the end", BYTES("a\xe2\x80"), "a\\xe2\\x80" },
};

/* Whole, and byte by byte: where a stream is cut must not matter. */
static void
harmless(void **state)
{
	size_t i, step;

	(void)state;
	for (i = 0; i < sizeof harmless_cases / sizeof harmless_cases[0]; i++)
		for (step = 1; step <= 16; step += 15) {
			struct harmless h = { 0 };
			char *text;
			size_t size, at;
			FILE *out = open_memstream(&text, &size);

			for (at = 0; at < harmless_cases[i].n; at += step)
				harmless_write(&h, harmless_cases[i].bytes + at,
				    harmless_cases[i].n - at < step ? harmless_cases[i].n - at
								    : step,
				    out);
			harmless_end(&h, out);
			fclose(out);
			if (strcmp(text, harmless_cases[i].shown) != 0)
				fail_msg("%s: %s", harmless_cases[i].what, text);
			free(text);
		}
}

/* Every byte string comes out without a byte that a terminal could obey. */
static void
harmless_random(void **state)
{
	unsigned seed = 1, i, k;

	(void)state;
	print_message("seed %u\n", seed);
	srandom(seed);
	for (i = 0; i < 2000; i++) {
		unsigned char bytes[32];
		struct harmless h = { 0 };
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		for (k = 0; k < sizeof bytes; k++)
			bytes[k] = (unsigned char)random();
		harmless_write(&h, bytes, sizeof bytes, out);
		harmless_end(&h, out);
		fclose(out);
		for (k = 0; k < size; k++)
			assert_true(
			    (unsigned char)text[k] >= ' ' || text[k] == '\n' || text[k] == '\t');
		assert_null(memchr(text, 0x7f, size));
		free(text);
	}
}

/* ---- tables ------------------------------------------------------------------------------ */

static char *
print_table(const struct table *t, struct view view)
{
	char *text;
	size_t size;

	view.out = open_memstream(&text, &size);
	table_print(t, &view);
	fclose(view.out);
	return text;
}

static void
tables(void **state)
{
	struct table *t = table_create("NAME +N REASON");
	char *text;

	(void)state;
	table_add(t, "a\xc3\xa9");
	table_addf(t, "%d", 12345);
	table_add(t, "a reason that is long");
	table_add(t, "b\x1b[m");
	table_add(t, NULL);
	table_add(t, "");
	text = print_table(t, (struct view){ 0 });
	assert_string_equal(text, "NAME         N  REASON\n"
				  "a\xc3\xa9       12345  a reason that is long\n"
				  "b\\x1b[m      -  -\n");
	free(text);
	text = print_table(t, (struct view){ .width = 28 });
	assert_non_null(strstr(text, "12345  a reason th\xe2\x80\xa6\n"));
	free(text);
	text = print_table(t, (struct view){ .width = 28, .wide = true });
	assert_non_null(strstr(text, "a reason that is long\n"));
	free(text);
	table_destroy(t);
}

static void
tables_empty(void **state)
{
	struct table *t = table_create("NAME +N");
	char *text = print_table(t, (struct view){ 0 });

	(void)state;
	assert_string_equal(text, "NAME  N\n");
	free(text);
	table_destroy(t);
}

static void
tables_color(void **state)
{
	struct table *t = table_create("STATE NAME");
	char *text;

	(void)state;
	table_add(t, "failed");
	table_add(t, "x");
	text = print_table(t, (struct view){ .color = true });
	assert_string_equal(text, "STATE   NAME\n\x1b[31mfailed\x1b[0m  x\n");
	free(text);
	table_destroy(t);
}

static void
tables_narrow(void **state)
{
	struct table *t = table_create("HOST ~CLASS REASON");
	char *text;

	(void)state;
	table_add(t, "a1");
	table_add(t, "Linux-6.18.44-x86_64-2t-24g");
	table_add(t, "shares its CPUs with a2");
	text = print_table(t, (struct view){ .width = 50 });
	assert_string_equal(text,
	    "HOST  CLASS                REASON\n"
	    "a1    Linux-6.18.44-x86_\xe2\x80\xa6  shares its CPUs with a2\n");
	free(text);
	table_destroy(t);
}

/* No row of a table goes over the edge, however narrow the terminal is, and the first column
 * stays as long as there is one. */
static void
tables_never_wrap(void **state)
{
	struct table *t = table_create("HOST ~CLASS STATE +LIMIT +LOAD +IDLE% +AGE REASON");
	size_t width;

	(void)state;
	table_add(t, "a-host");
	table_add(t, "Linux-6.18.44-x86_64-2t-24g");
	table_add(t, "silent*");
	table_add(t, "12");
	table_add(t, "10.25");
	table_add(t, "25");
	table_add(t, "0.3s");
	table_add(t, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e shares its CPUs with another");
	for (width = 1; width < 120; width++) {
		char *text = print_table(t, (struct view){ .width = width }), *save = NULL, *line;

		assert_non_null(text);
		if (width >= 6)
			assert_non_null(strstr(text, "\na-host"));
		for (line = strtok_r(text, "\n", &save); line != NULL;
		     line = strtok_r(NULL, "\n", &save))
			if (width_of(line) > width)
				fail_msg("%zu columns: \"%s\"", width, line);
		free(text);
	}
	table_destroy(t);
}

/* What is left out first stands in one order; the reason is cut, and stays. */
static void
tables_leave_out(void **state)
{
	struct table *t = table_create("HOST STATE +LOAD +IDLE% REASON");
	char *text;

	(void)state;
	table_add(t, "a1");
	table_add(t, "up");
	table_add(t, "1.50");
	table_add(t, "25");
	table_add(t, "throttled to 2 by ann: spins");
	text = print_table(t, (struct view){ .width = 38 });
	assert_string_equal(text, "HOST  STATE  LOAD  IDLE%  REASON\n"
				  "a1    up     1.50     25  throttled t\xe2\x80\xa6\n");
	free(text);
	text = print_table(t, (struct view){ .width = 34 });
	assert_string_equal(text, "HOST  STATE  LOAD  REASON\n"
				  "a1    up     1.50  throttled to 2\xe2\x80\xa6\n");
	free(text);
	text = print_table(t, (struct view){ .width = 25 });
	assert_string_equal(text, "HOST  STATE  REASON\n"
				  "a1    up     throttled t\xe2\x80\xa6\n");
	free(text);
	table_destroy(t);
}

static void
tables_wide_characters(void **state)
{
	struct table *t = table_create("NAME N");
	char *text;

	(void)state;
	table_add(t, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
	table_add(t, "x");
	table_add(t, "e\xcc\x81"); /* an accent of its own stands over its letter */
	table_add(t, "y");
	text = print_table(t, (struct view){ 0 });
	assert_string_equal(text, "NAME    N\n"
				  "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e  x\n"
				  "e\xcc\x81       y\n");
	free(text);
	table_destroy(t);
}

/* ---- answers ----------------------------------------------------------------------------- */

static char *
show(output_f f, const char *json, bool wide)
{
	struct view view = { .wide = wide };
	json_error_t error;
	json_t *answer = json_loads(json, 0, &error);
	char *text;
	size_t size;

	if (answer == NULL)
		fail_msg("%s", error.text);
	view.out = open_memstream(&text, &size);
	f(answer, &view);
	fclose(view.out);
	json_decref(answer);
	return text;
}

static void
hosts(void **state)
{
	char *text = show(output_text.hosts,
	    "{\"hosts\":[{\"host\":\"a1\",\"class\":\"c\",\"state\":\"up\",\"limit\":2,\"steps_"
	    "running\":1,"
	    "\"memory_bytes\":8589934592,\"slots\":1,\"silent_us\":300000,\"builds\":[{}],"
	    "\"limit_level\":\"operator\",\"limit_reason\":\"r\",\"shares_machine_with\":[\"a2\","
	    "\"a3\"],"
	    "\"throttle\":{\"limit\":2,\"who\":\"ann\",\"reason\":\"spins\",\"remaining_us\":"
	    "7200000000},"
	    "\"readings\":{\"load_1\":{\"value\":1.5},\"spin_share\":null,\"idle_share\":{"
	    "\"value\":0.25},"
	    "\"memory_free_bytes\":{\"value\":2147483648}},"
	    "\"spin\":{\"busy_share\":0.25,\"estimate\":true},"
	    "\"guard\":{\"limit\":1,\"reason\":\"it swaps\"}},"
	    "{\"host\":\"a2\",\"class\":\"c\",\"state\":\"silent\",\"trouble\":\"closed\","
	    "\"builds\":[]}]}",
	    false);

	(void)state;
	assert_string_equal(text, "HOST  CLASS  STATE    LIMIT  RUN  LOAD  SPIN%  IDLE%        MEM "
				  " BUILDS   AGE  REASON\n"
				  "a1    c      up           2    1  1.50    ~25     25  2.0G/8.0G "
				  "    1/1  0.3s  throttled to 2 "
				  "by ann for another 2:00:00: spins; guard: held to 1: it swaps; "
				  "shares its CPUs with a2, a3\n"
				  "a2    c      silent*      -    -     -      -      -          - "
				  "    0/-     -  closed\n");
	free(text);
}

static const char build_row[] =
    "{\"build\":17,\"branch\":\"zstd\",\"target\":\"lib\",\"round\":3,\"state\":\"done\","
    "\"verdict\":\"ok\","
    "\"host\":\"a1\",\"phase\":\"all\",\"percent\":null,\"steps\":120,\"elapsed_us\":62000000,"
    "\"limit\":8,"
    "\"limit_path\":[2,6,2,8],\"real_us\":62000000,\"user_us\":100500000,\"sys_us\":9900000,"
    "\"serial\":true,\"reason\":null}";

static void
builds(void **state)
{
	char json[1024], *text;

	(void)state;
	snprintf(json, sizeof json, "{\"builds\":[%s]}", build_row);
	text = show(output_text.builds, json, false);
	assert_string_equal(text,
	    "BUILD  BRANCH  TARGET  ROUND  STATE  HOST  PHASE  %  STEPS  ELAPSED  LIMIT  REASON\n"
	    "   17  zstd    lib         3  ok     a1    all    -    120     1:02      8  serial: a "
	    "make lost "
	    "the jobserver\n");
	free(text);
	text = show(output_text.builds, json, true);
	assert_non_null(strstr(text, "REAL  USER   SYS  PATH     REASON\n"));
	assert_non_null(strstr(text, "1:02  1:40  9.9s  2>6>2>8  serial"));
	free(text);
}

static void
a_round(void **state)
{
	char json[2048], *text;

	(void)state;
	snprintf(json, sizeof json,
	    "{\"round\":3,\"branch\":\"zstd\",\"state\":\"over\",\"verdict\":\"ok\",\"who\":"
	    "\"ann\","
	    "\"why\":\"test\",\"at\":\"2026-01-02T03:04:05.000Z\",\"elapsed_us\":62000000,"
	    "\"makespan_us\":62000000,\"counts\":{\"ok\":1},\"builds\":[%s]}",
	    build_row);
	text = show(output_text.round, json, false);
	assert_non_null(strstr(text, "round         3 of zstd, ok\n"));
	assert_non_null(strstr(text, "began         2026-01-02 03:04:05, by ann: test\n"));
	assert_non_null(strstr(text, "makespan      1:02\n"));
	free(text);
}

/* Whatever a coordinator of another version leaves out or adds: nothing breaks. */
static void
strange(void **state)
{
	static const char *const answers[] = { "{}",
		"{\"hosts\":3,\"builds\":{},\"rounds\":[1,null],\"text\":1}",
		"{\"hosts\":[null],\"builds\":[[]],\"rounds\":[{}],\"policies\":[{}]}",
		"{\"attempts\":[{}],\"alarms\":[{}],\"readings\":{\"x\":1}}",
		"{\"hosts\":[{\"host\":\"\\u001b[2J\",\"builds\":1}]}",
		"{\"builds\":[{\"phase\":\"\\u009b\"}]}" };
	const output_f all[] = { output_text.status, output_text.hosts, output_text.host,
		output_text.explain_host, output_text.builds, output_text.build,
		output_text.explain_build, output_text.rounds, output_text.round,
		output_text.policy, output_text.policies };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof answers / sizeof answers[0]; i++)
		for (k = 0; k < sizeof all / sizeof all[0]; k++) {
			char *text = show(all[k], answers[i], true);

			assert_null(strchr(text, '\x1b'));
			assert_null(strstr(text, "\xc2\x9b"));
			free(text);
		}
}

static void
as_json(void **state)
{
	char *text = show(output_json.host, "{\"b\":null,\"a\":[0.25,\"\\u001b\"]}", false);

	(void)state;
	assert_string_equal(
	    text, "{\n  \"a\": [\n    0.25,\n    \"\\u001B\"\n  ],\n  \"b\": null\n}\n");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest output[] = {
		{ "durations are short", durations, NULL, NULL, NULL },
		{ "sizes are short", sizes, NULL, NULL, NULL },
		{ "one is one, and two are more", plurals, NULL, NULL, NULL },
		{ "why a limit is what it is", explained, NULL, NULL, NULL },
		{ "locks in columns, and what was not read in words", locks, NULL, NULL, NULL },
		{ "times are in words", times, NULL, NULL, NULL },
		{ "no control character reaches a terminal", harmless, NULL, NULL, NULL },
		{ "whatever the bytes are", harmless_random, NULL, NULL, NULL },
		{ "columns are as wide as what stands in them", tables, NULL, NULL, NULL },
		{ "a table without rows has titles", tables_empty, NULL, NULL, NULL },
		{ "states have colours", tables_color, NULL, NULL, NULL },
		{ "a narrow terminal has room for the reason", tables_narrow, NULL, NULL, NULL },
		{ "on a terminal no row is wider than it", tables_never_wrap, NULL, NULL, NULL },
		{ "columns are left out in order", tables_leave_out, NULL, NULL, NULL },
		{ "a wide character takes two columns", tables_wide_characters, NULL, NULL, NULL },
		{ "hosts", hosts, NULL, NULL, NULL },
		{ "builds, narrow and wide", builds, NULL, NULL, NULL },
		{ "a round", a_round, NULL, NULL, NULL },
		{ "strange answers are shown without harm", strange, NULL, NULL, NULL },
		{ "JSON is sorted, a key a line", as_json, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("output", output, NULL, NULL);
}
