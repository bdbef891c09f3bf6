/* policy_reader.h - where the reading of a policy file is, for its errors; for policy_*.c alone
 *
 * Shape:  a path of sections from the file inward; steps are pushed and popped by assignment to
 *         depth.
 * Units:  none.
 * Errors: policy_refuse ends in "file:line: sentence".
 * Memory: texts are borrowed for the time of the parse.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_READER_H
#define FLYBALL_POLICY_READER_H

#include "coordinator/core/policy.h"
#include "proto/base/conf.h"

struct policy_reader {
	const char *name; /* of the file */
	const char *text;
	const char *const *recipes; /* NULL: not known */
	size_t nrecipes;
	struct err *err;
	struct conf_step path[3]; /* branch, target, section; one more for the key */
	size_t depth;
};

/* What a file says may be said for all its branches, for a branch or for a target. */
struct policy_values {
	char recipe[NAME_SIZE];
	int32_t priority;
	enum governor_mode governor;
	int64_t jobs_min, jobs_max, jobs_start, spin_target_ppm;
	struct needs needs; /* labels belong to it */
	int64_t timeout_us, stall_us;
	int32_t retries;
};

/* At key of the section that the reader is in, or at the section itself when key is NULL. */
int policy_refuse(const struct policy_reader *r, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether key stands in that section; libconfuse does not tell an empty list from none. */
bool policy_stands(const struct policy_reader *r, const char *key);

/* The values that stand in a section take the place of those that are there. kind: "defaults",
 * "branch" or "target". */
int policy_values_read(
    struct policy_reader *r, cfg_t *section, const char *kind, struct policy_values *values);

void policy_values_init(struct policy_values *values);
void needs_copy(struct needs *to, const struct needs *from); /* to is empty */

#endif
