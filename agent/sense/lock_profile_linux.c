/* The spin share, by sampling: each CPU is interrupted 99 times a second of its own clock and notes
 * where in the kernel it was. Samples in a function that spins, times the period, are the time spun;
 * this sees what the kernel's tracepoints for contention do not, for an optimistic spinner has not
 * begun to wait in their sense.
 *
 * A CPU that idles is not counted, nor one in user mode. The CPUs are those that are online at the
 * beginning. The frame that is the caller is the first behind the spinning function that is no lock
 * function; six frames reach it through all wrappers. Names of callers come by symbol.h.
 *
 * Invariant: samples that were lost are counted, and a window that lost more than one in fifty is
 * missing: it would show less spin just when there is most.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/sense/lock_linux.h"
#include "agent/sense/lock_place.h"
#include "agent/sense/lock_rest.h"
#include "agent/sense/lock_text.h"
#include "agent/sense/perf_ring.h"
#include "agent/sense/symbol.h"
#include "proto/base/mem.h"

/* From here on numbers in a list of frames say what follows: PERF_CONTEXT_MAX and above. */
#define CONTEXT ((uint64_t)-4095)

enum {
	COUNTS_MAX = 128,
	NAMED_ROWS = 24, /* callers of more rows are not worth a look-up */
	LOST_SHARE = 50
};

struct ring {
	struct profile *profile;
	struct perf_ring perf;
	struct loop_watch *watch;
};

struct count {
	const char *lock; /* one of lock_place.h's */
	uint64_t caller; /* 0: beyond the frames we have */
	int64_t samples;
};

struct profile {
	struct loop *loop;
	lock_reading_f on_reading;
	void *arg;
	struct loop_watch *timer;
	struct symbols *symbols;
	struct lock_places places;
	size_t nrings;
	struct ring *rings;
	mono_us since; /* the window's beginning */
	int64_t samples, lost;
	int64_t others; /* samples that spun, of more pairs than counts holds */
	size_t ncounts;
	struct count counts[COUNTS_MAX];
	int64_t interrupt_ns; /* what one takes on this machine; -1 not measured */
	int64_t own_ns; /* CPU time, in this window */
};

/* ---- samples ---- */

static void
count_spin(struct profile *profile, const char *lock, uint64_t caller)
{
	struct count *count = profile->counts;
	struct count *full = profile->counts + COUNTS_MAX;
	struct count *end = profile->counts + profile->ncounts;

	while (count < end && (count->caller != caller || count->lock != lock))
		count++;
	if (count == full) {
		profile->others++;
		return;
	}
	if (count == end) {
		*count = (struct count){ lock, caller, 0 };
		profile->ncounts++;
	}
	count->samples++;
}

/* Frames from the innermost on; numbers at the top of the range mark what follows, and are none. */
static void
on_sample(void *arg, const uint64_t *frames, size_t n)
{
	struct profile *profile = arg;
	const struct lock_place *place;
	const char *lock = NULL;

	profile->samples++;
	for (size_t i = 0; i < n; i++) {
		if (frames[i] >= CONTEXT)
			continue;
		place = lock_places_at(&profile->places, frames[i]);
		if (lock == NULL && (place == NULL || place->spins == NULL))
			return;
		if (place == NULL) {
			count_spin(profile, lock, frames[i]);
			return;
		}
		if (lock == NULL)
			lock = place->spins;
	}
	if (lock != NULL)
		count_spin(profile, lock, 0);
}

static void
drain(struct ring *ring)
{
	struct profile *profile = ring->profile;

	profile->lost += perf_ring_drain(&ring->perf, on_sample, profile);
}

static void
on_half_full(void *arg)
{
	struct ring *ring = arg;
	int64_t begin = thread_cpu_ns();

	drain(ring);
	ring->profile->own_ns += thread_cpu_ns() - begin;
}

/* ---- readings ---- */

