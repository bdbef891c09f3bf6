/* tests/conf/bad-NAME.policy is refused with the sentence of bad-NAME.expected, good-NAME.policy is
 * printed as good-NAME.expected; FLYBALL_UPDATE=1 rewrites both, and the difference is read.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/policy_file.h"
#include "coordinator/io/policy_value.h"
#include "proto/base/conf.h"
#include "proto/base/mem.h"
#include "proto/wire_text.h"

#define CONF "tests/conf"

static const char *const recipes[] = { "gmake", "bmake", "linux-kernel", "netbsd" };

enum { RECIPES = sizeof recipes / sizeof recipes[0] };

/* ---- helpers ---------------------------------------------------------------------------- */

static void
write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool
ends(const char *s, const char *with)
{
	size_t n = strlen(s), m = strlen(with);

	return n >= m && strcmp(s + n - m, with) == 0;
}

/* What the daemon makes of a file; name is the one that errors show. */
static int
parse_file(const char *path, const char *name, struct policy_list *ret_list, struct err *err)
{
	char *text;
	int rc;

	if (conf_read(path, &text, err) != 0)
		return -1;
	rc = policy_parse(name, text, recipes, RECIPES, ret_list, err);
	free(text);
	return rc;
}

static struct policy_list
parse_good(const char *text)
{
	struct policy_list list = { 0 };
	struct err err = { "" };

	if (policy_parse("x.policy", text, recipes, RECIPES, &list, &err) != 0)
		fail_msg("%s\n%s", err.text, text);
	return list;
}

static char *
print_all(const struct policy_list *list)
{
	struct text t = { 0 };
	size_t i;

	text_add(&t, "");
	for (i = 0; i < list->n; i++)
		policy_print(list->list[i], &t);
	return t.text;
}

/* ---- golden files ----------------------------------------------------------------------- */

static void
compare_golden(const char *file, const char *got)
{
	char *path =
	    mem_printf(CONF "/%.*s.expected", (int)(strlen(file) - strlen(".policy")), file);
	char *expected;
	struct err err;

	if (getenv("FLYBALL_UPDATE") != NULL)
		write_text(path, got);
	if (conf_read(path, &expected, &err) != 0)
		fail_msg("%s", err.text);
	if (strcmp(expected, got) != 0)
		fail_msg("%s\nexpected: %s\ngot: %s", file, expected, got);
	free(expected);
	free(path);
}

/* Calls f for each policy file of the folder whose name begins so. */
static void
for_each(const char *folder, const char *with, void (*f)(const char *folder, const char *file))
{
	struct dirent **entries;
	int i, done = 0, n = scandir(folder, &entries, NULL, alphasort);

	assert_true(n > 0);
	for (i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (begins(name, with) && ends(name, ".policy")) {
			f(folder, name);
			done++;
		}
		free(entries[i]);
	}
	free(entries);
	print_message("# %d files\n", done);
	assert_true(done > 0);
}

static void
is_refused(const char *folder, const char *file)
{
	char *path = mem_printf("%s/%s", folder, file), *line, *start = mem_printf("%s:", file);
	struct policy_list list = { 0 };
	struct err err = { "" };

	if (parse_file(path, file, &list, &err) == 0)
		fail_msg("%s was taken", file);
	assert_null(list.list);
	/* What cannot be read as text at all has no line; its path is told. */
	if (!begins(err.text, start) && !begins(err.text, path))
		fail_msg("%s does not name its file: %s", file, err.text);
	assert_true(wire_text_ok(err.text));
	line = mem_printf("%s\n", err.text);
	compare_golden(file, line);
	free(line);
	free(start);
	free(path);
}

static void
bad_files_are_refused_by_file_line_and_what_was_expected(void **state)
{
	(void)state;
	for_each(CONF, "bad-", is_refused);
}

static void
is_taken(const char *folder, const char *file)
{
	char *path = mem_printf("%s/%s", folder, file), *printed, *again;
	struct policy_list list = { 0 }, second;
	struct err err = { "" };

	if (parse_file(path, file, &list, &err) != 0)
		fail_msg("%s", err.text);
	printed = print_all(&list);
	second = parse_good(printed);
	again = print_all(&second);
	assert_string_equal(again, printed);
	if (strcmp(folder, CONF) == 0)
		compare_golden(file, printed);
	policy_list_clear(&list);
	policy_list_clear(&second);
	free(printed);
	free(again);
	free(path);
}

