/* giantlock_step NAME UNITS USER_US HELD_US SLEEP_US FILE - one step of a build under a giant lock
 *
 * Prints "GEN NAME", then does UNITS units: USER_US of computing, SLEEP_US asleep, and HELD_US of
 * computing under the lock that all steps with this FILE share. The more steps run, the more spin;
 * past the CPUs a waiter whose turn it is may wait for a CPU that others spin on, and it collapses.
 *
 * A waiter polls through a system call, so that its spin is booked as system time, as a kernel's is.
 * Its cost goes to the counters every few milliseconds, since in collapse one wait may take seconds.
 *
 * Steps may be killed at any moment, so a waiter now and then looks whether the ticket that is being
 * served has an owner that lives, and serves the next one otherwise. A step ends by itself, by SIGALRM,
 * after DEADLINE_S.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tests/workloads/giantlock.h"

enum {
	DEADLINE_S = 900,
	POLLS = 8192, /* between two looks at the clock: a millisecond or so */
	ROUNDS = 500 /* of computing between two looks at the clock: a microsecond or two */
};
#define NOBODY_NS INT64_C(1000000000) /* so long a ticket may be without an owner's name */

static void
compute(int64_t us)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;
	volatile uint32_t sum = 0;
	int i;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < ROUNDS; i++)
			sum = sum * 31 + (uint32_t)i;
}

static void
pause_us(int64_t us)
{
	struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

	if (us > 0)
		nanosleep(&t, NULL);
}

/* The wait for one ticket. */
struct wait {
	struct giantlock *lock;
	uint64_t ticket;
	int64_t booked; /* CPU time up to which the spin is in the counters */
	uint64_t seen; /* the ticket served when it was last looked at */
	int64_t seen_at;
};

/* The owner died, or died before it could say who it was. */
static int
is_dead(struct wait *w, uint64_t serving)
{
	uint64_t owner = atomic_load(&w->lock->owner[serving % GIANTLOCK_WAITERS]);
	pid_t pid = (pid_t)(owner & ((1U << GIANTLOCK_PID_BITS) - 1));
	int64_t now = clock_ns(CLOCK_MONOTONIC);

	if (serving != w->seen) {
		w->seen = serving;
		w->seen_at = now;
	}
	if (owner >> GIANTLOCK_PID_BITS == serving && pid > 0)
		return kill(pid, 0) < 0 && errno == ESRCH;
	return now - w->seen_at > NOBODY_NS;
}

static void
book(struct wait *w)
{
	int64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	atomic_fetch_add(&w->lock->spin_ns, (uint64_t)(now - w->booked));
	w->booked = now;
}

/* What a waiter does now and then. */
static void
look(struct wait *w)
{
	uint64_t serving = atomic_load(&w->lock->serving);

	book(w);
	if (serving < w->ticket && is_dead(w, serving))
		atomic_compare_exchange_strong(&w->lock->serving, &serving, serving + 1);
}

/* False: the ticket was passed over, because this process was taken for dead. */
static int
wait_turn(struct wait *w)
{
	uint64_t serving;
	unsigned n;

	for (n = 1; (serving = atomic_load(&w->lock->serving)) < w->ticket; n++) {
		if (n % POLLS == 0)
			look(w);
		syscall(SYS_getppid);
	}
	if (n > 1) {
		book(w);
		atomic_fetch_add(&w->lock->spins, 1);
	}
	return serving == w->ticket;
}

static uint64_t
take(struct giantlock *lock)
{
	struct wait w = { .lock = lock, .seen = UINT64_MAX };

	do {
		w.booked = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		w.ticket = atomic_fetch_add(&lock->next, 1);
		atomic_store(&lock->owner[w.ticket % GIANTLOCK_WAITERS],
		    w.ticket << GIANTLOCK_PID_BITS | (uint64_t)getpid());
	} while (!wait_turn(&w));
	return w.ticket;
}

static void
give(struct giantlock *lock, uint64_t ticket)
{
	atomic_compare_exchange_strong(&lock->serving, &ticket, ticket + 1);
}

int
main(int argc, char **argv)
{
	struct giantlock *lock;
	int64_t value[4];
	uint64_t ticket;
	int i;

	if (argc != 7) {
		fputs("usage: giantlock_step NAME UNITS USER_US HELD_US SLEEP_US FILE\n", stderr);
		return 2;
	}
	for (i = 0; i < 4; i++)
		value[i] = atoll(argv[2 + i]);
	lock = giantlock_map(argv[6]);
	alarm(DEADLINE_S);
	printf("GEN %s\n", argv[1]);
	fflush(stdout);
	for (; value[0] > 0; value[0]--) {
		compute(value[1]);
		pause_us(value[3]);
		ticket = take(lock);
		compute(value[2]);
		give(lock, ticket);
		atomic_fetch_add(&lock->units, 1);
	}
	return 0;
}
