/* Tables of locks: the last ones of a host, and what an attempt's add up to, over a restart.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/io/lock_sum.h"
#include "coordinator/io/locks.h"
#include "proto/base/mem.h"
#include "tests/unit/io_cluster.h"

static char folder[64];

static struct lock_row
row(const char *lock, const char *caller, enum lock_kind kind, int64_t count, int64_t ms)
{
	struct lock_row r = { .kind = kind, .count = count, .wait_ns = ms * 1000000 };

	snprintf(r.lock, sizeof r.lock, "%s", lock);
	snprintf(r.caller, sizeof r.caller, "%s", caller);
	return r;
}

static struct lock_table
table(const char *source, struct lock_row *rows, size_t n)
{
	struct lock_table t = { .window_us = 2 * SECOND_US,
		.cpus = 4,
		.has_spin = true,
		.cost_cpu_ppm = 300,
		.cost_steps_ppm = -1,
		.nrows = n,
		.rows = rows };
	size_t i;

	mem_copy_text(t.source, sizeof t.source, source);
	mem_copy_text(t.coverage, sizeof t.coverage, "sees 2 s in 30");
	for (i = 0; i < n; i++) {
		t.spin_count += rows[i].count;
		t.spin_ns += rows[i].wait_ns;
	}
	return t;
}

static void
missing(struct lock_table *t, const char *why)
{
	mem_copy_text(t->missing, sizeof t->missing, why);
	t->nrows = 0;
	t->window_us = 0;
}

/* ---- sums -------------------------------------------------------------------------------- */

static void
rows_add_up(void **state)
{
	struct lock_row first[] = { row("kernel_lock", "a+1", LOCK_SPIN, 5, 10),
		row("uvm", "b", LOCK_SPIN, 1, 4) };
	struct lock_row second[] = { row("uvm", "b", LOCK_SPIN, 2, 40),
		row("uvm", "b", LOCK_SLEEP, 1, 1), row("uvm", "c", LOCK_SPIN, 1, 2) };
	struct lock_table a = table("lockstat", first, 2), b = table("lockstat", second, 3);
	struct lock_sum sum = { 0 };

	(void)state;
	lock_sum_add(&sum, &a, 0.5, 1);
	lock_sum_add(&sum, &b, 0.25, 2);
	assert_int_equal(sum.tables, 2);
	assert_int_equal(sum.table.window_us, 4 * SECOND_US);
	assert_int_equal(sum.cpu_us, 16 * SECOND_US);
	assert_int_equal(sum.busy_us, 6 * SECOND_US);
	assert_int_equal(sum.builds_max, 2);
	assert_int_equal(sum.table.nrows, 4);
	assert_string_equal(sum.table.rows[0].lock, "uvm");
	assert_int_equal(sum.table.rows[0].wait_ns, 44000000);
	assert_int_equal(sum.table.rows[0].count, 3);
	assert_string_equal(sum.table.rows[1].lock, "kernel_lock");
	assert_int_equal(sum.table.spin_ns, a.spin_ns + b.spin_ns);
	lock_sum_clear(&sum);
}

static void
the_smallest_fall_out_and_totals_keep_them(void **state)
{
	struct lock_sum sum = { 0 };
	int64_t total = 0;
	int i, k;

	(void)state;
	for (i = 0; i < 20; i++) {
		struct lock_row rows[LOCK_ROWS_MAX];
		struct lock_table t;
		char name[32];

		for (k = 0; k < LOCK_ROWS_MAX; k++) {
			snprintf(name, sizeof name, "lock-%d-%d", i, k);
			rows[k] = row(name, "f", LOCK_SPIN, 1, 1 + i * LOCK_ROWS_MAX + k);
		}
		t = table("lockstat", rows, LOCK_ROWS_MAX);
		total += t.spin_ns;
		lock_sum_add(&sum, &t, 0.5, 1);
	}
	assert_int_equal(sum.table.nrows, LOCK_SUM_ROWS_MAX);
	assert_string_equal(sum.table.rows[0].lock, "lock-19-63");
	assert_int_equal(sum.table.spin_ns, total);
	lock_sum_clear(&sum);
}

static void
a_missing_reading_is_counted_and_adds_no_time(void **state)
{
	struct lock_row rows[] = { row("l", "c", LOCK_SPIN, 5, 10) };
	struct lock_table t = table("lockstat", rows, 1), none = t;
	struct lock_sum sum = { 0 };

	(void)state;
	missing(&none, "busy");
	lock_sum_add(&sum, &t, -1, 1);
	lock_sum_add(&sum, &none, 0.5, 1);
	assert_int_equal(sum.tables, 1);
	assert_int_equal(sum.tables_missing, 1);
	assert_int_equal(sum.table.window_us, 2 * SECOND_US);
	assert_int_equal(sum.busy_us, -1);
	assert_string_equal(sum.table.missing, "busy");
	lock_sum_clear(&sum);
}

static void
counts_past_the_end_stay_there(void **state)
{
	struct lock_row rows[] = { row("l", "c", LOCK_SPIN, INT64_MAX - 1, 10) };
	struct lock_table t = table("lockstat", rows, 1);
	struct lock_sum sum = { 0 };

	(void)state;
	lock_sum_add(&sum, &t, 0.5, 1);
	lock_sum_add(&sum, &t, 0.5, 1);
	assert_true(sum.table.spin_count == INT64_MAX && sum.table.rows[0].count == INT64_MAX);
	lock_sum_clear(&sum);
}

