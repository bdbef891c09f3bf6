/* One function that finds the verb among the words and then knows what may stand next. zsh runs
 * it through its own emulation of bash.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "coordinator/ctl/completion.h"
#include "proto/limits.h"

/* "--jobs|-j" */
static void
bash_option(size_t option, FILE *out)
{
	const struct option_info *o = &option_infos[option];

	fprintf(out, "--%s", o->name);
	if (o->letter != 0)
		fprintf(out, "|-%c", o->letter);
}

/* Which word is the verb: options and their values may stand before it. bash splits words at
 * "=" and ":". */
static void
bash_find_verb(FILE *out)
{
	bool first = true;
	size_t i;

	fprintf(out, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tlocal verb= first= words= files= n=0 i w\n"
		     "\t[ \"$cur\" != = ] || cur=\n"
		     "\t[ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		     "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		     "\t\tw=${COMP_WORDS[i]}\n"
		     "\t\tcase $w in\n\t\t");
	for (i = 0; i < OPTIONS; i++) {
		if (option_infos[i].value == NULL || option_infos[i].may_lack)
			continue;
		fputs(first ? "" : "|", out);
		bash_option(i, out);
		first = false;
	}
	fprintf(out, ") [ \"${COMP_WORDS[i+1]}\" = = ] || i=$((i + 1)) ;;\n"
		     "\t\t=|:) i=$((i + 1)) ;;\n"
		     "\t\t-?*) ;;\n"
		     "\t\t*)\tcase $verb in\n"
		     "\t\t\t'') verb=$w ;;\n"
		     "\t\t\t");
	first = true;
	for (i = 0; i < ncommands; i++)
		if (completion_is_first(i) && strchr(commands[i].name, ' ') != NULL) {
			fprintf(out, "%s%.*s", first ? "" : "|",
			    (int)strcspn(commands[i].name, " "), commands[i].name);
			first = false;
		}
	fprintf(out, ") verb=\"$verb $w\" ;;\n"
		     "\t\t\t*) n=$((n + 1)); [ $n -gt 1 ] || first=$w ;;\n"
		     "\t\t\tesac ;;\n"
		     "\t\tesac\n"
		     "\tdone\n");
}

static void
bash_values(FILE *out)
{
	size_t i;

	for (i = 0; i < OPTIONS; i++) {
		if (option_infos[i].value == NULL || option_infos[i].may_lack)
			continue;
		fputs("\t", out);
		bash_option(i, out);
		if (completion_names(completion_kind(i))[0] != '\0')
			fprintf(out, ") words=$(%s) ;;\n", completion_names(completion_kind(i)));
		else if (completion_is_file(i))
			fprintf(out, ") files=1 ;;\n");
		else
			fprintf(out, ") words='%s' ;;\n", completion_values(i));
	}
}

static void
bash_options(FILE *out)
{
	size_t i;

	fprintf(out, "\t-*:*)\tcase $verb in\n");
	for (i = 0; i < ncommands; i++) {
		fprintf(out, "\t\t\"%s\") words='", commands[i].name);
		completion_options(&commands[i], out);
		fprintf(out, "' ;;\n");
	}
	fprintf(out, "\t\t*) words='");
	completion_options(NULL, out);
	fprintf(out, "' ;;\n\t\tesac ;;\n");
}

static void
bash_operand(const struct command *c, FILE *out)
{
	const char *names = completion_names(c->operand);

	if (names[0] != '\0')
		fprintf(out, "\t*:\"0:%s:\") words=$(%s) ;;\n", c->name, names);
	else if (strcmp(c->operand, "file") == 0)
		fprintf(out, "\t*:*:\"%s\":*) files=1 ;;\n", c->name);
	else if (completion_words(c->operand)[0] != '\0')
		fprintf(
		    out, "\t*:\"0:%s:\") words='%s' ;;\n", c->name, completion_words(c->operand));
}

/* verb: "explain", or "" for the first words. */
static void
bash_verbs(const char *pattern, const char *verb, FILE *out)
{
	fprintf(out, "\t*:%s) words='", pattern);
	if (verb[0] == '\0')
		completion_first_words(out);
	else
		completion_second_words(verb, out);
	fprintf(out, "' ;;\n");
}

static void
bash_words(FILE *out)
{
	char pattern[2 * NAME_SIZE];
	size_t i;

	bash_verbs("0::", "", out);
	bash_verbs("0:help:", "", out);
	for (i = 0; i < ncommands; i++) {
		int length = (int)strcspn(commands[i].name, " ");

		if (!completion_is_first(i) || commands[i].name[length] == '\0')
			continue;
		snprintf(pattern, sizeof pattern, "0:%.*s:|*:1:help:%.*s", length, commands[i].name,
		    length, commands[i].name);
		bash_verbs(pattern, commands[i].name, out);
	}
}

void
completion_bash(FILE *out)
{
	size_t i;

	fprintf(out, "_flyball() {\n");
	bash_find_verb(out);
	fprintf(out, "\tCOMPREPLY=()\n"
		     "\tcase $prev in\n");
	bash_values(out);
	fprintf(out, "\t*)\tcase $cur:$n:$verb:$first in\n");
	bash_options(out);
	bash_words(out);
	for (i = 0; i < ncommands; i++)
		bash_operand(&commands[i], out);
	fprintf(out, "\tesac ;;\n"
		     "\tesac\n"
		     "\t[ -z \"$files\" ] || return 0\n"
		     "\tcompopt +o default 2>/dev/null\n"
		     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		     "}\n"
		     "complete -o default -F _flyball flyball\n");
}
