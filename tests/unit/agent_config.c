/* The agent's configuration and its recipe folders: values, defaults, and errors with their line.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/check.h"
#include "agent/config.h"
#include "agent/recipe.h"
#include "proto/base/mem.h"

#define KEY "coordinator_key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n"

static char top[64];

static int
make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof top, "/tmp/flyball-config.XXXXXX");
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

static void
put_file(const char *name, const char *text, mode_t mode)
{
	char *path = mem_printf("%s/%s", top, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	free(path);
}

static int
load(const char *text, struct config *ret_config, struct err *err)
{
	char *path = mem_printf("%s/agent.conf", top);
	int rc;

	put_file("agent.conf", text, 0644);
	rc = config_load(path, "/beside", ret_config, err);
	free(path);
	return rc;
}

static void
test_what_is_not_said_has_a_default(void **state)
{
	struct config config;
	struct err err;

	(void)state;
	assert_int_equal(load(KEY, &config, &err), 0);
	assert_string_equal(config.coordinator, "tcp://127.0.0.1:7700");
	assert_string_equal(config.state, "/var/lib/flyball/agent");
	assert_string_equal(config.work, "/var/tmp/flyball");
	assert_int_equal(config.source_roots.n, 1);
	assert_string_equal(config.source_roots.list[0], "/build");
	assert_int_equal(config.recipes.n, 1);
	assert_int_equal(config.slots, 1);
	assert_int_equal(config.threads, 0);
	assert_int_equal(config.labels.n, 0);
	assert_int_equal(config.ngauges, 0);
	assert_true(config.disk_floor_bytes == INT64_C(1) << 30);
	assert_true(config.log_cap_bytes == INT64_C(64) << 20);
	assert_true(config.jitter_us == 60 * SECOND_US);
	assert_non_null(strstr(config.keeper, "/flyball-keeper"));
	config_clear(&config);
}

static void
test_values_are_taken_as_they_are_written(void **state)
{
	struct config config;
	struct err err;

	(void)state;
	assert_int_equal(
	    load(KEY "coordinator = \"tcp://h:1\"\nslots = 3\nthreads = 12\n"
		     "labels = { \"tmpfs\", \"big\" }\nsource_roots = { \"/a\", \"/b\" }\n"
		     "disk_floor = \"20g\"\nlog_cap = \"4k\"\njitter = 0\n"
		     "keeper = \"/x/keeper\"\n"
		     "gauge dirhash { oid = \"vfs.ufs.dirhash_mem\" }\n"
		     "gauge temp { file = \"/t\" field = 2 every = \"5m\" }\n"
		     "gauge jobs { command = \"ls | wc -l\" every = \"1s\" }\n",
		&config, &err),
	    0);
	assert_int_equal(config.slots, 3);
	assert_int_equal(config.labels.n, 2);
	assert_string_equal(config.labels.list[1], "big");
	assert_string_equal(config.source_roots.list[1], "/b");
	assert_true(config.disk_floor_bytes == INT64_C(20) << 30);
	assert_int_equal(config.log_cap_bytes, 4096);
	assert_string_equal(config.keeper, "/x/keeper");
	assert_int_equal(config.ngauges, 3);
	assert_int_equal(config.gauges[0].kind, GAUGE_OID);
	assert_int_equal(config.gauges[0].every_us, 30 * SECOND_US);
	assert_string_equal(config.gauges[1].source, "/t");
	assert_int_equal(config.gauges[1].field, 2);
	assert_true(config.gauges[1].every_us == 5 * MINUTE_US);
	assert_string_equal(config.gauges[2].name, "jobs");
	assert_int_equal(config.gauges[2].kind, GAUGE_COMMAND);
	config_clear(&config);
}

static void
test_an_error_names_its_line_and_what_was_expected(void **state)
{
	static const struct {
		const char *text, *expect;
	} cases[] = {
		{ "slots = 0\n", ":1: slots is 0: expected 1 to 64" },
		{ "\n\nslots = 65\n", ":3: slots is 65" },
		{ "disk_floor = \"1x\"\n", ":1: disk_floor is \"1x\": expected a size" },
		{ "disk_floor = \"20\"\n", ":1: disk_floor is \"20\": expected a size such as" },
		{ "coordinator = \"tcp://h\"\n", ":1: coordinator is \"tcp://h\"" },
		{ "coordinator = \"tcp://:7700\"\n", "expected an endpoint" },
		{ "coordinator = \"tcp://h:99999\"\n", "with a port from 1 to 65535" },
		{ "coordinator = \"tcp://a b:7700\"\n", "expected an endpoint" },
		{ "log_cap = \"-1\"\n", ":1: log_cap is \"-1\"" },
		{ "log_cap = \"99999999999t\"\n", ":1: log_cap is" },
		{ "log_cap = \"2g\"\n", ":1: log_cap is \"2g\": expected at most \"1024m\"" },
		{ "work = \"here\"\n", ":1: work has \"here\": expected an absolute path" },
		{ "source_roots = { \"/a\", \"b\" }\n", ":1: source_roots has \"b\"" },
		{ "labels = { \"a b\" }\n", ":1: the label \"a b\" is no name" },
		{ "coordinator = \"ipc:///x\"\n",
		    ":1: coordinator is \"ipc:///x\": expected an endpoint" },
		{ "coordinator_key = \"short\"\n",
		    ":1: coordinator_key is \"short\": expected the 40" },
		{ "coordinator_key = \"/nonexistent/k.pub\"\n", "/nonexistent/k.pub" },
		{ "jitter = 9999\n", ":1: jitter is 9999: expected 0 to 3600" },
		{ "lock_source = \"profil\"\n",
		    ":1: lock_source: there is no lock source \"profil\"" },
		{ "lock_every = 1\n", ":1: lock_every is 1: expected 2 to 3600" },
		{ "lock_window = 0\n", ":1: lock_window is 0: expected 1 to 60" },
		{ "lock_window = 20\n", "lock_window is 20 and lock_every is 30" },
		{ "lock_source = \"bpf,command\"\n", "lock_command is not set" },
		{ "gauge x {\nfile = \"/a\"\noid = \"b\"\n}\n",
		    ":4: gauge \"x\": expected one of file, oid and command" },
		{ "gauge x { }\n", "expected one of file, oid and command" },
		{ "gauge x { file = \"a\" }\n", "file is \"a\": expected an absolute path" },
		{ "gauge x { oid = \"a\" every = \"5\" }\n", "every is \"5\": expected 1s to 60m" },
		{ "gauge x { oid = \"a\" every = \"2h\" }\n", "every is \"2h\"" },
		{ "gauge x { oid = \"a\" field = 0 }\n", "field is 0: expected 1 to 4096" },
		{ "gauge \"a b\" { oid = \"a\" }\n", "the gauge \"a b\" has no name" },
		{ "gauge x { oid = \"a\" }\ngauge x { oid = \"b\" }\n", ":2:" },
		{ "slot = 1\n", "slot" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct config config;
		struct err err = { "" };

		if (load(cases[i].text, &config, &err) == 0 ||
		    strstr(err.text, cases[i].expect) == NULL)
			fail_msg("%s gave: %s", cases[i].text, err.text);
	}
}

static void
test_only_sound_recipes_are_offered(void **state)
{
	char one[80], two[80], *folders[] = { one, two };
	const struct config_list list = { 2, folders };
	struct recipe_list recipes;

	(void)state;
	snprintf(one, sizeof one, "%s/one", top);
	snprintf(two, sizeof two, "%s/two", top);
	assert_int_equal(mkdir(one, 0755) | mkdir(two, 0755), 0);
	put_file("one/good", "#!/bin/sh\n", 0755);
	put_file("one/good.progress", "step ^CC\n", 0644);
	put_file("one/plain", "#!/bin/sh\n", 0755);
	put_file("one/faulty", "#!/bin/sh\n", 0755);
	put_file("one/faulty.progress", "step (\n", 0644);
	put_file("one/README", "no program\n", 0644);
	put_file("two/good", "#!/bin/sh\n", 0755);
	put_file("two/more", "#!/bin/sh\n", 0755);
	assert_int_equal(recipe_list_load(&list, &recipes), 2); /* faulty and README */
	assert_int_equal(recipes.n, 3);
	assert_non_null(recipe_find(&recipes, "good")->rules);
	assert_true(strncmp(recipe_find(&recipes, "good")->program, one, strlen(one)) == 0);
	assert_null(recipe_find(&recipes, "plain")->rules);
	assert_non_null(recipe_find(&recipes, "more"));
	assert_null(recipe_find(&recipes, "faulty"));
	assert_null(recipe_find(&recipes, "good.progress"));
	recipe_list_clear(&recipes);
}