static void
good_files_are_printed_with_every_effective_value(void **state)
{
	(void)state;
	for_each(CONF, "good-", is_taken);
}

static void
the_examples_that_we_ship_are_good(void **state)
{
	(void)state;
	for_each("deploy/examples", "", is_taken);
}

static void
defaults_of_a_file_reach_its_branches_wherever_they_stand(void **state)
{
	static const char text[] =
	    "branch a { source = s targets = { t, u } target u { limits { retries = 7 } } }\n"
	    "defaults { recipe = bmake retries = 5 priority = 9 needs { memory = 2g } }\n"
	    "branch b { source = s targets = { t } priority = 8 needs { memory = 3g } }\n";
	struct policy_list list = parse_good(text);

	(void)state;
	assert_int_equal(list.n, 2);
	assert_string_equal(list.list[0]->recipe, "bmake");
	assert_string_equal(list.list[0]->origin, "x.policy");
	assert_int_equal(list.list[0]->priority, 9);
	assert_int_equal(list.list[0]->targets[0].retries, 5);
	assert_int_equal(list.list[0]->targets[1].retries, 7);
	assert_int_equal(list.list[0]->targets[1].needs.memory_bytes, INT64_C(2) << 30);
	assert_int_equal(list.list[1]->priority, 8);
	assert_int_equal(list.list[1]->targets[0].needs.memory_bytes, INT64_C(3) << 30);
	policy_list_clear(&list);
}

static void
a_new_branch_is_observed_and_has_a_timeout(void **state)
{
	struct policy_list list =
	    parse_good("branch a { recipe = gmake source = s targets = { t } }");
	const struct policy *p = list.list[0];

	(void)state;
	assert_int_equal(p->governor, GOVERNOR_OBSERVE);
	assert_int_equal(p->priority, 50);
	assert_int_equal(p->jobs_min, 1);
	assert_int_equal(p->jobs_max, JOBS_MAX);
	assert_int_equal(p->jobs_start, 0);
	assert_int_equal(p->targets[0].timeout_us, 24 * HOUR_US);
	assert_int_equal(p->targets[0].stall_us, 0);
	assert_int_equal(p->targets[0].retries, 2);
	policy_list_clear(&list);
}

static void
recipes_are_not_checked_when_none_are_known(void **state)
{
	static const char text[] = "branch a { recipe = nowhere source = s targets = { t } }";
	struct policy_list list = { 0 };
	struct err err = { "" };

	(void)state;
	assert_int_equal(policy_parse("x", text, NULL, 0, &list, &err), 0);
	policy_list_clear(&list);
	assert_int_equal(policy_parse("x", text, recipes, 0, &list, &err), -1);
	assert_string_equal(err.text,
	    "x:1: recipe \"nowhere\" is not installed on any host; known: none, since no host has "
	    "told of any");
}

static void
a_text_that_is_too_long_is_refused(void **state)
{
	size_t n = (size_t)300 * 1024;
	char *text = mem_calloc(n + 1, 1);
	struct policy_list list = { 0 };
	struct err err = { "" };

	(void)state;
	memset(text, '#', n);
	assert_int_equal(policy_parse("x", text, recipes, RECIPES, &list, &err), -1);
	assert_string_equal(
	    err.text, "x: is longer than 262144 bytes; split it or leave something out");
	free(text);
}

