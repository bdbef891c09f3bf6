/* lock_linux.h - the two lock sources that only Linux has
 *
 * Shape:  "profile" samples where CPUs spin, "bpf" traces who waits where.
 * Units:  as lock.h.
 * Errors: as lock.h.
 * Memory: as lock.h.
 * Source: docs/architecture.md "Lock sources of Linux".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_LINUX_H
#define FLYBALL_LOCK_LINUX_H

#include <time.h>

#include "agent/sense/lock.h"

extern const struct lock_source lock_profile, lock_bpf;

/* CPU time of this thread, by which a source tells what it takes itself. */
static inline int64_t
thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif
