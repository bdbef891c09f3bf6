/* Lock sources: which are opened by which names; programs that print tables, hang, fail or flood, run for
 * real on a loop; what a window costs; and what becomes of tables in the load that is reported.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <errno.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/sense/lock.h"
#include "agent/sense/lock_cost.h"
#include "agent/sense/lock_last.h"
#include "agent/sense/lock_text.h"
#include "proto/base/mem.h"

enum { PATIENCE_S = 60 };

#define PRINT "echo 'Elapsed time: 2.00 seconds.'; echo; echo '-- Kernel lock spin'; echo; "
#define ROW "echo '100.00 7 500.00 kernel_lock <all>'; "

/* ---- running programs ---- */

struct heard {
	struct loop *loop;
	int want, n;
	bool late;
	struct lock_table last; /* without its rows */
	struct lock_row row;
};

static void
on_reading(void *arg, const struct lock_table *table)
{
	struct heard *heard = arg;

	heard->last = *table;
	heard->last.rows = NULL;
	if (table->nrows > 0)
		heard->row = table->rows[0];
	if (++heard->n >= heard->want)
		loop_stop(heard->loop);
}

static void
on_late(void *arg)
{
	struct heard *heard = arg;

	heard->late = true;
	loop_stop(heard->loop);
}

/* Until it has said so much. */
static struct heard
hear_source(const char *name, const struct lock_settings *settings, int want)
{
	struct heard heard = { .loop = loop_create(), .want = want };
	struct loop_watch *late =
	    loop_timer_add(heard.loop, PATIENCE_S * SECOND_US, 0, on_late, &heard);
	struct err err;
	struct locks *locks = locks_open(heard.loop, name, settings, on_reading, &heard, &err);

	if (locks == NULL)
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
	loop_run(heard.loop);
	locks_close(locks);
	loop_remove(late);
	loop_destroy(heard.loop);
	assert_false(heard.late);
	return heard;
}

static struct heard
hear(const char *command, int64_t every_us, int64_t window_us, int want)
{
	struct lock_settings settings = { .every_us = every_us, .window_us = window_us };

	assert_true(mem_copy_text(settings.command, sizeof settings.command, command));
	return hear_source("command", &settings, want);
}

