/* The traps of libconfuse, each with the sentence that refuses it.
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
#include <unistd.h>

#include <cmocka.h>

#include "proto/base/conf.h"
#include "proto/base/mem.h"

static int
check_jobs(cfg_t *cfg, cfg_opt_t *opt)
{
	if (cfg_opt_getnint(opt, 0) > 0)
		return 0;
	cfg_error(cfg, "jobs is %ld; 1 or more was expected", cfg_opt_getnint(opt, 0));
	return -1;
}

static cfg_opt_t target_opts[] = { CFG_INT("jobs", 1, CFGF_NONE), CFG_STR("arch", "", CFGF_NONE),
	CFG_END() };
static cfg_opt_t limits_opts[] = { CFG_FLOAT("share", 1, CFGF_NONE), CFG_END() };
static cfg_opt_t opts[] = { CFG_STR("name", "", CFGF_NONE), CFG_INT("port", 0, CFGF_NONE),
	CFG_INT_LIST("cpus", "{}", CFGF_NONE), CFG_STR_LIST("labels", "{}", CFGF_NONE),
	CFG_SEC("limits", limits_opts, CFGF_NONE),
	CFG_SEC("target", target_opts, CFGF_MULTI | CFGF_TITLE), CFG_END() };

static int
setup(void **state)
{
	(void)state;
	conf_validate(opts, "target|jobs", check_jobs);
	return 0;
}

struct refusal {
	const char *what, *text, *sentence;
};

static const struct refusal refusals[] = {
	{ "a key given twice", "name = a\nport = 1\nname = b\n",
	    "t:3: 'name' stands twice; it is on line 1 already" },
	{ "a key given twice in a section", "target x {\n jobs = 1\n jobs = 2\n}\n",
	    "t:3: 'jobs' stands twice; it is on line 2 already" },
	{ "a section given twice", "limits { }\nlimits { }\n",
	    "t:2: 'limits' stands twice; it is on line 1 already" },
	{ "a title given twice, in quotes once", "target x { }\n\ntarget 'x' { }\n",
	    "t:3: target 'x' stands twice; it is on line 1 already" },
	{ "an octal number", "# one\nport = 010\n",
	    "t:2: '010' of 'port' begins with 0 and would be read as octal; write it without" },
	{ "an octal number in a list", "cpus = { 1, 007 }\n",
	    "t:1: '007' of 'cpus' begins with 0 and would be read as octal; write it without" },
	{ "the environment", "name = ${HOME}\n",
	    "t:1: '${...}' would put the daemon's environment in; write the value itself, or put "
	    "it in single quotes" },
	{ "the environment in double quotes", "\nname = \"at\n${HOME}\"\n",
	    "t:3: '${...}' would put the daemon's environment in; write the value itself, or put "
	    "it in single quotes" },
	{ "a scalar for a list", "cpus = 3\n", "t:1: 'cpus' takes a list: write cpus = { 3 }" },
	{ "a list for a scalar", "port = { 3 }\n",
	    "t:1: 'port' takes one value, not a list; leave the braces out" },
	{ "a list for a scalar in a section", "target x {\njobs = {3}\n}\n",
	    "t:2: 'jobs' takes one value, not a list; leave the braces out" },
	{ "an open string", "port = 1\nname = \"abc\nport = 2\n",
	    "t:2: the string that begins here is not closed; a \" is missing" },
	{ "an open section", "\ntarget x {\n jobs = 1\n",
	    "t:2: the section 'target' that begins here is not closed; '}' is missing" },
	{ "an open list", "labels = { a,\n b\n",
	    "t:1: the list of 'labels' that begins here is not closed; '}' is missing" },
	{ "an open comment", "port = 1 /* abc\n",
	    "t:1: the comment that begins here is not closed; '*/' is missing" },
	{ "a brace too many", "limits { }\n}\n", "t:2: this '}' closes nothing" },
	{ "appending", "labels += { a }\n",
	    "t:1: '+=' is not taken here; write 'labels = ...' with all of it" },
	{ "a typing error", "target x {\n jbos = 4\n}\n",
	    "t:2: 'jbos' is not known in a section 'target'; did you mean 'jobs'? known here: "
	    "jobs, "
	    "arch" },
	{ "an unknown name", "colour = red\n",
	    "t:1: 'colour' is not known in this file; known here: name, port, cpus, labels, "
	    "limits, "
	    "target" },
	{ "a value with spaces", "name = a b\n",
	    "t:1: 'b' stands behind the value of 'name'; a value with spaces needs quotes" },
	{ "a missing value", "name =\nport = 1\n", "t:1: 'name' has no value on its line" },
	{ "a missing equal sign", "name a\n", "t:1: '=' and a value were expected behind 'name'" },
	{ "a missing title", "target {\n}\n",
	    "t:1: 'target' needs a title: write target NAME { ... }" },
	{ "stars that libconfuse drops", "name = 0 * * *\n",
	    "t:1: '*' cannot stand here; a value that holds it needs quotes" },
	{ "a plus that libconfuse drops", "name = 1.5+b1\n",
	    "t:1: '1.5' is followed by '+', which is no part of an unquoted value; put the value "
	    "in "
	    "quotes" },
	{ "an address whose end becomes a comment", "name = http://x\n",
	    "t:1: 'http:' is followed by '/', which is no part of an unquoted value; put the value "
	    "in quotes" },
	{ "no number", "\n\nport = many\n", "t:3: invalid integer value for option 'port'" },
	{ "a value that a callback refuses", "/* a\n b */ name = x\ntarget x {\n\n jobs = 0\n}\n",
	    "t:5: jobs is 0; 1 or more was expected" },
};

