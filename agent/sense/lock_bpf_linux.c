/* Who waits where: a program in the kernel sums each wait for a lock by its caller and kind, see
 * lock.bpf.c, and here the sums are read and the last reading's taken off.
 *
 * When waits come so often that tracing them costs more than one in a hundred of all CPU time, only
 * one in two, four, ... is measured, and stands for as many; when it costs little, more again.
 *
 * Invariants: sums only grow, so a difference is a window's. What the kernel could not keep is
 * counted, and a window with such waits is missing when they are more than one in fifty.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sense/bpf_map.h"
#include "agent/sense/lock_bpf_load.h"
#include "agent/sense/lock_linux.h"
#include "agent/sense/lock_rest.h"
#include "agent/sense/lock_text.h"
#include "agent/sense/symbol.h"
#include "proto/base/mem.h"

#define COST_MOST_PPM INT64_C(10000) /* of all CPUs' time: above it, measure fewer */
#define COST_LITTLE_PPM INT64_C(2000) /* below it, measure more */

enum {
	EACH_MOST = 1024,
	NAMED_ROWS = 24, /* callers of more rows are not worth a look-up, */
	NAMED_SHARE = 100000, /* nor one for less than this part of all CPUs' time */
	LOST_SHARE = 50
};

/* The sums of one caller at one kind of lock as they were, and what came since. */
struct sum {
	struct lock_bpf_key key;
	struct lock_bpf_sum before, since;
};

struct tracer {
	struct loop *loop;
	lock_reading_f on_reading;
	void *arg;
	struct loop_watch *timer;
	struct symbols *symbols;
	int fds[LOCK_BPF_FDS];
	int stats; /* while it is open the kernel notes what the programs cost; -1 */
	int32_t cpus;
	size_t npossible; /* values a per-CPU map gives */
	struct lock_bpf_sum *values;
	size_t nsums, sums_room;
	struct sum *sums;
	uint64_t lost_before;
	struct lock_bpf_control control;
	int64_t own_ns; /* CPU time that reading the sums took so far */
	int64_t cost_before_ns;
	mono_us since; /* the window's beginning */
};

/* ---- what the kernel has ---- */

static struct sum *
find_sum(struct tracer *t, const struct lock_bpf_key *key)
{
	for (size_t i = 0; i < t->nsums; i++)
		if (memcmp(&t->sums[i].key, key, sizeof *key) == 0)
			return &t->sums[i];
	t->sums = mem_room(t->sums, t->nsums, &t->sums_room, sizeof *t->sums);
	t->sums[t->nsums] = (struct sum){ .key = *key };
	return &t->sums[t->nsums++];
}

static void
read_sum(struct tracer *t, const struct lock_bpf_key *key)
{
	struct lock_bpf_sum now = { 0 };
	struct sum *sum = find_sum(t, key);

	if (bpf_map_get(t->fds[LOCK_BPF_FD_SUMS], key, t->values) != 0)
		return;
	for (size_t i = 0; i < t->npossible; i++) {
		now.count += t->values[i].count;
		now.ns += t->values[i].ns;
	}
	sum->since.count = now.count - sum->before.count;
	sum->since.ns = now.ns - sum->before.ns;
	sum->before = now;
}

/* Keys are never deleted, so a walk meets each that was there at its beginning. */
static int
read_sums(struct tracer *t)
{
	struct lock_bpf_key key, next;
	int rc = bpf_map_next(t->fds[LOCK_BPF_FD_SUMS], NULL, &next);

	for (int i = 0; rc == 0 && i < LOCK_BPF_SUMS_MAX; i++) {
		read_sum(t, &next);
		key = next;
		rc = bpf_map_next(t->fds[LOCK_BPF_FD_SUMS], &key, &next);
	}
	return rc < 0 ? -1 : 0;
}

static int
read_lost(struct tracer *t, uint64_t *ret_lost)
{
	uint64_t *values = (uint64_t *)t->values, all = 0;

	for (uint32_t reason = 0; reason < LOCK_BPF_LOST; reason++) {
		if (bpf_map_get(t->fds[LOCK_BPF_FD_LOST], &reason, values) != 0)
			return -1;
		for (size_t i = 0; i < t->npossible; i++)
			all += values[i];
	}
	*ret_lost = all - t->lost_before;
	t->lost_before = all;
	return 0;
}