/* ---- hosts, attempts, files ---------------------------------------------------------------- */

static const struct host *
builder(const struct cluster *c, attempt_id *ret_id)
{
	size_t i, k;

	for (i = 0; i < c->nhosts; i++)
		for (k = 0; k < c->hosts[i]->nlive; k++) {
			const struct attempt *a = cluster_find_attempt(c, c->hosts[i]->live[k]);

			if (a->state != ATTEMPT_RUNNING)
				continue;
			*ret_id = a->id;
			return c->hosts[i];
		}
	fail_msg("no host builds");
	return NULL;
}

static void
shown(struct locks *locks, attempt_id id, int64_t spin_ns, size_t sources)
{
	const struct lock_sum *sums = NULL;
	struct err err;
	size_t n = 99;

	assert_int_equal(locks_of_attempt(locks, id, &sums, &n, &err), 0);
	assert_int_equal(n, sources);
	if (n > 0)
		assert_int_equal(sums[0].table.spin_ns, spin_ns);
}

static void
a_build_has_its_locks_after_its_end_and_a_restart(void **state)
{
	struct cluster *c = small_cluster();
	struct lock_row rows[] = { row("kernel lock % [(x=1)]", "exec+0x7\t", LOCK_SPIN, 5, 10) };
	struct lock_table t = table("lockstat", rows, 1), none = table("bpf", NULL, 0);
	struct locks *locks = locks_open(folder);
	const struct lock_seen *seen;
	attempt_id id = { 0 };
	const struct host *h = builder(c, &id);
	size_t n;

	(void)state;
	missing(&none, "not permitted");
	locks_take(locks, c, h, &t, c->now.mono);
	locks_take(locks, c, h, &none, c->now.mono);
	locks_take(locks, c, h, &t, c->now.mono);
	seen = locks_of_host(locks, h->name, &n);
	assert_int_equal(n, 2);
	assert_int_equal(seen[0].table.spin_ns, 10000000);
	assert_string_equal(seen[0].table.rows[0].caller, "exec+0x7\t");
	assert_string_equal(seen[1].table.missing, "not permitted");
	shown(locks, id, 20000000, 2);
	locks_close(locks);

	locks = locks_open(folder);
	assert_null(locks_of_host(locks, h->name, &n));
	assert_int_equal(n, 0);
	shown(locks, id, 20000000, 2);
	locks_take(locks, c, h, &t, c->now.mono);
	shown(locks, id, 30000000, 2);
	locks_ended(locks, id);
	shown(locks, id, 30000000, 2);
	shown(locks, (attempt_id){ 4711 }, 0, 0);
	locks_close(locks);
	cluster_destroy(c);
}

static void
a_window_that_began_before_the_build_is_not_its_own(void **state)
{
	struct cluster *c = small_cluster();
	struct lock_row rows[] = { row("kernel lock", "exec+0x7", LOCK_SPIN, 5, 10) };
	struct lock_table t = table("bpf", rows, 1);
	struct locks *locks = locks_open(folder);
	attempt_id id = { 0 };
	const struct host *h = builder(c, &id);
	struct attempt *a = cluster_find_attempt(c, id);
	char *path = mem_printf("%s/%" PRIu64 ".locks", folder, id.n);

	(void)state;
	remove(path); /* of the tests before */
	free(path);
	t.window_us = 30 * SECOND_US;
	t.age_us = SECOND_US;
	a->status_at = c->now.mono;
	a->status.elapsed_us = 30 * SECOND_US;
	locks_take(locks, c, h, &t, c->now.mono);
	shown(locks, id, 0, 0);
	locks_take(locks, c, h, &t, mono_add(c->now.mono, SECOND_US));
	shown(locks, id, 10000000, 1);
	locks_close(locks);
	cluster_destroy(c);
}

static void
a_damaged_file_is_told(void **state)
{
	char *path = mem_printf("%s/77.locks", folder);
	struct locks *locks = locks_open(folder);
	const struct lock_sum *sums;
	FILE *f = fopen(path, "w");
	struct err err;
	size_t n;

	(void)state;
	fputs("(table=(source=lockstat nonsense=1))\n", f);
	fclose(f);
	assert_int_equal(locks_of_attempt(locks, (attempt_id){ 77 }, &sums, &n, &err), -1);
	assert_non_null(strstr(err.text, "77.locks"));
	locks_close(locks);
	unlink(path);
	free(path);
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/flyball-locks.XXXXXX");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	char *command = mem_printf("rm -rf %s", folder);
	int rc = system(command);

	(void)state;
	free(command);
	return rc;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(the_smallest_fall_out_and_totals_keep_them),
		cmocka_unit_test(a_missing_reading_is_counted_and_adds_no_time),
		cmocka_unit_test(counts_past_the_end_stay_there),
		cmocka_unit_test(a_build_has_its_locks_after_its_end_and_a_restart),
		cmocka_unit_test(a_window_that_began_before_the_build_is_not_its_own),
		cmocka_unit_test(a_damaged_file_is_told),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
