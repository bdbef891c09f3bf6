/* A policy is compared by what stands in its encoded form, so that a field added to
 * its table is compared as well.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/policy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "proto/base/mem.h"

const char *
governor_mode_name(enum governor_mode mode)
{
	static const char *const names[] = { "off", "observe", "advise", "act" };

	return (unsigned)mode < sizeof names / sizeof names[0] ? names[mode] : "?";
}

const char *
mode_scope_name(enum mode_scope scope)
{
	static const char *const names[] = { "farm", "branch", "class", "host" };

	return (unsigned)scope < sizeof names / sizeof names[0] ? names[scope] : "?";
}

const char *
release_test_name(enum release_test test)
{
	static const char *const names[] = { "any", "=", ">=", ">", "<=", "<" };

	return (unsigned)test < sizeof names / sizeof names[0] ? names[test] : "?";
}

struct policy *
policy_create(void)
{
	return mem_calloc(1, sizeof(struct policy));
}

struct policy *
policy_dup(const struct policy *policy)
{
	struct policy *copy = policy_create();

	*copy = *policy;
	codec_own(policy_fields, copy);
	return copy;
}

void
policy_destroy(struct policy *policy)
{
	if (policy == NULL)
		return;
	codec_clear(policy_fields, policy);
	free(policy);
}

bool
policy_equal(const struct policy *a, const struct policy *b)
{
	struct policy x = *a, y = *b;
	struct text ta = { 0 }, tb = { 0 };
	bool equal;

	x.version = y.version = 0;
	x.origin[0] = y.origin[0] = '\0';
	codec_encode(&ta, policy_fields, &x);
	codec_encode(&tb, policy_fields, &y);
	equal = strcmp(ta.text, tb.text) == 0;
	free(ta.text);
	free(tb.text);
	return equal;
}

const struct target *
policy_find_target(const struct policy *policy, const char *name)
{
	size_t i;

	for (i = 0; i < policy->ntargets; i++)
		if (strcmp(policy->targets[i].name, name) == 0)
			return &policy->targets[i];
	return NULL;
}

/* Runs of digits compare as numbers, all else byte by byte: 9.10 is later than 9.9. What one has
 * and the other has not counts as later. */
static int
release_compare(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			char *enda, *endb;
			unsigned long x = strtoul(a, &enda, 10), y = strtoul(b, &endb, 10);

			if (x != y)
				return x < y ? -1 : 1;
			a = enda;
			b = endb;
		} else if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		else
			a++, b++;
	}
	return (*a != '\0') - (*b != '\0');
}

bool
release_satisfies(const char *have, enum release_test test, const char *want)
{
	int order = release_compare(have, want);

	switch (test) {
	case RELEASE_ANY:
		return true;
	case RELEASE_EQ:
		return order == 0;
	case RELEASE_GE:
		return order >= 0;
	case RELEASE_GT:
		return order > 0;
	case RELEASE_LE:
		return order <= 0;
	case RELEASE_LT:
		return order < 0;
	}
	return false;
}
