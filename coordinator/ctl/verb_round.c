/* Waiting for a round is asking for it again and again: a coordinator that is started anew
 * in between is waited for as well, and nothing is subscribed to that could be lost.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/session.h"
#include "coordinator/ctl/text.h"
#include "proto/base/loop.h"
#include "proto/base/mem.h"

enum { NEWEST_ROUNDS = 50 };

#define POLL_US (SECOND_US / 2)
#define SILENT_MOST_US (300 * SECOND_US)

/* ---- progress ---------------------------------------------------------------------------- */

struct progress {
	bool terminal;
	size_t columns; /* of it */
	json_t *told; /* the state of each build that was told last, by number */
};

static const char *
state_of(const json_t *build)
{
	const char *verdict = get_text(build, "verdict");

	return verdict != NULL ? verdict : text_of(build, "state");
}

/* "build 3 zstd/lib on a1: running" for each build whose state is another one than before. */
static void
tell_changes(struct progress *p, const json_t *round)
{
	const json_t *builds = json_object_get(round, "builds");
	size_t i;

	for (i = 0; i < json_array_size(builds); i++) {
		const json_t *b = json_array_get(builds, i);
		const char *state = state_of(b), *host = get_text(b, "host"),
			   *reason = get_text(b, "reason");
		char number[FORMAT_SIZE];
		const char *before = get_text(p->told, get_count(number, b, "build"));

		if (before != NULL && strcmp(before, state) == 0)
			continue;
		json_object_set_new(p->told, number, json_string(state));
		complain("build %s, %s/%s%s%s: %s%s%s", number, text_of(b, "branch"),
		    text_of(b, "target"), host != NULL ? " on " : "", host != NULL ? host : "",
		    state, reason != NULL ? ", " : "", reason != NULL ? reason : "");
	}
}

/* "round 3 of zstd, 0:42: lib running on a1 57% 120 steps -j4; prog queued" over the line before. */
static void
tell_line(const json_t *round, size_t width)
{
	const json_t *builds = json_object_get(round, "builds");
	char number[FORMAT_SIZE], time[FORMAT_SIZE], steps[FORMAT_SIZE], limit[FORMAT_SIZE];
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	int64_t n;

	fprintf(f, "round %s of %s, %s:", get_count(number, round, "round"),
	    text_of(round, "branch"), get_duration(time, round, "elapsed_us"));
	for (i = 0; i < json_array_size(builds); i++) {
		const json_t *b = json_array_get(builds, i);

		fprintf(f, "%s %s %s", i > 0 ? ";" : "", text_of(b, "target"), state_of(b));
		if (strcmp(state_of(b), "running") != 0)
			continue;
		fprintf(f, " on %s", text_of(b, "host"));
		if (get_number(b, "percent", &n))
			fprintf(f, " %" PRId64 "%%", n);
		fprintf(f, " %s steps -j%s", get_count(steps, b, "steps"),
		    get_count(limit, b, "limit"));
	}
	fclose(f);
	progress_show(text, width);
	free(text);
}

static void
tell(struct progress *p, const json_t *round)
{
	if (p->terminal)
		tell_line(round, p->columns);
	else
		tell_changes(p, round);
}

/* ---- waiting ----------------------------------------------------------------------------- */

static int
ask_round(struct session *s, const char *round, json_t **ret_json)
{
	struct request r;

	request_init(&r, "round", false);
	request_add(&r, "round", round);
	return session_ask(s, &r, ret_json, NULL);
}

static bool
is_over(const json_t *round)
{
	const char *state = get_text(round, "state");

	return state != NULL && strcmp(state, "over") == 0;
}

static int
timed_out(const char *round)
{
	complain("round %s is not over yet, and goes on; flyball round %s shows it", round, round);
	return REPLY_TIMED_OUT;
}

static int
interrupted(const char *round)
{
	progress_end();
	complain("round %s goes on; flyball round %s shows it, and with --wait waits for it again",
	    round, round);
	return EXIT_INTERRUPTED;
}

