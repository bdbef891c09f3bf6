/* What the law knows and did, for `explain host`.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/text_law.h"

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"

/* A number with some digits behind the point, "-" when it is not there. */
static const char *
real(char buf[FORMAT_SIZE], const json_t *object, const char *key, int digits, const char *unit)
{
	double value;

	if (get_real(object, key, &value))
		snprintf(buf, FORMAT_SIZE, "%.*f%s", digits, value, unit);
	else
		snprintf(buf, FORMAT_SIZE, "-");
	return buf;
}

static const char *
percent(char buf[FORMAT_SIZE], const json_t *object, const char *key, const char *estimated)
{
	double value;

	if (get_real(object, key, &value))
		snprintf(buf, FORMAT_SIZE, "%s%.1f %%",
		    estimated != NULL && get_true(object, estimated) ? "~" : "", 100 * value);
	else
		snprintf(buf, FORMAT_SIZE, "-");
	return buf;
}

static void
say_levels(const json_t *law, const struct view *view)
{
	const json_t *levels = json_object_get(law, "levels");
	struct table *t = table_create("+LIMIT +USER-CPUS +10^9-INSTR/S +STEPS/S +SECONDS");
	char buf[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < json_array_size(levels); i++) {
		const json_t *level = json_array_get(levels, i);
		double instructions;

		table_add(t, get_count(buf, level, "limit"));
		table_add(t, real(buf, level, "user_cpus", 2, ""));
		if (get_real(level, "user_instructions_per_s", &instructions))
			snprintf(buf, sizeof buf, "%.2f", instructions / 1e9);
		else
			snprintf(buf, sizeof buf, "-");
		table_add(t, buf);
		table_add(t, real(buf, level, "steps_per_s", 2, ""));
		table_add(t, real(buf, level, "seconds", 0, ""));
	}
	if (json_array_size(levels) > 0) {
		fputs("\nwhat was achieved in this phase\n", view->out);
		table_print(t, view);
	}
	table_destroy(t);
}

void
text_law(const json_t *law, const struct view *view)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE];

	if (!json_is_object(law))
		return;
	text_line(view, "law", "wants %s: %s", get_count(a, law, "wants"), text_of(law, "reason"));
	text_line(view, "", "best known %s; no better: %s above, %s below",
	    get_count(a, law, "base"), get_count(b, law, "no_better_above"),
	    get_count(c, law, "no_better_below"));
	if (json_is_null(json_object_get(law, "next_trial_us")))
		text_line(view, "", "a trial runs now");
	else
		text_line(
		    view, "", "the next trial may be in %s", get_duration(a, law, "next_trial_us"));
	text_line(view, "", "waste %s of busy time (set point %s); %s useful",
	    percent(a, law, "waste_share_of_busy", "waste_estimated"),
	    percent(b, law, "set_point", NULL), real(c, law, "useful_cpus", 1, " CPUs"));
	text_line(view, "", "phase %s; a step takes %s; learned from %s before",
	    text_of(law, "phase"), real(a, law, "step_s", 1, " s"),
	    get_plural(b, law, "learned_from", "phase"));
	say_levels(law, view);
}

void
text_changes(const json_t *changes, const struct view *view)
{
	struct table *t = table_create("TIME LIMIT LEVEL RUN USER SYS IDLE SPIN WASTE WHY");
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < json_array_size(changes); i++) {
		const json_t *change = json_array_get(changes, i);

		table_add(t, get_time(a, change, "at"));
		table_addf(t, "%s>%s", get_count(a, change, "was"), get_count(b, change, "limit"));
		table_add(t, get_text(change, "level"));
		table_add(t, get_count(a, change, "steps_running"));
		table_add(t, percent(a, change, "user_share", NULL));
		table_add(t, percent(a, change, "sys_share", NULL));
		table_add(t, percent(a, change, "idle_share", NULL));
		table_add(t, percent(a, change, "spin_share", "spin_estimated"));
		table_add(t, percent(a, change, "waste_share_of_busy", NULL));
		table_add(t, get_text(change, "reason"));
	}
	if (json_array_size(changes) > 0) {
		fputs("\nthe last moves of its limit\n", view->out);
		table_print(t, view);
	}
	table_destroy(t);
}
