/* Options and operands may stand in any order, since people add an option where they
 * notice that they need it. What a verb does not take is refused: an option that is
 * ignored in silence is worse than one that is not there.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/args.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/command.h"
#include "proto/base/mem.h"
#include "proto/base/near.h"
#include "proto/limits.h"
#include "proto/units.h"
#include "proto/wire_text.h"

#define TIMEOUT_DEFAULT_US (10 * SECOND_US)
#define WATCH_DEFAULT_US (2 * SECOND_US)
#define COUNT_MOST INT64_C(99999999999999999) /* 17 digits */
#define DURATION_MOST_US (INT64_C(3660) * 24 * HOUR_US)

const struct option_info option_infos[OPTIONS] = {
	[OPTION_JSON] = { "json", 0, NULL, false, "answers as JSON" },
	[OPTION_OUTPUT] = { "output", 'o', "wide", false, "more columns, and no line is cut" },
	[OPTION_YES] = { "yes", 'y', NULL, false, "do not ask whether it is meant" },
	[OPTION_TIMEOUT] = { "timeout", 't', "TIME", false,
	    "give up after that time (10s; with --wait: never)" },
	[OPTION_SERVER] = { "server", 's', "ENDPOINT", false,
	    "the coordinator ($FLYBALL_SERVER, else ipc:///run/flyball/operator.sock)" },
	[OPTION_KEY] = { "key", 0, "FILE", false,
	    "your key file, for a tcp:// server ($FLYBALL_KEY)" },
	[OPTION_SERVER_KEY] = { "server-key", 0, "KEY", false,
	    "the coordinator's public key or a file with it ($FLYBALL_SERVER_KEY)" },
	[OPTION_HELP] = { "help", 'h', NULL, false, "what the verb does" },
	[OPTION_VERSION] = { "version", 'V', NULL, false, "the version of flyball" },
	[OPTION_WATCH] = { "watch", 'w', "TIME", true, "show it again and again (every 2s)" },
	[OPTION_REASON] = { "reason", 0, "TEXT", false, "why, for whoever wonders about it later" },
	[OPTION_JOBS] = { "jobs", 'j', "N", false,
	    "steps at once, all builds of the host together" },
	[OPTION_FOR] = { "for", 0, "TIME", false, "ends by itself after that time" },
	[OPTION_ROUND] = { "round", 0, "ROUND", false, "of this round, a number or a branch" },
	[OPTION_STATE] = { "state", 0, "STATE", false,
	    "queued, starting, running, cancelling, done, ok, failed or cancelled" },
	[OPTION_REVISION] = { "rev", 0, "REVISION", false, "build this revision" },
	[OPTION_WAIT] = { "wait", 0, NULL, false, "until the round is over" },
	[OPTION_FOLLOW] = { "follow", 'f', NULL, false, "go on until the build is over" },
	[OPTION_ATTEMPT] = { "attempt", 0, "N", false, "of this attempt, not of the last" },
	[OPTION_CHECK] = { "check", 0, NULL, false, "exit 8 when there is an alarm" },
	[OPTION_BRANCH] = { "branch", 0, "BRANCH", false, "for the builds of this branch" },
	[OPTION_CLASS] = { "class", 0, "CLASS", false,
	    "for hosts of this class, as flyball hosts shows it" },
	[OPTION_BUILD] = { "build", 0, "BUILD", false, "of this build, a number or BRANCH/TARGET" },
	[OPTION_HOST] = { "host", 0, "HOST", false, "for this host" },
	[OPTION_ALL] = { "all", 'a', NULL, false, "all that there are, not the newest alone" },
};

/* Where parsing is. */
struct parse {
	int argc, at;
	char *const *argv;
	struct args *args;
	size_t capacity;
	const char *first; /* of a verb of two words, until the second comes */
	bool literal; /* "--" was there: the rest are operands */
};

