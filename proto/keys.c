/* A ZeroMQ CURVE key pair is a crypto_box pair of libsodium; its text form is Z85.
 * A file that holds a secret is checked on the open descriptor, so that it cannot
 * be exchanged between the check and the reading, and what was read is wiped.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/keys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { KEY_BYTES = 32, FILE_BYTES = 4096 };

static const char z85_digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

static void
z85_encode(const uint8_t key[KEY_BYTES], char text[KEY_TEXT_SIZE])
{
	for (size_t i = 0; i < KEY_BYTES / 4; i++) {
		uint32_t v = (uint32_t)key[4 * i] << 24 | (uint32_t)key[4 * i + 1] << 16 |
			     (uint32_t)key[4 * i + 2] << 8 | key[4 * i + 3];

		for (int d = 4; d >= 0; d--, v /= 85)
			text[5 * i + (size_t)d] = z85_digits[v % 85];
	}
	text[KEY_TEXT_SIZE - 1] = '\0';
}

static bool
z85_decode(const char *text, uint8_t key[KEY_BYTES])
{
	if (strlen(text) != KEY_TEXT_SIZE - 1)
		return false;
	for (size_t i = 0; i < KEY_BYTES / 4; i++) {
		uint64_t v = 0;

		for (size_t d = 0; d < 5; d++) {
			const char *at = strchr(z85_digits, text[5 * i + d]);

			if (at == NULL)
				return false;
			v = v * 85 + (uint64_t)(at - z85_digits);
		}
		if (v > UINT32_MAX)
			return false;
		for (size_t b = 0; b < 4; b++)
			key[4 * i + b] = (uint8_t)(v >> (24 - 8 * b));
	}
	return true;
}

static void
start_sodium(void)
{
	int rc = sodium_init();

	assert(rc >= 0);
	(void)rc;
}

void
key_pair_create(struct key_pair *ret_pair)
{
	uint8_t public_key[KEY_BYTES], secret_key[KEY_BYTES];

	start_sodium();
	crypto_box_keypair(public_key, secret_key);
	z85_encode(public_key, ret_pair->public_key);
	z85_encode(secret_key, ret_pair->secret_key);
	sodium_memzero(secret_key, sizeof secret_key);
}

void
key_pair_clear(struct key_pair *pair)
{
	sodium_memzero(pair, sizeof *pair);
}

bool
key_text_ok(const char *text)
{
	uint8_t key[KEY_BYTES];
	bool good = z85_decode(text, key);

	sodium_memzero(key, sizeof key);
	return good;
}

void
key_fingerprint(const char *public_key, char ret_fingerprint[KEY_FINGERPRINT_SIZE])
{
	uint8_t key[KEY_BYTES], hash[crypto_generichash_BYTES];

	start_sodium();
	if (!z85_decode(public_key, key)) {
		mem_copy_text(ret_fingerprint, KEY_FINGERPRINT_SIZE, "(no key)");
		return;
	}
	crypto_generichash(hash, sizeof hash, key, sizeof key, NULL, 0);
	snprintf(ret_fingerprint, KEY_FINGERPRINT_SIZE, "%02x%02x-%02x%02x-%02x%02x-%02x%02x",
	    hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]);
}

/* The two must belong together, or every handshake would fail without a word. */
static bool
pair_matches(const struct key_pair *pair)
{
	uint8_t secret_key[KEY_BYTES], public_key[KEY_BYTES], derived[KEY_BYTES];
	bool good;

	good = z85_decode(pair->public_key, public_key) &&
	       z85_decode(pair->secret_key, secret_key) &&
	       crypto_scalarmult_base(derived, secret_key) == 0 &&
	       memcmp(public_key, derived, KEY_BYTES) == 0;
	sodium_memzero(secret_key, sizeof secret_key);
	return good;
}

static int
sync_folder(const char *path, struct err *err)
{
	char *copy = mem_strdup(path);
	const char *folder = dirname(copy);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd) != 0)
		rc = err_set_errno(err, errno, "%s: cannot put the folder on disk", folder);
	if (fd >= 0)
		close(fd);
	free(copy);
	return rc;
}

static int
write_file(const char *path, mode_t mode, const char *text, struct err *err)
{
	size_t n = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0 && errno == EEXIST)
		return err_set(err,
		    "%s: is there already, and a key is never overwritten; move it away first",
		    path);
	if (fd < 0)
		return err_set_errno(err, errno, "%s: cannot create it", path);
	if (fchmod(fd, mode) != 0 || write(fd, text, n) != (ssize_t)n || fsync(fd) != 0) {
		err_set_errno(err, errno, "%s: cannot write it", path);
		goto fail;
	}
	if (close(fd) != 0) {
		fd = -1;
		err_set_errno(err, errno, "%s: cannot write it", path);
		goto fail;
	}
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	unlink(path);
	return -1;
}

