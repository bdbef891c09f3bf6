/* Completions are made of the command table: the scripts know its verbs and options, and
 * ask flyball itself for the names of hosts, branches and builds.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "proto/limits.h"

/* The options of a verb, each with a blank in front; NULL: those that go with every verb. */
static void
print_options(const struct command *c, FILE *out)
{
	unsigned long takes = (OPTION_BIT(OPTIONS_GLOBAL) - 1) | (c != NULL ? c->takes : 0);
	size_t i;

	if (c != NULL && c->no_json != NULL)
		takes &= ~OPTION_BIT(OPTION_JSON);
	for (i = 0; i < OPTIONS; i++)
		if ((takes & OPTION_BIT(i)) != 0)
			fprintf(out, " --%s", option_infos[i].name);
}

static bool
first_of_its_word(size_t i)
{
	size_t k, length = strcspn(commands[i].name, " ");

	for (k = 0; k < i; k++)
		if (strncmp(commands[k].name, commands[i].name, length) == 0 &&
		    (commands[k].name[length] == ' ' || commands[k].name[length] == '\0'))
			return false;
	return true;
}

static void
print_first_words(FILE *out)
{
	size_t i;

	for (i = 0; i < ncommands; i++)
		if (first_of_its_word(i))
			fprintf(
			    out, " %.*s", (int)strcspn(commands[i].name, " "), commands[i].name);
}

static void
print_second_words(const char *name, FILE *out)
{
	size_t i, length = strcspn(name, " ");

	for (i = 0; i < ncommands; i++)
		if (strncmp(commands[i].name, name, length) == 0 && commands[i].name[length] == ' ')
			fprintf(out, " %s", commands[i].name + length + 1);
}

/* What lists the names that a first operand may have, as shell. */
static const char *
names_command(const char *operand)
{
	if (strcmp(operand, "host") == 0)
		return "flyball hosts --timeout 2s 2>/dev/null | awk 'NR>1{print $1}'";
	/* Those in force, a line each in a list of the answer. */
	if (strcmp(operand, "branch") == 0)
		return "flyball status --json --timeout 2s 2>/dev/null | awk -F'\"' "
		       "'/^  \"branches\"/{b=!/]/;next} /]/{b=0} b{print $2}'";
	if (strcmp(operand, "build") == 0)
		return "flyball builds --timeout 2s 2>/dev/null | awk 'NR>1{print $1; print "
		       "$2\"/\"$3}'";
	return "";
}

/* The words that an option may have for its value; "" none are known. */
static const char *
option_values(size_t option)
{
	if (option == OPTION_STATE)
		return "queued starting running cancelling done ok failed cancelled";
	return option == OPTION_OUTPUT ? "wide" : "";
}

static bool
takes_file(size_t option)
{
	return option == OPTION_KEY || option == OPTION_SERVER_KEY;
}

/* ---- bash, and zsh through its own emulation of it ------------------------------------------ */

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
		if (first_of_its_word(i) && strchr(commands[i].name, ' ') != NULL) {
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
		if (i == OPTION_ROUND)
			fprintf(out, ") words=$(%s) ;;\n", names_command("branch"));
		else if (takes_file(i))
			fprintf(out, ") files=1 ;;\n");
		else
			fprintf(out, ") words='%s' ;;\n", option_values(i));
	}
}

static void
bash_options(FILE *out)
{
	size_t i;

	fprintf(out, "\t-*:*)\tcase $verb in\n");
	for (i = 0; i < ncommands; i++) {
		fprintf(out, "\t\t\"%s\") words='", commands[i].name);
		print_options(&commands[i], out);
		fprintf(out, "' ;;\n");
	}
	fprintf(out, "\t\t*) words='");
	print_options(NULL, out);
	fprintf(out, "' ;;\n\t\tesac ;;\n");
}

static void
bash_operand(const struct command *c, FILE *out)
{
	const char *names = names_command(c->operand);

	if (names[0] != '\0')
		fprintf(out, "\t*:\"0:%s:\") words=$(%s) ;;\n", c->name, names);
	else if (strcmp(c->operand, "file") == 0)
		fprintf(out, "\t*:*:\"%s\":*) files=1 ;;\n", c->name);
	else if (strcmp(c->operand, "shell") == 0)
		fprintf(out, "\t*:\"0:%s:\") words='bash zsh fish' ;;\n", c->name);
}

/* verb: "explain", or "" for the first words. */
static void
bash_verbs(const char *pattern, const char *verb, FILE *out)
{
	fprintf(out, "\t*:%s) words='", pattern);
	if (verb[0] == '\0')
		print_first_words(out);
	else
		print_second_words(verb, out);
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

		if (!first_of_its_word(i) || commands[i].name[length] == '\0')
			continue;
		snprintf(pattern, sizeof pattern, "0:%.*s:|*:1:help:%.*s", length, commands[i].name,
		    length, commands[i].name);
		bash_verbs(pattern, commands[i].name, out);
	}
}

static void
bash(FILE *out)
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

/* ---- fish -------------------------------------------------------------------------------- */

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
	fprintf(out, " -f -a '(sh -c \"");
	for (; *names != '\0'; names++)
		fprintf(out, "%s%c",
		    *names == '\''                  ? "\\"
		    : strchr("$\"", *names) != NULL ? "\\\\"
						    : "",
		    *names);
	fprintf(out, "\")'\n");
}

static void
fish_operand(const struct command *c, FILE *out)
{
	const char *names = names_command(c->operand);

	if (c->operand[0] == '\0')
		return;
	fish_when(c->name, out);
	if (names[0] != '\0')
		fish_names(names, out);
	else if (strcmp(c->operand, "file") == 0)
		fprintf(out, " -F\n");
	else if (strcmp(c->operand, "shell") == 0)
		fprintf(out, " -f -a 'bash zsh fish'\n");
	else {
		fprintf(out, " -f -a '");
		print_first_words(out);
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
	if (takes_file(option))
		fprintf(out, " -r -F");
	else if (o->value != NULL && !o->may_lack)
		fprintf(out, " -x -a '%s'", option_values(option));
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

	if (first_of_its_word(i)) {
		fprintf(out, "complete -c flyball -n 'not __fish_seen_subcommand_from");
		print_first_words(out);
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
	print_second_words(name, out);
	fprintf(out, "' -f -a %s -d ", space + 1);
	fish_quoted(commands[i].summary, out);
	putc('\n', out);
}

static void
fish(FILE *out)
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

int
command_completion(const char *shell, FILE *out)
{
	if (strcmp(shell, "zsh") == 0)
		fprintf(out, "autoload -U +X bashcompinit && bashcompinit\n");
	if (strcmp(shell, "zsh") == 0 || strcmp(shell, "bash") == 0)
		bash(out);
	else if (strcmp(shell, "fish") == 0)
		fish(out);
	else
		return -1;
	return 0;
}
