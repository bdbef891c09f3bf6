/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"

/* A verdict once there is one. */
static const char *
state_of(const json_t *object)
{
	const char *verdict = get_text(object, "verdict");

	return verdict != NULL ? verdict : text_of(object, "state");
}

/* What a reader must know before the figures, then the reason. */
static char *
build_reason(const json_t *build)
{
	const char *reason = get_text(build, "reason");
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (get_true(build, "ungoverned"))
		fputs("ungoverned: a make runs its own -jN", f);
	if (get_true(build, "serial"))
		fprintf(f, "%sserial: a make lost the jobserver", ftell(f) > 0 ? "; " : "");
	if (reason != NULL)
		fprintf(f, "%s%s", ftell(f) > 0 ? "; " : "", reason);
	fclose(f);
	return text;
}

static void
add_wide(struct table *t, const json_t *build)
{
	char buf[FORMAT_SIZE], *path = get_path(build, "limit_path");

	table_add(t, get_duration(buf, build, "real_us"));
	table_add(t, get_duration(buf, build, "user_us"));
	table_add(t, get_duration(buf, build, "sys_us"));
	table_add(t, path);
	free(path);
}

static void
add_build(struct table *t, const json_t *build, bool wide)
{
	char buf[FORMAT_SIZE], *reason = build_reason(build);

	table_add(t, get_count(buf, build, "build"));
	table_add(t, get_text(build, "branch"));
	table_add(t, get_text(build, "target"));
	table_add(t, get_count(buf, build, "round"));
	table_add(t, state_of(build));
	table_add(t, get_text(build, "host"));
	table_add(t, get_text(build, "phase"));
	table_add(t, get_count(buf, build, "percent"));
	table_add(t, get_count(buf, build, "steps"));
	table_add(t, get_duration(buf, build, "elapsed_us"));
	table_add(t, get_count(buf, build, "limit"));
	if (wide)
		add_wide(t, build);
	table_add(t, reason);
	free(reason);
}

void
text_build_table(const json_t *rows, const struct view *view)
{
	struct table *t = table_create(
	    view->wide
		? "+BUILD BRANCH TARGET +ROUND STATE HOST PHASE +% +STEPS +ELAPSED +LIMIT +REAL "
		  "+USER +SYS PATH "
		  "REASON"
		: "+BUILD BRANCH TARGET +ROUND STATE HOST PHASE +% +STEPS +ELAPSED +LIMIT REASON");
	size_t i;

	for (i = 0; i < json_array_size(rows); i++)
		add_build(t, json_array_get(rows, i), view->wide);
	table_print(t, view);
	table_destroy(t);
}

void
text_builds(const json_t *answer, const struct view *view)
{
	text_build_table(json_object_get(answer, "builds"), view);
}

/* ---- one build --------------------------------------------------------------------------- */

static void
text_attempts(const json_t *attempts, const struct view *view)
{
	struct table *t =
	    table_create("+ATTEMPT HOST OUTCOME +REAL +USER +SYS +RESIDENT +STEPS PATH REASON");
	char buf[FORMAT_SIZE], *path;
	size_t i;

	for (i = 0; i < json_array_size(attempts); i++) {
		const json_t *a = json_array_get(attempts, i);
		const char *outcome = get_text(a, "outcome");

		path = get_path(a, "limit_path");
		table_add(t, get_count(buf, a, "attempt"));
		table_add(t, get_text(a, "host"));
		table_add(t, outcome != NULL ? outcome : get_text(a, "attempt_state"));
		table_add(t, get_duration(buf, a, "real_us"));
		table_add(t, get_duration(buf, a, "user_us"));
		table_add(t, get_duration(buf, a, "sys_us"));
		table_add(t, get_size(buf, a, "max_resident_bytes"));
		table_add(t, get_count(buf, a, "steps"));
		table_add(t, path);
		table_add(t, get_text(a, "reason"));
		free(path);
	}
	table_print(t, view);
	table_destroy(t);
}