static void
more_than_the_bounds_is_refused(void **state)
{
	struct text t = { 0 };
	struct policy_list list = { 0 };
	struct err err = { "" };
	int i;

	(void)state;
	text_add(&t, "branch a { recipe = gmake source = s targets = {\n");
	for (i = 0; i <= TARGETS_MAX; i++)
		text_printf(&t, "t%d,\n", i);
	text_add(&t, "} }\n");
	assert_int_equal(policy_parse("x", t.text, recipes, RECIPES, &list, &err), -1);
	assert_string_equal(err.text, "x:1: targets holds 129: at most 128 are taken");
	t.length = 0;
	for (i = 0; i <= BRANCHES_MAX; i++)
		text_printf(&t, "branch b%d { recipe = gmake source = s targets = { t } }\n", i);
	assert_int_equal(policy_parse("x", t.text, recipes, RECIPES, &list, &err), -1);
	assert_string_equal(err.text, "x: holds 1025 branches: at most 1024 are taken");
	t.length = 0;
	text_add(&t, "branch a { recipe = gmake targets = { t } source = \"/");
	for (i = 0; i < SOURCE_SIZE - 1; i++)
		text_add(&t, "x");
	text_add(&t, "\" }");
	assert_int_equal(policy_parse("x", t.text, recipes, RECIPES, &list, &err), -1);
	assert_string_equal(err.text, "x:1: source is longer than 511 bytes");
	free(t.text);
}

/* ---- values ----------------------------------------------------------------------------- */

static void
sizes_and_durations_need_their_unit(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1: refused */
	} sizes[] = {
		{ "0b", 0 },
		{ "1b", 1 },
		{ "64k", 65536 },
		{ "500m", 524288000 },
		{ "16g", INT64_C(17179869184) },
		{ "1t", INT64_C(1099511627776) },
		{ "1048576t", INT64_C(1) << 60 },
		{ "1048577t", -1 },
		{ "16", -1 },
		{ "", -1 },
		{ "g", -1 },
		{ "16G", -1 },
		{ "16gb", -1 },
		{ "16 g", -1 },
		{ " 16g", -1 },
		{ "-1g", -1 },
		{ "+1g", -1 },
		{ "01g", -1 },
		{ "0x1g", -1 },
		{ "1.5g", -1 },
		{ "99999999999999999999b", -1 },
	};
	int64_t value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		value = -1;
		size_parse(sizes[i].text, &value);
		if (value != sizes[i].bytes)
			fail_msg("size \"%s\" is %lld", sizes[i].text, (long long)value);
	}
	assert_true(duration_parse("90s", &value) && value == 90 * SECOND_US);
	assert_true(duration_parse("30m", &value) && value == 30 * MINUTE_US);
	assert_true(duration_parse("12h", &value) && value == 12 * HOUR_US);
	assert_true(duration_parse("2d", &value) && value == 48 * HOUR_US);
	assert_false(duration_parse("90", &value));
	assert_false(duration_parse("1w", &value));
	assert_false(duration_parse("4000d", &value));
}

