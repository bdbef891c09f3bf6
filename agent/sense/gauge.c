/* Files and OIDs are read where they stand: they are meant to be the kernel's. Only a regular file is
 * opened, and without waiting, so that a pipe nobody writes to cannot hold the agent; whatever may be
 * slow belongs into a command.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/gauge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sense/child.h"
#include "agent/sense/load.h"
#include "proto/base/mem.h"

enum { TEXT_BYTES = GAUGE_OUTPUT_BYTES, PATIENCE_S = 10, SPREAD_US = 50000 };

struct one {
	struct gauges *gauges;
	struct gauge_settings settings;
	struct loop_watch *next;
	struct child *child; /* a command that runs */
	mono_us at; /* when the value was read */
	double value;
	char missing[TEXT_SIZE];
};

struct gauges {
	struct loop *loop;
	size_t n;
	struct one *all;
	struct gauge *told;
};

/* ---- what is read ---- */

int
gauge_parse(const char *text, int32_t field, double *ret_value, char why[TEXT_SIZE])
{
	static const char blank[] = " \t\r\n";
	double value;
	char *end;

	text += strspn(text, blank);
	for (int32_t i = 1; i < field && *text != '\0'; i++) {
		text += strcspn(text, blank);
		text += strspn(text, blank);
	}
	if (*text == '\0') {
		snprintf(why, TEXT_SIZE, "it has no word %d", (int)field);
		return -1;
	}
	value = strtod(text, &end);
	if (end == text || !isfinite(value) || strchr(blank, *end) == NULL) {
		snprintf(why, TEXT_SIZE, "its word %d is \"%.*s\": expected a number", (int)field,
		    (int)(strcspn(text, blank) > 60 ? 60 : strcspn(text, blank)), text);
		return -1;
	}
	*ret_value = value;
	return 0;
}

static int
read_file(const char *path, char *text, size_t size, char why[TEXT_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0) {
		snprintf(why, TEXT_SIZE, "it cannot be opened: %s", strerror(errno));
		return -1;
	}
	if (fstat(fd, &facts) == 0 && !S_ISREG(facts.st_mode)) {
		snprintf(why, TEXT_SIZE, "it is no regular file");
		close(fd);
		return -1;
	}
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		snprintf(why, TEXT_SIZE, "it cannot be read: %s", strerror(errno));
	close(fd);
	text[n] = '\0';
	return got < 0 ? -1 : 0;
}

static void
take_text(struct one *one, const char *text)
{
	char why[TEXT_SIZE];

	if (gauge_parse(text, one->settings.field, &one->value, why) != 0) {
		snprintf(
		    one->missing, sizeof one->missing, "%.300s: %.200s", one->settings.source, why);
		return;
	}
	one->missing[0] = '\0';
	one->at = loop_now();
}

static struct child_options
command_of(const struct one *one)
{
	return (struct child_options){ .command = one->settings.source,
		.output_max = GAUGE_OUTPUT_BYTES,
		.patience_us = PATIENCE_S * SECOND_US };
}

static void
on_command(void *arg, const struct child_result *result)
{
	struct one *one = arg;
	const struct child_options options = command_of(one);
	const char *text = result->text;
	char why[TEXT_SIZE];

	one->child = NULL;
	child_explain(&options, result, why);
	if (why[0] == '\0')
		take_text(one, text);
	else
		snprintf(one->missing, sizeof one->missing, "%.200s: %.100s%s%.*s",
		    one->settings.source, why, text[0] != '\0' ? ": " : "",
		    (int)(strcspn(text, "\n") > 120 ? 120 : strcspn(text, "\n")), text);
}

static void
read_one(struct one *one)
{
	char text[TEXT_BYTES], why[TEXT_SIZE] = "";

	if (one->settings.kind == GAUGE_FILE)
		read_file(one->settings.source, text, sizeof text, why);
	else if (!load_oid_text(one->settings.source, text, sizeof text))
		snprintf(why, sizeof why, "this system has no such number");
	if (why[0] == '\0')
		take_text(one, text);
	else
		snprintf(
		    one->missing, sizeof one->missing, "%.300s: %.200s", one->settings.source, why);
}

static void
on_next(void *arg)
{
	struct one *one = arg;
	const struct child_options options = command_of(one);
	int rc;

	if (one->settings.kind != GAUGE_COMMAND) {
		read_one(one);
		return;
	}
	if (one->child != NULL) /* slower than its interval: it is not run twice at once */
		return;
	rc = child_start(one->gauges->loop, &options, on_command, one, &one->child);
	if (rc != 0)
		snprintf(one->missing, sizeof one->missing, "%.200s: it cannot be started: %s",
		    one->settings.source, strerror(rc));
}

/* ---- begin and end ---- */

struct gauges *
gauges_open(struct loop *loop, const struct gauge_settings *settings, size_t n)
{
	struct gauges *gauges = mem_calloc(1, sizeof *gauges);

	gauges->loop = loop;
	gauges->n = n;
	gauges->all = mem_calloc(n + 1, sizeof *gauges->all);
	gauges->told = mem_calloc(n + 1, sizeof *gauges->told);
	for (size_t i = 0; i < n; i++) {
		struct one *one = &gauges->all[i];

		one->gauges = gauges;
		one->settings = settings[i];
		mem_copy_text(one->missing, sizeof one->missing, "it has not been read yet");
		one->next = loop_timer_add(
		    loop, (int64_t)i * SPREAD_US, settings[i].every_us, on_next, one);
	}
	return gauges;
}

void
gauges_close(struct gauges *gauges)
{
	if (gauges == NULL)
		return;
	for (size_t i = 0; i < gauges->n; i++) {
		loop_remove(gauges->all[i].next);
		child_stop(gauges->all[i].child);
	}
	free(gauges->all);
	free(gauges->told);
	free(gauges);
}

const struct gauge *
gauges_read(struct gauges *gauges, mono_us now, size_t *ret_n)
{
	for (size_t i = 0; i < gauges->n; i++) {
		const struct one *one = &gauges->all[i];
		struct gauge *told = &gauges->told[i];

		*told = (struct gauge){ 0 };
		mem_copy_text(told->name, sizeof told->name, one->settings.name);
		mem_copy_text(told->missing, sizeof told->missing, one->missing);
		if (one->missing[0] == '\0')
			told->reading = (struct reading){ .value = one->value,
				.age_us = mono_since(one->at, now) };
		if (told->reading.age_us < 0)
			told->reading.age_us = 0;
	}
	*ret_n = gauges->n;
	return gauges->told;
}