bool
args_given(const struct args *args, enum option option)
{
	return (args->given & OPTION_BIT(option)) != 0;
}

bool
args_duration(const char *text, int64_t *ret_us)
{
	int64_t total = 0;

	do {
		size_t digits = strspn(text, "0123456789");
		int64_t unit = SECOND_US, n;

		if (digits == 0 || digits > 9)
			return false;
		n = strtoll(text, NULL, 10);
		text += digits;
		if (*text == 'd')
			unit = 24 * HOUR_US;
		else if (*text == 'h')
			unit = HOUR_US;
		else if (*text == 'm')
			unit = MINUTE_US;
		else if (*text != 's' && *text != '\0')
			return false;
		text += *text != '\0';
		if (n > DURATION_MOST_US / unit)
			return false;
		total += n * unit;
	} while (*text != '\0' && total <= DURATION_MOST_US);
	*ret_us = total;
	return *text == '\0' && total <= DURATION_MOST_US;
}

/* ---- usage errors ------------------------------------------------------------------------ */

static const char *
verb_of(const struct args *args)
{
	return args->command != NULL ? args->command->name : "";
}

static int
show_form(const struct args *args, struct err *err)
{
	size_t length = strlen(err->text);

	if (args->command == NULL)
		return -1;
	snprintf(err->text + length, sizeof err->text - length, "; the form is: flyball %s%s%s",
	    args->command->name, args->command->form[0] != '\0' ? " " : "", args->command->form);
	return -1;
}

static int
unknown_option(const struct args *args, const char *word, size_t length, struct err *err)
{
	const char *names[OPTIONS], *near = NULL;
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < OPTIONS; i++)
		names[i] = option_infos[i].name;
	if (strncmp(word, "--", 2) == 0 && length - 2 < sizeof name) {
		memcpy(name, word + 2, length - 2);
		name[length - 2] = '\0';
		near = near_find(name, names, OPTIONS);
	}
	err_set(err, "there is no option %.*s%s%s%s", (int)(length < 60 ? length : 60), word,
	    near != NULL ? "; did you mean --" : "", near != NULL ? near : "",
	    near != NULL ? "?" : "");
	return near != NULL ? -1 : show_form(args, err);
}

/* ---- values ------------------------------------------------------------------------------ */

static int
wrong_value(enum option option, const char *text, const char *expected, struct err *err)
{
	return err_set(
	    err, "--%s is \"%.60s\": %s was expected", option_infos[option].name, text, expected);
}

static int
take_count(enum option option, const char *text, int64_t most, int64_t *ret_n, struct err *err)
{
	size_t length = strnlen(text, 18);
	char expected[80];

	if (length > 0 && length < 18 && strspn(text, "0123456789") == length) {
		int64_t n = strtoll(text, NULL, 10);

		if (n >= 1 && n <= most) {
			*ret_n = n;
			return 0;
		}
	}
	if (most < COUNT_MOST)
		snprintf(
		    expected, sizeof expected, "a whole number from 1 to %lld", (long long)most);
	else
		snprintf(expected, sizeof expected, "a whole number from 1");
	return wrong_value(option, text, expected, err);
}

static int
take_time(enum option option, const char *text, int64_t *ret_us, struct err *err)
{
	if (args_duration(text, ret_us) && *ret_us > 0)
		return 0;
	return wrong_value(option, text, "a time such as 90s, 15m, 2h, 1h30m or 1d", err);
}

static int
take_reason(const char *text, struct err *err)
{
	if (text[strspn(text, " \t\r\n")] != '\0')
		return 0;
	return wrong_value(OPTION_REASON, text, "a reason in words", err);
}

