/* Completions are made of the command table: the scripts know its verbs and options, and
 * ask flyball itself for the names of hosts, branches and builds.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "proto/limits.h"

/* The options of a verb, each with a blank in front. */
static void
print_options(const struct command *c, FILE *out)
{
	unsigned long takes = c->takes | (OPTION_BIT(OPTIONS_GLOBAL) - 1);
	size_t i;

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
	if (strcmp(operand, "branch") == 0)
		return "flyball rounds --timeout 2s 2>/dev/null | awk 'NR>1{print $2}' | sort -u";
	if (strcmp(operand, "build") == 0)
		return "flyball builds --timeout 2s 2>/dev/null | awk 'NR>1{print $1; print "
		       "$2\"/\"$3}'";
	return "";
}

/* ---- bash, and zsh through its own emulation of it ------------------------------------------ */

static void
bash_case(const struct command *c, FILE *out)
{
	const char *names = names_command(c->operand);

	fprintf(out, "\t\"%s\") words='", c->name);
	print_options(c, out);
	fprintf(out, "%s'", strcmp(c->operand, "shell") == 0 ? " bash zsh fish" : "");
	if (names[0] != '\0')
		fprintf(out, "; [[ $cur == -* ]] || words+=\" $(%s)\"", names);
	fprintf(out, " ;;\n");
}

static void
bash(FILE *out)
{
	size_t i;

	fprintf(out, "_flyball() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
		     "\tcase $COMP_CWORD:$verb in\n"
		     "\t1:*) words='");
	print_first_words(out);
	fprintf(out, "' ;;\n");
	for (i = 0; i < ncommands; i++)
		if (first_of_its_word(i) && strchr(commands[i].name, ' ') != NULL) {
			fprintf(out, "\t2:%.*s) words='", (int)strcspn(commands[i].name, " "),
			    commands[i].name);
			print_second_words(commands[i].name, out);
			fprintf(out, "' ;;\n");
		}
	fprintf(out, "\tesac\n"
		     "\tcase $verb in explain|policy|key) verb=\"$verb ${COMP_WORDS[2]}\" ;; esac\n"
		     "\t[ -n \"$words\" ] || case $verb in\n");
	for (i = 0; i < ncommands; i++)
		bash_case(&commands[i], out);
	fprintf(out, "\tesac\n"
		     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		     "}\n"
		     "complete -o default -F _flyball flyball\n");
}

/* ---- fish -------------------------------------------------------------------------------- */

/* fish has another grammar than the pipeline: sh runs it. In single quotes, \ and ' are escaped. */
static void
fish_names(const char *name, const char *names, FILE *out)
{
	const char *space = strchr(name, ' ');

	fprintf(out, "complete -c flyball -n '__fish_seen_subcommand_from %.*s",
	    (int)strcspn(name, " "), name);
	if (space != NULL)
		fprintf(out, "; and __fish_seen_subcommand_from %s", space + 1);
	fprintf(out, "' -f -a '(sh -c \"");
	for (; *names != '\0'; names++)
		fprintf(out, "%s%c",
		    *names == '\''                  ? "\\"
		    : strchr("$\"", *names) != NULL ? "\\\\"
						    : "",
		    *names);
	fprintf(out, "\")'\n");
}

/* Text in single quotes. */
static void
fish_quoted(const char *text, FILE *out)
{
	putc('\'', out);
	for (; *text != '\0'; text++)
		fprintf(out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	putc('\'', out);
}

/* One line: when it holds, what is offered, and what that is. */
static void
fish_line(const char *condition, int length, const char *verb, const char *offer, const char *word,
    const char *about, FILE *out)
{
	fprintf(out, "complete -c flyball%s%.*s%s %s %s -d ", condition, length, verb,
	    length > 0 ? "'" : "", offer, word);
	fish_quoted(about, out);
	putc('\n', out);
}

static void
fish_command(size_t i, FILE *out)
{
	static const char seen[] = " -n '__fish_seen_subcommand_from ";
	const struct command *c = &commands[i];
	const char *space = strchr(c->name, ' '), *names = names_command(c->operand);
	int length = (int)strcspn(c->name, " ");
	char first[NAME_SIZE];
	size_t k;

	snprintf(first, sizeof first, "%.*s", length, c->name);
	if (first_of_its_word(i))
		fish_line(" -n __fish_use_subcommand", 0, "", "-f -a", first,
		    space == NULL ? c->summary : "", out);
	if (space != NULL)
		fish_line(seen, length, c->name, "-f -a", space + 1, c->summary, out);
	if (names[0] != '\0')
		fish_names(c->name, names, out);
	for (k = OPTIONS_GLOBAL; k < OPTIONS; k++)
		if ((c->takes & OPTION_BIT(k)) != 0)
			fish_line(seen, length, c->name, "-l", option_infos[k].name,
			    option_infos[k].help, out);
}

static void
fish(FILE *out)
{
	size_t i;

	for (i = 0; i < ncommands; i++)
		fish_command(i, out);
	for (i = 0; i < OPTIONS_GLOBAL; i++)
		fish_line("", 0, "", "-l", option_infos[i].name, option_infos[i].help, out);
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