/* ---- what it costs ---- */

static int64_t
cost_ns(const struct tracer *t)
{
	int64_t begin = 0, end = 0;

	if (t->stats < 0 || bpf_program_ns(t->fds[LOCK_BPF_FD_BEGIN], &begin) != 0 ||
	    bpf_program_ns(t->fds[LOCK_BPF_FD_END], &end) != 0)
		return -1;
	return begin + end + t->own_ns;
}

static int64_t
cost_ppm(struct tracer *t, int64_t window_us)
{
	int64_t now = cost_ns(t), spent = now - t->cost_before_ns;

	if (now < 0 || window_us <= 0)
		return -1;
	t->cost_before_ns = now;
	return (spent + symbols_charge_ns(t->symbols, window_us)) * 1000 / window_us;
}

/* How many of the waits are measured from now on. */
static void
adapt(struct tracer *t, int64_t cost)
{
	const uint32_t zero = 0;
	const struct lock_bpf_control was = t->control;

	if (cost > COST_MOST_PPM * t->cpus && t->control.each < EACH_MOST)
		t->control.each *= 2;
	else if (cost >= 0 && cost < COST_LITTLE_PPM * t->cpus && t->control.each > 1)
		t->control.each /= 2;
	if (t->control.each != was.each &&
	    bpf_map_put(t->fds[LOCK_BPF_FD_CONTROL], &zero, &t->control) != 0)
		t->control = was;
}

/* ---- readings ---- */

static const char *
lock_word(uint64_t flags, char *buf, size_t size)
{
	static const struct {
		uint64_t flags;
		const char *word;
	} words[] = {
		{ LOCK_BPF_SPIN, "spinlock" },
		{ LOCK_BPF_SPIN | LOCK_BPF_READ, "rwlock:R" },
		{ LOCK_BPF_SPIN | LOCK_BPF_WRITE, "rwlock:W" },
		{ LOCK_BPF_READ, "rwsem:R" },
		{ LOCK_BPF_WRITE, "rwsem:W" },
		{ LOCK_BPF_MUTEX, "mutex" },
		{ LOCK_BPF_MUTEX | LOCK_BPF_SPIN, "mutex" },
		{ LOCK_BPF_RT, "rt-mutex" },
		{ LOCK_BPF_RT | LOCK_BPF_READ, "rt-rwlock:R" },
		{ LOCK_BPF_RT | LOCK_BPF_WRITE, "rt-rwlock:W" },
		{ LOCK_BPF_PERCPU | LOCK_BPF_READ, "percpu-rwsem:R" },
		{ LOCK_BPF_PERCPU | LOCK_BPF_WRITE, "percpu-rwsem:W" },
		{ 0, "semaphore" },
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (words[i].flags == flags)
			return words[i].word;
	snprintf(buf, size, "lock, flags %" PRIu64, flags);
	return buf;
}

static int
by_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->since.ns < y->since.ns) - (x->since.ns > y->since.ns);
}

static bool
add_rows(struct tracer *t, struct lock_table *table)
{
	const int64_t worth_ns = table->window_us * t->cpus * 1000 / NAMED_SHARE;
	struct lock_rest rest = { 0 };
	bool fits = true;

	qsort(t->sums, t->nsums, sizeof *t->sums, by_time);
	for (size_t i = 0; i < t->nsums && t->sums[i].since.count > 0; i++) {
		const struct sum *sum = &t->sums[i];
		struct lock_row row = { .kind = (sum->key.flags & LOCK_BPF_SPIN) != 0 ? LOCK_SPIN
										      : LOCK_SLEEP,
			.count = (int64_t)sum->since.count,
			.wait_ns = (int64_t)sum->since.ns };
		char word[32];

		mem_copy_text(
		    row.lock, sizeof row.lock, lock_word(sum->key.flags, word, sizeof word));
		if (sum->key.caller != 0 && i < NAMED_ROWS && row.wait_ns >= worth_ns)
			symbols_name(t->symbols, sum->key.caller, row.caller);
		fits &= lock_rest_add(&rest, table, &row);
	}
	return lock_rest_move(&rest, table) && fits;
}

