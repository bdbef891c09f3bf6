/* The numbers stand in the order of the struct; one that is not known is -1, as there.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t usage_at[] = { offsetof(struct usage, user_us), offsetof(struct usage, sys_us),
	offsetof(struct usage, max_resident_bytes), offsetof(struct usage, minor_faults),
	offsetof(struct usage, major_faults), offsetof(struct usage, blocks_in),
	offsetof(struct usage, blocks_out), offsetof(struct usage, voluntary_switches),
	offsetof(struct usage, involuntary_switches) };

enum { USAGE_NUMBERS = sizeof usage_at / sizeof usage_at[0] };
_Static_assert(sizeof(struct usage) == USAGE_NUMBERS * sizeof(int64_t), "each number is told");

void
usage_print(const struct usage *usage, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < USAGE_NUMBERS && used < size; i++) {
		int64_t n;

		memcpy(&n, (const char *)usage + usage_at[i], sizeof n);
		used +=
		    (size_t)snprintf(buf + used, size - used, "%s%" PRId64, i > 0 ? " " : "", n);
	}
}

const char *
usage_parse(const char *text, struct usage *ret_usage)
{
	struct usage usage;

	for (size_t i = 0; i < USAGE_NUMBERS; i++) {
		char *end;
		long long got = strtoll(text, &end, 10);
		int64_t n = got < -1 ? -1 : got;

		if (end == text)
			return NULL;
		memcpy((char *)&usage + usage_at[i], &n, sizeof n);
		text = end;
	}
	*ret_usage = usage;
	return text;
}
