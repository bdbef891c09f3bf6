/* driver.h - carries out what the session decides
 *
 * Shape:  channel, keepers, load and clock feed the session; its actions go to channel, runner
 *         and spool.
 * Units:  as message.h.
 * Errors: starting fails with a sentence; what happens later is logged.
 * Memory: create/destroy; all in struct driver_parts is borrowed.
 * Source: docs/architecture.md "Where things are".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_AGENT_DRIVER_H
#define FLYBALL_AGENT_DRIVER_H

#include "agent/recipe.h"
#include "agent/spool.h"
#include "proto/base/loop.h"
#include "proto/keys.h"

struct driver;

struct driver_parts {
	struct loop *loop;
	const struct config *config;
	const struct key_pair *keys;
	const struct recipe_list *recipes;
	const struct spool *spool;
	const struct host_facts *facts;
};

/* Adopts what the spool holds and begins to connect. */
struct driver *driver_create(const struct driver_parts *parts, struct err *err);
void driver_destroy(struct driver *driver);

size_t driver_builds(const struct driver *driver); /* that have a living keeper */

#endif
