/* What an agent keeps on disk, and the places it gives to builds.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/order.h"
#include "agent/runner_place.h"
#include "agent/spool.h"
#include "proto/base/mem.h"

static char top[64];

static int
make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof top, "/tmp/flyball-spool.XXXXXX");
	return mkdtemp(top) == NULL;
}

static int
remove_one(const char *path, const struct stat *facts, int flag, struct FTW *ftw)
{
	(void)facts;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int
remove_top(void **state)
{
	(void)state;
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char *
path_of(const char *name)
{
	return mem_printf("%s/%s", top, name);
}

static void
put_file(const char *name, const char *text)
{
	char *path = path_of(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static struct spool *
open_spool(void)
{
	struct err err;
	char *path = path_of("deep/state");
	struct spool *spool = spool_open(path, &err);

	if (spool == NULL)
		fail_msg("%s", err.text);
	free(path);
	return spool;
}

static void
test_epoch_and_limit_come_back(void **state)
{
	struct spool *spool = open_spool();
	uint64_t epoch = 1;
	int32_t limit = 1;
	struct err err;

	(void)state;
	assert_int_equal(spool_recall(spool, &epoch, &limit, &err), 0);
	assert_int_equal(epoch, 0);
	assert_int_equal(limit, 0);
	assert_int_equal(spool_keep(spool, UINT64_MAX, 480, &err), 0);
	spool_close(spool);
	spool = open_spool();
	assert_int_equal(spool_recall(spool, &epoch, &limit, &err), 0);
	assert_true(epoch == UINT64_MAX);
	assert_int_equal(limit, 480);
	spool_close(spool);
}

/* Logs and orders are the operators' to show. */
static void
test_others_cannot_look_into_attempts(void **state)
{
	mode_t mask = umask(0);
	struct spool *spool = open_spool();
	char *path = path_of("deep/state/attempts"),
	     *folder = spool_folder(spool, (attempt_id){ 7 });
	struct stat facts;
	struct err err;

	(void)state;
	assert_int_equal(spool_add(spool, (attempt_id){ 7 }, &err), 0);
	umask(mask);
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0750);
	assert_int_equal(stat(folder, &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0750);
	free(path);
	free(folder);
	spool_close(spool);
}

static void
test_a_damaged_file_of_them_is_named(void **state)
{
	static const char *const texts[] = { "", "epoch=\n", "epoch=3\n", "epoch=3\nlimit=9999\n" };
	struct spool *spool = open_spool();
	uint64_t epoch;
	int32_t limit;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct err err;

		put_file("deep/state/kept", texts[i]);
		assert_int_equal(spool_recall(spool, &epoch, &limit, &err), -1);
		assert_non_null(strstr(err.text, "state/kept is malformed"));
	}
	spool_close(spool);
}

