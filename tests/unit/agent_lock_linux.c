/* The lock sources of Linux, on this kernel: under a storm in one folder they show it, and where the
 * machine does not let them, they say why. Also the parts that read what the kernel writes.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "agent/sense/lock_linux.h"
#include "agent/sense/lock_place.h"
#include "agent/sense/lock_rest.h"
#include "agent/sense/lock_text.h"
#include "agent/sense/perf_ring.h"
#include "proto/base/mem.h"

enum { STORM_SECONDS = 60 };

/* ---- a storm and a source that looks at it ---- */

struct watch {
	struct loop *loop;
	const char *lock; /* what a row must be, to be done */
	int64_t least_ns; /* of it, in all readings together */
	bool named; /* some such row had a caller */
	int readings;
	int64_t seen_ns;
	int64_t cost_ppm;
};

static const char *
build_folder(void)
{
	const char *build = getenv("FLYBALL_BUILD");

	return build != NULL ? build : "build/gcc";
}

static void
on_reading(void *arg, const struct lock_table *table)
{
	struct watch *w = arg;

	w->readings++;
	w->cost_ppm = table->cost_cpu_ppm;
	assert_true(table->window_us > 0);
	assert_true(table->cpus >= 1);
	assert_true(table->has_spin);
	assert_string_not_equal(table->coverage, "");
	for (size_t i = 0; i < table->nrows; i++) {
		if (strcmp(table->rows[i].lock, w->lock) != 0)
			continue;
		w->seen_ns += table->rows[i].wait_ns;
		w->named |= table->rows[i].caller[0] != '\0';
	}
	if (w->seen_ns >= w->least_ns && w->named && w->readings >= 2)
		loop_stop(w->loop);
}

static void
on_end(void *arg)
{
	loop_stop(arg);
}

static pid_t
start_storm(const char *folder)
{
	char *path = mem_printf("%s/tests/workloads/lockstorm", build_folder());
	char seconds[16];
	pid_t pid;

	snprintf(seconds, sizeof seconds, "%d", STORM_SECONDS);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)!freopen("/dev/null", "w", stdout);
		execl(path, "lockstorm", folder, "4", seconds, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	free(path);
	return pid;
}

static void
end_storm(pid_t pid, const char *folder)
{
	char *command = mem_printf("rm -rf '%s'", folder);
	int status;

	kill(pid, SIGTERM); /* its processes end with it */
	waitpid(pid, &status, 0);
	/* One that ends in this moment may leave a file behind: only then is there another try. */
	for (int i = 0; i < 100 && (system(command) != 0 || access(folder, F_OK) == 0); i++)
		usleep(10000);
	free(command);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

/* False, with a sentence, when the source does not open here. */
static bool
watch_storm(const struct lock_source *source, struct watch *w, struct err *err)
{
	struct lock_settings settings = { .every_us = SECOND_US, .window_us = SECOND_US };
	char folder[] = "/tmp/lockstorm.XXXXXX";
	struct loop_watch *end;
	void *self;
	pid_t storm;

	snprintf(settings.helpers, sizeof settings.helpers, "%s/bin", build_folder());
	w->loop = loop_create();
	self = source->open(w->loop, &settings, on_reading, w, err);
	if (self == NULL) {
		loop_destroy(w->loop);
		return false;
	}
	assert_non_null(mkdtemp(folder));
	storm = start_storm(folder);
	end = loop_timer_add(w->loop, STORM_SECONDS * SECOND_US, 0, on_end, w->loop);
	loop_run(w->loop);
	loop_remove(end);
	source->close(self);
	end_storm(storm, folder);
	loop_destroy(w->loop);
	return true;
}

/* A sentence names what an operator can turn. */
static void
assert_says_why(const struct err *err)
{
	static const char *const reasons[] = { "kernel.perf_event_paranoid", "kernel.kptr_restrict",
		"CONFIG_PERF_EVENTS", "CONFIG_KALLSYMS", "/proc/kallsyms", "CAP_BPF",
		"CONFIG_BPF_SYSCALL", "deploy/deps.sh bpf", "cpu-clock" };

	print_message("# not here: %s\n", err->text);
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (strstr(err->text, reasons[i]) != NULL)
			return;
	fail_msg("expected a sentence that says what to do, got: %s", err->text);
}

/* A waiter that spins needs another CPU, on which the owner runs. */
static void
profile_shows_who_spins_for_a_folder(void **state)
{
	bool spins = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	struct watch w = { .lock = "rwsem_spin_on_owner", .least_ns = 50000000 };
	struct err err;

	(void)state;
	if (!spins)
		w = (struct watch){ .lock = "", .named = true };
	if (!watch_storm(&lock_profile, &w, &err)) {
		assert_says_why(&err);
		return;
	}
	assert_true(w.readings >= 2);
	assert_true(w.cost_ppm >= 0);
	if (spins) {
		assert_true(w.seen_ns >= w.least_ns);
		assert_true(w.named);
	}
}

static void
bpf_shows_who_waits_for_a_folder(void **state)
{
	struct watch w = { .lock = "rwsem:W", .least_ns = SECOND_US * 1000 };
	struct err err;

	(void)state;
	if (!watch_storm(&lock_bpf, &w, &err)) {
		assert_says_why(&err);
		return;
	}
	assert_true(w.seen_ns >= w.least_ns);
	assert_true(w.named);
}

/* ---- sources that cannot open ---- */

static void
who_may_not_sample_is_told_what_to_do(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct lock_settings settings = { .every_us = SECOND_US };
		struct err err = { "" };
		void *self;

		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(0); /* a machine without other users */
		self = lock_profile.open(loop_create(), &settings, on_reading, NULL, &err);
		_exit(self == NULL && strstr(err.text, "kernel.kptr_restrict") == NULL &&
		      strstr(err.text, "kernel.perf_event_paranoid") == NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
a_helper_that_is_missing_or_says_nothing_is_named(void **state)
{
	struct lock_settings settings = { .every_us = SECOND_US };
	char folder[] = "/tmp/lockhelper.XXXXXX";
	struct loop *loop = loop_create();
	char *path;
	struct err err;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	mem_copy_text(settings.helpers, sizeof settings.helpers, folder);
	path = mem_printf("%s/flyball-lock-bpf", folder);
	assert_null(lock_bpf.open(loop, &settings, on_reading, NULL, &err));
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "make install"));

	f = fopen(path, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\nexit 0\n", f);
	fclose(f);
	chmod(path, 0755);
	assert_null(lock_bpf.open(loop, &settings, on_reading, NULL, &err));
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "ended without a word"));
	unlink(path);
	rmdir(folder);
	free(path);
	loop_destroy(loop);
}

