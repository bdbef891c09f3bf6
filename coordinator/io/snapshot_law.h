/* snapshot_law.h - the law's state and what it changed, as JSON
 *
 * Shape:  as snapshot.h.
 * Units:  in the key names.
 * Errors: cannot fail; what is not known is null.
 * Memory: json_decref.
 * Source: flyball(1) "JSON".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SNAPSHOT_LAW_H
#define FLYBALL_SNAPSHOT_LAW_H

#include <jansson.h>

#include "coordinator/core/cluster.h"

/* Null while the host builds nothing. */
json_t *snapshot_law(const struct host *h, struct moment now);
/* Moves of its limit, newest first, with the readings behind each. */
json_t *snapshot_changes(const struct host *h);

#endif
