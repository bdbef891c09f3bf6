/* completion.h - what the completions of all shells are made of
 *
 * Shape:  words of the command table, each printed with a blank in front.
 * Units:  none.
 * Errors: "" where nothing is known.
 * Memory: constant.
 * Source: flyball(1); bash(1) "Programmable Completion", fish's complete(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_COMPLETION_H
#define FLYBALL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command;

/* The options of a verb; NULL: those that go with every verb. */
void completion_options(const struct command *c, FILE *out);
/* Whether no command before this one begins with its first word. */
bool completion_is_first(size_t command);
void completion_first_words(FILE *out);
/* Of the verbs that share this one's first word. */
void completion_second_words(const char *name, FILE *out);

/* What lists the names that a first operand may have, as shell. */
const char *completion_names(const char *operand);
/* The words that a first operand may be, when they are always the same; else "". */
const char *completion_words(const char *operand);
/* What an option's value names, as an operand would; else "". */
const char *completion_kind(size_t option);
/* The words that an option may have for its value. */
const char *completion_values(size_t option);
bool completion_is_file(size_t option);

void completion_bash(FILE *out);
void completion_fish(FILE *out);

#endif
