/* build_log.h - build logs: a file an attempt, written as its bytes arrive
 *
 * Shape:  folder/ATTEMPT.log; only ever appended to, at its end. What the file has is its
 *         own record of what has arrived, so nothing is kept beside it.
 * Units:  bytes.
 * Errors: a file that cannot be written is an error; the agent keeps what was not taken.
 * Memory: none.
 * Source: docs/protocol.md "Logs".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_BUILD_LOG_H
#define FLYBALL_BUILD_LOG_H

#include "proto/base/err.h"
#include "proto/units.h"

/* How much of it is there; 0 when it has not begun. */
int64_t build_log_size(const char *folder, attempt_id id);

/* Takes bytes that continue the file, or overlap its end; those behind a gap are not taken. The
 * size after that in ret_size. */
int build_log_append(const char *folder, attempt_id id, int64_t offset, const void *bytes,
    size_t nbytes, int64_t *ret_size, struct err *err);

/* Returns when all of it is on the disk. */
int build_log_sync(const char *folder, attempt_id id, struct err *err);

#endif
