/* keys.h - CURVE key pairs, their files and their fingerprints
 *
 * Shape:  a key file is text: comment lines (#), then "public = Z85" and
 *         "secret = Z85"; a public file has the first alone.
 * Units:  keys as the 40 characters of Z85 that ZeroMQ takes.
 * Errors: a secret file that others may read, or that is no key file, is
 *         refused by name, with what to do.
 * Memory: by value; key_pair_clear wipes.
 * Source: ZeroMQ RFC 26 (CURVE), RFC 32 (Z85); libsodium crypto_box, generichash.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEYS_H
#define FLYBALL_KEYS_H

#include <stdbool.h>

#include "proto/base/err.h"

enum { KEY_TEXT_SIZE = 41, KEY_FINGERPRINT_SIZE = 24 };

struct key_pair {
	char public_key[KEY_TEXT_SIZE];
	char secret_key[KEY_TEXT_SIZE];
};

void key_pair_create(struct key_pair *ret_pair);
void key_pair_clear(struct key_pair *pair);

/* Writes path (0600, never over one that is there) and path.pub (0644). */
int key_pair_save(const struct key_pair *pair, const char *path, struct err *err);
int key_pair_load(const char *path, struct key_pair *ret_pair, struct err *err);

/* Reads the public key of a key file or a public file. */
int key_public_load(const char *path, char ret_key[KEY_TEXT_SIZE], struct err *err);

/* True for 40 characters of Z85 that stand for 32 bytes. */
bool key_text_ok(const char *text);

/* "ab12-cd34-ef56-7890": what people compare and logs show. */
void key_fingerprint(const char *public_key, char ret_fingerprint[KEY_FINGERPRINT_SIZE]);

#endif
