/* The files of an attempt outlive the programs that wrote them: a keeper of the last release is
 * read by the agent of this one. Hence a table of keys for each file, unknown keys passed over, and
 * names rather than numbers for words. Every file is written beside its place, synced and renamed,
 * and ends with a line of its own, so that half a file is never taken for a whole one.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/order.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum field_kind {
	FIELD_TEXT,
	FIELD_I32,
	FIELD_I64,
	FIELD_U64,
	FIELD_BOOL,
	FIELD_POOL,
	FIELD_STATE,
	FIELD_OUTCOME
};

struct field {
	const char *key;
	size_t offset, size;
	enum field_kind kind;
	bool needed;
};

#define TEXT(type, member, key) \
	{ \
		key, offsetof(type, member), sizeof(((type *)0)->member), FIELD_TEXT, false \
	}
#define PATH(type, member, key) \
	{ \
		key, offsetof(type, member), sizeof(((type *)0)->member), FIELD_TEXT, true \
	}
#define FIELD(kind, type, member, key) \
	{ \
		key, offsetof(type, member), 0, kind, false \
	}
#define NEEDED(kind, type, member, key) \
	{ \
		key, offsetof(type, member), 0, kind, true \
	}

static const struct field order_fields[] = {
	NEEDED(FIELD_U64, struct order, start.id.n, "id"),
	FIELD(FIELD_U64, struct order, start.fence, "fence"),
	FIELD(FIELD_U64, struct order, start.build.n, "build"),
	FIELD(FIELD_U64, struct order, start.round.n, "round"),
	TEXT(struct order, start.branch, "branch"),
	TEXT(struct order, start.target, "target"),
	TEXT(struct order, start.recipe, "recipe"),
	TEXT(struct order, start.revision, "revision"),
	TEXT(struct order, start.source, "start_source"),
	FIELD(FIELD_I32, struct order, start.jobs_min, "jobs_min"),
	FIELD(FIELD_I32, struct order, start.jobs_max, "jobs_max"),
	FIELD(FIELD_I32, struct order, start.limit, "host_limit"),
	FIELD(FIELD_I64, struct order, start.timeout_us, "timeout_us"),
	FIELD(FIELD_I64, struct order, start.stall_us, "stall_us"),
	FIELD(FIELD_I64, struct order, start.need_disk_bytes, "need_disk_bytes"),
	FIELD(FIELD_I64, struct order, start.need_memory_bytes, "need_memory_bytes"),
	FIELD(FIELD_I64, struct order, start.expected_steps, "expected_steps"),
	FIELD(FIELD_I64, struct order, start.expected_us, "expected_us"),
	PATH(struct order, program, "program"),
	TEXT(struct order, source, "source"),
	PATH(struct order, work, "work"),
	PATH(struct order, out, "out"),
	PATH(struct order, tag, "tag"),
	FIELD(FIELD_POOL, struct order, pool, "pool"),
	NEEDED(FIELD_I32, struct order, limit, "limit"),
	FIELD(FIELD_I32, struct order, ceiling, "ceiling"),
	NEEDED(FIELD_I64, struct order, log_cap_bytes, "log_cap_bytes"),
};

static const struct field result_fields[] = {
	NEEDED(FIELD_U64, struct message_attempt, status.id.n, "id"),
	FIELD(FIELD_U64, struct message_attempt, status.fence, "fence"),
	FIELD(FIELD_STATE, struct message_attempt, status.state, "state"),
	FIELD(FIELD_I32, struct message_attempt, status.limit, "limit"),
	FIELD(FIELD_I32, struct message_attempt, status.running, "running"),
	FIELD(FIELD_BOOL, struct message_attempt, status.limited, "limited"),
	FIELD(FIELD_BOOL, struct message_attempt, status.serial, "serial"),
	FIELD(FIELD_BOOL, struct message_attempt, status.ungoverned, "ungoverned"),
	FIELD(FIELD_I64, struct message_attempt, status.granted, "granted"),
	FIELD(FIELD_I64, struct message_attempt, status.returned, "returned"),
	FIELD(FIELD_I64, struct message_attempt, status.drained, "drained"),
	FIELD(FIELD_I64, struct message_attempt, status.lost, "lost"),
	FIELD(FIELD_I64, struct message_attempt, status.unclaimed, "unclaimed"),
	FIELD(FIELD_I64, struct message_attempt, status.elapsed_us, "elapsed_us"),
	FIELD(FIELD_I64, struct message_attempt, status.log_bytes, "log_bytes"),
	NEEDED(FIELD_OUTCOME, struct message_attempt, result.outcome, "outcome"),
	FIELD(FIELD_I32, struct message_attempt, result.exit_code, "exit_code"),
	TEXT(struct message_attempt, result.reason, "reason"),
	FIELD(FIELD_I64, struct message_attempt, result.real_us, "real_us"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.user_us, "user_us"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.sys_us, "sys_us"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.max_resident_bytes,
	    "max_resident_bytes"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.minor_faults, "minor_faults"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.major_faults, "major_faults"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.blocks_in, "blocks_in"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.blocks_out, "blocks_out"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.voluntary_switches,
	    "voluntary_switches"),
	FIELD(FIELD_I64, struct message_attempt, result.usage.involuntary_switches,
	    "involuntary_switches"),
	FIELD(FIELD_I64, struct message_attempt, result.log_dropped_bytes, "log_dropped_bytes"),
};

struct form {
	const char *name; /* of the file */
	const struct field *fields;
	size_t nfields;
};