static void
test_two_agents_never_share_a_folder(void **state)
{
	struct spool *spool = open_spool();
	char *path = path_of("deep/state"), expect[64];
	int status;
	pid_t pid;

	(void)state;
	snprintf(expect, sizeof expect, "process %ld", (long)getpid());
	pid = fork();
	if (pid == 0) {
		struct err err = { "" };

		_exit(spool_open(path, &err) == NULL && strstr(err.text, expect) != NULL ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	spool_close(spool);
	spool = open_spool(); /* and it is free again */
	spool_close(spool);
	free(path);
}

static void
test_attempts_are_listed_in_order_and_removed_whole(void **state)
{
	static const uint64_t ids[] = { 10, 9, 123 };
	struct spool *spool = open_spool();
	attempt_id *list;
	struct err err;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(spool_add(spool, (attempt_id){ ids[i] }, &err), 0);
	put_file("deep/state/attempts/012", "no attempt");
	put_file("deep/state/attempts/x", "no attempt");
	put_file("deep/state/attempts/9/log", "text");
	assert_int_equal(spool_list(spool, &list, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[0].n, 9);
	assert_int_equal(list[2].n, 123);
	free(list);
	assert_int_equal(spool_remove(spool, (attempt_id){ 9 }, &err), 0);
	assert_int_equal(spool_remove(spool, (attempt_id){ 9 }, &err), 0);
	assert_int_equal(spool_list(spool, &list, &n, &err), 0);
	assert_int_equal(n, 2);
	free(list);
	spool_close(spool);
}

static void
test_a_refused_attempt_is_kept_as_a_result(void **state)
{
	struct spool *spool = open_spool();
	struct message_start start = { .id = { 4 }, .fence = 6 };
	struct message_attempt back;
	char *folder = spool_folder(spool, start.id);
	struct err err;
	bool there;

	(void)state;
	assert_int_equal(spool_add_refused(spool, &start, "no room", &err), 0);
	assert_int_equal(result_read(folder, &back, &there, &err), 0);
	assert_true(there);
	assert_int_equal(back.result.outcome, OUTCOME_REFUSED);
	assert_int_equal(back.status.fence, 6);
	assert_string_equal(back.result.reason, "no room");
	free(folder);
	spool_close(spool);
}

static void
test_a_log_is_read_from_anywhere(void **state)
{
	struct spool *spool = open_spool();
	const attempt_id id = { 1 };
	struct err err;
	char buf[16];
	size_t n = 99;

	(void)state;
	assert_int_equal(spool_add(spool, id, &err), 0);
	assert_int_equal(spool_log_size(spool, id), 0);
	assert_int_equal(spool_log_read(spool, id, 0, buf, sizeof buf, &n, &err), 0);
	assert_int_equal(n, 0);
	put_file("deep/state/attempts/1/log", "0123456789");
	assert_int_equal(spool_log_size(spool, id), 10);
	assert_int_equal(spool_log_read(spool, id, 7, buf, sizeof buf, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_memory_equal(buf, "789", 3);
	assert_int_equal(spool_log_read(spool, id, 70, buf, sizeof buf, &n, &err), 0);
	assert_int_equal(n, 0);
	spool_close(spool);
}

static void
test_phases_come_back_up_to_the_first_that_is_damaged(void **state)
{
	const struct phase_mark marks[] = {
		{ .name = "copy", .source = MARK_RECIPE, .at_us = 5 },
		{ .name = "lib",
		    .source = MARK_LOG,
		    .at_us = 6,
		    .log_offset = 7,
		    .steps = 8,
		    .usage = { .user_us = 9, .minor_faults = 10, .involuntary_switches = -1 } },
	};
	struct spool *spool = open_spool();
	struct phase_mark back[4];
	struct err err;

	(void)state;
	assert_int_equal(spool_phases_read(spool, (attempt_id){ 1 }, back, 4), 0);
	assert_int_equal(spool_add(spool, (attempt_id){ 1 }, &err), 0);
	assert_int_equal(spool_phases_write(spool, (attempt_id){ 1 }, marks, 2, &err), 0);
	assert_int_equal(spool_phases_read(spool, (attempt_id){ 1 }, back, 4), 2);
	assert_string_equal(back[1].name, "lib");
	assert_int_equal(back[1].steps, 8);
	assert_memory_equal(&back[1].usage, &marks[1].usage, sizeof back[1].usage);
	assert_int_equal(spool_phases_read(spool, (attempt_id){ 1 }, back, 1), 1);
	put_file("deep/state/attempts/1/phases", "1 2 3 4 good\n1 2 x 4 bad\n1 2 3 4 good\n");
	assert_int_equal(spool_phases_read(spool, (attempt_id){ 1 }, back, 4), 1);
	assert_int_equal(back[0].usage.user_us, -1); /* an older agent's: it is not known */
	put_file("deep/state/attempts/1/phases", "1 2 3 4 ../bad\n");
	assert_int_equal(spool_phases_read(spool, (attempt_id){ 1 }, back, 4), 0);
	spool_close(spool);
}

/* ---- places ---- */

static void
test_a_source_is_found_under_the_roots_and_nowhere_else(void **state)
{
	static const struct {
		const char *what, *source, *expect;
	} cases[] = {
		{ "a name under the first root", "a", "one/a" },
		{ "a name under the second", "b", "two/b" },
		{ "one under both is the first's", "both", "one/both" },
		{ "deeper", "a/deep", "one/a/deep" },
		{ "a link that stays inside", "inside", "one/a" },
		{ "a link to the other root is outside of this one", "across", NULL },
		{ "a link that leads out", "out", NULL },
		{ "..", "a/../a", NULL },
		{ "..", "..", NULL },
		{ "one that is not there", "c", NULL },
		{ "a file", "file", NULL },
		{ "nothing", "", NULL },
		{ "an absolute path elsewhere", "/etc", NULL },
		{ "an absolute path whose name begins like a root", "/onetwo", NULL },
	};
	char *one = path_of("one"), *two = path_of("two"), *list[2] = { one, two };
	const struct config_list roots = { 2, list };
	static const char *const folders[] = { "one", "two", "out", "onetwo", "one/a", "one/a/deep",
		"one/both", "two/b", "two/both", "two/b/x" };
	char found[SOURCE_SIZE], *path;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		path = path_of(folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
		free(path);
	}
	put_file("one/file", "");
	assert_int_equal(chdir(one), 0);
	assert_int_equal(
	    symlink("a", "inside") | symlink("../out", "out") | symlink("../two/b/x", "across"), 0);
	assert_int_equal(chdir("/"), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool good = place_source(&roots, cases[i].source, found, &err) == 0;

		path = path_of(cases[i].expect != NULL ? cases[i].expect : "");
		if (good != (cases[i].expect != NULL) || (good && strcmp(found, path) != 0))
			fail_msg("%s: %s", cases[i].what, good ? found : err.text);
		free(path);
	}
	path = path_of("two/b");
	assert_int_equal(place_source(&roots, path, found, &err), 0);
	assert_string_equal(found, path);
	free(path);
	path = path_of("onetwo");
	assert_int_equal(place_source(&roots, path, found, &err), -1);
	assert_non_null(strstr(err.text, "source_roots"));
	free(path);
	free(one);
	free(two);
}

static struct config
config_in_top(char **root)
{
	return (struct config){ .work = top,
		.source_roots = { 1, root },
		.log_cap_bytes = 1 << 20,
		.disk_floor_bytes = 1 << 20 };
}

static void
test_an_order_has_its_own_places(void **state)
{
	char *root = top, *program = mem_strdup("/bin/sh");
	const struct config config = config_in_top(&root);
	const struct recipe recipe = { .name = "r", .program = program };
	struct message_start start = {
		.id = { 3 }, .branch = "b", .target = "t", .source = "s", .jobs_max = 12
	};
	char *source = path_of("s"), *work = path_of("attempt-3"), *out = path_of("out/b/t");
	struct order order;
	struct err err;

	(void)state;
	assert_int_equal(mkdir(source, 0755), 0);
	assert_int_equal(place_order(&config, &recipe, &start, 5, &order, &err), 0);
	assert_string_equal(order.source, source);
	assert_string_equal(order.work, work);
	assert_string_equal(order.out, out);
	assert_int_equal(order.limit, 5);
	assert_int_equal(order.ceiling, 12);
	assert_int_equal(access(work, F_OK), -1); /* nothing was changed */
	start.need_disk_bytes = INT64_C(1) << 60;
	assert_int_equal(place_order(&config, &recipe, &start, 5, &order, &err), -1);
	assert_non_null(strstr(err.text, "MiB free, and the build needs"));
	program[1] = 'x';
	start.need_disk_bytes = 0;
	assert_int_equal(place_order(&config, &recipe, &start, 5, &order, &err), -1);
	assert_non_null(strstr(err.text, "/xin/sh cannot be run"));
	free(source);
	free(work);
	free(out);
	free(program);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_top, remove_top)
	const struct CMUnitTest tests[] = {
		TEST(test_epoch_and_limit_come_back),
		TEST(test_others_cannot_look_into_attempts),
		TEST(test_a_damaged_file_of_them_is_named),
		TEST(test_two_agents_never_share_a_folder),
		TEST(test_attempts_are_listed_in_order_and_removed_whole),
		TEST(test_a_refused_attempt_is_kept_as_a_result),
		TEST(test_a_log_is_read_from_anywhere),
		TEST(test_phases_come_back_up_to_the_first_that_is_damaged),
		TEST(test_a_source_is_found_under_the_roots_and_nowhere_else),
		TEST(test_an_order_has_its_own_places),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
