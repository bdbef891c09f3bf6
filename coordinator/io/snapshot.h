/* snapshot.h - the cluster as JSON: what CLI, web page and metrics show
 *
 * Shape:  one function an object; what is not known or missing is null, never 0.
 *         Each gives a json_t * (jansson) in fresh memory.
 * Units:  in the key names: _us, _bytes, _share. Times of day are ISO 8601 UTC.
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
/* A line of `flyball builds`: the build and the last of its attempts. */
json_t *snapshot_build_row(const struct cluster *c, const struct build *b, struct moment now);
/* The same with every attempt in full. */
json_t *snapshot_build(const struct cluster *c, const struct build *b, struct moment now);
/* A line of `flyball rounds`: counts, verdict, makespan. */
json_t *snapshot_round_row(const struct cluster *c, const struct round *r, struct moment now);
/* The same with a row for each of its builds. */
json_t *snapshot_round(const struct cluster *c, const struct round *r, struct moment now);
/* Counts and alarms of the whole. */
json_t *snapshot_status(const struct cluster *c, struct moment now);
json_t *snapshot_policy(const struct policy *p);
json_t *snapshot_explain_host(const struct cluster *c, const struct host *h, struct moment now);
json_t *snapshot_explain_build(const struct cluster *c, const struct build *b);

/* For whoever adds keys: null for "", and bytes that are no UTF-8 repaired. */
json_t *snapshot_text(const char *text);
/* Null for 0, the time that is not known. */
json_t *snapshot_time(wall_us at);
json_t *snapshot_names(size_t n, char (*list)[NAME_SIZE]);
/* As it goes over the wire and stands in golden files: one line, sorted keys (free). */
char *snapshot_dump(const json_t *json);

#endif
