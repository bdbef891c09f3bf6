/* format.h - figures for people, and text that does a terminal no harm
 *
 * Shape:  fills a buffer and returns it.
 * Units:  us and bytes in; "1:02:03", "12.3s", "1.5G" out.
 * Errors: cannot fail.
 * Memory: the caller's buffers.
 * Source: RFC 3629 (UTF-8), ECMA-48 (control characters).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_FORMAT_H
#define FLYBALL_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { FORMAT_SIZE = 32 };

const char *format_duration(char buf[FORMAT_SIZE], int64_t us);
const char *format_size(char buf[FORMAT_SIZE], int64_t bytes);
/* "2026-01-02T03:04:05.678Z" without the T, the fraction and the Z; kept when it is no such time. */
const char *format_time(char buf[FORMAT_SIZE], const char *iso);

/* Of an answer: NULL and false for what is not there or null. */
const char *get_text(const json_t *object, const char *key);
bool get_number(const json_t *object, const char *key, int64_t *ret_n);
bool get_real(const json_t *object, const char *key, double *ret_value);
bool get_true(const json_t *object, const char *key);
/* The same in words, "-" when it is not there. */
const char *get_duration(char buf[FORMAT_SIZE], const json_t *object, const char *key);
const char *get_size(char buf[FORMAT_SIZE], const json_t *object, const char *key);
const char *get_count(char buf[FORMAT_SIZE], const json_t *object, const char *key);
const char *get_time(char buf[FORMAT_SIZE], const json_t *object, const char *key);

/* "1 build", "2 builds": the word with an s unless there is one. */
const char *format_plural(char buf[FORMAT_SIZE], int64_t n, const char *word);
/* The same of an answer, "- builds" when it is not there. */
const char *get_plural(
    char buf[FORMAT_SIZE], const json_t *object, const char *key, const char *word);

/* "2>6>2>8" of an array of numbers, fresh memory; NULL when it is empty or not there. */
char *get_path(const json_t *object, const char *key);

/* Makes a stream of bytes harmless: tabs, newlines and whole UTF-8 characters pass, anything
 * else is shown as \xNN. Zeroed to begin with; a character may be cut between two calls. */
struct harmless {
	unsigned char held[4];
	size_t nheld;
};

void harmless_write(struct harmless *h, const void *bytes, size_t nbytes, FILE *out);
void harmless_end(struct harmless *h, FILE *out);
/* A whole text in one line: newlines and tabs become spaces. */
void harmless_line(const char *text, FILE *out);

#endif
