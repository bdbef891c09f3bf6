/* What is shown may have been written by anybody's build: a terminal obeys what stands
 * between ESC and a letter, so that none of it may get through. Only bytes that are known
 * to be harmless pass.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/units.h"

/* ---- figures ----------------------------------------------------------------------------- */

const char *
format_duration(char buf[FORMAT_SIZE], int64_t us)
{
	int64_t tenths = (us + 50000) / 100000, s = tenths / 10;

	if (us < 0)
		snprintf(buf, FORMAT_SIZE, "-");
	else if (tenths < 600)
		snprintf(buf, FORMAT_SIZE, "%" PRId64 ".%" PRId64 "s", tenths / 10, tenths % 10);
	else if (s < 3600)
		snprintf(buf, FORMAT_SIZE, "%" PRId64 ":%02" PRId64, s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, FORMAT_SIZE, "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600,
		    s / 60 % 60, s % 60);
	else
		snprintf(buf, FORMAT_SIZE, "%" PRId64 "d%02" PRId64 "h", s / 86400, s / 3600 % 24);
	return buf;
}

const char *
format_size(char buf[FORMAT_SIZE], int64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double value = (double)bytes;
	size_t unit = 0;

	/* 1023.96K would be printed as 1024.0K. */
	while (value >= 1023.95 && unit + 2 < sizeof units) {
		value /= 1024;
		unit++;
	}
	if (unit == 0)
		snprintf(buf, FORMAT_SIZE, "%" PRId64, bytes);
	else
		snprintf(buf, FORMAT_SIZE, "%.*f%c", value < 99.95 ? 1 : 0, value, units[unit]);
	return buf;
}

const char *
format_time(char buf[FORMAT_SIZE], const char *iso)
{
	mem_copy_text(buf, FORMAT_SIZE, iso);
	if (strlen(buf) >= 20 && buf[10] == 'T' && (buf[19] == '.' || buf[19] == 'Z')) {
		buf[10] = ' ';
		buf[19] = '\0';
	}
	return buf;
}

/* ---- out of answers ----------------------------------------------------------------------- */

const char *
get_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool
get_number(const json_t *object, const char *key, int64_t *ret_n)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		return false;
	*ret_n = json_integer_value(value);
	return true;
}

bool
get_real(const json_t *object, const char *key, double *ret_value)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		return false;
	*ret_value = json_number_value(value);
	return true;
}

bool
get_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

const char *
get_duration(char buf[FORMAT_SIZE], const json_t *object, const char *key)
{
	int64_t us;

	return get_number(object, key, &us) ? format_duration(buf, us) : "-";
}

const char *
get_size(char buf[FORMAT_SIZE], const json_t *object, const char *key)
{
	int64_t bytes;

	return get_number(object, key, &bytes) ? format_size(buf, bytes) : "-";
}

const char *
get_count(char buf[FORMAT_SIZE], const json_t *object, const char *key)
{
	int64_t n;

	if (!get_number(object, key, &n))
		return "-";
	snprintf(buf, FORMAT_SIZE, "%" PRId64, n);
	return buf;
}

const char *
get_time(char buf[FORMAT_SIZE], const json_t *object, const char *key)
{
	const char *iso = get_text(object, key);

	return iso != NULL ? format_time(buf, iso) : "-";
}

const char *
format_plural(char buf[FORMAT_SIZE], int64_t n, const char *word)
{
	snprintf(buf, FORMAT_SIZE, "%" PRId64 " %s%s", n, word, n == 1 ? "" : "s");
	return buf;
}

const char *
get_plural(char buf[FORMAT_SIZE], const json_t *object, const char *key, const char *word)
{
	int64_t n;

	if (get_number(object, key, &n))
		return format_plural(buf, n, word);
	snprintf(buf, FORMAT_SIZE, "- %ss", word);
	return buf;
}

char *
get_path(const json_t *object, const char *key)
{
	const json_t *list = json_object_get(object, key);
	size_t i, n = json_array_size(list), size = n * (FORMAT_SIZE + 1) + 1, length = 0;
	char *text;

	if (n == 0)
		return NULL;
	text = mem_calloc(size, 1);
	for (i = 0; i < n; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%" JSON_INTEGER_FORMAT,
		    i > 0 ? ">" : "", json_integer_value(json_array_get(list, i)));
	return text;
}

/* ---- harmless ---------------------------------------------------------------------------- */

static void
show_byte(unsigned char byte, FILE *out)
{
	fprintf(out, "\\x%02x", byte);
}

/* How many bytes a character that begins with this one has; 0: none does. */
static size_t
sequence_size(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Whether held[] may become, or is, a character that does no harm: no overlong form, no
 * surrogate, no C1 control, no code that turns the direction of writing. */
static bool
may_pass(const unsigned char *s, size_t n)
{
	if (n == 1)
		return s[0] >= 0x80 ? sequence_size(s[0]) > 0
				    : s[0] == '\n' || s[0] == '\t' || (s[0] >= ' ' && s[0] != 0x7f);
	if ((s[n - 1] & 0xc0) != 0x80)
		return false;
	if (n == 2)
		return !(s[0] == 0xc2 && s[1] < 0xa0) && !(s[0] == 0xe0 && s[1] < 0xa0) &&
		       !(s[0] == 0xed && s[1] >= 0xa0) && !(s[0] == 0xf0 && s[1] < 0x90) &&
		       !(s[0] == 0xf4 && s[1] >= 0x90);
	if (n == 3 && s[0] == 0xe2 && s[1] == 0x80)
		return s[2] != 0xa8 && s[2] != 0xa9 && (s[2] < 0xaa || s[2] > 0xae);
	return !(n == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

static void
give_up(struct harmless *h, FILE *out)
{
	size_t i;

	for (i = 0; i < h->nheld; i++)
		show_byte(h->held[i], out);
	h->nheld = 0;
}

static void
take_byte(struct harmless *h, unsigned char byte, FILE *out)
{
	h->held[h->nheld++] = byte;
	if (!may_pass(h->held, h->nheld)) {
		/* What breaks a character off may well begin the next one. */
		if (h->nheld > 1 && (byte & 0xc0) != 0x80) {
			h->nheld--;
			give_up(h, out);
			take_byte(h, byte, out);
			return;
		}
		give_up(h, out);
		return;
	}
	if (h->nheld < sequence_size(h->held[0]))
		return;
	fwrite(h->held, 1, h->nheld, out);
	h->nheld = 0;
}

void
harmless_write(struct harmless *h, const void *bytes, size_t nbytes, FILE *out)
{
	const unsigned char *s = bytes;
	size_t i;

	for (i = 0; i < nbytes; i++)
		take_byte(h, s[i], out);
}

void
harmless_end(struct harmless *h, FILE *out)
{
	give_up(h, out);
}

void
harmless_line(const char *text, FILE *out)
{
	struct harmless h = { 0 };

	for (; *text != '\0'; text++)
		harmless_write(&h, *text == '\n' || *text == '\t' ? " " : text, 1, out);
	harmless_end(&h, out);
}
