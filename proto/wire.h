/* wire.h - messages to bytes and back
 *
 * Shape:  protobuf on the wire, the plain structs of message.h everywhere else;
 *         nothing of protobuf leaves wire.c.
 * Units:  as message.h.
 * Errors: decode refuses, with a sentence, what is not well-formed, breaks a
 *         bound of limits.h, holds bytes that are not UTF-8 or a name outside
 *         [A-Za-z0-9._+-], or would take more memory than its budget.
 * Memory: encode gives fresh bytes (free); decode fills ret_m (message_clear).
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WIRE_H
#define FLYBALL_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/message.h"

int wire_encode(const struct message *m, uint8_t **ret_bytes, size_t *ret_nbytes, struct err *err);

/* max_bytes: AGENT_MESSAGE_BYTES or OPERATOR_MESSAGE_BYTES. */
int wire_decode(
    const uint8_t *bytes, size_t nbytes, size_t max_bytes, struct message *ret_m, struct err *err);

/* True for a name that may stand on the wire and in a file name: 1..NAME_SIZE-1 of
 * [A-Za-z0-9._+-], not beginning with '.' or '-'. */
bool wire_name_ok(const char *name);

#endif
