/* A log is read in pieces, each asked for by its offset. Where it goes to decides what
 * becomes of its bytes: a terminal obeys some of them, a file or pipe is given every one.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/session.h"
#include "proto/base/loop.h"

#define POLL_US (SECOND_US / 2)
/* How long bytes of an ended attempt may be under way before they are given up. */
#define LATE_US (10 * SECOND_US)

struct following {
	struct session *s;
	bool follow, raw;
	struct harmless harmless;
	int64_t attempt; /* 0: the last */
	int64_t offset;
	mono_us grown_at; /* when there last were new bytes */
	bool ended; /* its attempt was so when it was asked for last */
};

static int
ask_piece(struct following *rd, struct message_reply *reply)
{
	struct request r;

	request_init(&r, "log", false);
	request_add(&r, "build", rd->s->args->words[0]);
	if (rd->attempt > 0)
		request_add_number(&r, "attempt", rd->attempt);
	if (rd->follow)
		request_add(&r, "follow", "1");
	request_add_number(&r, "offset", rd->offset);
	client_ask(rd->s->client, &r, reply);
	request_clear(&r);
	return reply->status;
}

static void
show_piece(struct following *rd, const struct message_reply *reply)
{
	FILE *out = rd->s->view.out;

	if (rd->raw)
		fwrite(reply->bytes, 1, reply->nbytes, out);
	else
		harmless_write(&rd->harmless, reply->bytes, reply->nbytes, out);
	rd->offset += (int64_t)reply->nbytes;
	if (reply->nbytes > 0)
		rd->grown_at = loop_now();
	if (rd->follow)
		fflush(out);
}

static void
say_what_is_missing(const json_t *about)
{
	int64_t dropped = 0, have = 0, all = 0;
	char a[FORMAT_SIZE], b[FORMAT_SIZE];

	if (get_number(about, "log_dropped_bytes", &dropped) && dropped > 0)
		complain(
		    "%s were dropped out of the middle of this log: it was longer than is kept",
		    format_size(a, dropped));
	if (get_true(about, "whole") || !get_true(about, "ended"))
		return;
	get_number(about, "stored_bytes", &have);
	get_number(about, "log_bytes", &all);
	if (have < all)
		complain("this log is not whole: %s of %s are here", format_size(a, have),
		    format_size(b, all));
	else
		complain("this log may not be whole: its attempt was lost");
}

/* The attempt is over; another one may take its place. */
static bool
next_attempt(struct following *rd, const json_t *about)
{
	int64_t last = 0;

	get_number(about, "last_attempt", &last);
	if (args_given(rd->s->args, OPTION_ATTEMPT) || last == rd->attempt)
		return false;
	complain("attempt %" PRId64 " is over; attempt %" PRId64 " follows", rd->attempt, last);
	rd->attempt = last;
	rd->offset = 0;
	rd->ended = false;
	rd->grown_at = loop_now();
	return true;
}

/* Whether to go on behind this piece. Bytes of an ended attempt may still be under way. */
static bool
goes_on(struct following *rd, const struct message_reply *reply, const json_t *about)
{
	bool over;

	get_number(about, "attempt", &rd->attempt);
	if (reply->nbytes > 0 && !reply->last)
		return true;
	if (!rd->follow)
		return false;
	if (get_true(about, "ended") && !rd->ended)
		rd->grown_at = loop_now();
	rd->ended = get_true(about, "ended");
	over = reply->last || (rd->ended && mono_since(rd->grown_at, loop_now()) > LATE_US);
	if (over && next_attempt(rd, about))
		return true;
	if (over && (get_true(about, "done") || args_given(rd->s->args, OPTION_ATTEMPT)))
		return false;
	client_sleep(rd->s->client, POLL_US);
	return true;
}

/* Following outlives a coordinator that is started anew. */
static bool
may_retry(struct following *rd, int status, const char *text)
{
	if (!rd->s->patient || (status != REPLY_UNREACHABLE && status != REPLY_TIMED_OUT))
		return false;
	session_tell(rd->s, status, text);
	client_sleep(rd->s->client, 2 * SECOND_US);
	return true;
}

static int
interrupted(const struct session *s)
{
	const char *build = s->args->words[0];

	if (isatty(STDERR_FILENO) == 1)
		putc('\n', stderr);
	complain("build %s goes on; flyball log %s -f shows its log again, flyball build %s how "
		 "it is",
	    build, build, build);
	return EXIT_INTERRUPTED;
}

int
verb_log(struct session *s)
{
	struct following rd = { .s = s,
		.follow = args_given(s->args, OPTION_FOLLOW),
		.raw = isatty(STDOUT_FILENO) != 1,
		.attempt = s->args->attempt,
		.grown_at = loop_now() };
	struct message_reply reply;
	json_t *about = NULL;
	bool more = true;
	int status = REPLY_OK;

	if (rd.follow)
		client_catch_interrupt(s->client);
	while (more && !client_interrupted(s->client)) {
		status = ask_piece(&rd, &reply);
		if (client_interrupted(s->client)) {
			reply_clear(&reply);
			break;
		}
		if (status != REPLY_OK) {
			more = may_retry(&rd, status, reply.text);
			if (!more)
				complain("%s", reply.text);
			reply_clear(&reply);
			continue;
		}
		session_tell(s, status, "");
		s->patient = rd.follow;
		json_decref(about);
		about = reply.json != NULL ? json_loads(reply.json, 0, NULL) : NULL;
		show_piece(&rd, &reply);
		more = goes_on(&rd, &reply, about);
		reply_clear(&reply);
	}
	harmless_end(&rd.harmless, s->view.out);
	fflush(s->view.out);
	if (client_interrupted(s->client))
		status = interrupted(s);
	else if (status == REPLY_OK)
		say_what_is_missing(about);
	json_decref(about);
	return status;
}
