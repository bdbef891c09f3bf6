/* progress_rules.h - the rules of a .progress file, compiled; for progress*.c alone
 *
 * Shape:  a rule is a regular expression and a literal that every match must contain, so
 *         that most lines of a log never reach regexec, which costs a microsecond and more.
 * Units:  none.
 * Errors: as progress.h.
 * Memory: owned by the rules.
 * Source: progress.h; regex(7).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PROGRESS_RULES_H
#define FLYBALL_PROGRESS_RULES_H

#include <regex.h>

#include "agent/progress.h"

enum rule_kind { RULE_PHASE, RULE_STEP, RULE_ONCE, RULE_PERCENT };

enum { LITERAL_SIZE = 64, GROUPS = 3 };

struct rule {
	enum rule_kind kind;
	regex_t regex;
	char literal[LITERAL_SIZE]; /* "": none is known */
	size_t literal_length;
	bool at_start; /* the literal begins the line */
};

struct progress_rules {
	enum pool_kind pool;
	size_t n;
	struct rule rules[PROGRESS_RULES_MAX];
};

/* The literal that every match of the extended regular expression must contain. */
void rule_literal(const char *regex, char ret_literal[LITERAL_SIZE], bool *ret_at_start);

/* line is terminated by zero and has length bytes. */
bool rule_match(
    const struct rule *rule, const char *line, size_t length, regmatch_t groups[GROUPS]);

#endif