static void
test_a_program_gives_readings_again_and_again(void **state)
{
	struct heard h = hear(PRINT ROW, 50000, 2 * SECOND_US, 3);

	(void)state;
	assert_string_equal(h.last.missing, "");
	assert_string_equal(h.last.source, "command");
	assert_int_equal(h.last.spin_count, 7);
	assert_int_equal(h.last.spin_ns, 500000000);
	assert_int_equal(h.last.window_us, 2 * SECOND_US);
	assert_string_equal(h.row.lock, "kernel_lock");
	assert_int_equal(h.last.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(h.last.age_us >= 0);
	assert_true(h.last.cost_cpu_ppm >= 0);
	assert_int_equal(h.last.cost_steps_ppm, -1);
}

static void
test_what_a_program_costs_is_told(void **state)
{
	/* it computes for a while; how long that takes is not asserted, only that it is not nothing */
	struct heard h = hear(
	    "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; " PRINT ROW, 50000, SECOND_US, 1);

	(void)state;
	assert_string_equal(h.last.missing, "");
	assert_true(h.last.cost_cpu_ppm > 0);
}

static void
test_a_window_is_handed_to_the_program(void **state)
{
	struct heard h = hear(PRINT "echo \"100.00 $1 1.00 lock <all>\"", 50000, 3 * SECOND_US, 1);

	(void)state;
	assert_int_equal(h.last.spin_count, 3);
}

static void
test_failures_are_reasons(void **state)
{
	static const struct {
		const char *what, *command, *says;
	} cases[] = {
		{ "nothing", ":", "printed nothing" },
		{ "not there", "flyball-no-such-program", "not installed" },
		{ "a failure with a table", PRINT ROW "exit 3", "exit code 3" },
		{ "a failure that speaks", "echo 'it hurts' >&2; exit 9", "it said \"it hurts\"" },
		{ "a failure that is known",
		    "echo 'lockstat: cannot open /dev/lockstat: Device busy' >&2; exit 1",
		    "one at a time" },
		{ "a signal", "kill -9 $$", "signal 9" },
		{ "a flood", "exec yes", "more than 1 MiB" },
		{ "half a table", PRINT "printf '100.00 7 500.00 kernel_lock <a'", "ends within" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct heard h = hear(cases[i].command, SECOND_US, SECOND_US, 1);

		if (strstr(h.last.missing, cases[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].what, h.last.missing,
			    cases[i].says);
		assert_false(h.last.has_spin);
		assert_int_equal(h.last.spin_ns, 0);
	}
}

static void
test_a_program_that_hangs_is_ended_at_its_deadline(void **state)
{
	/* a window below zero brings the deadline near */
	struct heard h = hear("sleep 1000", SECOND_US, -29 * SECOND_US, 1);

	(void)state;
	assert_non_null(strstr(h.last.missing, "did not end"));
}

/* ---- tools of other systems, by stand-ins in PATH that know their flags ---- */

static char folder[64];

static void
put_program(const char *name, const char *script)
{
	char *path = mem_printf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\ncd \"%s\" || exit 99\n%s", folder, script);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
}

static bool
there_is(const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static int
make_folder(void **state)
{
	char *path;

	(void)state;
	snprintf(folder, sizeof folder, "/tmp/flyball-lock.XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	path = mem_printf("%s:%s", folder, getenv("PATH"));
	setenv("PATH", path, 1);
	free(path);
	return 0;
}

static int
remove_folder(void **state)
{
	static const char *const names[] = { "lockstat", "sysctl", "cleared", "reset", "on" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *path = mem_printf("%s/%s", folder, names[i]);

		(void)unlink(path);
		free(path);
	}
	return rmdir(folder);
}

static bool
may_be_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("these sources are for root alone, which this test is not\n");
	return false;
}

static const struct lock_settings often = { .every_us = 50000, .window_us = 2 * SECOND_US };

static void
test_lockstat_left_enabled_by_a_crash_is_cleared(void **state)
{
	struct heard h;

	(void)state;
	if (!may_be_root())
		return;
	put_program("lockstat",
	    "case $* in\n-d) : > cleared ;;\n'-T kernel_lock -l sleep 2')\n"
	    "[ -e cleared ] || { echo 'lockstat: cannot enable tracing: Device busy' >&2; exit 1; "
	    "}\n" PRINT "\n" ROW "\n;;\n*) echo \"bad flags: $*\"; exit 9 ;;\nesac\n");
	h = hear_source("lockstat", &often, 1);
	assert_non_null(strstr(h.last.missing, "lockstat -d"));
	assert_false(there_is("cleared")); /* that is for the next window to do */
	h = hear_source("lockstat", &often, 2);
	assert_string_equal(h.last.missing, "");
	assert_string_equal(h.last.source, "lockstat");
	assert_int_equal(h.last.spin_ns, 500000000);
}

static void
test_lock_profiling_is_on_in_its_window_alone(void **state)
{
	struct heard h;

	(void)state;
	if (!may_be_root())
		return;
	put_program("sysctl",
	    "for w; do case $w in\n-n) ;;\n"
	    "debug.lock.prof.enable) [ -e on ] && echo 1 || echo 0 ;;\n"
	    "debug.lock.prof.enable=1) : > on ;;\ndebug.lock.prof.enable=0) rm -f on ;;\n"
	    "debug.lock.prof.reset=1) : > reset ;;\n"
	    "debug.lock.prof.stats) [ -e on ] || exit 1; echo\n"
	    "echo 'max wait_max total wait_total count avg wait_avg cnt_hold cnt_lock name'\n"
	    "echo '1 2 3 900 5 6 7 0 8 a.c:1 (spin mutex:sched lock)' ;;\n"
	    "*) echo \"bad: $*\"; exit 9 ;;\nesac; done\n");
	h = hear_source("lock_prof", &often, 1);
	assert_string_equal(h.last.missing, "");
	assert_int_equal(h.last.spin_count, 8);
	assert_int_equal(h.last.spin_ns, 900000);
	assert_true(there_is("reset"));
	assert_false(there_is("on"));
	put_program("on", "");
	h = hear_source("lock_prof", &often, 1);
	assert_non_null(strstr(h.last.missing, "somebody else"));
	assert_true(there_is("on")); /* theirs stays as it is */
}

/* What a closed source leaves behind would be a child of ours, or hold the pipe open. */
static void
test_closing_ends_the_program_and_all_that_it_started(void **state)
{
	struct heard heard = { .loop = loop_create(), .want = 1 };
	struct lock_settings settings = { .every_us = SECOND_US, .window_us = SECOND_US };
	int ends[2];
	struct err err;
	struct locks *locks;
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0); /* the program inherits it: it ends when all are gone */
	snprintf(settings.command, sizeof settings.command,
	    "trap '' TERM; (trap '' TERM; exec sleep 1000) & echo x >&%d; wait", ends[1]);
	locks = locks_open(heard.loop, "command", &settings, on_reading, &heard, &err);
	assert_non_null(locks);
	loop_fd_add(heard.loop, ends[0], LOOP_READ, on_late, &heard);
	loop_run(heard.loop);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[1]);
	locks_close(locks);
	while (read(ends[0], &byte, 1) > 0) /* would hang on what lives on */
		continue;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(ends[0]);
	loop_destroy(heard.loop);
}

/* ---- names ---- */

static void
test_names(void **state)
{
	struct loop *loop = loop_create();
	struct lock_settings settings = { .every_us = SECOND_US, .window_us = SECOND_US };
	struct err err;
	struct locks *locks;

	(void)state;
	assert_true(locks_names_ok("auto", &err));
	assert_true(locks_names_ok("none", &err));
	assert_true(locks_names_ok("lockstat,command", &err));
	assert_false(locks_names_ok("lockstad", &err));
	assert_non_null(strstr(err.text, "\"lockstad\""));
	assert_non_null(strstr(err.text, "command"));
	assert_false(locks_names_ok("", &err));
	assert_false(locks_names_ok("command,", &err));
	assert_null(locks_open(loop, "none", &settings, on_reading, NULL, &err));
	assert_string_equal(err.text, "");
	assert_null(locks_open(loop, "command", &settings, on_reading, NULL, &err));
	assert_non_null(strstr(err.text, "lock_command is not set"));
	mem_copy_text(settings.command, sizeof settings.command, "true");
	locks = locks_open(loop, "lock_prof,command", &settings, on_reading, NULL, &err);
	assert_non_null(locks);
	assert_string_equal(locks_name(locks, locks_name(locks, 1) != NULL), "command");
	locks_close(locks);
	loop_destroy(loop);
}

/* ---- cost ---- */

static bool
windows(struct lock_cost *cost, int n, double within, unsigned seed)
{
	mono_us now = { 0 };
	double steps = 0;

	srand(seed);
	for (int i = 0; i < n; i++) {
		for (int s = 0; s < 30; s++) {
			bool in = s > 0 && s < 5;

			if (s == 0 || s == 5)
				lock_cost_window(cost, s == 0);
			now = mono_add(now, SECOND_US);
			steps += (in ? within : 1) * (95 + rand() % 11);
			lock_cost_steps(cost, now, (int64_t)steps);
		}
	}
	return lock_cost_too_high(cost);
}

static void
test_a_window_that_costs_nothing_is_left_alone(void **state)
{
	struct lock_cost cost = { 0 };

	(void)state;
	assert_int_equal(lock_cost_ppm(&cost), -1);
	assert_false(windows(&cost, 40, 1, 7));
	assert_in_range(lock_cost_ppm(&cost), 0, 10000);
}

static void
test_a_window_that_costs_a_tenth_is_found(void **state)
{
	struct lock_cost cost = { 0 };

	(void)state;
	assert_true(windows(&cost, 40, 0.9, 7));
	assert_int_equal(lock_cost_ppm(&cost), -1); /* what was learned belongs to the old pace */
}

static void
test_steps_that_go_back_or_stand_still_say_nothing(void **state)
{
	struct lock_cost cost = { 0 };
	mono_us now = { 0 };

	(void)state;
	for (int i = 0; i < 400; i++) {
		if (i % 10 == 0 || i % 10 == 5)
			lock_cost_window(&cost, i % 10 == 0);
		now = mono_add(now, SECOND_US);
		lock_cost_steps(&cost, now, i < 200 ? 1000 - i : 5);
	}
	assert_int_equal(lock_cost_ppm(&cost), -1);
}

/* ---- what is reported ---- */

static struct lock_table
table_of(const char *source, int64_t spin_ns)
{
	struct lock_table t = { .window_us = 2 * SECOND_US,
		.age_us = SECOND_US,
		.cpus = 4,
		.has_spin = true,
		.spin_ns = spin_ns };

	mem_copy_text(t.source, sizeof t.source, source);
	return t;
}

static mono_us
at(int64_t s)
{
	return (mono_us){ s * SECOND_US };
}

static void
begin_last(struct lock_last *last)
{
	lock_last_init(last, 30 * SECOND_US);
	lock_last_source(last, "profile");
	lock_last_source(last, "bpf");
}

static void
test_a_table_becomes_a_share_that_ages_and_ends(void **state)
{
	struct lock_last last;
	struct load load = { 0 };
	struct lock_table t = table_of("profile", INT64_C(2000000000)),
			  lost = { .source = "profile", .missing = "busy" };

	(void)state;
	begin_last(&last);
	lock_last_fill(&last, at(0), &load);
	assert_false(load_has(&load, LOAD_SPIN));
	assert_true(lock_last_take(&last, at(100), &t));
	lock_last_fill(&last, at(103), &load);
	assert_true(load_has(&load, LOAD_SPIN));
	assert_false(load_has(&load, LOAD_LOCK_SLEEP)); /* it does not tell */
	assert_true(
	    load.readings[LOAD_SPIN].value > 0.2499 && load.readings[LOAD_SPIN].value < 0.2501);
	assert_int_equal(load.readings[LOAD_SPIN].window_us, 2 * SECOND_US);
	assert_int_equal(load.readings[LOAD_SPIN].age_us, 4 * SECOND_US);
	(void)lock_last_take(&last, at(130), &lost); /* a lost reading takes nothing away */
	lock_last_fill(&last, at(161), &load);
	assert_true(load_has(&load, LOAD_SPIN));
	lock_last_fill(&last, at(162), &load);
	assert_false(load_has(&load, LOAD_SPIN));
}

static void
test_the_first_source_counts_while_it_is_fresh(void **state)
{
	struct lock_last last;
	struct load load = { 0 };
	struct lock_table first = table_of("profile", 4000000), second = table_of("bpf", 8000000);

	(void)state;
	begin_last(&last);
	second.has_sleep = true;
	second.sleep_ns = INT64_C(16000000000);
	(void)lock_last_take(&last, at(100), &first);
	(void)lock_last_take(&last, at(150), &second);
	lock_last_fill(&last, at(150), &load);
	assert_true(load.readings[LOAD_SPIN].value < 0.00051);
	assert_true(load.readings[LOAD_LOCK_SLEEP].value > 1.99); /* may pass 1 */
	lock_last_fill(&last, at(180), &load);
	assert_true(load.readings[LOAD_SPIN].value > 0.00099);
}

static void
test_a_table_that_cannot_be_divided_is_no_reading(void **state)
{
	struct lock_last last;
	struct load load = { 0 };
	struct lock_table t = table_of("profile", 5);

	(void)state;
	begin_last(&last);
	t.window_us = 0;
	(void)lock_last_take(&last, at(1), &t);
	t = table_of("profile", 5);
	t.cpus = 0;
	(void)lock_last_take(&last, at(1), &t);
	t = table_of("stranger", 5);
	assert_false(lock_last_take(&last, at(1), &t));
	lock_last_fill(&last, at(1), &load);
	assert_false(load_has(&load, LOAD_SPIN));
}

static void
test_tables_are_sent_each_ten_seconds_and_when_they_begin_to_fail(void **state)
{
	struct lock_last last;
	struct lock_table t = table_of("profile", 5),
			  lost = { .source = "profile", .missing = "busy" };
	int sent = 0;

	(void)state;
	begin_last(&last);
	for (int s = 0; s < 60; s++)
		sent += lock_last_take(&last, at(s), &t);
	assert_int_equal(sent, 6);
	assert_true(lock_last_take(&last, at(60), &lost));
	assert_false(lock_last_take(&last, at(61), &lost));
	assert_true(lock_last_take(&last, at(62), &t));
	assert_true(lock_last_news(&last, &lost));
	assert_false(lock_last_news(&last, &lost));
	assert_false(lock_last_news(&last, &t));
	mem_copy_text(lost.missing, sizeof lost.missing, "no device");
	assert_true(lock_last_news(&last, &lost));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_gives_readings_again_and_again),
		cmocka_unit_test(test_what_a_program_costs_is_told),
		cmocka_unit_test(test_a_window_is_handed_to_the_program),
		cmocka_unit_test(test_failures_are_reasons),
		cmocka_unit_test(test_a_program_that_hangs_is_ended_at_its_deadline),
		cmocka_unit_test(test_closing_ends_the_program_and_all_that_it_started),
		cmocka_unit_test(test_lockstat_left_enabled_by_a_crash_is_cleared),
		cmocka_unit_test(test_lock_profiling_is_on_in_its_window_alone),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_window_that_costs_nothing_is_left_alone),
		cmocka_unit_test(test_a_window_that_costs_a_tenth_is_found),
		cmocka_unit_test(test_steps_that_go_back_or_stand_still_say_nothing),
		cmocka_unit_test(test_a_table_becomes_a_share_that_ages_and_ends),
		cmocka_unit_test(test_the_first_source_counts_while_it_is_fresh),
		cmocka_unit_test(test_a_table_that_cannot_be_divided_is_no_reading),
		cmocka_unit_test(test_tables_are_sent_each_ten_seconds_and_when_they_begin_to_fail),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