static int
take_value(struct args *args, enum option option, const char *text, struct err *err)
{
	if (args_given(args, option))
		return err_set(err, "--%s is there twice", option_infos[option].name);
	args->given |= OPTION_BIT(option);
	args->texts[option] = text;
	if (text == NULL)
		return 0;
	switch (option) {
	case OPTION_OUTPUT:
		args->wide = strcmp(text, "wide") == 0;
		return args->wide ? 0 : wrong_value(option, text, "wide", err);
	case OPTION_TIMEOUT:
		return take_time(option, text, &args->timeout_us, err);
	case OPTION_FOR:
		return take_time(option, text, &args->for_us, err);
	case OPTION_WATCH:
		return take_time(option, text, &args->watch_us, err);
	case OPTION_REASON:
		return take_reason(text, err);
	case OPTION_JOBS:
		return take_count(option, text, JOBS_MAX, &args->jobs, err);
	case OPTION_ATTEMPT:
		return take_count(option, text, COUNT_MOST, &args->attempt, err);
	default:
		return 0;
	}
}

/* ---- words ------------------------------------------------------------------------------- */

static enum option
find_long(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++)
		if (strlen(option_infos[i].name) == length &&
		    memcmp(option_infos[i].name, name, length) == 0)
			break;
	return (enum option)i;
}

static enum option
find_letter(char letter)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++)
		if (option_infos[i].letter == letter)
			break;
	return (enum option)i;
}

/* A value that may lack stands behind its option when it looks like one, and the verb does
 * not wait for an operand: in `round -w 7` the 7 is the round. */
static bool
next_is_value(const struct parse *p)
{
	int64_t us;

	if (p->at + 1 >= p->argc || !args_duration(p->argv[p->at + 1], &us) || p->first != NULL)
		return false;
	return p->args->command == NULL || p->args->nwords >= p->args->command->least;
}

/* value: what stands in the same word, or NULL. */
static int
take_option(struct parse *p, enum option option, const char *value, struct err *err)
{
	const struct option_info *info = &option_infos[option];

	if (info->value == NULL && value != NULL)
		return err_set(err, "--%s takes no value", info->name);
	if (info->value != NULL && value == NULL && (!info->may_lack || next_is_value(p))) {
		if (p->at + 1 >= p->argc) {
			err_set(err, "--%s needs a value: %s", info->name, info->value);
			return show_form(p->args, err);
		}
		value = p->argv[++p->at];
	}
	return take_value(p->args, option, value, err);
}

static int
take_long(struct parse *p, const char *word, struct err *err)
{
	size_t length = strcspn(word, "=");
	enum option option = find_long(word + 2, length - 2);

	if (option == OPTIONS)
		return unknown_option(p->args, word, length, err);
	return take_option(p, option, word[length] == '=' ? word + length + 1 : NULL, err);
}

/* "-j4", "-fw", "-j 4". */
static int
take_letters(struct parse *p, const char *word, struct err *err)
{
	const char *at;

	for (at = word + 1; *at != '\0'; at++) {
		enum option option = find_letter(*at);

		if (option == OPTIONS)
			return unknown_option(p->args, word, strlen(word), err);
		if (option_infos[option].value != NULL)
			return take_option(p, option, at[1] != '\0' ? at + 1 : NULL, err);
		if (take_option(p, option, NULL, err) != 0)
			return -1;
	}
	return 0;
}

static int
unknown_verb(const char *first, const char *second, struct err *err)
{
	const char *near = command_near(first, second);

	return err_set(err, "there is no verb \"%.40s%s%.40s\"%s%s%s", first,
	    second != NULL ? " " : "", second != NULL ? second : "",
	    near != NULL ? "; did you mean " : "; flyball help lists them",
	    near != NULL ? near : "", near != NULL ? "?" : "");
}

