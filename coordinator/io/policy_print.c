/* Everything effective is printed, what was left to defaults as well: an operator sees what is in
 * force without knowing the defaults. Needs that are not there are left out, since a host is not
 * asked for them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/policy_file.h"
#include "coordinator/io/policy_value.h"

/* Quotes, and what would begin an escape or be taken for the environment. */
static void
print_string(const char *s, struct text *t)
{
	char piece[3] = { '\\', '\0', '\0' };

	text_add(t, "\"");
	for (; *s != '\0'; s++) {
		piece[1] = *s;
		text_add(t, strchr("\"\\$", *s) != NULL ? piece : piece + 1);
	}
	text_add(t, "\"");
}

static void
print_key(const char *indent, const char *key, const char *value, struct text *t)
{
	text_printf(t, "%s%s = ", indent, key);
	print_string(value, t);
	text_add(t, "\n");
}

static void
print_unit(const char *indent, const char *key, int64_t value,
    void (*print)(int64_t, struct text *), struct text *t)
{
	text_printf(t, "%s%s = \"", indent, key);
	print(value, t);
	text_add(t, "\"\n");
}

static void
print_needs(const struct needs *needs, const char *indent, struct text *t)
{
	char deeper[16];
	size_t i;

	snprintf(deeper, sizeof deeper, "%s\t", indent);
	text_printf(t, "%sneeds {\n", indent);
	print_unit(deeper, "memory", needs->memory_bytes, size_print, t);
	print_unit(deeper, "disk", needs->disk_bytes, size_print, t);
	if (needs->os[0] != '\0')
		print_key(deeper, "os", needs->os, t);
	if (needs->release_test != RELEASE_ANY) {
		text_printf(t, "%srelease = \"", deeper);
		release_print(needs->release_test, needs->release, t);
		text_add(t, "\"\n");
	}
	for (i = 0; i < needs->nlabels; i++) {
		text_add(t, i == 0 ? deeper : "");
		text_add(t, i == 0 ? "labels = { " : ", ");
		print_string(needs->labels[i], t);
	}
	text_add(t, needs->nlabels > 0 ? " }\n" : "");
	text_printf(t, "%s}\n", indent);
}

static void
print_limits(const struct target *target, const char *indent, struct text *t)
{
	char deeper[16];

	snprintf(deeper, sizeof deeper, "%s\t", indent);
	text_printf(t, "%slimits {\n", indent);
	print_unit(deeper, "timeout", target->timeout_us, duration_print, t);
	print_unit(deeper, "stall", target->stall_us, duration_print, t);
	text_printf(t, "%sretries = %d\n%s}\n", deeper, target->retries, indent);
}

static void
print_target_values(const struct target *target, const char *indent, struct text *t)
{
	print_needs(&target->needs, indent, t);
	print_limits(target, indent, t);
}

/* By what is printed of them. */
static bool
targets_are_alike(const struct policy *policy)
{
	struct text first = { 0 };
	bool alike = true;
	size_t i;

	print_target_values(&policy->targets[0], "", &first);
	for (i = 1; i < policy->ntargets && alike; i++) {
		struct text other = { 0 };

		print_target_values(&policy->targets[i], "", &other);
		alike = strcmp(first.text, other.text) == 0;
		free(other.text);
	}
	free(first.text);
	return alike;
}

static void
print_targets(const struct policy *policy, struct text *t)
{
	size_t i;

	if (policy->ntargets == 0)
		return;
	if (targets_are_alike(policy)) {
		print_target_values(&policy->targets[0], "\t", t);
		return;
	}
	for (i = 0; i < policy->ntargets; i++) {
		text_add(t, "\ttarget ");
		print_string(policy->targets[i].name, t);
		text_add(t, " {\n");
		print_target_values(&policy->targets[i], "\t\t", t);
		text_add(t, "\t}\n");
	}
}

static void
print_jobs(const struct policy *policy, struct text *t)
{
	text_printf(
	    t, "\tjobs {\n\t\tmin = %d\n\t\tmax = %d\n", policy->jobs_min, policy->jobs_max);
	if (policy->jobs_start != 0)
		text_printf(t, "\t\tstart = %d\n", policy->jobs_start);
	else
		print_key("\t\t", "start", "learn", t);
	if (policy->spin_target_ppm != 0)
		print_unit("\t\t", "spin_target", policy->spin_target_ppm, share_print, t);
	else
		print_key("\t\t", "spin_target", "learn", t);
	text_add(t, "\t}\n");
}

void
policy_print(const struct policy *policy, struct text *t)
{
	size_t i;

	text_add(t, "branch ");
	print_string(policy->branch, t);
	text_add(t, " {\n");
	print_key("\t", "recipe", policy->recipe, t);
	print_key("\t", "source", policy->source, t);
	text_add(t, "\ttargets = { ");
	for (i = 0; i < policy->ntargets; i++) {
		text_add(t, i == 0 ? "" : ", ");
		print_string(policy->targets[i].name, t);
	}
	text_add(t, " }\n");
	print_key("\t", "mode", "clean", t);
	text_printf(t, "\tpriority = %d\n", policy->priority);
	print_key("\t", "governor", governor_mode_name(policy->governor), t);
	print_jobs(policy, t);
	print_targets(policy, t);
	text_add(t, "}\n");
}
