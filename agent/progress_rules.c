/* Reads .progress files. A faulty one is refused as a whole: a recipe whose builds show no phases
 * because of a typo would be noticed weeks later.
 *
 * The literal: the longest run of plain characters outside brackets, groups and alternatives that no
 * repetition makes optional. What this misses only costs time.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/progress_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/units.h"

/* ---- the literal ---- */

/* Behind a "[...]", whose first character may be "]" or "^]". */
static const char *
skip_brackets(const char *s)
{
	s++;
	if (*s == '^')
		s++;
	if (*s == ']')
		s++;
	while (*s != '\0' && *s != ']') {
		if (s[0] == '[' && (s[1] == ':' || s[1] == '.' || s[1] == '=')) {
			char kind = s[1];

			for (s += 2; *s != '\0' && !(s[0] == kind && s[1] == ']'); s++)
				continue;
			if (*s != '\0')
				s++;
		}
		if (*s != '\0')
			s++;
	}
	return *s == ']' ? s + 1 : s;
}

static const char *
skip_group(const char *s)
{
	int depth = 0;

	while (*s != '\0') {
		if (*s == '[') {
			s = skip_brackets(s);
			continue;
		}
		if (*s == '\\' && s[1] != '\0')
			s++;
		else if (*s == '(')
			depth++;
		else if (*s == ')' && --depth == 0)
			return s + 1;
		s++;
	}
	return s;
}

static bool
has_alternatives(const char *s)
{
	while (*s != '\0') {
		if (*s == '|')
			return true;
		if (*s == '[')
			s = skip_brackets(s);
		else if (*s == '(')
			s = skip_group(s);
		else
			s += *s == '\\' && s[1] != '\0' ? 2 : 1;
	}
	return false;
}

struct run {
	char text[LITERAL_SIZE];
	size_t n;
	bool at_start;
};

static void
end_run(struct run *run, char ret_literal[LITERAL_SIZE], bool *ret_at_start)
{
	run->text[run->n] = '\0';
	if (run->n > strlen(ret_literal)) {
		memcpy(ret_literal, run->text, run->n + 1);
		*ret_at_start = run->at_start;
	}
	run->n = 0;
	run->at_start = false;
}

/* A plain character, or one behind a backslash; '\0' for all that is not. */
static char
plain(const char *s, size_t *ret_length)
{
	*ret_length = 1;
	if (*s == '\\' && s[1] != '\0' && strchr("\\.[]()*+?{}|^$", s[1]) != NULL) {
		*ret_length = 2;
		return s[1];
	}
	return strchr("\\.[()*+?{}|^$", *s) == NULL ? *s : '\0';
}

void
rule_literal(const char *regex, char ret_literal[LITERAL_SIZE], bool *ret_at_start)
{
	struct run run = { .at_start = regex[0] == '^' };
	const char *s = regex + (regex[0] == '^');

	ret_literal[0] = '\0';
	*ret_at_start = false;
	if (has_alternatives(regex))
		return;
	while (*s != '\0') {
		size_t length;
		char c = plain(s, &length);
		bool optional = s[length] != '\0' && strchr("*?{", s[length]) != NULL;

		if (c != '\0' && !optional && run.n + 1 < LITERAL_SIZE) {
			run.text[run.n++] = c;
			s += length;
			continue;
		}
		end_run(&run, ret_literal, ret_at_start);
		if (*s == '[')
			s = skip_brackets(s);
		else if (*s == '(')
			s = skip_group(s);
		else if (*s == '{')
			s += strcspn(s, "}");
		else
			s += *s == '\\' && s[1] != '\0' ? 2 : 1;
	}
	end_run(&run, ret_literal, ret_at_start);
}

bool
rule_match(const struct rule *rule, const char *line, size_t length, regmatch_t groups[GROUPS])
{
	if (rule->at_start) {
		if (length < rule->literal_length ||
		    memcmp(line, rule->literal, rule->literal_length) != 0)
			return false;
	} else if (rule->literal_length > 0 &&
		   memmem(line, length, rule->literal, rule->literal_length) == NULL) {
		return false;
	}
	return regexec(&rule->regex, line, GROUPS, groups, 0) == 0;
}

/* ---- the file ---- */

static int
add_rule(struct progress_rules *rules, enum rule_kind kind, const char *text, struct err *err)
{
	struct rule *rule = &rules->rules[rules->n];
	char why[128];
	int rc;

	if (rules->n == PROGRESS_RULES_MAX)
		return err_set(err, "there may be %d rules and no more", PROGRESS_RULES_MAX);
	rc = regcomp(&rule->regex, text, REG_EXTENDED);
	if (rc != 0) {
		regerror(rc, &rule->regex, why, sizeof why);
		return err_set(err, "\"%.100s\" is no extended regular expression: %s", text, why);
	}
	rules->n++;
	rule->kind = kind;
	rule_literal(text, rule->literal, &rule->at_start);
	rule->literal_length = strlen(rule->literal);
	if ((kind == RULE_PHASE || kind == RULE_PERCENT) && rule->regex.re_nsub < 1)
		return err_set(err, "\"%.100s\" needs a group in parentheses: the %s", text,
		    kind == RULE_PHASE ? "phase's name" : "steps done");
	return 0;
}

static int
set_pool(struct progress_rules *rules, const char *word, struct err *err)
{
	if (strcmp(word, "fifo") == 0)
		rules->pool = POOL_FIFO;
	else if (strcmp(word, "pipes") == 0)
		rules->pool = POOL_PIPES;
	else
		return err_set(err,
		    "\"pool %.60s\" is not known; \"pool pipes\" or \"pool fifo\" was "
		    "expected",
		    word);
	return 0;
}

static int
take_line(struct progress_rules *rules, char *line, struct err *err)
{
	static const char *const words[] = { "phase", "step", "once", "percent" };
	char *rest;

	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return 0;
	rest = line + strcspn(line, " \t");
	if (*rest != '\0')
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	if (*rest == '\0')
		return err_set(err,
		    "\"%.60s\" has nothing behind it; \"phase REGEX\", \"step REGEX\", "
		    "\"once REGEX\", \"percent REGEX\" or \"pool KIND\" was expected",
		    line);
	if (strcmp(line, "pool") == 0)
		return set_pool(rules, rest, err);
	for (int i = 0; i < 4; i++) {
		if (strcmp(line, words[i]) == 0)
			return add_rule(rules, (enum rule_kind)i, rest, err);
	}
	return err_set(
	    err, "\"%.60s\" is not known; phase, step, once, percent or pool was expected", line);
}

struct progress_rules *
progress_rules_parse(const char *path, const char *text, struct err *err)
{
	struct progress_rules *rules = mem_calloc(1, sizeof *rules);
	char *copy = mem_strdup(text), *next = copy;
	int number = 1, rc = 0;

	for (char *line; rc == 0 && (line = strsep(&next, "\n")) != NULL; number++) {
		rc = take_line(rules, line, err);
		if (rc != 0)
			err_prefix(err, "%s:%d", path, number);
	}
	free(copy);
	if (rc == 0)
		return rules;
	progress_rules_destroy(rules);
	return NULL;
}

void
progress_rules_destroy(struct progress_rules *rules)
{
	if (rules == NULL)
		return;
	for (size_t i = 0; i < rules->n; i++)
		regfree(&rules->rules[i].regex);
	free(rules);
}

enum pool_kind
progress_rules_pool(const struct progress_rules *rules)
{
	return rules != NULL ? rules->pool : POOL_PIPES;
}
