/* mode.h - what the governor may do where: off, observe, advise or act
 *
 * Shape:  policies say it for their branches; operators, and alarms, put orders above that: for
 *         the whole farm, a branch, a class of hosts or a host. The most specific one holds:
 *         host, class, branch, farm, then the policy. An order for the farm ends all others.
 * Units:  as units.h.
 * Errors: what makes no sense is refused with a sentence.
 * Memory: orders belong to the cluster; borrowed until the next step().
 * Source: docs/states.md "Governor modes".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_MODE_H
#define FLYBALL_MODE_H

#include "coordinator/core/cluster.h"

#define MODE_ALARM "alarm" /* who of an order that no operator gave */

/* NULL: there is none for exactly that. */
const struct mode_order *mode_find(
    const struct cluster *c, enum mode_scope scope, const char *name);
/* Where an order stands among the others, or would. */
size_t mode_place(const struct cluster *c, enum mode_scope scope, const char *name);

/* For one build on a host; a may be NULL: for a host that builds nothing. */
enum governor_mode governor_mode_of(
    const struct cluster *c, const struct host *h, const struct attempt *a);
/* For a host: the most careful over its builds. ret_order: what decided it, NULL: a policy, or
 * nothing at all; may be NULL. */
enum governor_mode governor_mode_of_host(
    const struct cluster *c, const struct host *h, const struct mode_order **ret_order);

/* Sets or lifts by a fact that apply.c has found to fit. */
void mode_apply(struct cluster *c, const struct fact *f);

#endif
