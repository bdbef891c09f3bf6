/* A recording that cannot be written costs one line in the log, and nothing else.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/record.h"

static char folder[64];

static int
make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/flyball-record.XXXXXX");
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

static size_t
lines_of(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* What it would say is caught in a file; files may have 8 KiB, as on a disk that is full. */
static void
a_full_disk(void **state)
{
	struct rlimit was, small = { 8192, RLIM_INFINITY };
	struct fact fact = { .kind = FACT_EPOCH, .number = 1 };
	char path[128], words[128];
	int fd, err_fd = dup(STDERR_FILENO), i;
	struct record *r;
	struct stat facts;
	struct err err;

	(void)state;
	snprintf(path, sizeof path, "%s/recording", folder);
	snprintf(words, sizeof words, "%s/words", folder);
	r = record_open(path, &err);
	assert_non_null(r);
	fd = open(words, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dup2(fd, STDERR_FILENO);
	getrlimit(RLIMIT_FSIZE, &was);
	small.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	for (i = 0; i < 2000; i++) {
		record_fact(r, &fact);
		record_flush(r);
	}
	record_close(r);
	setrlimit(RLIMIT_FSIZE, &was);
	dup2(err_fd, STDERR_FILENO);
	close(err_fd);
	close(fd);
	assert_int_equal(lines_of(words), 1);
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(facts.st_mode & 07777 & ~0640, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_full_disk, make_folder, remove_folder),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