static void
releases_are_compared_as_written(void **state)
{
	static const struct {
		const char *text;
		enum release_test test;
		const char *release; /* NULL: refused */
	} cases[] = {
		{ "", RELEASE_ANY, "" },
		{ "9", RELEASE_EQ, "9" },
		{ "= 9.3", RELEASE_EQ, "9.3" },
		{ ">= 9", RELEASE_GE, "9" },
		{ ">=9", RELEASE_GE, "9" },
		{ "> 9", RELEASE_GT, "9" },
		{ "<= 6.1.0-18-amd64", RELEASE_LE, "6.1.0-18-amd64" },
		{ "< 10", RELEASE_LT, "10" },
		{ ">=", RELEASE_ANY, NULL },
		{ "=> 9", RELEASE_ANY, NULL },
		{ ">> 9", RELEASE_ANY, NULL },
		{ "9 or later", RELEASE_ANY, NULL },
		{ "!= 9", RELEASE_ANY, NULL },
		{ "_9", RELEASE_ANY, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		enum release_test test;
		char release[NAME_SIZE];
		bool taken = release_parse(cases[i].text, &test, release);

		if (taken != (cases[i].release != NULL))
			fail_msg("release \"%s\": %s", cases[i].text, taken ? "taken" : "refused");
		if (taken && (test != cases[i].test || strcmp(release, cases[i].release) != 0))
			fail_msg("release \"%s\" is %s", cases[i].text, release);
	}
}

/* ---- printing and parsing --------------------------------------------------------------- */

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";

static void
random_name(char *name)
{
	size_t i, n = 1 + (size_t)random() % (random() % 8 == 0 ? NAME_SIZE - 1 : 6);

	name[0] = name_letters[random() % 62];
	for (i = 1; i < n; i++)
		name[i] = name_letters[(size_t)random() % (sizeof name_letters - 1)];
	name[n] = '\0';
}

static void
random_source(char *source)
{
	static const char *const odd[] = { "${HOME}", "\"", "\\", "'", "#", "//", "/*", "$", "\\\"",
		"{", "}", " ", "=", ",", "\xc3\xa9", "\xe2\x82\xac", "x", "/", "\\n", "\\x41",
		"+=" };
	int n = (int)(random() % 12);
	struct text t = { 0 };

	text_add(&t, random() % 2 ? "/" : "r");
	while (n-- > 0)
		text_add(&t, odd[(size_t)random() % (sizeof odd / sizeof odd[0])]);
	mem_copy_text(source, SOURCE_SIZE, t.text);
	free(t.text);
}

static int64_t
random_units(const int64_t *units, size_t n)
{
	return random() % 4 == 0 ? 0 : units[(size_t)random() % n] * (random() % 2000);
}

static void
random_target(struct target *t, int64_t alike)
{
	static const int64_t sizes[] = { 1, 1 << 10, 1 << 20, 1 << 30, INT64_C(1) << 40 };
	static const int64_t durations[] = { SECOND_US, MINUTE_US, HOUR_US, 24 * HOUR_US / 2 };
	size_t i;

	random_name(t->name);
	if (alike)
		return;
	t->needs.memory_bytes = random_units(sizes, 5);
	t->needs.disk_bytes = random_units(sizes, 5);
	if (random() % 2)
		random_name(t->needs.os);
	t->needs.release_test = (enum release_test)(random() % (RELEASE_LT + 1));
	if (t->needs.release_test != RELEASE_ANY)
		random_name(t->needs.release);
	t->needs.nlabels = (size_t)random() % 4;
	t->needs.labels =
	    t->needs.nlabels == 0 ? NULL : mem_calloc(t->needs.nlabels, sizeof *t->needs.labels);
	for (i = 0; i < t->needs.nlabels; i++) {
		random_name(t->needs.labels[i]);
		t->needs.labels[i][0] = (char)('a' + i);
	}
	t->timeout_us = random_units(durations, 4);
	t->stall_us = random_units(durations, 4);
	t->retries = (int32_t)(random() % 101);
}

static struct policy *
random_policy(void)
{
	struct policy *p = policy_create();
	int64_t alike = random() % 3 == 0;
	size_t i;

	random_name(p->branch);
	random_name(p->recipe);
	random_source(p->source);
	p->priority = (int32_t)(random() % 101);
	p->governor = (enum governor_mode)(random() % (GOVERNOR_ACT + 1));
	p->jobs_min = 1 + (int32_t)(random() % JOBS_MAX);
	p->jobs_max = p->jobs_min + (int32_t)(random() % (JOBS_MAX - p->jobs_min + 1));
	if (random() % 2)
		p->spin_target_ppm = 10000 + (int32_t)(random() % 890001);
	if (random() % 2)
		p->jobs_start = p->jobs_min + (int32_t)(random() % (p->jobs_max - p->jobs_min + 1));
	p->ntargets = 1 + (size_t)random() % 5;
	p->targets = mem_calloc(p->ntargets, sizeof *p->targets);
	for (i = 0; i < p->ntargets; i++) {
		random_target(&p->targets[i], alike);
		p->targets[i].name[0] = (char)('A' + i);
	}
	return p;
}

static void
what_is_printed_parses_back_to_the_same(void **state)
{
	unsigned seed = (unsigned)getpid();
	int round;

	(void)state;
	print_message("# seed %u\n", seed);
	srandom(seed);
	for (round = 0; round < 1000; round++) {
		struct policy *p = random_policy();
		struct policy_list list = { 0 };
		struct text t = { 0 };
		struct err err = { "" };

		policy_print(p, &t);
		if (policy_parse("x", t.text, NULL, 0, &list, &err) != 0)
			fail_msg("%s\n%s", err.text, t.text);
		if (list.n != 1 || !policy_equal(p, list.list[0]))
			fail_msg("is another one:\n%s", t.text);
		policy_list_clear(&list);
		policy_destroy(p);
		free(t.text);
	}
}

/* ---- folders ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/flyball-policy-XXXXXX";

static void
in_folder(const char *file, const char *text)
{
	char *path = mem_printf("%s/%s", folder, file);

	if (text != NULL)
		write_text(path, text);
	else
		unlink(path);
	free(path);
}

static void
expect_folder_refused(const char *path, const char *format)
{
	struct policy_list list = { 0 };
	struct err err = { "" };
	char *sentence =
	    mem_printf(format, path, path); /* NOLINT(clang-diagnostic-format-nonliteral) */

	assert_int_equal(policy_load_folder(path, recipes, RECIPES, &list, &err), -1);
	assert_string_equal(err.text, sentence);
	assert_null(list.list);
	free(sentence);
}

