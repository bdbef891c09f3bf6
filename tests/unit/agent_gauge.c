/* Numbers an operator named: from texts, files, the system, and commands that behave or do not.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/sense/child.h"
#include "agent/sense/gauge.h"

enum { PATIENCE_S = 20 };

static char folder[] = "/tmp/flyball-gauge.XXXXXX";

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int
remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

static void
test_the_word_of_a_text_that_is_meant(void **state)
{
	static const struct {
		const char *what, *text;
		int32_t field;
		double value;
		const char *why; /* a part; NULL: there is a value */
	} cases[] = {
		{ "the first of one", "42\n", 1, 42, NULL },
		{ "one of a line", "a 1\t2.5  -3\n", 3, 2.5, NULL },
		{ "over lines", "MemTotal: 5 kB\nMemFree: 7 kB\n", 5, 7, NULL },
		{ "without an end of line", "1e3", 1, 1000, NULL },
		{ "no text", "", 1, 0, "no word 1" },
		{ "blanks", " \n\t", 1, 0, "no word 1" },
		{ "too few", "1 2", 3, 0, "no word 3" },
		{ "a word", "1 two 3", 2, 0, "is \"two\"" },
		{ "a number with more behind it", "12kB", 1, 0, "is \"12kB\"" },
		{ "no finite number", "inf nan", 2, 0, "is \"nan\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char why[TEXT_SIZE] = "";
		double value = 0;
		int rc = gauge_parse(cases[i].text, cases[i].field, &value, why);

		if ((rc == 0) != (cases[i].why == NULL) ||
		    (rc == 0 && (value < cases[i].value || value > cases[i].value)) ||
		    (rc != 0 && strstr(why, cases[i].why) == NULL))
			fail_msg("%s: %f \"%s\"", cases[i].what, value, why);
	}
}

/* ---- on the loop ---- */

static struct gauges *gauges;
static bool (*is_enough)(const struct gauge *all);
static struct loop *the_loop;
static int looks;

static void
on_look(void *arg)
{
	size_t n;
	const struct gauge *all = gauges_read(gauges, loop_now(), &n);

	(void)arg;
	if (is_enough(all) || ++looks > PATIENCE_S * 50)
		loop_stop(the_loop);
}

/* Runs until the gauges are as wanted; what they then are. */
static const struct gauge *
run(const struct gauge_settings *settings, size_t n, bool (*enough)(const struct gauge *))
{
	struct loop_watch *look;

	the_loop = loop_create();
	gauges = gauges_open(the_loop, settings, n);
	is_enough = enough;
	looks = 0;
	look = loop_timer_add(the_loop, 0, SECOND_US / 50, on_look, NULL);
	loop_run(the_loop);
	loop_remove(look);
	return gauges_read(gauges, loop_now(), &n);
}

static void
stop(void)
{
	gauges_close(gauges);
	loop_destroy(the_loop);
}

static bool
all_read(const struct gauge *all)
{
	for (size_t i = 0; i < 6; i++) {
		if (strstr(all[i].missing, "not been read yet") != NULL)
			return false;
	}
	return true;
}

static void
test_files_names_and_commands(void **state)
{
	struct gauge_settings settings[6] = {
		{ .name = "file", .kind = GAUGE_FILE, .field = 2, .every_us = MINUTE_US },
		{ .name = "none", .kind = GAUGE_FILE, .field = 1, .every_us = MINUTE_US },
		{ .name = "pipe", .kind = GAUGE_FILE, .field = 1, .every_us = MINUTE_US },
		{ .name = "oid",
		    .kind = GAUGE_OID,
		    .field = 1,
		    .every_us = MINUTE_US,
		    .source = "kernel.pid_max" },
		{ .name = "command",
		    .kind = GAUGE_COMMAND,
		    .field = 3,
		    .every_us = MINUTE_US,
		    .source = "echo it is $((6 * 7))" },
		{ .name = "failing",
		    .kind = GAUGE_COMMAND,
		    .field = 1,
		    .every_us = MINUTE_US,
		    .source = "echo no such device >&2; exit 3" },
	};
	const struct gauge *all;
	FILE *f;

	(void)state;
	snprintf(settings[0].source, SOURCE_SIZE, "%s/file", folder);
	snprintf(settings[1].source, SOURCE_SIZE, "%s/none", folder);
	snprintf(settings[2].source, SOURCE_SIZE, "%s/pipe", folder);
	f = fopen(settings[0].source, "w");
	assert_non_null(f);
	fputs("load 17\n", f);
	fclose(f);
	assert_int_equal(mkfifo(settings[2].source, 0600), 0);
	all = run(settings, 6, all_read);
	assert_string_equal(all[0].missing, "");
	assert_int_equal(all[0].reading.value, 17);
	assert_in_range(all[0].reading.age_us, 0, MINUTE_US);
	assert_non_null(strstr(all[1].missing, "cannot be opened: No such file"));
	assert_non_null(strstr(all[2].missing, "no regular file")); /* and nobody waited for it */
	assert_string_equal(all[3].missing, "");
	assert_true(all[3].reading.value > 0);
	assert_int_equal(all[4].reading.value, 42);
	assert_non_null(strstr(all[5].missing, "exit code 3: no such device"));
	stop();
}

