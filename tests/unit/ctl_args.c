/* The command line: what is understood, and what is said of what is not.
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

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "proto/base/mem.h"
#include "proto/units.h"

enum { WORDS_HERE = 12 };

/* The line split at blanks; "_" in a word stands for a blank. */
static int
parse(const char *line, struct args *args, struct err *err, char **ret_copy)
{
	char *argv[WORDS_HERE] = { "flyball" }, *save = NULL, *word, *at;
	int argc = 1;

	*ret_copy = mem_strdup(line);
	for (word = strtok_r(*ret_copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < WORDS_HERE);
		for (at = word; *at != '\0'; at++)
			if (*at == '_')
				*at = ' ';
		argv[argc++] = word;
	}
	return args_parse(argc, argv, args, err);
}

static const struct good {
	const char *line, *verb;
	size_t nwords;
	unsigned long given;
} good_lines[] = {
	{ "hosts", "hosts", 0, 0 },
	{ "--json hosts", "hosts", 0, OPTION_BIT(OPTION_JSON) },
	{ "hosts --json -o wide", "hosts", 0, OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_OUTPUT) },
	{ "hosts -w", "hosts", 0, OPTION_BIT(OPTION_WATCH) },
	{ "hosts -w 5", "hosts", 0, OPTION_BIT(OPTION_WATCH) },
	{ "-w 5 hosts", "hosts", 0, OPTION_BIT(OPTION_WATCH) },
	{ "round -w 7", "round", 1, OPTION_BIT(OPTION_WATCH) },
	{ "round 7 -w 2", "round", 1, OPTION_BIT(OPTION_WATCH) },
	{ "throttle a1 -j 4 --reason x", "throttle", 1,
	    OPTION_BIT(OPTION_JOBS) | OPTION_BIT(OPTION_REASON) },
	{ "throttle -j4 a1 --reason=two_words", "throttle", 1,
	    OPTION_BIT(OPTION_JOBS) | OPTION_BIT(OPTION_REASON) },
	{ "explain host a1", "explain host", 1, 0 },
	{ "explain --json build 3", "explain build", 1, OPTION_BIT(OPTION_JSON) },
	{ "run zstd lib prog --wait", "run", 3, OPTION_BIT(OPTION_WAIT) },
	{ "run -- --odd", "run", 1, 0 },
	{ "policy check -", "policy check", 1, 0 },
	{ "throttle -h", "throttle", 0, OPTION_BIT(OPTION_HELP) },
	{ "-V", NULL, 0, OPTION_BIT(OPTION_VERSION) },
	{ "--version", NULL, 0, OPTION_BIT(OPTION_VERSION) },
	{ "throttle --version", "throttle", 0, OPTION_BIT(OPTION_VERSION) },
	{ "key show \xff", "key show", 1, 0 }, /* a file may be called anything */
	{ "log 3 -f", "log", 1, OPTION_BIT(OPTION_FOLLOW) },
};

static const char *
verb_of(const struct args *args)
{
	return args->command != NULL ? args->command->name : "";
}

static void
good(void **state)
{
	struct args args;
	struct err err;
	char *copy;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good_lines / sizeof good_lines[0]; i++) {
		const struct good *g = &good_lines[i];

		if (parse(g->line, &args, &err, &copy) != 0)
			fail_msg("%s: %s", g->line, err.text);
		if (strcmp(verb_of(&args), g->verb != NULL ? g->verb : "") != 0 ||
		    args.nwords != g->nwords || args.given != g->given)
			fail_msg("%s: verb %s, %zu words, options %#lx", g->line, verb_of(&args),
			    args.nwords, args.given);
		args_clear(&args);
		free(copy);
	}
}

