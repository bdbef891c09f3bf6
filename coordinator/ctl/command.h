/* command.h - THE command table: every verb, what follows it, and who does it
 *
 * Shape:  parsing, usage errors, help and completions all come from this one table.
 * Units:  none.
 * Errors: find gives NULL.
 * Memory: constant.
 * Source: flyball(1); the shape is that of OpenBGPD's bgpctl.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_COMMAND_H
#define FLYBALL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct session;

struct command {
	const char *name; /* one word, or two with a space */
	const char *form; /* what follows it */
	const char *summary;
	const char *help; /* a paragraph more; "" none */
	unsigned long takes; /* bits of enum option */
	unsigned long needs; /* of these, what must be there */
	size_t least, most; /* operands */
	const char *operand; /* what the first one names, for completions: host, build, ..., "" */
	bool local; /* asks no coordinator */
	int (*run)(struct session *s); /* gives the exit code */
	const char *no_json; /* why it takes no --json; NULL: it does */
};

enum { WORDS_MAX = 160 }; /* no verb has more operands */

extern const struct command commands[];
extern const size_t ncommands;

/* second may be NULL; a verb of one word does not look at it. */
const struct command *command_find(const char *first, const char *second);
/* True for the first word of verbs of two. */
bool command_is_group(const char *word);
/* The nearest verb's first word, or of a group's second words; NULL when none is near. */
const char *command_near(const char *first, const char *second);

/* All verbs, a line each; one of them in full. */
void command_list(FILE *out);
void command_help(const struct command *command, FILE *out);
/* 0, or -1 for a shell that is not known. */
int command_completion(const char *shell, FILE *out);

#endif
