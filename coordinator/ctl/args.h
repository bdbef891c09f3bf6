/* args.h - the command line of flyball, taken apart
 *
 * Shape:  VERB, its operands and options in any order; one table of options. Which of them a
 *         verb takes stands in the command table.
 * Units:  durations "90s", "15m", "2h", "1d", "1h30m" in the text; us in the values.
 * Errors: a sentence that names the wrong word and shows the verb's form; exit code 2.
 * Memory: args borrows from argv; args_clear frees the list of operands.
 * Source: flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_ARGS_H
#define FLYBALL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct command;

enum option {
	/* with every verb */
	OPTION_JSON,
	OPTION_OUTPUT,
	OPTION_YES,
	OPTION_TIMEOUT,
	OPTION_SERVER,
	OPTION_KEY,
	OPTION_SERVER_KEY,
	OPTION_HELP,
	OPTION_VERSION,
	OPTIONS_GLOBAL, /* how many those are */
	/* with those that say so */
	OPTION_WATCH = OPTIONS_GLOBAL,
	OPTION_REASON,
	OPTION_JOBS,
	OPTION_FOR,
	OPTION_ROUND,
	OPTION_STATE,
	OPTION_REVISION,
	OPTION_WAIT,
	OPTION_FOLLOW,
	OPTION_ATTEMPT,
	OPTION_CHECK,
	OPTION_ALL,
	OPTION_BRANCH,
	OPTION_CLASS,
	OPTION_HOST,
	OPTION_BUILD,
	OPTIONS
};

#define OPTION_BIT(option) (1UL << (option))

struct option_info {
	const char *name; /* without the dashes */
	char letter; /* 0: none */
	const char *value; /* what it is called in help; NULL: takes none */
	bool may_lack; /* the value may be left out */
	const char *help;
};

extern const struct option_info option_infos[OPTIONS];

struct args {
	const struct command *command; /* NULL: none was named */
	unsigned long given; /* bits of enum option */
	const char *texts[OPTIONS]; /* the values as they stand; NULL: none */
	int64_t timeout_us; /* what --timeout says, else the default */
	int64_t watch_us;
	int64_t for_us; /* 0: without end */
	int64_t jobs, attempt; /* 0: not given */
	bool wide;
	size_t nwords;
	const char **words; /* operands */
};

int args_parse(int argc, char *const argv[], struct args *ret_args, struct err *err);
void args_clear(struct args *args);

bool args_given(const struct args *args, enum option option);
/* "2h", "90m", "1h30m", "45s"; a bare number counts as seconds. At most ten years. */
bool args_duration(const char *text, int64_t *ret_us);

#endif