static int
take_word(struct parse *p, const char *word, struct err *err)
{
	struct args *args = p->args;

	if (args->command == NULL && p->first == NULL && command_is_group(word)) {
		p->first = word;
		return 0;
	}
	if (args->command == NULL) {
		args->command =
		    p->first != NULL ? command_find(p->first, word) : command_find(word, NULL);
		if (args->command == NULL)
			return unknown_verb(p->first != NULL ? p->first : word,
			    p->first != NULL ? word : NULL, err);
		p->first = NULL;
		return 0;
	}
	if (args->nwords == args->command->most) {
		err_set(
		    err, "flyball %s: \"%.60s\" is one word too many", args->command->name, word);
		return show_form(args, err);
	}
	args->words = mem_room(args->words, args->nwords, &p->capacity, sizeof *args->words);
	args->words[args->nwords++] = word;
	return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* What the wire would refuse is refused here, where it can be told by its place. */
static int
check_texts(const struct args *args, struct err *err)
{
	size_t i;

	for (i = OPTIONS_GLOBAL; i < OPTIONS; i++)
		if (args->texts[i] != NULL && !wire_text_ok(args->texts[i]))
			return wrong_value(
			    i, args->texts[i], "UTF-8 without control characters", err);
	for (i = 0; i < args->nwords; i++)
		if (!wire_text_ok(args->words[i]))
			return err_set(err,
			    "flyball %s: \"%.60s\": UTF-8 without control characters was expected",
			    args->command->name, args->words[i]);
	return 0;
}

static int
check_words(const struct args *args, struct err *err)
{
	size_t i;

	if (args->nwords < args->command->least) {
		err_set(err, "flyball %s: a word is missing", args->command->name);
		return show_form(args, err);
	}
	for (i = 0; i < args->nwords; i++)
		if (args->words[i][0] == '\0') {
			err_set(err, "flyball %s: a word is empty: \"\"", args->command->name);
			return show_form(args, err);
		}
	return args->command->local ? 0 : check_texts(args, err);
}

static int
check(struct parse *p, struct err *err)
{
	const struct args *args = p->args;
	const struct command *c = args->command;
	size_t i;

	if (args_given(args, OPTION_HELP) || args_given(args, OPTION_VERSION))
		return 0;
	if (p->first != NULL)
		return err_set(err,
		    "flyball %s: a second word is missing; flyball help %s tells which there are",
		    p->first, p->first);
	if (c == NULL)
		return 0;
	if (args_given(args, OPTION_JSON) && c->no_json != NULL)
		return err_set(err, "flyball %s takes no --json: %s", c->name, c->no_json);
	for (i = OPTIONS_GLOBAL; i < OPTIONS; i++) {
		if ((args->given & ~c->takes & OPTION_BIT(i)) != 0) {
			err_set(err, "flyball %s takes no --%s", c->name, option_infos[i].name);
			return show_form(args, err);
		}
		if ((c->needs & ~args->given & OPTION_BIT(i)) != 0) {
			err_set(err, "flyball %s needs --%s", verb_of(args), option_infos[i].name);
			return show_form(args, err);
		}
	}
	return check_words(args, err);
}

int
args_parse(int argc, char *const argv[], struct args *ret_args, struct err *err)
{
	struct parse p = { .argc = argc, .at = 1, .argv = argv, .args = ret_args };
	int rc = 0;

	memset(ret_args, 0, sizeof *ret_args);
	ret_args->timeout_us = TIMEOUT_DEFAULT_US;
	ret_args->watch_us = WATCH_DEFAULT_US;
	for (; p.at < argc && rc == 0; p.at++) {
		const char *word = argv[p.at];

		if (!p.literal && strcmp(word, "--") == 0)
			p.literal = true;
		else if (!p.literal && strncmp(word, "--", 2) == 0)
			rc = take_long(&p, word, err);
		else if (!p.literal && word[0] == '-' && word[1] != '\0')
			rc = take_letters(&p, word, err);
		else
			rc = take_word(&p, word, err);
	}
	if (rc == 0)
		rc = check(&p, err);
	if (rc != 0)
		args_clear(ret_args);
	return rc;
}

void
args_clear(struct args *args)
{
	free(args->words);
	memset(args, 0, sizeof *args);
}
