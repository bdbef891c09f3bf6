/* Completions are made of the command table: the scripts know its verbs and options, and
 * ask flyball itself for the names of hosts, branches and builds.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/command.h"
#include "coordinator/ctl/completion.h"

void
completion_options(const struct command *c, FILE *out)
{
	unsigned long takes = (OPTION_BIT(OPTIONS_GLOBAL) - 1) | (c != NULL ? c->takes : 0);
	size_t i;

	if (c != NULL && c->no_json != NULL)
		takes &= ~OPTION_BIT(OPTION_JSON);
	for (i = 0; i < OPTIONS; i++)
		if ((takes & OPTION_BIT(i)) != 0)
			fprintf(out, " --%s", option_infos[i].name);
}

bool
completion_is_first(size_t i)
{
	size_t k, length = strcspn(commands[i].name, " ");

	for (k = 0; k < i; k++)
		if (strncmp(commands[k].name, commands[i].name, length) == 0 &&
		    (commands[k].name[length] == ' ' || commands[k].name[length] == '\0'))
			return false;
	return true;
}

void
completion_first_words(FILE *out)
{
	size_t i;

	for (i = 0; i < ncommands; i++)
		if (completion_is_first(i))
			fprintf(
			    out, " %.*s", (int)strcspn(commands[i].name, " "), commands[i].name);
}

void
completion_second_words(const char *name, FILE *out)
{
	size_t i, length = strcspn(name, " ");

	for (i = 0; i < ncommands; i++)
		if (strncmp(commands[i].name, name, length) == 0 && commands[i].name[length] == ' ')
			fprintf(out, " %s", commands[i].name + length + 1);
}

const char *
completion_names(const char *operand)
{
	if (strcmp(operand, "host") == 0)
		return "flyball hosts --timeout 2s 2>/dev/null | awk 'NR>1{print $1}'";
	if (strcmp(operand, "class") == 0)
		return "flyball hosts --timeout 2s 2>/dev/null | awk 'NR>1{print $2}' | sort -u";
	/* Those in force, a line each in a list of the answer. */
	if (strcmp(operand, "branch") == 0)
		return "flyball status --json --timeout 2s 2>/dev/null | awk -F'\"' "
		       "'/^  \"branches\"/{b=!/]/;next} /]/{b=0} b{print $2}'";
	if (strcmp(operand, "build") == 0)
		return "flyball builds --timeout 2s 2>/dev/null | awk 'NR>1{print $1; print "
		       "$2\"/\"$3}'";
	return "";
}

const char *
completion_words(const char *operand)
{
	if (strcmp(operand, "mode") == 0)
		return "off observe advise act policy";
	return strcmp(operand, "shell") == 0 ? "bash zsh fish" : "";
}

const char *
completion_kind(size_t option)
{
	switch (option) {
	case OPTION_ROUND:
	case OPTION_BRANCH:
		return "branch";
	case OPTION_CLASS:
		return "class";
	case OPTION_BUILD:
		return "build";
	case OPTION_HOST:
		return "host";
	default:
		return "";
	}
}

const char *
completion_values(size_t option)
{
	if (option == OPTION_STATE)
		return "queued starting running cancelling done ok failed cancelled";
	return option == OPTION_OUTPUT ? "wide" : "";
}

bool
completion_is_file(size_t option)
{
	return option == OPTION_KEY || option == OPTION_SERVER_KEY;
}

int
command_completion(const char *shell, FILE *out)
{
	if (strcmp(shell, "zsh") == 0)
		fprintf(out, "autoload -U +X bashcompinit && bashcompinit\n");
	if (strcmp(shell, "zsh") == 0 || strcmp(shell, "bash") == 0)
		completion_bash(out);
	else if (strcmp(shell, "fish") == 0)
		completion_fish(out);
	else
		return -1;
	return 0;
}
