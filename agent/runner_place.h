/* runner_place.h - where an attempt reads, works and leaves what it made
 *
 * Shape:  turns a START into an order: a source under the host's own roots, a workspace, an
 *         output folder. Looks at the disk, changes nothing.
 * Units:  as message.h.
 * Errors: sentences for the attempt's reason.
 * Memory: by value.
 * Source: flyball-agent.conf(5) "source_roots".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RUNNER_PLACE_H
#define FLYBALL_RUNNER_PLACE_H

#include "agent/config.h"
#include "agent/order.h"
#include "agent/recipe.h"

/* The one folder that the wire's source stands for; links cannot lead out of the roots. */
int place_source(const struct config_list *roots, const char *source, char ret_path[SOURCE_SIZE],
    struct err *err);

int place_order(const struct config *config, const struct recipe *recipe,
    const struct message_start *start, int32_t limit, struct order *ret_order, struct err *err);

#endif