static bool
is_gone(const struct gauge *all)
{
	return all[0].missing[0] != '\0' && strstr(all[0].missing, "not been") == NULL;
}

static bool
is_there(const struct gauge *all)
{
	return all[0].missing[0] == '\0';
}

static void
test_a_gauge_that_fails_is_missing_until_it_can_be_read_again(void **state)
{
	struct gauge_settings settings = {
		.name = "x", .kind = GAUGE_FILE, .field = 1, .every_us = SECOND_US / 20
	};
	const struct gauge *one;
	size_t n;
	FILE *f;

	(void)state;
	snprintf(settings.source, SOURCE_SIZE, "%s/later", folder);
	one = run(&settings, 1, is_gone);
	assert_non_null(strstr(one->missing, "No such file"));
	f = fopen(settings.source, "w");
	assert_non_null(f);
	fputs("5\n", f);
	fclose(f);
	is_enough = is_there;
	looks = 0;
	{
		struct loop_watch *look =
		    loop_timer_add(the_loop, 0, SECOND_US / 50, on_look, NULL);

		loop_run(the_loop);
		loop_remove(look);
	}
	one = gauges_read(gauges, loop_now(), &n);
	assert_string_equal(one->missing, "");
	assert_int_equal(one->reading.value, 5);
	stop();
}

/* ---- commands that do not behave ---- */

static char ended_why[TEXT_SIZE];
static size_t ended_bytes;

static void
on_ended(void *arg, const struct child_result *result)
{
	ended_bytes = strlen(result->text);
	child_explain(arg, result, ended_why);
	loop_stop(the_loop);
}

static const char *
end_of(const char *command, int64_t patience_us)
{
	struct child_options options = {
		.command = command, .output_max = GAUGE_OUTPUT_BYTES, .patience_us = patience_us
	};
	struct child *child;

	the_loop = loop_create();
	assert_int_equal(child_start(the_loop, &options, on_ended, &options, &child), 0);
	assert_non_null(child);
	loop_run(the_loop);
	loop_destroy(the_loop);
	return ended_why;
}

static pid_t
pid_in(const char *name)
{
	char path[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f != NULL)
		fclose(f);
	return pid;
}

/* No process, or one that only waits to be collected. */
static bool
is_dead(pid_t pid)
{
	for (int i = 0; i < PATIENCE_S * 50; i++) {
		char path[64], state = '?';
		FILE *f;

		if (kill(pid, 0) != 0 && errno == ESRCH)
			return true;
		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		f = fopen(path, "r");
		if (f == NULL || fscanf(f, "%*d %*s %c", &state) != 1 || state == 'Z') {
			if (f != NULL)
				fclose(f);
			return true;
		}
		fclose(f);
		usleep(20000);
	}
	return false;
}

static void
test_a_command_that_hangs_is_ended_with_all_it_started(void **state)
{
	char command[512];

	(void)state;
	snprintf(command, sizeof command, "sleep 600 & echo $! > %s/pid; wait", folder);
	assert_non_null(strstr(end_of(command, SECOND_US), "did not end within 1 s"));
	assert_true(pid_in("pid") > 0);
	assert_true(is_dead(pid_in("pid")));
}

static void
test_a_command_that_prints_without_end_is_ended(void **state)
{
	(void)state;
	assert_non_null(strstr(end_of("yes", PATIENCE_S * SECOND_US), "printed 16384 bytes"));
	assert_true(ended_bytes <= GAUGE_OUTPUT_BYTES);
	assert_non_null(strstr(end_of("kill -9 $$", PATIENCE_S * SECOND_US), "killed by signal 9"));
	assert_string_equal(end_of("exec >&- 2>&-; sleep 0.1", PATIENCE_S * SECOND_US), "");
}

static void
test_stopping_leaves_nothing_behind(void **state)
{
	char command[512];
	const struct child_options options = {
		.command = command, .output_max = GAUGE_OUTPUT_BYTES, .patience_us = MINUTE_US
	};
	struct child *child;

	(void)state;
	the_loop = loop_create();
	snprintf(command, sizeof command, "echo $$ > %s/stopped; exec sleep 600", folder);
	child_start(the_loop, &options, on_ended, NULL, &child);
	assert_non_null(child);
	for (int i = 0; i < PATIENCE_S * 50 && pid_in("stopped") == 0; i++)
		usleep(20000);
	assert_true(pid_in("stopped") > 0);
	child_stop(child);
	assert_true(is_dead(pid_in("stopped")));
	loop_destroy(the_loop);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_word_of_a_text_that_is_meant),
		cmocka_unit_test(test_files_names_and_commands),
		cmocka_unit_test(test_a_gauge_that_fails_is_missing_until_it_can_be_read_again),
		cmocka_unit_test(test_a_command_that_hangs_is_ended_with_all_it_started),
		cmocka_unit_test(test_a_command_that_prints_without_end_is_ended),
		cmocka_unit_test(test_stopping_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("gauge", tests, make_folder, remove_folder);
}
