/* perf_count.h - what the kernel or the hardware counts, summed over all CPUs
 *
 * Shape:  one event, counted in user mode on each CPU that is online; opened anew when CPUs come and go,
 *         or when counting fails, as it does where a machine has no counters for it.
 * Units:  events since the sample before.
 * Errors: none: a sample is there or not.
 * Memory: create/destroy.
 * Source: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PERF_COUNT_H
#define FLYBALL_PERF_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct perf_count;

/* type, config: as struct perf_event_attr has them. */
struct perf_count *perf_count_create(uint32_t type, uint64_t config);
void perf_count_destroy(struct perf_count *count);
/* False at first, and where nothing is counted on one of the CPUs: part of a sum is no sum. */
bool perf_count_sample(struct perf_count *count, double *ret_events);

#endif
