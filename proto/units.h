/* units.h - times and ids that cannot be mixed up
 *
 * Shape:  a struct around one scalar each, so that the compiler refuses a mix.
 * Units:  microseconds. mono_us counts from the boot of the machine that read
 *         it and is compared only with readings of that machine; wall_us counts
 *         from 1970 UTC and is only ever shown. Durations are int64_t, named _us.
 *         Sizes are int64_t, named _bytes. Shares are double, 0..1, named _share.
 * Errors: none.
 * Memory: by value.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_UNITS_H
#define FLYBALL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	int64_t us;
} mono_us;

typedef struct {
	int64_t us;
} wall_us;

/* Ids are given by the coordinator, count up from 1 and are never used again; 0 is "none". */
typedef struct {
	uint64_t n;
} round_id;

typedef struct {
	uint64_t n;
} build_id;

typedef struct {
	uint64_t n;
} attempt_id;

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US (60 * MINUTE_US)

static inline int64_t
mono_since(mono_us from, mono_us to)
{
	return to.us - from.us;
}

static inline mono_us
mono_add(mono_us t, int64_t duration_us)
{
	return (mono_us){ t.us + duration_us };
}

#endif