/* Each fault counts by itself, so that the operator sees all of them at once. */
static void
test_what_is_named_must_be_there(void **state)
{
	char *key = mem_printf("%s/key", top), *file = mem_printf("%s/file", top);
	char *none = mem_printf("%s/none/deeper", top), *below = mem_printf("%s/file/below", top);
	struct config config = { .key = key,
		.state = none,
		.work = top,
		.keeper = "/bin/sh",
		.source_roots = { 1, (char *[]){ top } } };
	struct key_pair pair;
	struct err err;

	(void)state;
	put_file("file", "no program\n", 0644);
	key_pair_create(&pair);
	assert_int_equal(key_pair_save(&pair, key, &err), 0);
	assert_int_equal(check_places(&config), 0);
	assert_int_equal(check_key_file(&config), 0);
	config.key = config.keeper = file;
	config.state = below;
	config.source_roots.list[0] = none;
	assert_int_equal(check_places(&config), 3);
	assert_int_equal(check_key_file(&config), 1);
	config.source_roots.n = 0;
	assert_int_equal(check_places(&config), 3);
	free(key);
	free(file);
	free(none);
	free(below);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_top, remove_top)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_not_said_has_a_default),
		TEST(test_values_are_taken_as_they_are_written),
		TEST(test_an_error_names_its_line_and_what_was_expected),
		TEST(test_only_sound_recipes_are_offered),
		TEST(test_what_is_named_must_be_there),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
