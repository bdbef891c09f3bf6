/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/io/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/log.h"
#include "proto/base/mem.h"

struct record {
	FILE *file;
	char *path;
	struct text line;
};

/* Once: on a full disk it is told once, and the daemon goes on without. */
static void
stop(struct record *r)
{
	log_error("the recording cannot be written, stopping it path=%s errno=%d", r->path, errno);
	fclose(r->file);
	r->file = NULL;
}

static void
write_line(struct record *r)
{
	if (r->file != NULL && (fputs(r->line.text, r->file) < 0 || fputc('\n', r->file) < 0))
		stop(r);
	r->line.length = 0;
}

struct record *
record_open(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct record *r;

	if (file == NULL) {
		err_set_errno(err, errno,
		    "recording %s: cannot be created (an old one is never written over)", path);
		return NULL;
	}
	r = mem_calloc(1, sizeof *r);
	r->file = file;
	r->path = mem_strdup(path);
	text_add(&r->line, "flyball-recording 1");
	write_line(r);
	return r;
}

void
record_close(struct record *r)
{
	if (r == NULL)
		return;
	if (r->file != NULL)
		fclose(r->file);
	free(r->line.text);
	free(r->path);
	free(r);
}

void
record_fact(struct record *r, const struct fact *fact)
{
	if (r == NULL)
		return;
	text_add(&r->line, "fact ");
	fact_encode(fact, &r->line);
	write_line(r);
}

void
record_step(
    struct record *r, const struct event *event, const struct effects *effects, size_t first)
{
	size_t i;

	if (r == NULL)
		return;
	text_add(&r->line, "event ");
	event_encode(event, &r->line);
	write_line(r);
	for (i = first; i < effects->n; i++) {
		text_add(&r->line, "effect ");
		effect_encode(&effects->list[i], &r->line);
		write_line(r);
	}
}

void
record_flush(struct record *r)
{
	if (r != NULL && r->file != NULL && fflush(r->file) != 0)
		stop(r);
}
