/* Who owns what a message points to differs between the ends: a sender lends it,
 * a decoded message owns it. message_clear is for the latter alone, and knows
 * every kind, so that wire.c can call it on a message that is half filled.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/message.h"

#include <stdlib.h>
#include <string.h>

const char *
message_kind_name(enum message_kind kind)
{
	static const char *const names[] = { "none", "ack", "hello", "report", "attempt", "log",
		"locks", "welcome", "refused", "start", "cancel", "limit", "log-have", "request",
		"reply" };

	_Static_assert(sizeof names / sizeof names[0] == MESSAGE_KINDS, "a name for each kind");
	return (unsigned)kind < MESSAGE_KINDS ? names[kind] : "?";
}

static void
clear_request(struct message_request *request)
{
	for (size_t i = 0; i < request->nargs; i++) {
		free(request->args[i].key);
		free(request->args[i].value);
	}
	free(request->args);
}

void
message_clear(struct message *m)
{
	switch (m->envelope.kind) {
	case MESSAGE_HELLO:
		free(m->hello.host.labels);
		free(m->hello.host.recipes);
		free(m->hello.attempts);
		break;
	case MESSAGE_REPORT:
		free(m->report.attempts);
		free(m->report.gauges);
		break;
	case MESSAGE_ATTEMPT:
		free(m->attempt.result.phases);
		break;
	case MESSAGE_LOG:
		free(m->log.bytes);
		break;
	case MESSAGE_LOCKS:
		free(m->locks.table.rows);
		break;
	case MESSAGE_REQUEST:
		clear_request(&m->request);
		break;
	case MESSAGE_REPLY:
		free(m->reply.json);
		free(m->reply.bytes);
		break;
	default:
		break;
	}
	memset(m, 0, sizeof *m);
}