static const struct form order_form = { "order", order_fields,
	sizeof order_fields / sizeof order_fields[0] };
static const struct form result_form = { "result", result_fields,
	sizeof result_fields / sizeof result_fields[0] };

enum { LINE_SIZE = 2 * SOURCE_SIZE + NAME_SIZE };
_Static_assert(sizeof order_fields / sizeof order_fields[0] <= 64, "a bit for each field");
_Static_assert(sizeof result_fields / sizeof result_fields[0] <= 64, "a bit for each field");

static const char *
pool_name(int pool)
{
	static const char *const names[] = { "pipes", "fifo" };

	return (unsigned)pool < sizeof names / sizeof names[0] ? names[pool] : "?";
}

static const char *
word_name(enum field_kind kind, int word)
{
	if (kind == FIELD_POOL)
		return pool_name(word);
	if (kind == FIELD_STATE)
		return attempt_state_name((enum attempt_state)word);
	return outcome_name((enum outcome)word);
}

/* A newline would end the value, so it and the backslash are escaped. */
static void
put_text(FILE *f, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\\')
			fputs("\\\\", f);
		else
			fputc(*s, f);
	}
}

static void
put_field(FILE *f, const struct field *field, const void *values)
{
	const char *at = (const char *)values + field->offset;

	fprintf(f, "%s=", field->key);
	switch (field->kind) {
	case FIELD_TEXT:
		put_text(f, at);
		break;
	case FIELD_I32:
		fprintf(f, "%" PRId32, *(const int32_t *)(const void *)at);
		break;
	case FIELD_I64:
		fprintf(f, "%" PRId64, *(const int64_t *)(const void *)at);
		break;
	case FIELD_U64:
		fprintf(f, "%" PRIu64, *(const uint64_t *)(const void *)at);
		break;
	case FIELD_BOOL:
		fprintf(f, "%d", *(const bool *)(const void *)at);
		break;
	case FIELD_POOL:
	case FIELD_STATE:
	case FIELD_OUTCOME:
		fputs(word_name(field->kind, *(const int *)(const void *)at), f);
		break;
	}
	fputc('\n', f);
}

/* A rename is only kept for sure when its folder has been synced as well. */
static int
sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

static int
write_form(
    const struct form *form, const char *folder, const char *path, const char *fresh, const void *v)
{
	FILE *f = fopen(fresh, "we");
	bool good;

	if (f == NULL)
		return -1;
	for (size_t i = 0; i < form->nfields; i++)
		put_field(f, &form->fields[i], v);
	fprintf(f, "end=%s\n", form->name);
	good = fflush(f) == 0 && fsync(fileno(f)) == 0;
	if (fclose(f) != 0 || !good)
		return -1;
	return rename(fresh, path) == 0 ? sync_folder(folder) : -1;
}

static int
form_write(const struct form *form, const char *folder, const void *values, struct err *err)
{
	char *path = mem_printf("%s/%s", folder, form->name);
	char *fresh = mem_printf("%s.new", path);
	int rc = write_form(form, folder, path, fresh, values);

	if (rc != 0) {
		err_set_errno(err, errno, "%s cannot be written", path);
		unlink(fresh);
	}
	free(path);
	free(fresh);
	return rc;
}

static bool
take_text(const char *value, char *buf, size_t size)
{
	size_t n = 0;

	for (; *value != '\0'; value++, n++) {
		if (n + 1 >= size)
			return false;
		buf[n] = *value;
		if (*value != '\\')
			continue;
		value++;
		if (*value != '\\' && *value != 'n')
			return false;
		buf[n] = *value == 'n' ? '\n' : '\\';
	}
	buf[n] = '\0';
	return true;
}

static bool
take_integer(const char *value, int64_t least, int64_t most, int64_t *ret_n)
{
	char *end;
	long long n;

	if (!isdigit((unsigned char)*value) && *value != '-')
		return false;
	errno = 0;
	n = strtoll(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || n < least || n > most)
		return false;
	*ret_n = n;
	return true;
}

