/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/command.h"

#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/session.h"
#include "proto/base/mem.h"
#include "proto/base/near.h"
#include "proto/limits.h"

#define TAKES(option) OPTION_BIT(OPTION_##option)

#define NO_ANSWER "what it prints is no answer of a coordinator"

const struct command commands[] = {
	{ "status", "[--check] [-w [TIME]]", "the whole on one screen: hosts, builds, alarms",
	    "With --check the exit code is 8 when there is an alarm: a host that does not respond, "
	    "an "
	    "ungoverned build, policy files that are not in force, builds that wait while no host "
	    "is up.",
	    TAKES(CHECK) | TAKES(WATCH), 0, 0, 0, "", false, verb_status, NULL },
	{ "hosts", "[-w [TIME]]", "every host: state, limit, load, builds",
	    "A * behind the state says that the host is not responding. Readings that are missing "
	    "are \"-\".",
	    TAKES(WATCH), 0, 0, 0, "", false, verb_hosts, NULL },
	{ "host", "HOST [-w [TIME]]", "one host in full: limit and why, readings, what it builds",
	    "", TAKES(WATCH), 0, 1, 1, "host", false, verb_host, NULL },
	{ "throttle", "HOST -j N [--for TIME] --reason TEXT",
	    "bound a host's limit, in running builds too",
	    "The limit falls as steps end; none is stopped. With --for it ends by itself.",
	    TAKES(JOBS) | TAKES(FOR) | TAKES(REASON), TAKES(JOBS) | TAKES(REASON), 1, 1, "host",
	    false, verb_throttle, NULL },
	{ "pin", "HOST -j N [--for TIME] --reason TEXT",
	    "set a host's limit to exactly N, whatever the governor and the policies say",
	    "With --for it ends by itself; flyball unthrottle ends it before.",
	    TAKES(JOBS) | TAKES(FOR) | TAKES(REASON), TAKES(JOBS) | TAKES(REASON), 1, 1, "host",
	    false, verb_pin, NULL },
	{ "unthrottle", "HOST", "take a throttle or a pin back", "", 0, 0, 1, 1, "host", false,
	    verb_unthrottle, NULL },
	{ "drain", "HOST [--for TIME] --reason TEXT",
	    "give a host no new builds; those it has go on", "", TAKES(FOR) | TAKES(REASON),
	    TAKES(REASON), 1, 1, "host", false, verb_drain, NULL },
	{ "pause", "HOST [--for TIME] --reason TEXT",
	    "stop a host's builds where they are, and give it no new ones",
	    "Every process of its builds is stopped (SIGSTOP); none is lost, and time does not "
	    "count for them. With --for they go on by themselves, even if the coordinator is away "
	    "then.",
	    TAKES(FOR) | TAKES(REASON), TAKES(REASON), 1, 1, "host", false, verb_pause, NULL },
	{ "resume", "HOST", "let a drained or paused host go on", "", 0, 0, 1, 1, "host", false,
	    verb_resume, NULL },
	{ "locks", "HOST | --build BUILD [-w [TIME]]",
	    "where the kernel's locks cost time: the top locks and their callers",
	    "For a host the last window of each of its lock sources, for a build all that were "
	    "seen while it ran. Each source says what it cannot see, and what it costs. -o wide "
	    "shows every row.",
	    TAKES(BUILD) | TAKES(WATCH), 0, 0, 1, "host", false, verb_locks, NULL },
	{ "governor",
	    "[off|observe|advise|act|policy [--host HOST | --class CLASS | --branch BRANCH] "
	    "--reason "
	    "TEXT]",
	    "what the governor may do: show it, or give an order above the policies",
	    "off: hosts get the limit they start with; observe: what it would do is recorded; "
	    "advise: and shown; act: it moves limits. The most specific order holds: host, class, "
	    "branch, the whole farm, then the policy. One for the whole farm ends all others; "
	    "policy lifts an order.",
	    TAKES(BRANCH) | TAKES(CLASS) | TAKES(HOST) | TAKES(REASON), 0, 0, 1, "mode", false,
	    verb_governor, NULL },
	{ "run", "BRANCH [TARGET...] [--rev REVISION] [--reason TEXT] [--wait]",
	    "start a round of a branch",
	    "Prints the round's number. Without targets it builds all of the branch's. With --wait "
	    "it goes "
	    "on until the round is over: exit 0 when all builds are ok, 1 when one failed or was "
	    "cancelled, 7 when --timeout was over before; the round goes on then.",
	    TAKES(REVISION) | TAKES(REASON) | TAKES(WAIT), 0, 1, WORDS_MAX - 1, "branch", false,
	    verb_run, NULL },
	{ "rounds", "[BRANCH] [--all] [-w [TIME]]", "the newest rounds", "",
	    TAKES(ALL) | TAKES(WATCH), 0, 0, 1, "branch", false, verb_rounds, NULL },
	{ "round", "ROUND [--wait] [-w [TIME]]", "one round: its builds, makespan and verdict",
	    "ROUND is a number, or a branch, whose latest round is meant. --wait as with run.",
	    TAKES(WAIT) | TAKES(WATCH), 0, 1, 1, "branch", false, verb_round, NULL },
	{ "builds", "[BRANCH] [--round ROUND] [--state STATE] [--all] [-w [TIME]]",
	    "the newest builds",
	    "STATE is queued, starting, running, cancelling, done, ok, failed or cancelled. -o "
	    "wide adds "
	    "real, user and system time and the path of the limit.",
	    TAKES(ROUND) | TAKES(STATE) | TAKES(ALL) | TAKES(WATCH), 0, 0, 1, "branch", false,
	    verb_builds, NULL },
	{ "build", "BUILD [-w [TIME]]", "one build: its attempts, phases, tokens",
	    "BUILD is a number, or BRANCH/TARGET, whose latest build is meant.", TAKES(WATCH), 0, 1,
	    1, "build", false, verb_build, NULL },
	{ "log", "BUILD [-f] [--attempt N]", "what a build printed",
	    "To a terminal control characters are shown as \\xNN; elsewhere every byte goes "
	    "through. With "
	    "-f it goes on until the build is over, from attempt to attempt.",
	    TAKES(FOLLOW) | TAKES(ATTEMPT), 0, 1, 1, "build", false, verb_log, "a log is bytes" },
	{ "cancel", "BUILD | --round ROUND [--reason TEXT]", "end a build, or all of a round", "",
	    TAKES(ROUND) | TAKES(REASON), 0, 0, 1, "build", false, verb_cancel, NULL },
	{ "retry", "BUILD | --round ROUND", "build again what failed or was cancelled", "",
	    TAKES(ROUND), 0, 0, 1, "build", false, verb_retry, NULL },
	{ "explain host", "HOST", "why its limit is what it is: rule and readings", "", 0, 0, 1, 1,
	    "host", false, verb_explain_host, NULL },
	{ "explain build", "BUILD", "why it waits or runs there: each host and its reason", "", 0,
	    0, 1, 1, "build", false, verb_explain_build, NULL },
	{ "policy check", "FILE...", "look at policy files before they are in force",
	    "The coordinator parses them; nothing is changed. Errors are FILE:LINE: what was "
	    "expected.",
	    0, 0, 1, WORDS_MAX - 1, "file", false, verb_policy_check, NULL },
	{ "policy show", "BRANCH", "the policy in force, in a form that parses back", "", 0, 0, 1,
	    1, "branch", false, verb_policy_show, NULL },
	{ "key create", "FILE", "make a key pair: FILE, and FILE.pub with the public key",
	    "A file that is there is never written over.", 0, 0, 1, 1, "file", true,
	    verb_key_create, NULL },
	{ "key show", "FILE", "the public key of a key file, and its fingerprint", "", 0, 0, 1, 1,
	    "file", true, verb_key_show, NULL },
	{ "completion", "bash|zsh|fish", "completions for a shell, to be sourced", "", 0, 0, 1, 1,
	    "shell", true, verb_completion, NO_ANSWER },
	{ "help", "[VERB]", "all verbs, or one in full", "", 0, 0, 0, 2, "verb", true, verb_help,
	    NO_ANSWER },
	{ "version", "", "the version of flyball", "", 0, 0, 0, 0, "", true, verb_version,
	    NO_ANSWER },
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };
const size_t ncommands = COMMANDS;

