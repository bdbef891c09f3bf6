/* policy_file.h - policy files: text to values and back
 *
 * Shape:  the one place where policies are parsed; each file may hold several branches.
 * Units:  sizes "16g", durations "12h" in the text, bytes and us in the values.
 * Errors: "file:line: what is wrong, what was expected"; every designed key that is not acted on
 *         yet is refused by name. Nothing is returned of a text with an error.
 * Memory: the list is fresh memory: policy_list_clear.
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_FILE_H
#define FLYBALL_POLICY_FILE_H

#include "coordinator/core/policy.h"
#include "coordinator/core/codec.h"
#include "proto/base/err.h"

struct policy_list {
	size_t n, capacity;
	struct policy **list;
};

/* name stands in the errors and becomes each policy's origin. recipes: names that are known, or NULL
 * for no check of them. */
int policy_parse(const char *name, const char *text, const char *const *recipes, size_t nrecipes,
    struct policy_list *ret_list, struct err *err);

/* Every *.policy of a folder, in the order of their names; a branch that stands twice is refused
 * with both places. */
int policy_load_folder(const char *folder, const char *const *recipes, size_t nrecipes,
    struct policy_list *ret_list, struct err *err);

void policy_list_clear(struct policy_list *list);

/* The grammar again: what it prints parses to the same. */
void policy_print(const struct policy *policy, struct text *t);

#endif
