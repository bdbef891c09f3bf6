/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/policy_text.h"
#include "coordinator/ctl/session.h"

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

/* Of branches that stand in two of the files, both are told: only together are they at fault.
 * seen holds, for each branch, the file that it stood in first. */
static int
check_twice(const char *path, const json_t *answer, json_t *seen)
{
	const json_t *list = json_object_get(answer, "policies");
	int status = REPLY_OK;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const char *branch = get_text(json_array_get(list, i), "branch");
		const char *before = branch != NULL ? get_text(seen, branch) : NULL;

		if (before != NULL) {
			complain(
			    "%s: branch \"%s\" stands in %s already; a branch may stand in one "
			    "file alone",
			    path, branch, before);
			status = REPLY_FAILED;
		} else if (branch != NULL)
			json_object_set_new(seen, branch, json_string(path));
	}
	return status;
}

static int
check_file(struct session *s, const char *path, json_t *seen)
{
	json_t *answer = NULL;
	char *text = NULL;
	struct request r;
	struct err err;
	int status = policy_text_read(path, &text, &err);

	if (status != REPLY_OK) {
		complain("%s", err.text);
		return status;
	}
	request_init(&r, "policy-check", false);
	request_add(&r, "name", path);
	request_add(&r, "text", text);
	free(text);
	status = session_ask(s, &r, &answer, NULL);
	if (status == REPLY_OK)
		status = check_twice(path, answer, seen);
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
	json_t *seen = json_object();
	int status = REPLY_OK, one;
	size_t i;

	for (i = 0; i < s->args->nwords; i++) {
		one = check_file(s, s->args->words[i], seen);
		if (status == REPLY_OK)
			status = one;
	}
	json_decref(seen);
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