/* Asks until the round is over; REPLY_OK with the round then. */
static int
poll_round(struct session *s, const char *round, struct progress *p, json_t **ret_round)
{
	bool bounded = args_given(s->args, OPTION_TIMEOUT);
	mono_us began = loop_now(), heard = began;

	s->patient = true;
	client_catch_interrupt(s->client);
	for (;;) {
		int status = ask_round(s, round, ret_round);

		if (client_interrupted(s->client))
			return interrupted(round);
		if (status == REPLY_OK) {
			heard = loop_now();
			tell(p, *ret_round);
		}
		if (status == REPLY_OK && is_over(*ret_round))
			return REPLY_OK;
		json_decref(*ret_round);
		*ret_round = NULL;
		if (status != REPLY_OK && status != REPLY_UNREACHABLE && status != REPLY_TIMED_OUT)
			return status;
		if (mono_since(heard, loop_now()) > SILENT_MOST_US)
			return status;
		if (bounded && mono_since(began, loop_now()) > s->args->timeout_us)
			return timed_out(round);
		if (!client_sleep(s->client, status == REPLY_OK ? POLL_US : 2 * SECOND_US))
			return interrupted(round);
	}
}

/* A number rather than a branch: a later round of it must not be waited for instead. */
static char *
number_of(const json_t *round)
{
	char buf[FORMAT_SIZE];

	return mem_strdup(get_count(buf, round, "round"));
}

/* A line that is longer than the terminal is wide could not be written over. */
static size_t
columns(void)
{
	struct winsize size = { 0 };

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U
									       : 79;
}

static int
wait_for_round(struct session *s, const char *round, json_t **ret_round)
{
	struct progress p = { isatty(STDERR_FILENO) == 1, columns(), json_object() };
	int status = poll_round(s, round, &p, ret_round);
	const char *verdict;

	progress_end();
	json_decref(p.told);
	if (status != REPLY_OK) {
		json_decref(*ret_round);
		*ret_round = NULL;
		return status;
	}
	verdict = get_text(*ret_round, "verdict");
	return verdict != NULL && strcmp(verdict, "ok") == 0 ? REPLY_OK : REPLY_FAILED;
}

/* ---- verbs ------------------------------------------------------------------------------- */

int
verb_rounds(struct session *s)
{
	const struct args *args = s->args;
	json_t *answer = NULL;
	struct request r;
	int rc;

	request_init(&r, "rounds", false);
	request_add(&r, "branch", args->nwords > 0 ? args->words[0] : NULL);
	rc = session_list(
	    s, &r, "rounds", "before", args_given(args, OPTION_ALL) ? 0 : NEWEST_ROUNDS, &answer);
	if (rc == REPLY_OK)
		s->output->rounds(answer, &s->view);
	json_decref(answer);
	return rc;
}

int
verb_round(struct session *s)
{
	json_t *round = NULL;
	int status = ask_round(s, s->args->words[0], &round);
	char *number;

	if (status == REPLY_OK && args_given(s->args, OPTION_WAIT)) {
		number = number_of(round);
		json_decref(round);
		round = NULL;
		status = wait_for_round(s, number, &round);
		free(number);
	}
	if (round != NULL)
		s->output->round(round, &s->view);
	json_decref(round);
	return status;
}

/* Starts it; the number, fresh memory, in ret_number. */
static int
start_round(struct session *s, char **ret_number)
{
	const struct args *args = s->args;
	json_t *answer = NULL;
	char *text = NULL;
	struct request r;
	size_t i;
	int status;

	request_init(&r, "run", true);
	request_add(&r, "branch", args->words[0]);
	for (i = 1; i < args->nwords; i++)
		request_add(&r, "target", args->words[i]);
	request_add(&r, "revision", args->texts[OPTION_REVISION]);
	request_add(&r, "reason", args->texts[OPTION_REASON]);
	status = session_ask(s, &r, &answer, &text);
	if (status == REPLY_OK) {
		*ret_number = number_of(answer);
		complain("%s", text);
	}
	json_decref(answer);
	free(text);
	return status;
}

int
verb_run(struct session *s)
{
	bool json = args_given(s->args, OPTION_JSON), wait = args_given(s->args, OPTION_WAIT);
	json_t *round = NULL;
	char *number = NULL;
	int status = start_round(s, &number);

	if (status != REPLY_OK)
		return status;
	if (!wait && json)
		fprintf(s->view.out, "{\n  \"round\": %s\n}\n", number);
	else if (!wait)
		fprintf(s->view.out, "round %s\n", number);
	if (wait)
		status = wait_for_round(s, number, &round);
	if (round != NULL)
		s->output->round(round, &s->view);
	json_decref(round);
	free(number);
	return status;
}