/* ---- parts ---- */

static struct lock_row
row(const char *lock, const char *caller, int64_t ns)
{
	struct lock_row r = { .kind = LOCK_SPIN, .count = 1, .wait_ns = ns };

	mem_copy_text(r.lock, sizeof r.lock, lock);
	mem_copy_text(r.caller, sizeof r.caller, caller);
	return r;
}

static void
callers_without_a_name_are_one_row_a_lock(void **state)
{
	const struct lock_row rows[] = { row("a", "f+0x1", 5), row("a", "", 3), row("b", "", 2),
		row("a", "", 4) };
	struct lock_rest rest = { 0 };
	struct lock_table table = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_true(lock_rest_add(&rest, &table, &rows[i]));
	assert_true(lock_rest_move(&rest, &table));
	assert_int_equal(table.nrows, 3);
	assert_int_equal(table.spin_ns, 14);
	assert_int_equal(table.spin_count, 4);
	assert_int_equal(table.rows[0].wait_ns, 7);
	assert_int_equal(table.rows[0].count, 2);
	lock_table_clear(&table);
}

struct heard {
	int samples;
	size_t n;
	uint64_t last;
};

static void
on_sample(void *arg, const uint64_t *frames, size_t n)
{
	struct heard *h = arg;

	h->samples++;
	h->n = n;
	h->last = n > 0 ? frames[n - 1] : 0;
}

/* As the kernel writes into a ring of two pages: the words of a record, round the end. */
static void
write_words(struct perf_event_mmap_page *page, const uint64_t *words, size_t n)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *data = (uint64_t *)((char *)page + bytes);

	for (size_t i = 0; i < n; i++, page->data_head += 8)
		data[page->data_head / 8 % (2 * bytes / 8)] = words[i];
}

static uint64_t
header(uint32_t type, uint16_t size)
{
	struct perf_event_header h = { .type = type, .size = size };
	uint64_t word;

	memcpy(&word, &h, sizeof word);
	return word;
}

static void
a_ring_is_read_round_its_end_and_what_is_lost_counts(void **state)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_ring ring = { -1, mem_calloc(3, bytes) };
	struct perf_event_mmap_page *page = ring.page;
	const uint64_t sample[] = { header(PERF_RECORD_SAMPLE, 32), 2, 0x11, 0x22 };
	const uint64_t lost[] = { header(PERF_RECORD_LOST, 24), 1, 7 };
	const uint64_t too_long[] = { header(PERF_RECORD_SAMPLE, 24), 99, 0x33 };
	const uint64_t mad[] = { header(PERF_RECORD_SAMPLE, 0), 0 };
	struct heard h = { 0 };

	(void)state;
	page->data_head = page->data_tail = 2 * bytes - 16; /* two words before the end */
	write_words(page, sample, 4);
	write_words(page, lost, 3);
	assert_int_equal(perf_ring_drain(&ring, on_sample, &h), 7);
	assert_int_equal(h.samples, 1);
	assert_int_equal(h.n, 2);
	assert_int_equal(h.last, 0x22);
	write_words(page, too_long, 3);
	write_words(page, sample, 4);
	assert_int_equal(perf_ring_drain(&ring, on_sample, &h), 0);
	assert_int_equal(h.samples, 2);
	write_words(page, mad, 2);
	assert_int_equal(perf_ring_drain(&ring, on_sample, &h), 0);
	assert_int_equal(page->data_tail, page->data_head);
	assert_int_equal(h.samples, 2);
	free(ring.page);
}

static void
a_function_that_spins_goes_before_its_section(void **state)
{
	const struct lock_places places = { .n = 2,
		.places = { { 100, 200, NULL }, { 150, 160, "osq_lock" } } };

	(void)state;
	assert_null(lock_places_at(&places, 99));
	assert_null(lock_places_at(&places, 200));
	assert_null(lock_places_at(&places, 149)->spins);
	assert_string_equal(lock_places_at(&places, 150)->spins, "osq_lock");
	assert_null(lock_places_at(&places, 160)->spins);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_spins_goes_before_its_section),
		cmocka_unit_test(a_ring_is_read_round_its_end_and_what_is_lost_counts),
		cmocka_unit_test(callers_without_a_name_are_one_row_a_lock),
		cmocka_unit_test(a_helper_that_is_missing_or_says_nothing_is_named),
		cmocka_unit_test(who_may_not_sample_is_told_what_to_do),
		cmocka_unit_test(profile_shows_who_spins_for_a_folder),
		cmocka_unit_test(bpf_shows_who_waits_for_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
