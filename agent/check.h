/* check.h - does this machine have what the agent's configuration names?
 *
 * Shape:  a look at keys, programs and folders; nothing is made or changed.
 * Units:  none.
 * Errors: a line in the log for each fault, so that all are seen at once.
 * Memory: none kept.
 * Source: docs/man/flyball-agent.8.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_AGENT_CHECK_H
#define FLYBALL_AGENT_CHECK_H

#include "agent/config.h"

/* How many faults there are. */
int check_key_file(const struct config *config);
int check_places(const struct config *config);

#endif
