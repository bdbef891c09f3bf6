/* keeper_recipe.h - starts a recipe in its workspace, and clears the workspace away
 *
 * Shape:  recipe_start runs "program build" in a session of its own, with a clean environment,
 *         the pool at its two descriptors and one pipe for all output. sweep_start removes a tree
 *         by a child process, so that a large one does not keep the keeper from its socket.
 * Units:  none.
 * Errors: sentences fit for a result's reason.
 * Memory: the caller owns the descriptors.
 * Source: docs/tokens.md "For users".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_RECIPE_H
#define FLYBALL_KEEPER_RECIPE_H

#include <sys/types.h>

#include "agent/keeper_pool.h"
#include "agent/order.h"

/* The workspace must not hold anything yet; the out folder may. folder: the attempt's, absolute. */
int workspace_make(const struct order *order, struct err *err);

int recipe_start(const struct order *order, const struct pool *pool, const char *folder,
    int niceness, pid_t *ret_pid, int *ret_output_fd, struct err *err);

/* A child that removes path and all below, stopping at mounts. */
int sweep_start(const char *path, pid_t *ret_pid, int *ret_words_fd, struct err *err);
/* What the child said when it ended: "" when nothing is left. */
void sweep_words(int words_fd, char *buf, size_t size);

#endif