static const struct {
	const char *line, *says;
} bad_lines[] = {
	{ "hots", "did you mean hosts?" },
	{ "explain hst a1", "did you mean host?" },
	{ "polcy", "did you mean policy?" },
	{ "explain", "flyball help explain" },
	{ "xyzzy", "flyball help lists them" },
	{ "hosts a1", "\"a1\" is one word too many; the form is: flyball hosts" },
	{ "host", "a word is missing; the form is: flyball host HOST" },
	{ "throttle a1 --reason x", "needs --jobs" },
	{ "throttle a1 -j 4", "needs --reason; the form is: flyball throttle HOST -j N" },
	{ "throttle a1 -j 0 --reason x", "--jobs is \"0\": a whole number from 1 to 480" },
	{ "throttle a1 -j 481 --reason x", "from 1 to 480" },
	{ "throttle a1 -j four --reason x", "\"four\"" },
	{ "throttle a1 -j 4 --for 2w --reason x", "2h" },
	{ "throttle a1 -j 4 --reason", "--reason needs a value" },
	{ "hosts --reason x", "flyball hosts takes no --reason" },
	{ "hosts --json=1", "--json takes no value" },
	{ "hosts --jsno", "did you mean --json?" },
	{ "hosts -q", "there is no option -q" },
	{ "hosts -o narrow", "wide was expected" },
	{ "hosts --timeout 0", "a time such as" },
	{ "hosts --json --json", "twice" },
	{ "log 3 --attempt 0", "--attempt is \"0\": a whole number from 1 was expected" },
	{ "log 3 --attempt 99999999999999999999", "a whole number from 1 was expected" },
	{ "drain a1 --reason ___", "--reason is \"   \": a reason in words" },
	{ "drain a1 --reason=", "--reason is \"\": a reason in words" },
	{ "--json log 3", "flyball log takes no --json: a log is bytes" },
	{ "help --json", "flyball help takes no --json" },
	{ "version --json", "flyball version takes no --json" },
	{ "completion bash --json", "flyball completion takes no --json" },
	{ "host a\x1b[2J", "flyball host: \"a\x1b[2J\": UTF-8 without control characters" },
	{ "host \xff", "flyball host: \"\xff\": UTF-8" },
	{ "drain a1 --reason x\x07", "--reason is \"x\x07\": UTF-8 without" },
	{ "run b --rev \xc0\x80", "--rev is \"\xc0\x80\": UTF-8 without" },
	{ "throttle a1 --watch -j 3 --reason x", "takes no --watch" },
};

static void
bad(void **state)
{
	struct args args;
	struct err err;
	char *copy;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
		if (parse(bad_lines[i].line, &args, &err, &copy) == 0)
			fail_msg("%s: was taken", bad_lines[i].line);
		if (strstr(err.text, bad_lines[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"", bad_lines[i].line, err.text,
			    bad_lines[i].says);
		free(copy);
	}
}

static void
empty_word(void **state)
{
	char *const argv[] = { "flyball", "key", "create", "" };
	struct args args;
	struct err err;

	(void)state;
	assert_int_equal(args_parse(4, argv, &args, &err), -1);
	assert_string_equal(err.text,
	    "flyball key create: a word is empty: \"\"; the form is: flyball key create FILE");
}

static void
values(void **state)
{
	struct args args;
	struct err err;
	char *copy;

	(void)state;
	assert_int_equal(
	    parse("throttle a1 -j 4 --for 1h30m --reason too_slow", &args, &err, &copy), 0);
	assert_int_equal(args.jobs, 4);
	assert_int_equal(args.for_us, 90 * MINUTE_US);
	assert_string_equal(args.texts[OPTION_REASON], "too slow");
	assert_int_equal(args.timeout_us, 10 * SECOND_US);
	args_clear(&args);
	free(copy);
	assert_int_equal(parse("hosts -w 5 -t 3s", &args, &err, &copy), 0);
	assert_int_equal(args.watch_us, 5 * SECOND_US);
	assert_int_equal(args.timeout_us, 3 * SECOND_US);
	args_clear(&args);
	free(copy);
	assert_int_equal(parse("round -w 7", &args, &err, &copy), 0);
	assert_string_equal(args.words[0], "7");
	assert_int_equal(args.watch_us, 2 * SECOND_US);
	args_clear(&args);
	free(copy);
}

static void
durations(void **state)
{
	static const struct {
		const char *text;
		int64_t us; /* -1: refused */
	} cases[] = { { "90", 90 * SECOND_US }, { "90s", 90 * SECOND_US },
		{ "15m", 15 * MINUTE_US }, { "2h", 2 * HOUR_US }, { "1d", 24 * HOUR_US },
		{ "1h30m", 90 * MINUTE_US }, { "", -1 }, { "h", -1 }, { "-1s", -1 }, { "1.5h", -1 },
		{ "2 h", -1 }, { "1w", -1 }, { "999999999d", -1 }, { "99999999999999s", -1 },
		{ "3660d3660d", -1 } };
	int64_t us;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool ok = args_duration(cases[i].text, &us);

		if (ok != (cases[i].us >= 0) || (ok && us != cases[i].us))
			fail_msg(
			    "\"%s\" is taken for %lld", cases[i].text, ok ? (long long)us : -1LL);
	}
}

