/* Policy files as they are found on a command line.
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
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/ctl/policy_text.h"
#include "proto/limits.h"

static char folder[64], path[96];

static void
write_bytes(const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void
refused(const char *what, enum reply_status expected, const char *says)
{
	char *text = NULL;
	struct err err;
	enum reply_status status = policy_text_read(path, &text, &err);

	if (status != expected || strstr(err.text, says) == NULL)
		fail_msg("%s: %d, \"%s\"", what, (int)status, err.text);
	assert_null(text);
}

static void
good(void **state)
{
	static const char policy[] = "branch \"b\" {\n\t# \xe6\x97\xa5 \xc3\xa9\r\n}";
	char *text;
	struct err err;

	(void)state;
	write_bytes(policy, strlen(policy));
	assert_int_equal(policy_text_read(path, &text, &err), REPLY_OK);
	assert_string_equal(text, policy);
	free(text);
}

static void
no_file(void **state)
{
	(void)state;
	refused("nothing", REPLY_NOT_FOUND, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	refused("a pipe", REPLY_FAILED, "is no regular file");
	alarm(0);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	refused("a folder", REPLY_FAILED, "is no regular file");
	rmdir(path);
}

static void
too_long(void **state)
{
	char *bytes = malloc(POLICY_BYTES + 1);

	(void)state;
	memset(bytes, '#', POLICY_BYTES + 1);
	write_bytes(bytes, POLICY_BYTES + 1);
	refused("long", REPLY_FAILED, "more than 262144 bytes");
	/* Nothing is read of what is longer still. */
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	refused("endless", REPLY_FAILED, "more than 262144 bytes");
	free(bytes);
}

static void
no_text(void **state)
{
	static const struct {
		const char *what, *bytes;
		size_t n;
		int line;
	} cases[] = {
		{ "an escape", "a\nb\x1b[2J\nc\n", 10, 2 },
		{ "no UTF-8", "\xff", 1, 1 },
		{ "a zero byte", "a\n\n\0\n", 5, 3 },
		{ "cut by a newline", "a\n\xc3\n\xa9", 5, 2 },
		{ "at the end", "a\nb\nc\x01", 6, 3 },
	};
	size_t i;
	char says[128];

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		write_bytes(cases[i].bytes, cases[i].n);
		snprintf(says, sizeof says, "%s:%d: ", path, cases[i].line);
		refused(cases[i].what, REPLY_FAILED, says);
	}
}

static int
set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/flyball-policy.XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/b.policy", folder);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

#define SAYS(sentence, f) \
	{ \
		sentence, f, set_up, tear_down, NULL \
	}

int
main(void)
{
	const struct CMUnitTest policy_text[] = {
		SAYS("a policy file is read as it stands", good),
		SAYS("what is no regular file is refused, and never waited for", no_file),
		SAYS("no more is read than a policy may have", too_long),
		SAYS("what may not be sent is refused by its line", no_text),
	};

	return cmocka_run_group_tests_name("policy text", policy_text, NULL, NULL);
}
