/* Verbs that ask no coordinator.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/ctl/command.h"
#include "coordinator/ctl/session.h"
#include "proto/keys.h"

static void
show_key(struct session *s, const char *public_key)
{
	char fingerprint[KEY_FINGERPRINT_SIZE];

	key_fingerprint(public_key, fingerprint);
	if (args_given(s->args, OPTION_JSON))
		fprintf(s->view.out, "{\n  \"fingerprint\": \"%s\",\n  \"public\": \"%s\"\n}\n",
		    fingerprint, public_key);
	else
		fprintf(s->view.out, "public       %s\nfingerprint  %s\n", public_key, fingerprint);
}

int
verb_key_create(struct session *s)
{
	const char *path = s->args->words[0];
	struct key_pair pair;
	struct err err;
	int rc;

	key_pair_create(&pair);
	rc = key_pair_save(&pair, path, &err);
	if (rc == 0) {
		complain("%s keeps the secret, %s.pub is for others", path, path);
		show_key(s, pair.public_key);
	} else
		complain("%s", err.text);
	key_pair_clear(&pair);
	return rc == 0 ? REPLY_OK : REPLY_FAILED;
}

int
verb_key_show(struct session *s)
{
	char key[KEY_TEXT_SIZE];
	struct err err;

	if (key_public_load(s->args->words[0], key, &err) != 0) {
		complain("%s", err.text);
		return access(s->args->words[0], F_OK) != 0 && errno == ENOENT ? REPLY_NOT_FOUND
									       : REPLY_FAILED;
	}
	show_key(s, key);
	return REPLY_OK;
}

int
verb_help(struct session *s)
{
	const struct args *args = s->args;
	const char *second = args->nwords > 1 ? args->words[1] : NULL;
	const struct command *c;
	size_t i;

	if (args->nwords == 0) {
		command_list(s->view.out);
		return REPLY_OK;
	}
	c = command_find(args->words[0], second);
	if (c != NULL) {
		command_help(c, s->view.out);
		return REPLY_OK;
	}
	if (!command_is_group(args->words[0]) || second != NULL) {
		complain("there is no verb \"%s%s%s\"; flyball help lists them", args->words[0],
		    second != NULL ? " " : "", second != NULL ? second : "");
		return REPLY_USAGE;
	}
	for (i = 0; i < ncommands; i++)
		if (command_is_group(args->words[0]) &&
		    strncmp(commands[i].name, args->words[0], strlen(args->words[0])) == 0 &&
		    commands[i].name[strlen(args->words[0])] == ' ')
			command_help(&commands[i], s->view.out);
	return REPLY_OK;
}

int
verb_version(struct session *s)
{
	fprintf(s->view.out, "flyball %s\n", FLYBALL_VERSION);
	return REPLY_OK;
}

int
verb_completion(struct session *s)
{
	if (command_completion(s->args->words[0], s->view.out) == 0)
		return REPLY_OK;
	complain("no completions for \"%s\" are known: bash, zsh or fish was expected",
	    s->args->words[0]);
	return REPLY_USAGE;
}
