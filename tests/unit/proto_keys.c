/* Key files: what is written can be read, and nothing else.
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/base/mem.h"
#include "proto/keys.h"

static char folder[] = "/tmp/flyball-keys-XXXXXX";
static char *path, *public_path;

static int
setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/flyball-keys-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	path = mem_printf("%s/key", folder);
	public_path = mem_printf("%s.pub", path);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(public_path);
	rmdir(folder);
	free(path);
	free(public_path);
	return 0;
}

static void
save(struct key_pair *pair)
{
	struct err err;

	key_pair_create(pair);
	if (key_pair_save(pair, path, &err) != 0)
		fail_msg("%s", err.text);
}

static void
write_text(const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void
expect_refused(const char *part)
{
	struct key_pair pair;
	struct err err = { "" };

	assert_int_equal(key_pair_load(path, &pair, &err), -1);
	if (strncmp(err.text, path, strlen(path)) != 0 || strstr(err.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static void
a_pair_that_was_saved_is_loaded(void **state)
{
	struct key_pair pair, back;
	char public_key[KEY_TEXT_SIZE];
	struct stat st;
	struct err err;

	(void)state;
	save(&pair);
	assert_int_equal(key_pair_load(path, &back, &err), 0);
	assert_memory_equal(&pair, &back, sizeof pair);
	assert_int_equal(key_public_load(public_path, public_key, &err), 0);
	assert_string_equal(public_key, pair.public_key);
	assert_int_equal(key_public_load(path, public_key, &err), 0);
	assert_string_equal(public_key, pair.public_key);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(public_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
}

static void
a_key_is_never_overwritten(void **state)
{
	struct key_pair pair, other, back;
	struct err err;

	(void)state;
	save(&pair);
	key_pair_create(&other);
	assert_int_equal(key_pair_save(&other, path, &err), -1);
	assert_non_null(strstr(err.text, "a key is never overwritten"));
	assert_int_equal(key_pair_load(path, &back, &err), 0);
	assert_memory_equal(&pair, &back, sizeof pair);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(key_pair_save(&other, path, &err), -1); /* the .pub is there */
	assert_int_equal(access(path, F_OK), -1);
}

static void
a_secret_that_others_may_read_is_refused(void **state)
{
	static const mode_t modes[] = { 0644, 0640, 0660, 0601 };
	struct key_pair pair;
	char *advice = mem_printf("chmod 600 %s", path);

	(void)state;
	save(&pair);
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		expect_refused(advice);
	}
	free(advice);
}

static void
what_is_no_key_file_is_refused_by_name_and_line(void **state)
{
	struct key_pair pair, other;
	char *mixed, *public_only;

	(void)state;
	expect_refused("there is no such key file");
	write_text("hello\n", 0600);
	expect_refused(":1: is no key file");
	write_text("# comment\n\npublic = abc\n", 0600);
	expect_refused(":3: the public key is damaged");
	write_text("private = abc\n", 0600);
	expect_refused(":1: is no key file");
	write_text("", 0600);
	expect_refused("holds no public key");
	key_pair_create(&pair);
	key_pair_create(&other);
	public_only = mem_printf("public = %s\n", pair.public_key);
	write_text(public_only, 0600);
	expect_refused("holds only a public key");
	mixed = mem_printf("public = %s\nsecret = %s\n", pair.public_key, other.secret_key);
	write_text(mixed, 0600);
	expect_refused("do not belong together");
	free(public_only);
	free(mixed);
}

static void
a_folder_and_a_device_are_refused(void **state)
{
	struct key_pair pair;
	struct err err;

	(void)state;
	assert_int_equal(key_pair_load(folder, &pair, &err), -1);
	assert_non_null(strstr(err.text, "is no key file"));
	assert_int_equal(key_pair_load("/dev/zero", &pair, &err), -1);
	assert_non_null(strstr(err.text, "is no key file"));
}

/* The example of RFC 26's test vectors: ZeroMQ's own Z85 of a known public key. */
static void
a_fingerprint_is_the_same_everywhere(void **state)
{
	char fingerprint[KEY_FINGERPRINT_SIZE], again[KEY_FINGERPRINT_SIZE];

	(void)state;
	key_fingerprint("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", fingerprint);
	key_fingerprint("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", again);
	assert_int_equal(strlen(fingerprint), 19);
	assert_string_equal(fingerprint, again);
	assert_string_equal(fingerprint, "598b-3f9e-645c-125f");
	key_fingerprint("nonsense", fingerprint);
	assert_string_equal(fingerprint, "(no key)");
}

static void
only_z85_of_32_bytes_is_a_key(void **state)
{
	struct key_pair pair;

	(void)state;
	key_pair_create(&pair);
	assert_true(key_text_ok(pair.public_key));
	assert_true(key_text_ok("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"));
	assert_false(key_text_ok(""));
	assert_false(key_text_ok("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI"));
	assert_false(key_text_ok("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID0"));
	assert_false(key_text_ok("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{h~D"));
	assert_false(key_text_ok("########################################"));
}

int
main(void)
{
#define BETWEEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		BETWEEN(a_pair_that_was_saved_is_loaded),
		BETWEEN(a_key_is_never_overwritten),
		BETWEEN(a_secret_that_others_may_read_is_refused),
		BETWEEN(what_is_no_key_file_is_refused_by_name_and_line),
		BETWEEN(a_folder_and_a_device_are_refused),
		BETWEEN(a_fingerprint_is_the_same_everywhere),
		BETWEEN(only_z85_of_32_bytes_is_a_key),
	};

	return cmocka_run_group_tests_name("key files", tests, NULL, NULL);
}
