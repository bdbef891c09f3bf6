/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"
#include "coordinator/ctl/text_law.h"

/* ---- readings ---------------------------------------------------------------------------- */

static bool
reading(const json_t *host, const char *key, double *ret_value)
{
	return get_real(
	    json_object_get(json_object_get(host, "readings"), key), "value", ret_value);
}

static void
add_share(struct table *t, const json_t *host, const char *key)
{
	double value;

	if (reading(host, key, &value))
		table_addf(t, "%.*f", value < 0.0995 ? 1 : 0, value * 100);
	else
		table_add(t, NULL);
}

/* Of busy CPU time; an estimate has a ~ before it. */
static void
add_spin(struct table *t, const json_t *host)
{
	const json_t *spin = json_object_get(host, "spin");
	double share;

	if (get_real(spin, "busy_share", &share))
		table_addf(t, "%s%.*f", get_true(spin, "estimate") ? "~" : "",
		    share < 0.0995 ? 1 : 0, share * 100);
	else
		table_add(t, NULL);
}

static void
add_load(struct table *t, const json_t *host)
{
	double value;

	if (reading(host, "load_1", &value))
		table_addf(t, "%.2f", value);
	else
		table_add(t, NULL);
}

/* What is free of what there is. */
static void
add_memory(struct table *t, const json_t *host)
{
	char have[FORMAT_SIZE], all[FORMAT_SIZE];
	double value;

	if (reading(host, "memory_free_bytes", &value))
		table_addf(t, "%s/%s", format_size(have, (int64_t)value),
		    get_size(all, host, "memory_bytes"));
	else
		table_add(t, NULL);
}

/* ---- reasons ----------------------------------------------------------------------------- */

/* "throttled to 2 by ann for another 1:59:12: spins above" */
static void
say_hold(FILE *f, const json_t *host, const char *key, const char *word)
{
	const json_t *hold = json_object_get(host, key);
	const char *who = get_text(hold, "who"), *reason = get_text(hold, "reason");
	char buf[FORMAT_SIZE];
	int64_t n;

	if (!json_is_object(hold))
		return;
	fprintf(f, "; %s", word);
	if (get_number(hold, "limit", &n))
		fprintf(f, " to %" PRId64, n);
	fprintf(f, " by %s", who != NULL ? who : "?");
	if (get_number(hold, "remaining_us", &n))
		fprintf(f, " for another %s", format_duration(buf, n));
	fprintf(f, ": %s", reason != NULL ? reason : "");
}

static void
say_sharers(FILE *f, const json_t *host)
{
	const json_t *list = json_object_get(host, "shares_machine_with");
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++)
		fprintf(f, "%s%s", i == 0 ? "; shares its CPUs with " : ", ",
		    json_string_value(json_array_get(list, i)));
}

/* What its agent does about memory on its own, below the limit. */
static void
say_guard(FILE *f, const json_t *host)
{
	const json_t *guard = json_object_get(host, "guard");
	const char *reason = get_text(guard, "reason");
	int64_t n, limit;

	if (get_number(guard, "limit", &n) && get_number(host, "limit", &limit) && n < limit)
		fprintf(f, "; guard: held to %" PRId64 ": %s", n, reason != NULL ? reason : "");
}

/* In advise the law speaks to operators; in observe, to those who ask for more. */
static void
say_would(FILE *f, const json_t *host, bool wide)
{
	const json_t *would = json_object_get(host, "governor_would");
	const char *mode = get_text(host, "governor"), *reason = get_text(would, "reason");
	int64_t n;

	if (get_number(would, "limit", &n) && mode != NULL && (wide || strcmp(mode, "advise") == 0))
		fprintf(f, "; would set %" PRId64 ": %s", n, reason != NULL ? reason : "");
}

/* All that is out of the ordinary, the most urgent first. */
static char *
host_reason(const json_t *host, bool wide)
{
	const char *trouble = get_text(host, "trouble"), *state = get_text(host, "state");
	const char *level = get_text(host, "limit_level"), *reason = get_text(host, "limit_reason");
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (trouble != NULL && state != NULL && strcmp(state, "up") != 0)
		fprintf(f, "; %s", trouble);
	say_hold(f, host, "pause", "paused");
	say_hold(f, host, "drain", "drained");
	say_hold(f, host, "pin", "pinned");
	say_hold(f, host, "throttle", "throttled");
	if (reason != NULL && level != NULL &&
	    (wide || (strcmp(level, "start") != 0 && strcmp(level, "operator") != 0)))
		fprintf(f, "; %s", reason);
	say_guard(f, host);
	say_would(f, host, wide);
	say_sharers(f, host);
	fclose(f);
	if (size >= 2)
		memmove(text, text + 2, size - 1);
	return text;
}