static void
refuses_each_trap_by_file_and_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		const struct refusal *r = &refusals[i];
		cfg_t *cfg = NULL;
		struct err err = { "" };

		if (conf_parse_text("t", r->text, opts, &cfg, &err) == 0)
			fail_msg("%s was taken", r->what);
		assert_null(cfg);
		assert_string_equal(err.text, r->sentence);
	}
}

static void
takes_what_is_well_formed(void **state)
{
	static const char text[] = "# comment ${HOME} \"\n"
				   "name = 'it is ${HOME} \"x'   // \"\n"
				   "port = 0x10 /* two\nlines */ cpus = { 0, 1, 20, }\n"
				   "labels = {}\n"
				   "limits { share = 0.5 }\n"
				   "target \"a b\" { jobs = 3 arch = \"\\${x}\" }\r\n"
				   "target a { }\n";
	struct err err = { "" };
	cfg_t *cfg;

	(void)state;
	if (conf_parse_text("t", text, opts, &cfg, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(cfg_getstr(cfg, "name"), "it is ${HOME} \"x");
	assert_int_equal(cfg_getint(cfg, "port"), 16);
	assert_int_equal(cfg_size(cfg, "cpus"), 3);
	assert_int_equal(cfg_getnint(cfg, "cpus", 2), 20);
	assert_int_equal(cfg_size(cfg, "target"), 2);
	assert_int_equal(cfg_getint(cfg_gettsec(cfg, "target", "a b"), "jobs"), 3);
	assert_string_equal(cfg_getstr(cfg_gettsec(cfg, "target", "a b"), "arch"), "${x}");
	cfg_free(cfg);
}

static void
finds_the_line_of_what_was_parsed(void **state)
{
	static const char text[] = "name = target # target a {\n"
				   "cpus = { 1,\n 2 } limits {\n share = 0.5 }\n"
				   "target jobs { arch = jobs\n jobs = 1 }\n"
				   "target \"a\"\n{\n arch = x\n\n jobs = 3 }\n";
	static const struct {
		struct conf_step path[2];
		size_t n;
		int line;
	} cases[] = {
		{ { { "name", NULL } }, 1, 1 },
		{ { { "limits", NULL } }, 1, 3 },
		{ { { "limits", NULL }, { "share", NULL } }, 2, 4 },
		{ { { "target", "jobs" } }, 1, 5 },
		{ { { "target", "jobs" }, { "jobs", NULL } }, 2, 6 },
		{ { { "target", "a" } }, 1, 7 },
		{ { { "target", "a" }, { "jobs", NULL } }, 2, 11 },
		{ { { "target", "b" } }, 1, 0 },
		{ { { "limits", NULL }, { "jobs", NULL } }, 2, 0 },
		{ { { "port", NULL } }, 1, 0 },
	};
	struct err err = { "" };
	size_t i;

	(void)state;
	if (conf_lint("t", text, opts, &err) != 0)
		fail_msg("%s", err.text);
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (conf_line(text, cases[i].path, cases[i].n) != cases[i].line)
			fail_msg(
			    "case %zu: line %d", i, conf_line(text, cases[i].path, cases[i].n));
}

static void
takes_an_empty_text(void **state)
{
	struct err err = { "" };
	cfg_t *cfg;

	(void)state;
	assert_int_equal(conf_parse_text("t", "", opts, &cfg, &err), 0);
	assert_string_equal(cfg_getstr(cfg, "name"), "");
	cfg_free(cfg);
}

static void
expect_unreadable(const char *path, const char *sentence)
{
	struct err err = { "" };
	char *expected = mem_printf("%s: %s", path, sentence);
	cfg_t *cfg = NULL;

	assert_int_equal(conf_parse_file(path, opts, &cfg, &err), -1);
	assert_null(cfg);
	assert_string_equal(err.text, expected);
	free(expected);
}

static void
write_bytes(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void
refuses_a_file_that_is_none(void **state)
{
	char folder[] = "/tmp/flyball-conf-XXXXXX", *path, *big;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = mem_printf("%s/x.conf", folder);
	big = mem_calloc(CONF_BYTES + 1, 1);
	memset(big, '\n', CONF_BYTES + 1);
	expect_unreadable(path, "cannot be opened for reading: No such file or directory");
	expect_unreadable(folder, "is no regular file");
	write_bytes(path, big, CONF_BYTES + 1);
	expect_unreadable(path, "is longer than 262144 bytes; split it or leave something out");
	write_bytes(path, "name = a\0b\n", 11);
	expect_unreadable(path, "holds a zero byte; a text file was expected");
	unlink(path);
	rmdir(folder);
	free(big);
	free(path);
}

static void
takes_a_text_that_begins_with_a_byte_order_mark(void **state)
{
	cfg_t *cfg;
	struct err err;

	(void)state;
	assert_int_equal(conf_parse_text("t", "\xef\xbb\xbfname = a\n", opts, &cfg, &err), 0);
	assert_string_equal(cfg_getstr(cfg, "name"), "a");
	cfg_free(cfg);
	assert_int_equal(conf_parse_text("t", "\xef\xbb\xbf", opts, &cfg, &err), 0);
	cfg_free(cfg);
}

/* A text that was taken once is cut and changed everywhere: taken or refused, with a line. */
static void
survives_any_text(void **state)
{
	static const char text[] = "name = 'a' cpus = { 1, 2 }\n/* c */ target \"a b\" { jobs = 3 "
				   "arch = \"\\x41\" }\nlimits { share = 0.5 } # end\n";
	static const char odd[] = "\"'{}=,#/*+()$\\\n 0a";
	unsigned seed = (unsigned)getpid();

	(void)state;
	printf("# seed %u\n", seed);
	srandom(seed);
	for (int round = 0; round < 3000; round++) {
		char copy[sizeof text];
		struct err err = { "" };
		cfg_t *cfg = NULL;

		memcpy(copy, text, sizeof text);
		for (long n = random() % 4; n >= 0; n--)
			copy[(size_t)random() % (sizeof text - 1)] =
			    odd[(size_t)random() % (sizeof odd - 1)];
		copy[(size_t)random() % sizeof text] = '\0';
		if (conf_parse_text("t", copy, opts, &cfg, &err) == 0)
			cfg_free(cfg);
		else if (strncmp(err.text, "t:", 2) != 0)
			fail_msg("%s says: %s", copy, err.text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_each_trap_by_file_and_line),
		cmocka_unit_test(takes_what_is_well_formed),
		cmocka_unit_test(finds_the_line_of_what_was_parsed),
		cmocka_unit_test(takes_an_empty_text),
		cmocka_unit_test(takes_a_text_that_begins_with_a_byte_order_mark),
		cmocka_unit_test(refuses_a_file_that_is_none),
		cmocka_unit_test(survives_any_text),
	};

	return cmocka_run_group_tests_name("configuration files", tests, setup, NULL);
}
