/* recipe.h - the recipes installed on this host
 *
 * Shape:  executables of the recipe folders, each with the rules of its .progress file if it
 *         has one. A name in two folders is the first one's.
 * Units:  none.
 * Errors: what cannot be offered is logged with the reason and left out.
 * Memory: load/clear; found recipes are borrowed.
 * Source: flyball-recipe(7).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RECIPE_H
#define FLYBALL_RECIPE_H

#include "agent/config.h"
#include "agent/progress.h"

struct recipe {
	char name[NAME_SIZE];
	char *program; /* absolute */
	struct progress_rules *rules; /* NULL: no .progress file */
};

struct recipe_list {
	size_t n, capacity;
	struct recipe *list;
};

/* How many were left out, or folders not read. */
int recipe_list_load(const struct config_list *folders, struct recipe_list *ret_list);
void recipe_list_clear(struct recipe_list *list);
const struct recipe *recipe_find(const struct recipe_list *list, const char *name);

#endif
