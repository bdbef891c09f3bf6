/* A bounded log is whole, or says to the byte what is missing.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/keeper_log.h"
#include "proto/base/mem.h"

static char path[] = "/tmp/flyball-log.XXXXXX";

static int
make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static int
remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static char
byte_at(int64_t i)
{
	return (char)(i * 31 + i / 251);
}

/* Writes total bytes in pieces of odd sizes; the file's content is the caller's to free. */
static char *
write_log(struct klog *log, int64_t cap, int64_t total, int64_t *ret_size)
{
	struct err err;
	char piece[777], *content;
	FILE *f;

	assert_int_equal(klog_open(log, path, cap, &err), 0);
	for (int64_t at = 0; at < total;) {
		int64_t n = total - at < (int64_t)sizeof piece ? total - at : (int64_t)sizeof piece;

		for (int64_t i = 0; i < n; i++)
			piece[i] = byte_at(at + i);
		klog_write(log, piece, (size_t)n);
		at += n;
	}
	assert_true(klog_finish(log));
	*ret_size = log->file_bytes;
	content = mem_calloc((size_t)log->file_bytes + 1, 1);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(content, 1, (size_t)log->file_bytes + 1, f), log->file_bytes);
	fclose(f);
	klog_close(log);
	return content;
}

static void
check_bytes(const char *content, int64_t from, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(content[i], byte_at(from + i));
}

static void
test_up_to_the_cap_all_is_there(void **state)
{
	int64_t size;
	struct klog log;
	char *content = write_log(&log, 10000, 10000, &size);

	(void)state;
	assert_int_equal(size, 10000);
	assert_int_equal(log.dropped, 0);
	check_bytes(content, 0, 10000);
	free(content);
}

static void
test_beyond_the_cap_the_middle_is_dropped_and_counted(void **state)
{
	static const char mark[] = "\n[flyball: 5001 bytes dropped]\n";
	int64_t size;
	struct klog log;
	char *content = write_log(&log, 10000, 15001, &size);

	(void)state;
	assert_int_equal(log.dropped, 5001);
	assert_int_equal(size, 10000 + (int64_t)strlen(mark));
	check_bytes(content, 0, 5000);
	assert_memory_equal(content + 5000, mark, strlen(mark));
	check_bytes(content + 5000 + strlen(mark), 10001, 5000);
	free(content);
}

static void
test_a_large_cap_keeps_a_bounded_tail(void **state)
{
	const int64_t cap = 4 << 20, total = 5 << 20;
	int64_t size;
	struct klog log;
	char *content = write_log(&log, cap, total, &size);

	(void)state;
	assert_int_equal(log.dropped, total - cap / 2 - KLOG_RING_BYTES);
	check_bytes(content + size - KLOG_RING_BYTES, total - KLOG_RING_BYTES, KLOG_RING_BYTES);
	free(content);
}

static void
test_what_a_full_disk_refuses_is_counted(void **state)
{
	struct klog log;
	struct err err;

	(void)state;
	if (access("/dev/full", W_OK) != 0) {
		print_message("# skipped: /dev/full is not there\n");
		return;
	}
	assert_int_equal(klog_open(&log, "/dev/full", 10000, &err), 0);
	klog_write(&log, "hello", 5);
	klog_write(&log, "world", 5);
	assert_int_equal(log.dropped, 10);
	assert_int_equal(log.file_bytes, 0);
	assert_false(klog_finish(&log));
	klog_close(&log);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_up_to_the_cap_all_is_there),
		cmocka_unit_test(test_beyond_the_cap_the_middle_is_dropped_and_counted),
		cmocka_unit_test(test_a_large_cap_keeps_a_bounded_tail),
		cmocka_unit_test(test_what_a_full_disk_refuses_is_counted),
	};

	return cmocka_run_group_tests_name("bounded log", tests, make_file, remove_file);
}
