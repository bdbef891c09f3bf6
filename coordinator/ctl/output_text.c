/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"
#include "proto/base/mem.h"

void
text_line(const struct view *view, const char *name, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = mem_vprintf(format, ap);
	va_end(ap);
	fprintf(view->out, "%-12s  ", name);
	harmless_line(text, view->out);
	putc('\n', view->out);
	free(text);
}

const char *
text_of(const json_t *object, const char *key)
{
	const char *text = get_text(object, key);

	return text != NULL ? text : "-";
}

/* ---- status ------------------------------------------------------------------------------ */

/* "3 up, 1 silent"; those that are always told stand first, even when there is none. */
static void
say_counts(const struct view *view, const char *name, const json_t *counts, const char *always)
{
	const char *key;
	json_t *value;
	int64_t n = 0;

	get_number(counts, always, &n);
	fprintf(view->out, "%-12s  %" PRId64 " %s", name, n, always);
	json_object_foreach((json_t *)counts, key,
	    value) if (json_integer_value(value) > 0 && json_object_get(counts, always) != value)
	    fprintf(view->out, ", %" JSON_INTEGER_FORMAT " %s", json_integer_value(value), key);
	putc('\n', view->out);
}

static void
say_round(const struct view *view, const json_t *r, bool first)
{
	const json_t *counts = json_object_get(r, "counts");
	char number[FORMAT_SIZE], took[FORMAT_SIZE], builds[FORMAT_SIZE];
	int64_t all = 0, over = 0, n;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)counts, key, value) all += json_integer_value(value);
	over += get_number(counts, "ok", &n) ? n : 0;
	over += get_number(counts, "failed", &n) ? n : 0;
	over += get_number(counts, "cancelled", &n) ? n : 0;
	text_line(view, first ? "rounds" : "", "%s of %s: %" PRId64 " of %s over, for %s",
	    get_count(number, r, "round"), text_of(r, "branch"), over,
	    format_plural(builds, all, "build"), get_duration(took, r, "elapsed_us"));
}

static void
say_advice(const struct view *view, const json_t *one, bool first)
{
	char would[FORMAT_SIZE], now[FORMAT_SIZE];

	text_line(view, first ? "advice" : "", "%s: would set %s, it is %s: %s",
	    text_of(one, "host"), get_count(would, one, "limit"), get_count(now, one, "limit_now"),
	    text_of(one, "reason"));
}

void
text_status(const json_t *answer, const struct view *view)
{
	const json_t *rounds = json_object_get(answer, "rounds"),
		     *advice = json_object_get(answer, "advice"),
		     *alarms = json_object_get(answer, "alarms");
	char up[FORMAT_SIZE], now[FORMAT_SIZE];
	size_t i;

	text_line(view, "coordinator", "%s, up %s; it is %s UTC", text_of(answer, "version"),
	    get_duration(up, answer, "up_us"), get_time(now, answer, "now"));
	say_counts(view, "hosts", json_object_get(answer, "hosts"), "up");
	say_counts(view, "builds", json_object_get(answer, "builds"), "running");
	say_counts(view, "ended today", json_object_get(answer, "today"), "ok");
	text_line(view, "branches", "%zu", json_array_size(json_object_get(answer, "branches")));
	for (i = 0; i < json_array_size(rounds); i++)
		say_round(view, json_array_get(rounds, i), i == 0);
	for (i = 0; i < json_array_size(advice); i++)
		say_advice(view, json_array_get(advice, i), i == 0);
	for (i = 0; i < json_array_size(alarms); i++)
		text_line(
		    view, i == 0 ? "ALARMS" : "", "%s", text_of(json_array_get(alarms, i), "text"));
	if (json_array_size(alarms) == 0)
		text_line(view, "alarms", "none");
}

/* ---- policies ---------------------------------------------------------------------------- */

/* Line by line, so that its newlines stay. */
static void
text_policy(const json_t *answer, const struct view *view)
{
	const char *text = get_text(answer, "text");
	struct harmless h = { 0 };

	if (text != NULL)
		harmless_write(
		    &h, text, json_string_length(json_object_get(answer, "text")), view->out);
	harmless_end(&h, view->out);
}

static void
text_policies(const json_t *answer, const struct view *view)
{
	const json_t *list = json_object_get(answer, "policies");
	size_t i;

	harmless_line(text_of(answer, "name"), view->out);
	fputs(": ok", view->out);
	for (i = 0; i < json_array_size(list); i++) {
		const json_t *p = json_array_get(list, i);
		size_t n = json_array_size(json_object_get(p, "targets"));

		fputs(i == 0 ? ": branch " : ", branch ", view->out);
		harmless_line(text_of(p, "branch"), view->out);
		fprintf(view->out, " (%zu %s)", n, n == 1 ? "target" : "targets");
	}
	putc('\n', view->out);
}

const struct output output_text = {
	.status = text_status,
	.hosts = text_hosts,
	.host = text_host,
	.explain_host = text_explain_host,
	.builds = text_builds,
	.build = text_build,
	.explain_build = text_explain_build,
	.rounds = text_rounds,
	.round = text_round,
	.policy = text_policy,
	.policies = text_policies,
	.governor = text_governor,
	.locks = text_locks,
};