static void
fill(struct tracer *t, struct lock_table *table)
{
	uint64_t lost = 0;

	if (read_sums(t) != 0 || read_lost(t, &lost) != 0) {
		snprintf(table->missing, sizeof table->missing,
		    "the kernel's sums of lock waits cannot be read: %s", strerror(errno));
		return;
	}
	if (!add_rows(t, table))
		snprintf(table->missing, sizeof table->missing,
		    "the kernel's sums of lock waits are past 63 bits");
	else if (lost * LOST_SHARE > (uint64_t)(table->spin_count + table->sleep_count) + lost)
		snprintf(table->missing, sizeof table->missing,
		    "the kernel had no room for %" PRIu64 " of %" PRIu64
		    " lock waits (%d callers, %d waits at once)",
		    lost, (uint64_t)(table->spin_count + table->sleep_count) + lost,
		    LOCK_BPF_SUMS_MAX, LOCK_BPF_STARTS_MAX);
}

static void
on_timer(void *arg)
{
	struct tracer *t = arg;
	mono_us now = loop_now();
	int64_t begin_ns = thread_cpu_ns();
	struct lock_table table = { .window_us = mono_since(t->since, now),
		.cpus = t->cpus,
		.has_spin = true,
		.has_sleep = true,
		.cost_steps_ppm = -1 };

	mem_copy_text(table.source, sizeof table.source, lock_bpf.name);
	mem_copy_text(table.coverage, sizeof table.coverage, lock_bpf.coverage);
	fill(t, &table);
	t->own_ns += thread_cpu_ns() - begin_ns;
	table.cost_cpu_ppm = cost_ppm(t, table.window_us);
	t->since = now;
	adapt(t, table.cost_cpu_ppm);
	t->on_reading(t->arg, &table);
	lock_table_clear(&table);
}

/* ---- open and close ---- */

static void
tracer_close(void *self)
{
	struct tracer *t = self;

	if (t == NULL)
		return;
	loop_remove(t->timer);
	symbols_destroy(t->symbols);
	for (size_t i = 0; i < LOCK_BPF_FDS; i++)
		close(t->fds[i]);
	if (t->stats >= 0)
		close(t->stats);
	free(t->values);
	free(t->sums);
	free(t);
}

static void *
tracer_open(struct loop *loop, const struct lock_settings *settings, lock_reading_f on_reading,
    void *arg, struct err *err)
{
	int64_t every_us = settings->every_us > SECOND_US ? settings->every_us : SECOND_US;
	int possible = bpf_possible_cpus();
	struct tracer *t;
	int fds[LOCK_BPF_FDS];

	if (possible <= 0) {
		err_set(err, "how many CPUs this kernel may have is not in "
			     "/sys/devices/system/cpu/possible: expected /sys to be mounted");
		return NULL;
	}
	if (lock_bpf_load(settings->helpers, fds, err) != 0)
		return NULL;
	t = mem_calloc(1, sizeof *t);
	memcpy(t->fds, fds, sizeof fds);
	t->loop = loop;
	t->on_reading = on_reading;
	t->arg = arg;
	t->stats = bpf_stats_start();
	t->cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	t->npossible = (size_t)possible;
	t->values = mem_calloc(t->npossible, sizeof *t->values);
	t->control.each = 1;
	t->symbols = symbols_create(loop);
	t->since = loop_now();
	t->timer = loop_timer_add(loop, every_us, every_us, on_timer, t);
	return t;
}

const struct lock_source lock_bpf = {
	.name = "bpf",
	.coverage =
	    "waits that ended in the window: not seen are one that is still open, a writer or "
	    "mutex that spins before it queues (rwsem, and mutex before Linux 6.0), and the "
	    "first waiter for a spinlock, which spins in its pending bit; where the kernel is a "
	    "guest, waiters for a spinlock halt, so that their wait is not CPU time",
	.open = tracer_open,
	.close = tracer_close,
};
