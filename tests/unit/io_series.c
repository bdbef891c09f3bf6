/* Readings that were written are read again, missing ones as missing.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/io/series.h"

static char folder[64];

static int
make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/flyball-series.XXXXXX");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

static const wall_us noon = { INT64_C(1796126400000000) };

static void
add(struct series *s, int64_t second, double user)
{
	struct load load = { .missing = UINT64_C(1) << LOAD_SPIN };

	load.readings[LOAD_USER].value = user;
	series_add_host(s, "a1", (wall_us){ noon.us + second * SECOND_US }, &load, 6, 5);
}

static struct series_reader
open_chunk(const char *name)
{
	struct series_reader r;
	struct err err;
	char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(series_reader_open(&r, path, &err), 0);
	return r;
}

static void
rows_come_back(void **state)
{
	struct err err;
	struct series *s = series_open(folder, &err);
	struct series_reader r;
	struct series_row row;
	int i;

	(void)state;
	for (i = 0; i < 40; i++)
		add(s, i, i / 64.0);
	series_close(s);
	r = open_chunk("host/a1-20261201");
	assert_string_equal(r.kind, "host");
	assert_string_equal(r.name, "a1");
	assert_string_equal(r.columns[LOAD_SPIN], "spin_share");
	for (i = 0; i < 40; i++) {
		assert_int_equal(series_reader_next(&r, &row), 1);
		assert_int_equal(row.at.us, noon.us + i * SECOND_US);
		assert_true(row.values[LOAD_USER] == i / 64.0);
		assert_true(row.missing == UINT64_C(1) << LOAD_SPIN);
		assert_true(row.values[LOAD_READINGS] == 6 && row.values[LOAD_READINGS + 1] == 5);
	}
	assert_int_equal(series_reader_next(&r, &row), 0);
	series_reader_close(&r);
}

static void
a_cut_row_is_mended(void **state)
{
	struct err err;
	struct series *s = series_open(folder, &err);
	struct series_reader r;
	struct series_row row;
	char path[256];

	(void)state;
	add(s, 0, 0.25);
	add(s, 1, 0.5);
	series_close(s);
	snprintf(path, sizeof path, "%s/host/a1-20261201", folder);
	FILE *f = fopen(path, "r+");
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	assert_int_equal(ftruncate(fileno(f), ftell(f) - 7), 0);
	fclose(f);
	s = series_open(folder, &err);
	add(s, 2, 0.75);
	series_close(s);
	r = open_chunk("host/a1-20261201");
	assert_int_equal(series_reader_next(&r, &row), 1);
	assert_true(row.values[LOAD_USER] == 0.25);
	assert_int_equal(series_reader_next(&r, &row), 1);
	assert_true(row.values[LOAD_USER] == 0.75);
	assert_int_equal(series_reader_next(&r, &row), 0);
	series_reader_close(&r);
}

static void
an_unknown_percent_is_missing(void **state)
{
	struct err err;
	struct series *s = series_open(folder, &err);
	struct attempt_status status = { .id = { 7 }, .limit = 3, .percent = -1, .steps = 12 };
	struct series_reader r;
	struct series_row row;

	(void)state;
	series_add_attempt(s, noon, &status);
	series_close(s);
	r = open_chunk("attempt/7");
	assert_string_equal(r.columns[4], "percent");
	assert_int_equal(series_reader_next(&r, &row), 1);
	assert_true(row.missing == UINT64_C(1) << 4);
	assert_true(row.values[3] == 12);
	series_reader_close(&r);
}

static void
other_files_are_refused(void **state)
{
	struct series_reader r;
	struct err err;
	char path[256];
	FILE *f;

	(void)state;
	snprintf(path, sizeof path, "%s/other", folder);
	f = fopen(path, "w");
	fputs("flyball-series 9 host a1 little user_share\n", f);
	fclose(f);
	assert_int_equal(series_reader_open(&r, path, &err), -1);
	assert_non_null(strstr(err.text, "version 9"));
	f = fopen(path, "w");
	fputs("something else\n", f);
	fclose(f);
	assert_int_equal(series_reader_open(&r, path, &err), -1);
	assert_non_null(strstr(err.text, path));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_come_back, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_cut_row_is_mended, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
		    an_unknown_percent_is_missing, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
		    other_files_are_refused, make_folder, remove_folder),
	};

	return cmocka_run_group_tests_name("readings over time", tests, NULL, NULL);
}
