/* control_ask.h - one request while it is looked at: what control's parts share
 *
 * Shape:  a verb takes the ask, checks its arguments one by one, and ends by answering or
 *         by saying that the event is made. arg_ and find_ answer for the verb when something
 *         is wrong and return NULL or false.
 * Units:  as event.h.
 * Errors: they are answers.
 * Memory: all borrowed but what goes into reply and event.
 * Source: flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONTROL_ASK_H
#define FLYBALL_CONTROL_ASK_H

#include <jansson.h>

#include "coordinator/io/control.h"

struct ask {
	const struct control_context *context;
	const struct cluster *c;
	const struct message_request *request;
	struct message_reply *reply;
	struct event *event;
};

/* Ends a verb: with a sentence, or with JSON (taken over). */
enum control_result answer(struct ask *ask, enum reply_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum control_result answer_json(struct ask *ask, json_t *json);

/* The reason into the event: one line of text for the journal and for terminals. */
bool take_reason(struct ask *ask, bool needed);
/* The argument's value; NULL when it is not there. */
const char *arg_get(const struct ask *ask, const char *key);
/* A number of most .. least; without the argument, *ret_n stays. */
bool arg_number(struct ask *ask, const char *key, int64_t least, int64_t most, int64_t *ret_n);
/* Digits alone that fit; false for anything else, and nothing is answered. */
bool number_parse(const char *text, int64_t *ret_n);

/* What the argument names; a build by number or BRANCH/TARGET (its latest), a round by
 * number or BRANCH (its latest). */
const struct host *find_host(struct ask *ask, const char *name);
const struct build *find_build(struct ask *ask, const char *name);
const struct round *find_round(struct ask *ask, const char *name);
const struct policy *find_policy(struct ask *ask, const char *branch);

/* control_show.c */
enum control_result show_status(struct ask *ask);
enum control_result show_hosts(struct ask *ask);
enum control_result show_host(struct ask *ask);
enum control_result show_rounds(struct ask *ask);
enum control_result show_round(struct ask *ask);
enum control_result show_builds(struct ask *ask);
enum control_result show_build(struct ask *ask);
enum control_result show_explain(struct ask *ask);
enum control_result show_policy(struct ask *ask);
enum control_result show_policy_check(struct ask *ask);
/* control_governor.c */
enum control_result show_governor(struct ask *ask);
enum control_result change_governor(struct ask *ask);
/* control_locks.c */
enum control_result show_locks(struct ask *ask);
/* control_log.c */
enum control_result show_log(struct ask *ask);

#endif
