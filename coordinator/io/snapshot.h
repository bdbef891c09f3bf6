/* snapshot.h - the cluster as JSON: what CLI, web page and metrics show
 *
 * Shape:  one function an object, sorted keys; a reading that is missing is null, never 0.
 *         Each gives a json_t * (jansson) in fresh memory.
 * Units:  in the key names: _us, _s, _bytes, _share. Times of day are ISO 8601 UTC.
 * Errors: cannot fail.
 * Memory: json_decref.
 * Source: flyball(1) "JSON".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SNAPSHOT_H
#define FLYBALL_SNAPSHOT_H

#include <jansson.h>

#include "coordinator/core/cluster.h"

json_t *snapshot_host(const struct cluster *c, const struct host *h, struct moment now);
json_t *snapshot_hosts(const struct cluster *c, struct moment now);
json_t *snapshot_build(const struct cluster *c, const struct build *b, struct moment now);
json_t *snapshot_round(const struct cluster *c, const struct round *r, struct moment now);
json_t *snapshot_status(const struct cluster *c, struct moment now);
json_t *snapshot_policy(const struct cluster *c, const struct policy *p);

#endif
