/* operators.h - the coordinator's end of the wire to operators
 *
 * Shape:  requests go through control.h; those that change something wait here for the
 *         EFFECT_REPLY of their event, which comes when it is safe in the journal.
 * Units:  as message.h.
 * Errors: a bad request is answered, never a reason to stop.
 * Memory: operators_create/operators_destroy.
 * Source: docs/protocol.md, flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_OPERATORS_H
#define FLYBALL_OPERATORS_H

#include "coordinator/io/config.h"
#include "coordinator/io/driver.h"
#include "coordinator/io/locks.h"
#include "proto/channel.h"

struct operators;

struct operators *operators_create(struct hub *hub, const struct config *config,
    const struct key_pair *keys, const char *log_folder, struct locks *locks, struct err *err);
void operators_destroy(struct operators *operators);
void operators_attach(struct operators *operators, struct driver *driver);
/* Why the policy files are not in force as they are now; "" when they are. */
void operators_policy_error(struct operators *operators, const char *text);

/* This operator ("uid:N" on this machine) is not in the configuration any more. */
void operators_revoke(struct operators *operators, const char *name);

void operators_reply(struct operators *operators, const struct effect *effect);
void operators_acknowledge(struct operators *operators);

#endif
