/* What stands in the log: one line each, nothing forged, repeats counted.
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
#include <unistd.h>

#include <cmocka.h>

#include "proto/base/log.h"

static char text[8192];
static int was, pipe_ends[2];

static int
catch_log(void **state)
{
	(void)state;
	if (pipe(pipe_ends) != 0)
		return -1;
	was = dup(STDERR_FILENO);
	return dup2(pipe_ends[1], STDERR_FILENO) < 0 ? -1 : 0;
}

/* What was written since; standard error is what it was before. */
static const char *
caught(void)
{
	ssize_t n;

	dup2(was, STDERR_FILENO);
	close(was);
	close(pipe_ends[1]);
	n = read(pipe_ends[0], text, sizeof text - 1);
	close(pipe_ends[0]);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static size_t
count_lines(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += *s == '\n';
	return n;
}

static void
a_line_has_time_program_and_words(void **state)
{
	unsigned year, month, day, hour, minute, second, ms;
	int used = 0;

	(void)state;
	unsetenv("JOURNAL_STREAM");
	log_open("flyball-test", LOG_NOTICE);
	log_warning("disk is full host=%s", "alpha");
	log_debug("not wanted");
	assert_int_equal(sscanf(caught(), "%4u-%2u-%2uT%2u:%2u:%2u.%3uZ %n", &year, &month, &day,
			     &hour, &minute, &second, &ms, &used),
	    7);
	assert_string_equal(text + used, "flyball-test: warning: disk is full host=alpha\n");
}

static void
the_journal_gets_the_level_and_no_time(void **state)
{
	(void)state;
	setenv("JOURNAL_STREAM", "1:2", 1);
	log_open("flyball-test", LOG_DEBUG);
	log_error("a");
	log_notice("b");
	log_debug("c");
	unsetenv("JOURNAL_STREAM");
	assert_string_equal(caught(), "<3>flyball-test: error: a\n<5>flyball-test: b\n"
				      "<7>flyball-test: debug: c\n");
}

static void
text_from_outside_cannot_forge_a_line(void **state)
{
	char huge[5000];

	(void)state;
	memset(huge, 'x', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	log_open("flyball-test", LOG_NOTICE);
	log_notice("%s", "a\nflyball-test: error: b\x1b[2J");
	log_notice("%s", huge);
	assert_int_equal(count_lines(caught()), 2);
	assert_non_null(strstr(text, "a?flyball-test: error: b?[2J\n"));
}

static void
repeats_are_told_once_and_counted(void **state)
{
	(void)state;
	log_open("flyball-test", LOG_NOTICE);
	for (int i = 0; i < 100; i++) {
		log_throttled("alpha", "refused alpha");
		log_throttled("beta", "refused beta");
	}
	assert_int_equal(count_lines(caught()), 2);
	assert_non_null(strstr(text, "warning: refused alpha\n"));
	assert_non_null(strstr(text, "warning: refused beta\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_line_has_time_program_and_words, catch_log),
		cmocka_unit_test_setup(the_journal_gets_the_level_and_no_time, catch_log),
		cmocka_unit_test_setup(text_from_outside_cannot_forge_a_line, catch_log),
		cmocka_unit_test_setup(repeats_are_told_once_and_counted, catch_log),
	};

	return cmocka_run_group_tests_name("the log", tests, NULL, NULL);
}