int
key_pair_save(const struct key_pair *pair, const char *path, struct err *err)
{
	char *public_path = mem_printf("%s.pub", path);
	char fingerprint[KEY_FINGERPRINT_SIZE], secret_text[512], public_text[512];
	int rc = -1;

	key_fingerprint(pair->public_key, fingerprint);
	snprintf(secret_text, sizeof secret_text,
	    "# Flyball CURVE key pair %s. Secret: keep it here, mode 0600.\n"
	    "public = %s\nsecret = %s\n",
	    fingerprint, pair->public_key, pair->secret_key);
	snprintf(public_text, sizeof public_text, "# Flyball CURVE public key %s\npublic = %s\n",
	    fingerprint, pair->public_key);
	if (write_file(path, 0600, secret_text, err) != 0)
		goto done;
	if (write_file(public_path, 0644, public_text, err) != 0) {
		unlink(path);
		goto done;
	}
	rc = sync_folder(path, err);
	if (rc != 0) {
		unlink(public_path);
		unlink(path);
	}
done:
	sodium_memzero(secret_text, sizeof secret_text);
	free(public_path);
	return rc;
}

static int
read_file(const char *path, char text[FILE_BYTES], mode_t *ret_mode, struct err *err)
{
	struct stat st;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return err_set(err,
		    "%s: there is no such key file; is the path right, and has the key been made?",
		    path);
	if (fd < 0)
		return err_set_errno(err, errno, "%s: cannot read the key file", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size >= FILE_BYTES) {
		close(fd);
		return err_set(err,
		    "%s: is no key file: a regular file of less than %d bytes was "
		    "expected",
		    path, FILE_BYTES);
	}
	n = read(fd, text, FILE_BYTES - 1);
	if (n < 0)
		err_set_errno(err, errno, "%s: cannot read the key file", path);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	*ret_mode = st.st_mode;
	return 0;
}

static char *
trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]) != NULL; n--)
		s[n - 1] = '\0';
	return s;
}

static int
parse_line(const char *path, int line, char *s, struct key_pair *pair, struct err *err)
{
	char *value = strchr(s, '='), *name;
	bool secret;

	if (value == NULL)
		return err_set(err,
		    "%s:%d: is no key file: 'public = KEY' or 'secret = KEY' was "
		    "expected",
		    path, line);
	*value++ = '\0';
	name = trim(s);
	value = trim(value);
	secret = strcmp(name, "secret") == 0;
	if (!secret && strcmp(name, "public") != 0)
		return err_set(err,
		    "%s:%d: is no key file: 'public = KEY' or 'secret = KEY' was "
		    "expected",
		    path, line);
	if (!key_text_ok(value))
		return err_set(err,
		    "%s:%d: the %s key is damaged: 40 characters of Z85 were expected", path, line,
		    name);
	mem_copy_text(secret ? pair->secret_key : pair->public_key, KEY_TEXT_SIZE, value);
	return 0;
}

static int
parse_lines(const char *path, char *text, struct key_pair *pair, struct err *err)
{
	int line = 0;
	char *s;

	while ((s = strsep(&text, "\n")) != NULL) {
		line++;
		s = trim(s);
		if (*s != '\0' && *s != '#' && parse_line(path, line, s, pair, err) != 0)
			return -1;
	}
	return 0;
}

static int
load(const char *path, struct key_pair *pair, struct err *err)
{
	char text[FILE_BYTES];
	mode_t mode = 0;
	int rc;

	start_sodium();
	memset(pair, 0, sizeof *pair);
	if (read_file(path, text, &mode, err) != 0)
		return -1;
	rc = parse_lines(path, text, pair, err);
	sodium_memzero(text, sizeof text);
	if (rc == 0 && pair->secret_key[0] != '\0' && (mode & 077) != 0)
		rc = err_set(err,
		    "%s: others than its owner may read this secret key (mode %04o); "
		    "run 'chmod 600 %s', and if somebody may have read it make a new one",
		    path, (unsigned)mode & 07777, path);
	if (rc == 0 && pair->public_key[0] == '\0')
		rc = err_set(
		    err, "%s: holds no public key: a line 'public = KEY' was expected", path);
	if (rc == 0 && pair->secret_key[0] != '\0' && !pair_matches(pair))
		rc = err_set(err,
		    "%s: the public and the secret key do not belong together; "
		    "restore the file or make a new pair",
		    path);
	return rc;
}

int
key_pair_load(const char *path, struct key_pair *ret_pair, struct err *err)
{
	struct key_pair pair;
	int rc = load(path, &pair, err);

	if (rc == 0 && pair.secret_key[0] == '\0')
		rc = err_set(err,
		    "%s: holds only a public key; name the file that holds the secret "
		    "one too",
		    path);
	if (rc == 0)
		*ret_pair = pair;
	key_pair_clear(&pair);
	return rc;
}

int
key_public_load(const char *path, char ret_key[KEY_TEXT_SIZE], struct err *err)
{
	struct key_pair pair;
	int rc = load(path, &pair, err);

	if (rc == 0)
		memcpy(ret_key, pair.public_key, KEY_TEXT_SIZE);
	key_pair_clear(&pair);
	return rc;
}
