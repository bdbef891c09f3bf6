/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/ctl/command.h"
#include "coordinator/ctl/session.h"

enum { NEWEST_BUILDS = 100 };

int
verb_builds(struct session *s)
{
	const struct args *args = s->args;
	json_t *answer = NULL;
	struct request r;
	int rc;

	request_init(&r, "builds", false);
	request_add(&r, "branch", args->nwords > 0 ? args->words[0] : NULL);
	request_add(&r, "round", args->texts[OPTION_ROUND]);
	request_add(&r, "state", args->texts[OPTION_STATE]);
	rc = session_list(
	    s, &r, "builds", "before", args_given(args, OPTION_ALL) ? 0 : NEWEST_BUILDS, &answer);
	if (rc == REPLY_OK)
		s->output->builds(answer, &s->view);
	json_decref(answer);
	return rc;
}

int
verb_build(struct session *s)
{
	struct request r;

	request_init(&r, "build", false);
	request_add(&r, "build", s->args->words[0]);
	return session_show(s, &r, s->output->build);
}

int
verb_explain_build(struct session *s)
{
	struct request r;

	request_init(&r, "explain", false);
	request_add(&r, "build", s->args->words[0]);
	return session_show(s, &r, s->output->explain_build);
}

/* ---- changing them ----------------------------------------------------------------------- */

/* Exactly one of a build and a round. */
static bool
take_object(const struct args *args, struct request *r)
{
	if ((args->nwords == 1) == args_given(args, OPTION_ROUND)) {
		complain("flyball %s: a build or --round ROUND is needed, and not both",
		    args->command->name);
		return false;
	}
	if (args->nwords == 1)
		request_add(r, "build", args->words[0]);
	request_add(r, "round", args->texts[OPTION_ROUND]);
	return true;
}

/* Only people are asked: a script has said what it wants. */
static bool
is_meant(const struct args *args)
{
	char answer[16];

	if (!args_given(args, OPTION_ROUND) || args_given(args, OPTION_YES) ||
	    !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return true;
	fprintf(stderr, "Cancel every build of round %s that is not done? [y/N] ",
	    args->texts[OPTION_ROUND]);
	if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	complain("nothing was cancelled");
	return false;
}

int
verb_cancel(struct session *s)
{
	struct request r;

	request_init(&r, "cancel", true);
	request_add(&r, "reason", s->args->texts[OPTION_REASON]);
	if (!take_object(s->args, &r)) {
		request_clear(&r);
		return REPLY_USAGE;
	}
	if (!is_meant(s->args)) {
		request_clear(&r);
		return REPLY_FAILED;
	}
	return session_change(s, &r);
}

int
verb_retry(struct session *s)
{
	struct request r;

	request_init(&r, "retry", true);
	if (take_object(s->args, &r))
		return session_change(s, &r);
	request_clear(&r);
	return REPLY_USAGE;
}
