/* agents.h - the coordinator's end of the wire to its agents
 *
 * Shape:  messages become events, effects become messages. A host is one key; its newest
 *         connection is the one that counts.
 * Units:  as message.h.
 * Errors: what an agent says that makes no sense is logged, throttled, and harms nobody else.
 * Memory: agents_create/agents_destroy.
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_AGENTS_H
#define FLYBALL_AGENTS_H

#include "coordinator/io/config.h"
#include "coordinator/io/driver.h"
#include "coordinator/io/locks.h"
#include "coordinator/io/series.h"
#include "proto/channel.h"

struct agents;

/* Readings go to series as well as to the core. */
struct agents *agents_create(struct hub *hub, const struct config *config,
    const struct key_pair *keys, const char *log_folder, struct series *series, struct locks *locks,
    struct err *err);
void agents_destroy(struct agents *agents);
/* From now on messages become events of this driver. */
void agents_attach(struct agents *agents, struct driver *driver);

/* Carries out EFFECT_WELCOME, START, CANCEL, DROP, KEPT and LIMIT; a host that is not connected is told
 * all it must know when it says HELLO. */
void agents_effect(struct agents *agents, const struct effect *effect);
void agents_acknowledge(struct agents *agents);
/* This host's key is not in the configuration any more. */
void agents_revoke(struct agents *agents, const char *host);
/* Where it listens: the port that tcp://HOST:* became. */
const char *agents_endpoint(const struct agents *agents);

#endif