const struct command *
command_find(const char *first, const char *second)
{
	size_t i, length = strlen(first);

	for (i = 0; i < COMMANDS; i++) {
		const char *name = commands[i].name;

		if (strcmp(name, first) == 0)
			return &commands[i];
		if (second != NULL && strncmp(name, first, length) == 0 && name[length] == ' ' &&
		    strcmp(name + length + 1, second) == 0)
			return &commands[i];
	}
	return NULL;
}

bool
command_is_group(const char *word)
{
	size_t i, length = strlen(word);

	for (i = 0; i < COMMANDS; i++)
		if (strncmp(commands[i].name, word, length) == 0 && commands[i].name[length] == ' ')
			return true;
	return false;
}

const char *
command_near(const char *first, const char *second)
{
	static char words[COMMANDS][NAME_SIZE];
	const char *names[COMMANDS];
	size_t i, n = 0, length = strlen(first);

	for (i = 0; i < COMMANDS; i++) {
		const char *name = commands[i].name, *space = strchr(name, ' ');

		if (second != NULL && strncmp(name, first, length) == 0 && name[length] == ' ')
			mem_copy_text(words[n], NAME_SIZE, name + length + 1);
		else if (second == NULL)
			snprintf(words[n], NAME_SIZE, "%.*s",
			    space != NULL ? (int)(space - name) : NAME_SIZE - 1, name);
		else
			continue;
		names[n] = words[n];
		n++;
	}
	return near_find(second != NULL ? second : first, names, n);
}

