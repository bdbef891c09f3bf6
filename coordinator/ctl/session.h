/* session.h - one run of flyball: what its verbs share
 *
 * Shape:  a verb asks, renders what comes back, and returns the exit code.
 * Units:  as args.h.
 * Errors: exit codes of operator commands are enum reply_status; what went wrong has been said
 *         on standard error when a verb returns.
 * Memory: borrowed from main but for what session_ask gives.
 * Source: flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SESSION_H
#define FLYBALL_SESSION_H

#include <jansson.h>

#include "coordinator/ctl/args.h"
#include "coordinator/ctl/client.h"
#include "coordinator/ctl/output.h"

/* After ^C, as shells have it for who dies of it. */
enum { EXIT_INTERRUPTED = 130 };

struct session {
	const struct args *args;
	struct client *client; /* NULL for local verbs */
	const struct output *output;
	struct view view;
	bool
	    patient; /* a coordinator that does not answer is asked again: told once, not each time */
	bool unheard; /* that has been told */
};

/* A message to the operator: "flyball: ..." on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of a terminal on standard error that says how something goes on, cut to its columns:
 * the next one is written over it, and a message clears it. */
void progress_show(const char *text, size_t columns);
/* Leaves it there. */
void progress_end(void);

/* Tells what became of a request, when it is not ok. */
void session_tell(struct session *s, int status, const char *text);

/* Asks and clears the request; what is not ok is told on standard error. ret_json: the answer,
 * NULL when there is none (json_decref). ret_text may be NULL. */
int session_ask(struct session *s, struct request *request, json_t **ret_json, char **ret_text);

/* Asks, and shows the answer by one function of the output. */
int session_show(struct session *s, struct request *request, output_f show);

/* Asks for a list page by page; cursor is the argument that goes on ("after", or "before" when
 * the newest come first: those are turned round). limit: how many at most, 0 all; that there are
 * more is told on standard error. Clears the request; ret_json holds the list under key. */
int session_list(struct session *s, struct request *request, const char *key, const char *cursor,
    size_t limit, json_t **ret_json);

/* For what changes something: asks once, and shows what the coordinator says. */
int session_change(struct session *s, struct request *request);

/* verb_host.c */
int verb_hosts(struct session *s);
int verb_host(struct session *s);
int verb_throttle(struct session *s);
int verb_unthrottle(struct session *s);
int verb_pin(struct session *s);
int verb_drain(struct session *s);
int verb_pause(struct session *s);
int verb_resume(struct session *s);
int verb_explain_host(struct session *s);
/* verb_locks.c */
int verb_locks(struct session *s);
/* verb_governor.c */
int verb_governor(struct session *s);
/* verb_build.c */
int verb_builds(struct session *s);
int verb_build(struct session *s);
int verb_cancel(struct session *s);
int verb_retry(struct session *s);
int verb_explain_build(struct session *s);
/* verb_round.c */
int verb_run(struct session *s);
int verb_rounds(struct session *s);
int verb_round(struct session *s);
/* verb_log.c */
int verb_log(struct session *s);
/* verb_policy.c */
int verb_status(struct session *s);
int verb_policy_check(struct session *s);
int verb_policy_show(struct session *s);
/* verb_local.c */
int verb_key_create(struct session *s);
int verb_key_show(struct session *s);
int verb_help(struct session *s);
int verb_version(struct session *s);
int verb_completion(struct session *s);

#endif