/* As time -l has it: of a phase, or of the whole attempt. */
static void
add_usage(struct table *t, const json_t *used)
{
	static const char *const counts[] = { "minor_faults", "major_faults", "blocks_in",
		"blocks_out", "voluntary_switches", "involuntary_switches" };
	char buf[FORMAT_SIZE];

	table_add(t, get_duration(buf, used, "user_us"));
	table_add(t, get_duration(buf, used, "sys_us"));
	table_add(t, get_size(buf, used, "max_resident_bytes"));
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		table_add(t, get_count(buf, used, counts[i]));
}

static void
text_phases(const json_t *attempt, const struct view *view)
{
	const json_t *phases = json_object_get(attempt, "phases");
	struct table *t;
	char buf[FORMAT_SIZE];
	size_t i;

	if (get_text(attempt, "outcome") == NULL)
		return;
	t = table_create(
	    "PHASE +BEGAN +REAL +STEPS +USER +SYS +RESIDENT +MINOR +MAJOR +IN +OUT +VOL +INVOL");
	for (i = 0; i < json_array_size(phases); i++) {
		const json_t *p = json_array_get(phases, i);

		table_add(t, get_text(p, "phase"));
		table_add(t, get_duration(buf, p, "at_us"));
		table_add(t, get_duration(buf, p, "took_us"));
		table_add(t, get_count(buf, p, "steps"));
		add_usage(t, p);
	}
	table_add(t, "total");
	table_add(t, NULL);
	table_add(t, get_duration(buf, attempt, "real_us"));
	table_add(t, get_count(buf, attempt, "steps"));
	add_usage(t, attempt);
	table_print(t, view);
	table_destroy(t);
}

/* Its books, flags and phases. */
static void
text_attempt(const json_t *a, const struct view *view)
{
	const json_t *tokens = json_object_get(a, "tokens");
	char n[6][FORMAT_SIZE];
	int64_t dropped;

	fprintf(view->out, "\nattempt %s on ", get_count(n[0], a, "attempt"));
	harmless_line(text_of(a, "host"), view->out);
	fprintf(view->out, ", granted %s, ended %s\n", get_time(n[1], a, "granted_at"),
	    get_time(n[2], a, "ended_at"));
	text_line(view, "tokens", "granted %s, returned %s, drained %s, lost %s, unclaimed %s",
	    get_count(n[0], tokens, "granted"), get_count(n[1], tokens, "returned"),
	    get_count(n[2], tokens, "drained"), get_count(n[3], tokens, "lost"),
	    get_count(n[4], tokens, "unclaimed"));
	if (get_true(a, "ungoverned"))
		text_line(
		    view, "ungoverned", "a make in it runs its own -jN: limits do not bind it");
	if (get_true(a, "serial"))
		text_line(view, "serial",
		    "a make in it lost the jobserver, for want of a + before its recipe line: "
		    "it runs one step at a time");
	if (get_true(a, "limited"))
		text_line(view, "limited", "it could use more steps than it may");
	text_line(view, "log", "%s", get_size(n[5], a, "log_bytes"));
	if (get_number(a, "log_dropped_bytes", &dropped) && dropped > 0)
		text_line(
		    view, "", "%s were dropped out of its middle", format_size(n[5], dropped));
	text_phases(a, view);
}

void
text_build(const json_t *answer, const struct view *view)
{
	const json_t *attempts = json_object_get(answer, "attempts");
	char a[FORMAT_SIZE], b[FORMAT_SIZE], *reason = build_reason(answer);
	int64_t percent;
	size_t i;

	text_line(view, "build", "%s, %s/%s of round %s", get_count(a, answer, "build"),
	    text_of(answer, "branch"), text_of(answer, "target"), get_count(b, answer, "round"));
	text_line(view, "state", "%s", state_of(answer));
	if (reason[0] != '\0')
		text_line(view, "reason", "%s", reason);
	free(reason);
	if (get_text(answer, "verdict") == NULL)
		text_line(view, "why", "%s", text_of(answer, "explanation"));
	if (get_text(answer, "revision") != NULL)
		text_line(view, "revision", "%s", text_of(answer, "revision"));
	text_line(view, "queued", "%s", get_time(a, answer, "queued_at"));
	text_line(view, "done", "%s", get_time(a, answer, "done_at"));
	if (get_text(answer, "phase") != NULL)
		text_line(view, "phase", "%s", text_of(answer, "phase"));
	if (get_number(answer, "percent", &percent))
		text_line(view, "progress", "%" PRId64 "%%", percent);
	if (json_array_size(attempts) == 0)
		return;
	putc('\n', view->out);
	text_attempts(attempts, view);
	for (i = 0; i < json_array_size(attempts); i++)
		text_attempt(json_array_get(attempts, i), view);
}

