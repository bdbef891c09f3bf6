/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/session.h"

/* The orders, and what comes of them on each host. */
static int
show(struct session *s)
{
	static const char *const keys[] = { "host", "class", "governor", "governor_from" };
	json_t *answer = NULL, *hosts = NULL, *list = json_array();
	struct request r;
	int status;
	size_t i, k;

	request_init(&r, "governor", false);
	status = session_ask(s, &r, &answer, NULL);
	if (status == REPLY_OK) {
		request_init(&r, "hosts", false);
		status = session_list(s, &r, "hosts", "after", 0, &hosts);
	}
	for (i = 0; i < json_array_size(json_object_get(hosts, "hosts")); i++) {
		const json_t *host = json_array_get(json_object_get(hosts, "hosts"), i);
		json_t *row = json_object();

		for (k = 0; k < sizeof keys / sizeof keys[0]; k++)
			json_object_set(row, keys[k], json_object_get(host, keys[k]));
		json_array_append_new(list, row);
	}
	json_object_set_new(answer, "hosts", list);
	if (status == REPLY_OK)
		s->output->governor(answer, &s->view);
	json_decref(answer);
	json_decref(hosts);
	return status;
}

int
verb_governor(struct session *s)
{
	struct request r;

	if (s->args->nwords == 0)
		return show(s);
	if (!args_given(s->args, OPTION_REASON)) {
		complain("an order needs --reason TEXT, for whoever wonders about it later");
		return REPLY_USAGE;
	}
	request_init(&r, "governor-set", true);
	request_add(&r, "mode", s->args->words[0]);
	request_add(&r, "branch", s->args->texts[OPTION_BRANCH]);
	request_add(&r, "class", s->args->texts[OPTION_CLASS]);
	request_add(&r, "host", s->args->texts[OPTION_HOST]);
	request_add(&r, "reason", s->args->texts[OPTION_REASON]);
	return session_change(s, &r);
}