/* ---- help -------------------------------------------------------------------------------- */

void
command_list(FILE *out)
{
	size_t i;

	fprintf(out, "usage: flyball VERB [WORD...] [OPTION...]\n\n");
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-14s  %s\n", commands[i].name, commands[i].summary);
	fprintf(out, "\nWith every verb:\n");
	for (i = 0; i < OPTIONS_GLOBAL; i++)
		fprintf(out, "  --%s%s%s  %s\n", option_infos[i].name,
		    option_infos[i].value != NULL ? " " : "",
		    option_infos[i].value != NULL ? option_infos[i].value : "",
		    option_infos[i].help);
	fprintf(out, "\nflyball help VERB tells more of one; flyball(1) all.\n");
}

/* A paragraph of lines of at most 78 characters. */
static void
wrap(const char *text, FILE *out)
{
	size_t column = 0;

	while (*text != '\0') {
		size_t word = strcspn(text, " ");

		if (column > 0 && column + 1 + word > 78) {
			putc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%.*s", column > 0 ? " " : "", (int)word, text);
		text += word + strspn(text + word, " ");
	}
	putc('\n', out);
}

static void
option_help(const struct option_info *o, FILE *out)
{
	char form[64], letter[] = "-?, ";

	letter[1] = o->letter;
	snprintf(form, sizeof form, "%s--%s%s%s%s", o->letter != 0 ? letter : "    ", o->name,
	    o->value == NULL ? ""
	    : o->may_lack    ? " ["
			     : " ",
	    o->value != NULL ? o->value : "", o->may_lack ? "]" : "");
	fprintf(out, "  %-22s  %s\n", form, o->help);
}

void
command_help(const struct command *command, FILE *out)
{
	size_t i;

	fprintf(out, "usage: flyball %s%s%s\n\n", command->name,
	    command->form[0] != '\0' ? " " : "", command->form);
	fprintf(out, "%s\n", command->summary);
	if (command->help[0] != '\0')
		wrap(command->help, out);
	if (command->takes != 0)
		putc('\n', out);
	for (i = OPTIONS_GLOBAL; i < OPTIONS; i++)
		if ((command->takes & OPTION_BIT(i)) != 0)
			option_help(&option_infos[i], out);
}
