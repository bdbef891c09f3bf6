/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/session.h"

int
verb_hosts(struct session *s)
{
	json_t *answer = NULL;
	struct request r;
	int rc;

	request_init(&r, "hosts", false);
	rc = session_list(s, &r, "hosts", "after", 0, &answer);
	if (rc == REPLY_OK)
		s->output->hosts(answer, &s->view);
	json_decref(answer);
	return rc;
}

int
verb_host(struct session *s)
{
	struct request r;

	request_init(&r, "host", false);
	request_add(&r, "host", s->args->words[0]);
	return session_show(s, &r, s->output->host);
}

int
verb_explain_host(struct session *s)
{
	struct request r;

	request_init(&r, "explain", false);
	request_add(&r, "host", s->args->words[0]);
	return session_show(s, &r, s->output->explain_host);
}

/* ---- what holds a host back ---------------------------------------------------------------- */

static int
hold(struct session *s, const char *verb)
{
	struct request r;

	request_init(&r, verb, true);
	request_add(&r, "host", s->args->words[0]);
	if (s->args->jobs > 0)
		request_add_number(&r, "limit", s->args->jobs);
	if (s->args->for_us > 0)
		request_add_number(&r, "for_us", s->args->for_us);
	request_add(&r, "reason", s->args->texts[OPTION_REASON]);
	return session_change(s, &r);
}

int
verb_throttle(struct session *s)
{
	return hold(s, "throttle");
}

int
verb_pin(struct session *s)
{
	return hold(s, "pin");
}

int
verb_unthrottle(struct session *s)
{
	return hold(s, "unthrottle");
}

int
verb_drain(struct session *s)
{
	return hold(s, "drain");
}

int
verb_pause(struct session *s)
{
	return hold(s, "pause");
}

int
verb_resume(struct session *s)
{
	return hold(s, "resume");
}