static bool
take_unsigned(const char *value, uint64_t *ret_n)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*ret_n = strtoull(value, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool
take_word(enum field_kind kind, const char *value, int *ret_word)
{
	for (int i = 0; strcmp(word_name(kind, i), "?") != 0; i++) {
		if (strcmp(word_name(kind, i), value) == 0) {
			*ret_word = i;
			return true;
		}
	}
	return false;
}

static bool
take_field(const struct field *field, const char *value, void *values)
{
	char *at = (char *)values + field->offset;
	int64_t n;

	switch (field->kind) {
	case FIELD_TEXT:
		return take_text(value, at, field->size);
	case FIELD_I32:
		if (!take_integer(value, INT32_MIN, INT32_MAX, &n))
			return false;
		*(int32_t *)(void *)at = (int32_t)n;
		return true;
	case FIELD_I64:
		return take_integer(value, INT64_MIN, INT64_MAX, (int64_t *)(void *)at);
	case FIELD_U64:
		return take_unsigned(value, (uint64_t *)(void *)at);
	case FIELD_BOOL:
		if (!take_integer(value, 0, 1, &n))
			return false;
		*(bool *)(void *)at = n != 0;
		return true;
	default:
		return take_word(field->kind, value, (int *)(void *)at);
	}
}

/* One "key=value" line into values; the bit of a known key is set in *seen. */
static bool
take_line(const struct form *form, char *line, void *values, uint64_t *seen)
{
	char *value = strchr(line, '=');

	if (value == NULL)
		return false;
	*value++ = '\0';
	for (size_t i = 0; i < form->nfields; i++) {
		if (strcmp(form->fields[i].key, line) == 0) {
			*seen |= UINT64_C(1) << i;
			return take_field(&form->fields[i], value, values);
		}
	}
	return true;
}

static int
check_needed(const struct form *form, const char *path, uint64_t seen, struct err *err)
{
	for (size_t i = 0; i < form->nfields; i++) {
		if (form->fields[i].needed && !(seen & UINT64_C(1) << i))
			return err_set(err, "%s does not say \"%s=\", which every %s needs", path,
			    form->fields[i].key, form->name);
	}
	return 0;
}

static int
read_form(const struct form *form, FILE *f, const char *path, void *values, struct err *err)
{
	char line[LINE_SIZE], last[NAME_SIZE];
	uint64_t seen = 0;

	snprintf(last, sizeof last, "end=%s", form->name);
	for (int number = 1;; number++) {
		size_t n;

		if (fgets(line, sizeof line, f) == NULL)
			return err_set(err,
			    "%s is cut short: line %d should be there, or \"%s\" as the last one",
			    path, number, last);
		n = strlen(line);
		if (n == 0 || line[n - 1] != '\n')
			return err_set(err, "%s:%d: the line is cut short or longer than %d bytes",
			    path, number, LINE_SIZE - 2);
		line[n - 1] = '\0';
		if (strcmp(line, last) == 0)
			return check_needed(form, path, seen, err);
		if (!take_line(form, line, values, &seen))
			return err_set(err,
			    "%s:%d: the value of \"%.60s\" is malformed; \"key=value\" was "
			    "expected",
			    path, number, line);
	}
}

/* 1 when there is no such file, which is for the caller to judge. */
static int
form_read(const struct form *form, const char *folder, void *values, struct err *err)
{
	char *path = mem_printf("%s/%s", folder, form->name);
	FILE *f = fopen(path, "re");
	int rc;

	if (f == NULL) {
		rc = errno == ENOENT ? 1 : -1;
		err_set_errno(err, errno, "%s cannot be read", path);
	} else {
		rc = read_form(form, f, path, values, err);
		fclose(f);
	}
	free(path);
	return rc;
}

int
order_write(const char *folder, const struct order *order, struct err *err)
{
	return form_write(&order_form, folder, order, err);
}

int
order_read(const char *folder, struct order *ret_order, struct err *err)
{
	struct order order = { 0 };

	if (form_read(&order_form, folder, &order, err) != 0)
		return -1;
	if (order.program[0] != '/' || order.work[0] != '/' || order.out[0] != '/')
		return err_set(
		    err, "%s/order: program, work and out must be absolute paths", folder);
	if (order.limit < 1 || order.limit > JOBS_MAX)
		return err_set(err, "%s/order: the limit %d is not between 1 and %d", folder,
		    (int)order.limit, JOBS_MAX);
	*ret_order = order;
	return 0;
}

int
result_write(const char *folder, const struct message_attempt *attempt, struct err *err)
{
	return form_write(&result_form, folder, attempt, err);
}

int
result_read(
    const char *folder, struct message_attempt *ret_attempt, bool *ret_there, struct err *err)
{
	struct message_attempt attempt = { 0 };
	int rc = form_read(&result_form, folder, &attempt, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		*ret_attempt = attempt;
	*ret_there = rc == 0;
	return 0;
}
