/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/session.h"

int
verb_locks(struct session *s)
{
	const char *build = s->args->texts[OPTION_BUILD];
	struct request r;

	if ((s->args->nwords == 0) == (build == NULL)) {
		complain(
		    "one host, or --build BUILD, was expected; the form is: flyball locks HOST | "
		    "--build BUILD");
		return REPLY_USAGE;
	}
	request_init(&r, "locks", false);
	if (build != NULL)
		request_add(&r, "build", build);
	else
		request_add(&r, "host", s->args->words[0]);
	return session_show(s, &r, s->output->locks);
}
