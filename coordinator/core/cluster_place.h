/* cluster_place.h - where in the cluster's ordered arrays a name is, or would be put
 *
 * Shape:  shared by cluster.c, which finds, and apply.c, which adds.
 * Units:  indexes.
 * Errors: none.
 * Memory: none.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CLUSTER_PLACE_H
#define FLYBALL_CLUSTER_PLACE_H

#include "coordinator/core/cluster.h"

size_t cluster_host_place(const struct cluster *c, const char *name);
size_t cluster_branch_place(const struct cluster *c, const char *name);
size_t cluster_lesson_place(const struct cluster *c, const char *branch, const char *target);
/* Of the i-th branch in force. */
const char *cluster_branch_name(const struct cluster *c, size_t i);

#endif
