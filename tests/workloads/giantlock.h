/* giantlock.h - a lock that all steps of a build share, and what it has cost them
 *
 * Shape:  a ticket lock and counters in a file that every step maps. Tickets are served in their order,
 *         so that a waiter that is not on a CPU holds up all behind it, as it does in a kernel that
 *         spins for one big lock.
 * Units:  nanoseconds of CPU time.
 * Errors: giantlock_map says on standard error what is wrong with the file, and exits.
 * Memory: the mapping stays as long as the process.
 * Source: this file; what it is for is told in giantlock_step.c.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_GIANTLOCK_H
#define FLYBALL_GIANTLOCK_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	GIANTLOCK_WAITERS = 4096, /* more at once than any pool has tokens; a power of two */
	GIANTLOCK_PID_BITS = 22 /* the kernel's PID_MAX_LIMIT */
};

struct giantlock {
	_Atomic uint64_t next, serving; /* tickets */
	_Atomic uint64_t owner[GIANTLOCK_WAITERS]; /* of ticket n at n % WAITERS: n << 22 | pid */
	_Atomic uint64_t units; /* done */
	_Atomic uint64_t spins; /* waits that ended */
	_Atomic uint64_t spin_ns; /* waits under way are in it */
};

static inline int64_t
clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline struct giantlock *
giantlock_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(struct giantlock)) == 0)
		at =
		    mmap(NULL, sizeof(struct giantlock), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	return at;
}

#endif
