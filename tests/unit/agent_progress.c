/* What a log says of a build: rules, names, make's warnings, and bytes that mean harm.
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

#include "agent/progress.h"
#include "agent/progress_rules.h"
#include "proto/base/conf.h"
#include "proto/base/mem.h"
#include "proto/wire.h"

static struct progress_rules *
rules_of(const char *text)
{
	struct err err;
	struct progress_rules *rules = progress_rules_parse("t.progress", text, &err);

	if (rules == NULL)
		fail_msg("%s", err.text);
	return rules;
}

static struct progress_rules *
shipped_rules(const char *recipe)
{
	char *path = mem_printf("deploy/recipes/%s.progress", recipe), *text;
	struct progress_rules *rules;
	struct err err;

	if (conf_read(path, &text, &err) != 0)
		fail_msg("%s", err.text);
	rules = progress_rules_parse(path, text, &err);
	if (rules == NULL)
		fail_msg("%s", err.text);
	free(text);
	free(path);
	return rules;
}

static void
feed(struct progress *progress, const char *text)
{
	progress_feed(progress, text, strlen(text), 0);
}

static struct attempt_status
status_of(const struct progress *progress)
{
	struct attempt_status status = { .percent = -1 };

	progress_show(progress, &status);
	return status;
}

/* ---- rules ---- */

static void
test_a_faulty_line_is_named(void **state)
{
	static const struct {
		const char *what, *text, *expect;
	} cases[] = {
		{ "a word that is not known", "# c\n\nfase x\n",
		    "t.progress:3: \"fase\" is not known; phase, step, once, percent or pool was "
		    "expected" },
		{ "a broken expression", "step ^(CC\n", "t.progress:1: \"^(CC\" is no extended" },
		{ "a phase without a name", "step x\nphase ^===>\n",
		    "t.progress:2: \"^===>\" needs a group" },
		{ "a rule without an expression", "step\n",
		    "t.progress:1: \"step\" has nothing behind" },
		{ "a pool that is not known", "pool box\n",
		    "t.progress:1: \"pool box\" is not known" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err = { "" };

		assert_null(progress_rules_parse("t.progress", cases[i].text, &err));
		if (strncmp(err.text, cases[i].expect, strlen(cases[i].expect)) != 0)
			fail_msg("%s: %s", cases[i].what, err.text);
	}
}

static void
test_more_rules_than_there_may_be_are_refused(void **state)
{
	char *text = mem_calloc(PROGRESS_RULES_MAX + 2, 8);
	struct err err;

	(void)state;
	for (int i = 0; i <= PROGRESS_RULES_MAX; i++)
		strcat(text, "step a\n");
	assert_null(progress_rules_parse("t.progress", text, &err));
	assert_non_null(strstr(err.text, "and no more"));
	free(text);
}

static void
test_the_pool_is_pipes_unless_said(void **state)
{
	struct progress_rules *pipes = rules_of("step x\n"), *fifo = rules_of("pool fifo\n");

	(void)state;
	assert_int_equal(progress_rules_pool(NULL), POOL_PIPES);
	assert_int_equal(progress_rules_pool(pipes), POOL_PIPES);
	assert_int_equal(progress_rules_pool(fifo), POOL_FIFO);
	progress_rules_destroy(pipes);
	progress_rules_destroy(fifo);
}

static void
test_the_literal_is_what_every_match_must_hold(void **state)
{
	static const struct {
		const char *regex, *literal;
		bool at_start;
	} cases[] = {
		{ "^  CC +", "  CC ", true },
		{ "^===> ([a-z]+) now", "===> ", true },
		{ "a|bcd", "", false },
		{ "(abc|d)ef", "ef", false },
		{ "abcd*e", "abc", false },
		{ "abcd?", "abc", false },
		{ "abcd{2}ef", "abc", false },
		{ "ab+c", "ab", false },
		{ "x[]|a]yzw", "yzw", false },
		{ "x[[:alpha:]]yz", "yz", false },
		{ "a\\.b\\|c", "a.b|c", false },
		{ "^(x)foo", "foo", false },
		{ "\\wabc", "abc", false },
		{ "(a(b)c)", "", false },
		{ "x$", "x", false },
		{ "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char literal[LITERAL_SIZE];
		bool at_start;

		rule_literal(cases[i].regex, literal, &at_start);
		if (strcmp(literal, cases[i].literal) != 0 || at_start != cases[i].at_start)
			fail_msg("%s: \"%s\" %d", cases[i].regex, literal, at_start);
	}
}

/* A literal that no match needs would hide matches: any expression, any line, same answer. */
static void
test_the_prefilter_changes_no_answer(void **state)
{
	static const char *const pieces[] = { "a", "b", "ab", "[ab]", "(a|b)", "a*", "b?", "a{2}",
		".", "(ab)+", "\\.", "[^a]", "^", "$", "a|b", "c+" };
	unsigned seed = (unsigned)time(NULL);

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int i = 0; i < 3000; i++) {
		char regex[64] = "", line[12] = "";
		struct rule rule = { .kind = RULE_STEP };
		regmatch_t groups[GROUPS];
		bool plain;

		for (int n = rand() % 5 + 1; n > 0; n--)
			strcat(regex, pieces[(size_t)rand() % (sizeof pieces / sizeof pieces[0])]);
		if (regcomp(&rule.regex, regex, REG_EXTENDED) != 0)
			continue;
		rule_literal(regex, rule.literal, &rule.at_start);
		rule.literal_length = strlen(rule.literal);
		for (int n = rand() % 10; n > 0; n--)
			strcat(line, (const char *[]){ "a", "b", "c", "." }[rand() % 4]);
		plain = regexec(&rule.regex, line, GROUPS, groups, 0) == 0;
		if (rule_match(&rule, line, strlen(line), groups) != plain)
			fail_msg("\"%s\" on \"%s\": literal \"%s\" (seed %u)", regex, line,
			    rule.literal, seed);
		regfree(&rule.regex);
	}
}

/* ---- phases and steps ---- */

static void
test_phases_carry_their_place(void **state)
{
	struct progress_rules *rules = rules_of("phase ^== (.*)\nstep ^CC\n");
	struct progress *progress = progress_create(rules, 0);
	const struct phase_mark *marks;
	size_t n;

	(void)state;
	progress_feed(progress, "hello\n== one\nCC a\nCC b\n== t", 27, 1000);
	progress_feed(progress, "wo\nCC c\n", 8, 2000);
	marks = progress_marks(progress, &n);
	assert_int_equal(n, 2);
	assert_string_equal(marks[0].name, "one");
	assert_int_equal(marks[0].log_offset, 6);
	assert_int_equal(marks[0].steps, 0);
	assert_int_equal(marks[0].at_us, 1000);
	assert_string_equal(marks[1].name, "two");
	assert_int_equal(marks[1].log_offset, 23);
	assert_int_equal(marks[1].steps, 2);
	assert_int_equal(marks[1].at_us, 2000);
	assert_int_equal(marks[1].source, MARK_LOG);
	assert_int_equal(status_of(progress).steps, 3);
	assert_string_equal(status_of(progress).phase, "two");
	assert_int_equal(progress_offset(progress), 35);
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_a_line_is_one_step_however_many_rules_match(void **state)
{
	struct progress_rules *rules = rules_of("step CC\nstep obj\n");
	struct progress *progress = progress_create(rules, 0);

	(void)state;
	feed(progress, "CC obj/a.o\nobj\nneither\n");
	assert_int_equal(status_of(progress).steps, 2);
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_a_line_that_comes_again_counts_once_by_such_a_rule(void **state)
{
	struct progress_rules *rules = rules_of("once ^--- .* ---$\nstep ^CC\n");
	struct progress *progress = progress_create(rules, 0);
	char line[32];

	(void)state;
	feed(progress, "--- a ---\nCC\n--- b ---\nCC\n--- a ---\nx\n");
	assert_int_equal(status_of(progress).steps, 4);
	for (int i = 0; i < 20000; i++) {
		snprintf(line, sizeof line, "--- lib%d.o ---\n", i % 10000);
		feed(progress, line);
	}
	assert_in_range(status_of(progress).steps, 9950, 10004);
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_a_phase_name_fits_the_wire(void **state)
{
	struct progress_rules *rules = rules_of("phase ^== (.*)\n");
	struct progress *progress = progress_create(rules, 0);
	static const struct {
		const char *line, *name;
	} cases[] = {
		{ "== lib/libc\n", "lib-libc" },
		{ "== ../../x y\n", "x-y" },
		{ "== --a--b--\n", "a-b" },
		{ "== \xc3\xa4\x01"
		  "b\n",
		    "b" },
		{ "== w\r\n", "w" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		feed(progress, cases[i].line);
		assert_string_equal(status_of(progress).phase, cases[i].name);
		assert_true(wire_name_ok(cases[i].name));
	}
	feed(progress, "== ///\n== \n"); /* nothing is left of it: no phase */
	assert_string_equal(status_of(progress).phase, "w");
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_marks_have_a_bound_and_the_phase_goes_on(void **state)
{
	struct progress_rules *rules = rules_of("phase ^== (.*)\n");
	struct progress *progress = progress_create(rules, 0);
	char line[32];
	size_t n;

	(void)state;
	for (int i = 0; i < PHASES_MAX + 50; i++) {
		snprintf(line, sizeof line, "== p%d\n== p%d\n", i, i);
		feed(progress, line);
	}
	progress_marks(progress, &n);
	assert_int_equal(n, PHASES_MAX);
	snprintf(line, sizeof line, "p%d", PHASES_MAX + 49);
	assert_string_equal(status_of(progress).phase, line);
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_the_recipe_marks_phases_itself(void **state)
{
	struct progress *progress = progress_create(NULL, 0);
	const struct phase_mark *marks;
	size_t n;

	(void)state;
	feed(progress, "some log\n");
	progress_mark(progress, "phase tools\n", 7);
	progress_mark(progress, "nonsense\n", 8);
	progress_mark(progress, "phase \n", 9);
	marks = progress_marks(progress, &n);
	assert_int_equal(n, 1);
	assert_string_equal(marks[0].name, "tools");
	assert_int_equal(marks[0].source, MARK_RECIPE);
	assert_int_equal(marks[0].log_offset, 9);
	progress_destroy(progress);
}

static void
test_a_log_read_again_keeps_its_times(void **state)
{
	static const char log[] = "x\n== one\ny\n== two\n";
	struct progress_rules *rules = rules_of("phase ^== (.*)\n");
	struct progress *first = progress_create(rules, 0), *second = progress_create(rules, 0);
	const struct phase_mark *marks;
	size_t n;

	(void)state;
	progress_feed(first, log, 9, 100);
	progress_feed(first, log + 9, sizeof log - 1 - 9, 200);
	marks = progress_marks(first, &n);
	assert_true(progress_wants_usage(first));
	progress_usage(first, &(struct usage){ .user_us = 11 });
	assert_false(progress_wants_usage(first));
	progress_recall(second, marks, n);
	progress_feed(second, log, sizeof log - 1, 999);
	assert_false(progress_wants_usage(second)); /* that is kept as well */
	feed(second, "== three\n");
	marks = progress_marks(second, &n);
	assert_int_equal(n, 3);
	assert_int_equal(marks[0].at_us, 100);
	assert_int_equal(marks[1].at_us, 200);
	assert_int_equal(marks[1].usage.user_us, 11);
	assert_int_equal(marks[2].usage.user_us, -1); /* nobody has told it yet */
	assert_true(progress_wants_usage(second));
	progress_usage(second, &(struct usage){ .user_us = 22 });
	assert_int_equal(marks[1].usage.user_us, 11);
	assert_int_equal(marks[2].usage.user_us, 22);
	progress_destroy(first);
	progress_destroy(second);
	progress_rules_destroy(rules);
}

/* ---- per cent ---- */

static void
test_percent_by_history_stays_below_100(void **state)
{
	struct progress_rules *rules = rules_of("step ^CC\n");
	struct progress *known = progress_create(rules, 4), *unknown = progress_create(rules, 0);

	(void)state;
	assert_int_equal(status_of(known).percent, 0);
	feed(known, "CC\n");
	assert_int_equal(status_of(known).percent, 25);
	feed(known, "CC\nCC\nCC\nCC\nCC\n");
	assert_int_equal(status_of(known).percent, 99);
	feed(unknown, "CC\n");
	assert_int_equal(status_of(unknown).percent, -1);
	progress_destroy(known);
	progress_destroy(unknown);
	progress_rules_destroy(rules);
}

static void
test_percent_by_the_logs_own_word(void **state)
{
	struct progress_rules *rules = rules_of("percent ^\\[ *([0-9]+)/([0-9]+)\\]\n"
						"percent ^\\[ *([0-9]+)%\\]\n");
	struct progress *progress = progress_create(rules, 1000);
	static const struct {
		const char *line;
		int percent;
	} cases[] = {
		{ "[1/4] CC\n", 25 },
		{ "[ 37%] Building\n", 37 },
		{ "[5/0] no\n", 37 },
		{ "[999999999999999999999/7]\n", 99 },
		{ "[4/4]\n", 99 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		feed(progress, cases[i].line);
		assert_int_equal(status_of(progress).percent, cases[i].percent);
	}
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

/* ---- make's warnings ---- */

static void
test_makes_warnings_are_seen(void **state)
{
	static const struct {
		const char *what, *line;
		bool serial, ungoverned;
	} cases[] = {
		{ "4.3, a rule without +",
		    "make[1]: warning: jobserver unavailable: using -j1.  Add '+' to parent make "
		    "rule.\n",
		    true, false },
		{ "4.4",
		    "gmake[12]: warning: jobserver unavailable: using -j1.  Add '+' to parent make "
		    "rule.\r\n",
		    true, false },
		{ "4.3, -j in a rule",
		    "make[2]: warning: -j8 forced in submake: resetting jobserver mode.\n", false,
		    true },
		{ "4.2", "make[2]: warning: -jN forced in submake: disabling jobserver mode.\n",
		    false, true },
		{ "4.4, -j in MAKEFLAGS of a makefile",
		    "make: warning: -j3 forced in makefile: resetting jobserver mode.\n", false,
		    true },
		{ "a path before make",
		    "/usr/bin/make: warning: -j5 forced in submake: resetting jobserver mode.\n",
		    false, true },
		{ "a quotation", "echo make[1]: warning: jobserver unavailable: using -j1.\n",
		    false, false },
		{ "a compiler", "foo.c:3: warning: jobserver unavailable: using -j1\n", false,
		    false },
		{ "another warning", "make: warning: Clock skew detected.\n", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct progress *progress = progress_create(NULL, 0);

		feed(progress, cases[i].line);
		if (status_of(progress).serial != cases[i].serial ||
		    status_of(progress).ungoverned != cases[i].ungoverned)
			fail_msg("%s", cases[i].what);
		progress_destroy(progress);
	}
}

static void
test_what_the_scan_saw_is_not_taken_back(void **state)
{
	struct progress *progress = progress_create(NULL, 0);
	struct attempt_status status = { .ungoverned = true };

	(void)state;
	progress_show(progress, &status);
	assert_true(status.ungoverned);
	progress_destroy(progress);
}

/* ---- logs that mean harm ---- */

static void
test_long_and_binary_lines_are_bounded(void **state)
{
	struct progress_rules *rules = rules_of("step ^CC\nstep end$\n");
	struct progress *progress = progress_create(rules, 0);
	char *bytes = mem_calloc(1, 1000000);

	(void)state;
	memset(bytes, 'x', 1000000);
	memcpy(bytes, "CC", 2);
	progress_feed(progress, bytes, 1000000, 0);
	feed(progress, "end\nCC\n"); /* behind the bound: not looked at */
	assert_int_equal(status_of(progress).steps, 2);
	memset(bytes, 0, 1000000);
	memcpy(bytes + 10, "\nCC\0CC\n", 7);
	progress_feed(progress, bytes, 1000000, 0);
	assert_int_equal(status_of(progress).steps, 3);
	free(bytes);
	progress_destroy(progress);
	progress_rules_destroy(rules);
}

static void
test_any_bytes_in_any_pieces_give_the_same(void **state)
{
	struct progress_rules *rules = shipped_rules("gmake");
	unsigned seed = (unsigned)time(NULL);
	static const char alphabet[] = "CC = \n\n\n\rmake[1]:\0\xff/o.c-";

	(void)state;
	print_message("# seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 200; round++) {
		struct progress *whole = progress_create(rules, 0),
				*parts = progress_create(rules, 0);
		char bytes[3000];
		struct attempt_status a, b;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
		progress_feed(whole, bytes, sizeof bytes, 0);
		for (size_t at = 0, n; at < sizeof bytes; at += n) {
			n = (size_t)rand() % 100 + 1;
			n = n < sizeof bytes - at ? n : sizeof bytes - at;
			progress_feed(parts, bytes + at, n, 0);
		}
		a = status_of(whole);
		b = status_of(parts);
		assert_int_equal(a.steps, b.steps);
		assert_string_equal(a.phase, b.phase);
		assert_int_equal(progress_offset(parts), (int)sizeof bytes);
		progress_destroy(whole);
		progress_destroy(parts);
	}
	progress_rules_destroy(rules);
}

/* ---- the shipped rules on real logs ---- */

static void
test_the_shipped_rules_read_real_logs(void **state)
{
	static const struct {
		const char *recipe, *log;
		int64_t steps;
		const char *phase;
	} cases[] = {
		{ "gmake",
		    "make -C lib lib-release\n"
		    "make[1]: Entering directory '/w/src/lib'\n"
		    "CC obj/conf_8b/static/debug.o\n"
		    "compiling multi-threaded dynamic library 1.5.7\n"
		    "make[2]: Entering directory '/w/src/lib/deep'\n"
		    "cc -O3   -Wa,--noexecstack -DDEBUGLEVEL=0   -c -MMD -MP -o obj/a.o "
		    "common/a.c\n"
		    "/usr/bin/x86_64-linux-gnu-gcc-12 -O2 -o prog main.o\n"
		    "g++ -c x.cc\n"
		    "ar rcs libx.a a.o\n"
		    "/bin/bash ../libtool  --tag=CC   --mode=compile gcc -c -o foo.lo foo.c\n"
		    "libtool: compile:  gcc -c foo.c -o .libs/foo.o\n"
		    "  CC       src/foo.o\n"
		    "  CCLD     foo\n"
		    "checking for gcc -c ... yes\n"
		    "make[1]: Leaving directory '/w/src/lib'\n",
		    8, "lib" },
		{ "bmake",
		    "===> lib/libc (all)\n--- malloc.o ---\ncc -O -c malloc.c\n--- libc.a ---\n"
		    "ar cq libc.a malloc.o\n--- malloc.o ---\n",
		    2, "lib-libc" },
		{ "linux-kernel",
		    "make[1]: Entering directory '/w/obj'\n  GEN     Makefile\n  HOSTCC  "
		    "scripts/basic/fixdep\n"
		    "#\n# configuration written to .config\n#\n  CC      init/main.o\n"
		    "  LD [M]  fs/ext4/ext4.ko\nKernel: arch/x86/boot/bzImage is ready  (#1)\n",
		    4, "" },
		{ "netbsd",
		    "===> build.sh command:    ./build.sh -U -m amd64 tools release\n"
		    "===> Bootstrapping nbmake\nchecking for gcc... cc\n"
		    "do-lib ===> .\ndependall ===> lib/libc\n"
		    "--- bsearch.o ---\n#   compile  libc/bsearch.o\n"
		    "/w/tools/bin/x86_64--netbsd-gcc -O2 -c bsearch.c\n#      link  cat/cat\n"
		    "===> Successful make release\n",
		    3, "do-lib" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct progress_rules *rules = shipped_rules(cases[i].recipe);
		struct progress *progress = progress_create(rules, 0);
		struct attempt_status status;

		feed(progress, cases[i].log);
		status = status_of(progress);
		if (status.steps != cases[i].steps || strcmp(status.phase, cases[i].phase) != 0)
			fail_msg("%s: %d steps, phase \"%s\"", cases[i].recipe, (int)status.steps,
			    status.phase);
		progress_destroy(progress);
		progress_rules_destroy(rules);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_faulty_line_is_named),
		cmocka_unit_test(test_more_rules_than_there_may_be_are_refused),
		cmocka_unit_test(test_the_pool_is_pipes_unless_said),
		cmocka_unit_test(test_the_literal_is_what_every_match_must_hold),
		cmocka_unit_test(test_the_prefilter_changes_no_answer),
		cmocka_unit_test(test_phases_carry_their_place),
		cmocka_unit_test(test_a_line_is_one_step_however_many_rules_match),
		cmocka_unit_test(test_a_line_that_comes_again_counts_once_by_such_a_rule),
		cmocka_unit_test(test_a_phase_name_fits_the_wire),
		cmocka_unit_test(test_marks_have_a_bound_and_the_phase_goes_on),
		cmocka_unit_test(test_the_recipe_marks_phases_itself),
		cmocka_unit_test(test_a_log_read_again_keeps_its_times),
		cmocka_unit_test(test_percent_by_history_stays_below_100),
		cmocka_unit_test(test_percent_by_the_logs_own_word),
		cmocka_unit_test(test_makes_warnings_are_seen),
		cmocka_unit_test(test_what_the_scan_saw_is_not_taken_back),
		cmocka_unit_test(test_long_and_binary_lines_are_bounded),
		cmocka_unit_test(test_any_bytes_in_any_pieces_give_the_same),
		cmocka_unit_test(test_the_shipped_rules_read_real_logs),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