/* The table is what help, man page and completions are made of: it must be whole. */
static void
table(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ncommands; i++) {
		const struct command *c = &commands[i];

		assert_non_null(c->run);
		assert_true(c->least <= c->most);
		assert_int_equal(c->needs & ~c->takes, 0);
		assert_true(c->summary[0] != '\0');
	}
}

static void
completions(void **state)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };
	char *text;
	size_t size, i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(command_completion(shells[i], out), 0);
		fclose(out);
		for (k = 0; k < ncommands; k++)
			if (strchr(commands[k].name, ' ') == NULL &&
			    strstr(text, commands[k].name) == NULL)
				fail_msg("%s knows no %s", shells[i], commands[k].name);
		free(text);
	}
	assert_int_equal(command_completion("csh", stdout), -1);
}

/* What bash would offer behind these words, by its own hand; a coordinator's answers are a
 * function of the script. bash gives "=" and ":" as words of their own. */
static const char offers[] =
    "flyball() {\n"
    "\tcase $1 in\n"
    "\tstatus) printf '{\\n  \"branches\": [\\n    \"b1\",\\n    \"b2\"\\n  ],\\n"
    "  \"builds\": {\\n    \"ok\": 1\\n  }\\n}\\n' ;;\n"
    "\thosts) printf 'HOST\\na1\\na2\\n' ;;\n"
    "\tesac\n"
    "}\n"
    "is() {\n"
    "\tlocal expected=$1\n"
    "\tshift\n"
    "\tCOMP_WORDS=(flyball \"$@\")\n"
    "\tCOMP_CWORD=$#\n"
    "\t_flyball\n"
    "\t[ \"${COMPREPLY[*]}\" = \"$expected\" ] && return\n"
    "\techo \"$*: ${COMPREPLY[*]}, not $expected\" >&2\n"
    "\texit 1\n"
    "}\n"
    "is 'b1 b2' run ''\n"
    "is b2 -s ipc : //x --timeout = 3s run --wait b2\n"
    "is 'a1 a2' explain --json host ''\n"
    "is 'host build' explain ''\n"
    "is 'host build' help explain ''\n"
    "is 'resume' help res\n"
    "is 'queued' builds --state q\n"
    "is 'running' builds --state = run\n"
    "is '' policy check ''\n"
    "is '' hosts ''\n"
    "is '' log 3 --js\n"
    "is '--json' host --js\n";

static void
bash_offers(void **state)
{
	FILE *bash;

	(void)state;
	if (system("command -v bash >/dev/null") != 0) {
		print_message("# skipped: bash is not there\n");
		return;
	}
	bash = popen("bash", "w");
	assert_non_null(bash);
	assert_int_equal(command_completion("bash", bash), 0);
	fputs(offers, bash);
	assert_int_equal(pclose(bash), 0);
}

int
main(void)
{
	const struct CMUnitTest args[] = {
		{ "options and operands stand in any order", good, NULL, NULL, NULL },
		{ "usage errors name the word and show the form", bad, NULL, NULL, NULL },
		{ "an empty word is told as such", empty_word, NULL, NULL, NULL },
		{ "values are taken in their units", values, NULL, NULL, NULL },
		{ "durations have units, and a bound", durations, NULL, NULL, NULL },
		{ "every command of the table is whole", table, NULL, NULL, NULL },
		{ "completions of three shells know every verb", completions, NULL, NULL, NULL },
		{ "bash offers what may stand there", bash_offers, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests_name("args", args, NULL, NULL);
}