static void
a_folder_gives_its_policy_files_in_the_order_of_their_names(void **state)
{
	struct policy_list list = { 0 };
	struct err err = { "" };

	(void)state;
	assert_int_equal(policy_load_folder(folder, recipes, RECIPES, &list, &err), 0);
	assert_int_equal(list.n, 0);
	in_folder("b.policy", "branch two { recipe = gmake source = s targets = { t } }");
	in_folder("a.policy", "branch z { recipe = gmake source = s targets = { t } }\n"
			      "branch one { recipe = gmake source = s targets = { t } }");
	in_folder("a.policy~", "not read");
	in_folder(".c.policy", "not read");
	in_folder("README", "not read");
	if (policy_load_folder(folder, recipes, RECIPES, &list, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.list[0]->branch, "z");
	assert_string_equal(list.list[1]->branch, "one");
	assert_string_equal(list.list[2]->branch, "two");
	assert_true(ends(list.list[2]->origin, "/b.policy"));
	policy_list_clear(&list);
}

static void
a_branch_in_two_files_is_refused_with_both_places(void **state)
{
	(void)state;
	in_folder("c.policy", "# once more\n\n"
			      "branch one { recipe = gmake source = s targets = { t } }");
	expect_folder_refused(
	    folder, "%s/c.policy:3: branch \"one\" stands twice; it is in %s/a.policy:2 already");
	in_folder("c.policy", NULL);
}

static void
one_bad_file_refuses_the_folder(void **state)
{
	(void)state;
	in_folder("aa.policy", "branch x {\n recipe = gmake\n source = s\n targets = t\n}");
	expect_folder_refused(
	    folder, "%s/aa.policy:4: 'targets' takes a list: write targets = { t }");
	in_folder("aa.policy", NULL);
}

static void
a_folder_that_is_not_there_is_named(void **state)
{
	(void)state;
	expect_folder_refused(
	    "/no/such/folder", "policy folder %s: cannot be read: No such file or directory");
}

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
remove_folder(void **state)
{
	static const char *const files[] = { "a.policy", "aa.policy", "b.policy", "c.policy",
		"a.policy~", ".c.policy", "README" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof files / sizeof files[0]; i++)
		in_folder(files[i], NULL);
	rmdir(folder);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_files_are_refused_by_file_line_and_what_was_expected),
		cmocka_unit_test(good_files_are_printed_with_every_effective_value),
		cmocka_unit_test(the_examples_that_we_ship_are_good),
		cmocka_unit_test(defaults_of_a_file_reach_its_branches_wherever_they_stand),
		cmocka_unit_test(a_new_branch_is_observed_and_has_a_timeout),
		cmocka_unit_test(recipes_are_not_checked_when_none_are_known),
		cmocka_unit_test(a_text_that_is_too_long_is_refused),
		cmocka_unit_test(more_than_the_bounds_is_refused),
		cmocka_unit_test(sizes_and_durations_need_their_unit),
		cmocka_unit_test(releases_are_compared_as_written),
		cmocka_unit_test(what_is_printed_parses_back_to_the_same),
		cmocka_unit_test(a_folder_gives_its_policy_files_in_the_order_of_their_names),
		cmocka_unit_test(a_branch_in_two_files_is_refused_with_both_places),
		cmocka_unit_test(one_bad_file_refuses_the_folder),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests_name("policy files", tests, make_folder, remove_folder);
}