static bool
is_silent(const json_t *host)
{
	const char *state = get_text(host, "state");

	return state != NULL && (strcmp(state, "silent") == 0 || strcmp(state, "lost") == 0);
}

/* ---- hosts ------------------------------------------------------------------------------- */

static void
add_host(struct table *t, const json_t *host, const struct view *view)
{
	char *reason = host_reason(host, view->wide), buf[FORMAT_SIZE];
	const char *state = get_text(host, "state");

	table_add(t, get_text(host, "host"));
	table_add(t, get_text(host, "class"));
	table_addf(t, "%s%s", state != NULL ? state : "-", is_silent(host) ? "*" : "");
	table_add(t, get_count(buf, host, "limit"));
	table_add(t, get_count(buf, host, "steps_running"));
	add_load(t, host);
	add_spin(t, host);
	add_share(t, host, "idle_share");
	add_memory(t, host);
	table_addf(t, "%zu/%s", json_array_size(json_object_get(host, "builds")),
	    get_count(buf, host, "slots"));
	table_add(t, get_duration(buf, host, "silent_us"));
	table_add(t, reason);
	free(reason);
}

void
text_hosts(const json_t *answer, const struct view *view)
{
	struct table *t = table_create(
	    "HOST ~CLASS STATE +LIMIT +RUN +LOAD +SPIN% +IDLE% +MEM +BUILDS +AGE REASON");
	const json_t *list = json_object_get(answer, "hosts");
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		add_host(t, json_array_get(list, i), view);
	table_print(t, view);
	table_destroy(t);
}

/* ---- readings as a table ------------------------------------------------------------------- */

static void
add_value(struct table *t, const char *key, double value)
{
	char buf[FORMAT_SIZE];

	if (strstr(key, "_share") != NULL)
		table_addf(t, "%.1f%%", value * 100);
	else if (strstr(key, "_bytes") != NULL)
		table_add(t, format_size(buf, (int64_t)value));
	else
		table_addf(t, "%.2f", value);
}

static void
text_readings(const json_t *readings, const struct view *view)
{
	struct table *t = table_create("READING +VALUE +OVER +AGE");
	const char *key;
	json_t *one;
	char buf[FORMAT_SIZE];
	int64_t window;

	json_object_foreach((json_t *)readings, key, one)
	{
		double value;

		table_add(t, key);
		if (!get_real(one, "value", &value)) {
			table_add(t, "missing");
			table_add(t, NULL);
			table_add(t, NULL);
			continue;
		}
		add_value(t, key, value);
		table_add(t, get_number(one, "window_us", &window) && window == 0
				 ? "now"
				 : get_duration(buf, one, "window_us"));
		table_add(t, get_duration(buf, one, "age_us"));
	}
	table_print(t, view);
	table_destroy(t);
}

static void
text_gauges(const json_t *list, const struct view *view)
{
	struct table *t = table_create("GAUGE +VALUE +AGE MISSING");
	char age[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		double value;

		table_add(t, get_text(one, "gauge"));
		if (get_real(one, "value", &value))
			table_addf(t, "%.6g", value);
		else
			table_add(t, NULL);
		table_add(t, get_duration(age, one, "age_us"));
		table_add(t, get_text(one, "missing"));
	}
	putc('\n', view->out);
	table_print(t, view);
	table_destroy(t);
}

/* ---- one host ---------------------------------------------------------------------------- */

static void
say_list(const struct view *view, const char *name, const json_t *list)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	for (i = 0; i < json_array_size(list); i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", json_string_value(json_array_get(list, i)));
	fclose(f);
	text_line(view, name, "%s", size > 0 ? text : "none");
	free(text);
}

static void
say_limit(const json_t *host, const struct view *view)
{
	const char *reason = get_text(host, "limit_reason"), *level = get_text(host, "limit_level");
	char limit[FORMAT_SIZE], since[FORMAT_SIZE], told[FORMAT_SIZE];
	int64_t wanted, reported;

	text_line(view, "limit", "%s since %s, by its rule \"%s\"", get_count(limit, host, "limit"),
	    get_time(since, host, "limit_since"), level != NULL ? level : "-");
	text_line(view, "", "%s", reason != NULL ? reason : "none was set yet");
	if (get_number(host, "limit", &wanted) && get_number(host, "limit_reported", &reported) &&
	    wanted != reported)
		text_line(view, "", "its agent says %s is in force still",
		    get_count(told, host, "limit_reported"));
}

static void
say_governor(const json_t *host, const struct view *view)
{
	const json_t *would = json_object_get(host, "governor_would");
	char limit[FORMAT_SIZE], since[FORMAT_SIZE];

	text_line(view, "governor", "%s, by %s", text_of(host, "governor"),
	    get_text(host, "governor_from") != NULL ? text_of(host, "governor_from")
						    : "no policy, since it builds nothing");
	if (json_is_object(would))
		text_line(view, "", "would set %s, since %s: %s", get_count(limit, would, "limit"),
		    get_time(since, would, "since"), text_of(would, "reason"));
}

static void
say_what_it_is(const json_t *host, const struct view *view)
{
	char memory[FORMAT_SIZE], threads[FORMAT_SIZE], slots[FORMAT_SIZE];

	text_line(view, "class", "%s", text_of(host, "class"));
	text_line(view, "system", "%s %s, %s", text_of(host, "os"), text_of(host, "release"),
	    text_of(host, "arch"));
	text_line(view, "cpu", "%s, %s", text_of(host, "cpu"),
	    get_plural(threads, host, "threads", "thread"));
	text_line(view, "memory", "%s", get_size(memory, host, "memory_bytes"));
	text_line(view, "agent", "%s", text_of(host, "agent_version"));
	text_line(view, "slots", "%s at once", get_plural(slots, host, "slots", "build"));
	say_list(view, "labels", json_object_get(host, "labels"));
	say_list(view, "recipes", json_object_get(host, "recipes"));
}

void
text_host(const json_t *answer, const struct view *view)
{
	const json_t *builds = json_object_get(answer, "builds");
	char *reason = host_reason(answer, false), buf[FORMAT_SIZE];

	text_line(view, "host", "%s", text_of(answer, "host"));
	text_line(view, "state", "%s%s, heard of %s ago", text_of(answer, "state"),
	    is_silent(answer) ? " (not responding)" : "", get_duration(buf, answer, "silent_us"));
	say_limit(answer, view);
	say_governor(answer, view);
	if (reason[0] != '\0')
		text_line(view, "notes", "%s", reason);
	free(reason);
	if (get_text(answer, "trouble") != NULL)
		text_line(view, "last trouble", "%s", text_of(answer, "trouble"));
	say_what_it_is(answer, view);
	putc('\n', view->out);
	text_readings(json_object_get(answer, "readings"), view);
	if (json_array_size(json_object_get(answer, "gauges")) > 0)
		text_gauges(json_object_get(answer, "gauges"), view);
	if (json_array_size(builds) == 0)
		return;
	putc('\n', view->out);
	text_build_table(builds, view);
}

/* ---- why its limit is what it is ----------------------------------------------------------- */

void
text_explain_host(const json_t *answer, const struct view *view)
{
	const json_t *in = json_object_get(answer, "inputs");
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], *notes = host_reason(answer, false);
	int64_t n;

	text_line(view, "host", "%s, %s", text_of(answer, "host"), text_of(answer, "state"));
	text_line(view, "limit", "%s since %s", get_count(a, answer, "limit"),
	    get_time(b, answer, "limit_since"));
	text_line(view, "rule", "%s", text_of(answer, "limit_level"));
	text_line(view, "why", "%s", text_of(answer, "explanation"));
	say_governor(answer, view);
	if (notes[0] != '\0')
		text_line(view, "notes", "%s", notes);
	free(notes);
	text_line(view, "inputs", "%s; %s here, governor %s",
	    get_plural(a, in, "threads", "thread"), get_plural(b, in, "builds", "build"),
	    text_of(in, "governor"));
	text_line(view, "", "policies: start %s, min %s, max %s",
	    get_number(in, "start", &n) ? get_count(a, in, "start") : "as many as threads",
	    get_count(b, in, "min"), get_number(in, "max", &n) ? get_count(c, in, "max") : "none");
	text_line(view, "", "throttle %s; pin %s; %s running; %s",
	    get_number(in, "throttle", &n) ? get_count(a, in, "throttle") : "none",
	    get_number(in, "pin", &n) ? get_count(c, in, "pin") : "none",
	    get_plural(b, in, "steps_running", "step"),
	    get_true(in, "limited") ? "its builds use all they may"
				    : "its builds do not ask for more");
	text_law(json_object_get(answer, "law"), view);
	text_changes(json_object_get(answer, "changes"), view);
	putc('\n', view->out);
	text_readings(json_object_get(answer, "readings"), view);
}