void
text_explain_build(const json_t *answer, const struct view *view)
{
	struct table *t = table_create("HOST VERDICT REASON");
	const json_t *hosts = json_object_get(answer, "hosts");
	char buf[FORMAT_SIZE];
	size_t i;

	text_line(view, "build", "%s, %s/%s, %s", get_count(buf, answer, "build"),
	    text_of(answer, "branch"), text_of(answer, "target"), text_of(answer, "state"));
	text_line(view, "why", "%s", text_of(answer, "explanation"));
	putc('\n', view->out);
	for (i = 0; i < json_array_size(hosts); i++) {
		const json_t *h = json_array_get(hosts, i);
		const char *filter = get_text(h, "filter");

		table_add(t, get_text(h, "host"));
		table_add(t, get_true(h, "here") ? "here" : filter != NULL ? filter : "could");
		table_add(t, get_text(h, "reason"));
	}
	table_print(t, view);
	table_destroy(t);
}

/* ---- rounds ------------------------------------------------------------------------------ */

/* "2 ok, 1 running" of what is not zero. */
static char *
say_counts(const json_t *round)
{
	static const char *const words[] = { "ok", "failed", "cancelled", "running", "starting",
		"cancelling", "queued" };
	const json_t *counts = json_object_get(round, "counts");
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	int64_t n;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (get_number(counts, words[i], &n) && n > 0)
			fprintf(f, "%s%" PRId64 " %s", ftell(f) > 0 ? ", " : "", n, words[i]);
	fclose(f);
	return text;
}

void
text_rounds(const json_t *answer, const struct view *view)
{
	struct table *t = table_create("+ROUND BRANCH STATE BEGAN +TOOK BUILDS BY WHY");
	const json_t *rounds = json_object_get(answer, "rounds");
	char buf[FORMAT_SIZE], *counts;
	size_t i;

	for (i = 0; i < json_array_size(rounds); i++) {
		const json_t *r = json_array_get(rounds, i);

		counts = say_counts(r);
		table_add(t, get_count(buf, r, "round"));
		table_add(t, get_text(r, "branch"));
		table_add(t, state_of(r));
		table_add(t, get_time(buf, r, "at"));
		table_add(t, get_duration(buf, r, "elapsed_us"));
		table_add(t, counts);
		table_add(t, get_text(r, "who"));
		table_add(t, get_text(r, "why"));
		free(counts);
	}
	table_print(t, view);
	table_destroy(t);
}

void
text_round(const json_t *answer, const struct view *view)
{
	char buf[FORMAT_SIZE], *counts = say_counts(answer);

	text_line(view, "round", "%s of %s, %s", get_count(buf, answer, "round"),
	    text_of(answer, "branch"), state_of(answer));
	text_line(view, "began", "%s, by %s%s%s", get_time(buf, answer, "at"),
	    text_of(answer, "who"), get_text(answer, "why") != NULL ? ": " : "",
	    get_text(answer, "why") != NULL ? get_text(answer, "why") : "");
	if (get_text(answer, "revision") != NULL)
		text_line(view, "revision", "%s", text_of(answer, "revision"));
	text_line(view, "builds", "%s", counts[0] != '\0' ? counts : "none");
	text_line(view,
	    json_is_null(json_object_get(answer, "makespan_us")) ? "so far" : "makespan", "%s",
	    get_duration(buf, answer, "elapsed_us"));
	free(counts);
	putc('\n', view->out);
	text_build_table(json_object_get(answer, "builds"), view);
}
