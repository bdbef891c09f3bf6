/* perf_ring.h - where in the kernel one CPU was, some times a second
 *
 * Shape:  a ring of samples a CPU, filled by the kernel and drained by us.
 * Units:  a sample each PERF_RING_PERIOD_NS of CPU time that is neither idle nor in user mode;
 *         frames are addresses of the running kernel, the innermost first.
 * Errors: a sentence that names the sysctl or the capability that is needed.
 * Memory: open/close; frames are borrowed for the call.
 * Source: perf_event_open(2); Documentation/admin-guide/perf-security.rst.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PERF_RING_H
#define FLYBALL_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

/* 99 times a second, and not 100, so as not to march in step with the kernel's own ticks. */
enum { PERF_RING_HERTZ = 99, PERF_RING_FRAMES = 6 };
#define PERF_RING_PERIOD_NS (INT64_C(1000000000) / PERF_RING_HERTZ)

struct perf_ring {
	int fd; /* readable when the ring is half full */
	void *page;
};

typedef void (*perf_ring_f)(void *arg, const uint64_t *frames, size_t n);

/* 1: there is no such CPU, or it is not online. */
int perf_ring_open(struct perf_ring *ret_ring, int32_t cpu, struct err *err);
void perf_ring_close(struct perf_ring *ring);
/* Returns how many samples the kernel could not keep. */
int64_t perf_ring_drain(struct perf_ring *ring, perf_ring_f f, void *arg);

/* What an interrupt takes here, by trying for 20 ms; -1 when that cannot be told. */
int64_t perf_ring_interrupt_ns(void);

#endif
