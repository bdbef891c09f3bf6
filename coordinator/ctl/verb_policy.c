/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/session.h"
#include "proto/base/mem.h"

int
verb_status(struct session *s)
{
	json_t *answer = NULL;
	struct request r;
	int status;

	request_init(&r, "status", false);
	status = session_ask(s, &r, &answer, NULL);
	if (status == REPLY_OK)
		s->output->status(answer, &s->view);
	if (status == REPLY_OK && args_given(s->args, OPTION_CHECK) &&
	    json_array_size(json_object_get(answer, "alarms")) > 0)
		status = REPLY_UNHEALTHY;
	json_decref(answer);
	return status;
}

/* ---- policies ---------------------------------------------------------------------------- */

/* The whole file, "-" for standard input, as fresh text. */
static char *
read_file(const char *path, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "re");
	char *text;
	size_t n;

	if (f == NULL) {
		err_set_errno(err, errno, "%s cannot be opened", path);
		return NULL;
	}
	text = mem_calloc(POLICY_BYTES + 2, 1);
	n = fread(text, 1, POLICY_BYTES + 1, f);
	if (ferror(f))
		err_set_errno(err, errno, "%s cannot be read", path);
	else if (n > POLICY_BYTES)
		err_set(err, "%s has more than %d bytes, which no policy file may have", path,
		    POLICY_BYTES);
	else if (memchr(text, '\0', n) != NULL)
		err_set(err, "%s holds a zero byte: it is no text", path);
	else
		n = POLICY_BYTES + 2;
	if (!standard)
		fclose(f);
	if (n == POLICY_BYTES + 2)
		return text;
	free(text);
	return NULL;
}

/* One file; its list of policies goes to the end of list. */
static int
check_file(struct session *s, const char *path)
{
	json_t *answer = NULL;
	struct request r;
	struct err err;
	char *text = read_file(path, &err);
	int status;

	if (text == NULL) {
		complain("%s", err.text);
		return REPLY_FAILED;
	}
	request_init(&r, "policy-check", false);
	request_add(&r, "name", path);
	request_add(&r, "text", text);
	free(text);
	status = session_ask(s, &r, &answer, NULL);
	if (status == REPLY_OK) {
		json_object_set_new(answer, "name", json_string(path));
		s->output->policies(answer, &s->view);
	}
	json_decref(answer);
	return status;
}

/* All are looked at; the first failure is the exit code. */
int
verb_policy_check(struct session *s)
{
	int status = REPLY_OK, one;
	size_t i;

	for (i = 0; i < s->args->nwords; i++) {
		one = check_file(s, s->args->words[i]);
		if (status == REPLY_OK)
			status = one;
	}
	return status;
}

int
verb_policy_show(struct session *s)
{
	struct request r;

	request_init(&r, "policy-show", false);
	request_add(&r, "branch", s->args->words[0]);
	return session_show(s, &r, s->output->policy);
}
