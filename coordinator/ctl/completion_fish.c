/* Lines that each hold under a condition: fish looks for the verb itself.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "coordinator/ctl/completion.h"

/* Text in single quotes. */
static void
fish_quoted(const char *text, FILE *out)
{
	putc('\'', out);
	for (; *text != '\0'; text++)
		fprintf(out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	putc('\'', out);
}

/* When a verb is there, of two words both. */
static void
fish_when(const char *name, FILE *out)
{
	const char *space = strchr(name, ' ');

	fprintf(out, "complete -c flyball -n '__fish_seen_subcommand_from %.*s",
	    (int)strcspn(name, " "), name);
	if (space != NULL)
		fprintf(out, "; and __fish_seen_subcommand_from %s", space + 1);
	putc('\'', out);
}

/* fish has another grammar than the pipeline: sh runs it. In single quotes, \ and ' are escaped. */
static void
fish_names(const char *names, FILE *out)
{
	fprintf(out, " -a '(sh -c \"");
	for (; *names != '\0'; names++)
		fprintf(out, "%s%c",
		    *names == '\''                  ? "\\"
		    : strchr("$\"", *names) != NULL ? "\\\\"
						    : "",
		    *names);
	fprintf(out, "\")'");
}

static void
fish_operand(const struct command *c, FILE *out)
{
	const char *names = completion_names(c->operand);

	if (c->operand[0] == '\0')
		return;
	fish_when(c->name, out);
	if (names[0] != '\0') {
		fprintf(out, " -f");
		fish_names(names, out);
		putc('\n', out);
	} else if (strcmp(c->operand, "file") == 0)
		fprintf(out, " -F\n");
	else if (completion_words(c->operand)[0] != '\0')
		fprintf(out, " -f -a '%s'\n", completion_words(c->operand));
	else {
		fprintf(out, " -f -a '");
		completion_first_words(out);
		fprintf(out, "'\n");
	}
}

/* The line that offers an option begins with what came before. */
static void
fish_option(size_t option, FILE *out)
{
	const struct option_info *o = &option_infos[option];

	if (o->letter != 0)
		fprintf(out, " -s %c", o->letter);
	fprintf(out, " -l %s", o->name);
	if (completion_is_file(option))
		fprintf(out, " -r -F");
	else if (completion_names(completion_kind(option))[0] != '\0') {
		fprintf(out, " -x");
		fish_names(completion_names(completion_kind(option)), out);
	} else if (o->value != NULL && !o->may_lack)
		fprintf(out, " -x -a '%s'", completion_values(option));
	fprintf(out, " -d ");
	fish_quoted(o->help, out);
	putc('\n', out);
}

/* The verb, or its second word, where there is none yet. */
static void
fish_word(size_t i, FILE *out)
{
	const char *name = commands[i].name, *space = strchr(name, ' ');
	int length = (int)strcspn(name, " ");

	if (completion_is_first(i)) {
		fprintf(out, "complete -c flyball -n 'not __fish_seen_subcommand_from");
		completion_first_words(out);
		fprintf(out, "' -f -a %.*s -d ", length, name);
		fish_quoted(space == NULL ? commands[i].summary : "", out);
		putc('\n', out);
	}
	if (space == NULL)
		return;
	fprintf(out,
	    "complete -c flyball -n '__fish_seen_subcommand_from %.*s; and not "
	    "__fish_seen_subcommand_from",
	    length, name);
	completion_second_words(name, out);
	fprintf(out, "' -f -a %s -d ", space + 1);
	fish_quoted(commands[i].summary, out);
	putc('\n', out);
}

void
completion_fish(FILE *out)
{
	size_t i, k;

	fprintf(out, "complete -c flyball -f\n");
	for (i = 0; i < ncommands; i++) {
		fish_word(i, out);
		fish_operand(&commands[i], out);
		for (k = OPTIONS_GLOBAL; k < OPTIONS; k++)
			if ((commands[i].takes & OPTION_BIT(k)) != 0) {
				fish_when(commands[i].name, out);
				fish_option(k, out);
			}
	}
	for (i = 0; i < OPTIONS_GLOBAL; i++) {
		fprintf(out, "complete -c flyball");
		fish_option(i, out);
	}
}
