/* control.h - what operators ask: to events, or to answers at once
 *
 * Shape:  a flat ladder of checks a verb; what changes something becomes an event for step(), whose
 *         EFFECT_REPLY answers later; what only reads is answered from the cluster right here.
 * Units:  as event.h.
 * Errors: a bad request is answered with REPLY_USAGE or REPLY_NOT_FOUND and a sentence.
 * Memory: ret_event belongs to the caller (event_clear); the reply's json and bytes too (free).
 * Source: flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONTROL_H
#define FLYBALL_CONTROL_H

#include "coordinator/core/event.h"
#include "proto/message.h"

struct locks;

/* What reading verbs need beside the cluster. */
struct control_context {
	const struct cluster *cluster;
	struct moment now;
	const char *log_folder; /* build logs: log_folder/ATTEMPT.log */
	const char *const *recipes; /* names any host offers, for policy check; NULL: unknown */
	size_t nrecipes;
	const char *policy_error; /* why the files on disk are not in force; "" when they are */
	const char *version; /* of the coordinator */
	wall_us started;
	struct locks *locks; /* NULL: none are kept */
};

enum control_result {
	CONTROL_ANSWERED, /* ret_reply is filled in */
	CONTROL_EVENT /* ret_event is, but for its time and request number */
};

enum control_result control_request(const struct control_context *context, const char *who,
    const struct message_request *request, struct message_reply *ret_reply,
    struct event *ret_event);

#endif