static int
by_samples(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static void
add_rows(struct profile *profile, struct lock_table *table)
{
	struct lock_row row = { .kind = LOCK_SPIN };
	struct lock_rest rest = { 0 };

	qsort(profile->counts, profile->ncounts, sizeof profile->counts[0], by_samples);
	for (size_t i = 0; i < profile->ncounts; i++) {
		const struct count *count = &profile->counts[i];

		row.caller[0] = '\0';
		if (count->caller != 0 && i < NAMED_ROWS)
			symbols_name(profile->symbols, count->caller, row.caller);
		mem_copy_text(row.lock, sizeof row.lock, count->lock);
		row.count = count->samples;
		row.wait_ns = count->samples * PERF_RING_PERIOD_NS;
		lock_rest_add(&rest, table, &row);
	}
	lock_rest_move(&rest, table);
	table->spin_count += profile->others;
	table->spin_ns += profile->others * PERF_RING_PERIOD_NS;
}

/* The interrupts come on CPUs that idle as well. */
static int64_t
cost_ppm(struct profile *profile, int64_t window_us)
{
	int64_t interrupts = (int64_t)profile->nrings * PERF_RING_HERTZ * window_us / SECOND_US;
	int64_t ns = profile->own_ns + symbols_charge_ns(profile->symbols, window_us) +
		     interrupts * profile->interrupt_ns;

	return profile->interrupt_ns < 0 || window_us <= 0 ? -1 : ns * 1000 / window_us;
}

static void
report(struct profile *profile, mono_us now)
{
	struct lock_table table = { .window_us = mono_since(profile->since, now),
		.cpus = (int32_t)profile->nrings,
		.has_spin = true,
		.cost_steps_ppm = -1 };

	mem_copy_text(table.source, sizeof table.source, lock_profile.name);
	mem_copy_text(table.coverage, sizeof table.coverage, lock_profile.coverage);
	table.cost_cpu_ppm = cost_ppm(profile, table.window_us);
	if (profile->lost * LOST_SHARE > profile->samples + profile->lost)
		snprintf(table.missing, sizeof table.missing,
		    "the kernel dropped %" PRId64 " of %" PRId64
		    " samples, as the agent was late to take them",
		    profile->lost, profile->samples + profile->lost);
	else
		add_rows(profile, &table);
	profile->on_reading(profile->arg, &table);
	lock_table_clear(&table);
}

static void
on_second(void *arg)
{
	struct profile *profile = arg;
	mono_us now = loop_now();
	int64_t begin = thread_cpu_ns();

	for (size_t i = 0; i < profile->nrings; i++)
		drain(&profile->rings[i]);
	profile->own_ns += thread_cpu_ns() - begin;
	report(profile, now);
	profile->since = now;
	profile->samples = profile->lost = profile->others = 0;
	profile->ncounts = 0;
	profile->own_ns = 0;
}

/* ---- open and close ---- */

static void
profile_close(void *self)
{
	struct profile *profile = self;

	if (profile == NULL)
		return;
	loop_remove(profile->timer);
	for (size_t i = 0; i < profile->nrings; i++) {
		loop_remove(profile->rings[i].watch);
		perf_ring_close(&profile->rings[i].perf);
	}
	symbols_destroy(profile->symbols);
	free(profile->rings);
	free(profile);
}

static int
open_rings(struct profile *profile, struct err *err)
{
	int32_t cpus = (int32_t)sysconf(_SC_NPROCESSORS_CONF);

	profile->rings = mem_calloc((size_t)cpus, sizeof *profile->rings);
	for (int32_t cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = &profile->rings[profile->nrings];
		int rc = perf_ring_open(&ring->perf, cpu, err);

		if (rc < 0)
			return -1;
		if (rc > 0)
			continue;
		profile->nrings++;
		ring->profile = profile;
		ring->watch =
		    loop_fd_add(profile->loop, ring->perf.fd, LOOP_READ, on_half_full, ring);
	}
	if (profile->nrings == 0)
		return err_set(err,
		    "this kernel samples no CPU of %d: expected perf_event_open to take the "
		    "software "
		    "event cpu-clock",
		    (int)cpus);
	return 0;
}

static void *
profile_open(struct loop *loop, const struct lock_settings *settings __attribute__((unused)),
    lock_reading_f on_reading, void *arg, struct err *err)
{
	struct profile *profile = mem_calloc(1, sizeof *profile);

	profile->loop = loop;
	profile->on_reading = on_reading;
	profile->arg = arg;
	if (lock_places_find(&profile->places, err) != 0 || open_rings(profile, err) != 0) {
		profile_close(profile);
		return NULL;
	}
	profile->interrupt_ns = perf_ring_interrupt_ns();
	profile->symbols = symbols_create(loop);
	profile->since = loop_now();
	profile->timer = loop_timer_add(loop, SECOND_US, SECOND_US, on_second, profile);
	return profile;
}

const struct lock_source lock_profile = {
	.name = "profile",
	.coverage =
	    "samples of where the kernel is, 99 a second and CPU: the count is of samples; time "
	    "spun with interrupts off shows where they are on again, and tasks that sleep for "
	    "a lock are not seen",
	.open = profile_open,
	.close = profile_close,
};
