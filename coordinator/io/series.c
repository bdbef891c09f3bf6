/* Files are opened to append some rows and closed again: a cluster has more hosts than a
 * process has descriptors. What waits is a few hundred bytes a host.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/series.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/log.h"
#include "proto/base/loop.h"
#include "proto/base/mem.h"

#define WAIT_US (5 * SECOND_US)

enum { ROWS_WAITING = 16, PATH_BYTES = SOURCE_SIZE + 128 };

static const char *const host_columns[] = { "user_share", "sys_share", "idle_share", "iowait_share",
	"steal_share", "load_1", "load_5", "load_15", "tasks_running", "tasks_blocked",
	"memory_free_bytes", "swap_in_bytes_s", "swap_out_bytes_s", "disk_free_bytes", "spin_share",
	"lock_sleep_share", "run_wait_share", "switches_per_s", "throttled_share",
	"frequency_share", "disk_busy_share", "disk_await_s", "dirty_bytes", "nfs_latency_s",
	"nfs_retransmits_per_s", "pressure_cpu_share", "pressure_memory_share", "pressure_io_share",
	"user_instructions_per_s", "limit", "running" };

static const char *const attempt_columns[] = { "limit", "running", "limited", "steps", "percent",
	"granted", "returned", "drained", "lost", "unclaimed", "log_bytes" };

/* The readings come first in a host's columns, in their own order. */
_Static_assert(
    sizeof host_columns / sizeof host_columns[0] == LOAD_READINGS + 2, "a column for each reading");

enum kind { KIND_HOST, KIND_ATTEMPT, KINDS };

static const struct {
	const char *name;
	const char *const *columns;
	size_t ncolumns;
} kinds[KINDS] = {
	[KIND_HOST] = { "host", host_columns, sizeof host_columns / sizeof host_columns[0] },
	[KIND_ATTEMPT] = { "attempt", attempt_columns,
	    sizeof attempt_columns / sizeof attempt_columns[0] },
};

struct row {
	int64_t at_us;
	uint64_t missing;
	float values[SERIES_COLUMNS_MAX];
};

/* Rows of one chunk that wait. */
struct waiting {
	enum kind kind;
	char name[NAME_SIZE];
	char file[NAME_SIZE + 16];
	mono_us since;
	size_t n;
	struct row rows[ROWS_WAITING];
	struct waiting *next;
};

struct series {
	char *folder;
	struct waiting *first, *last; /* the longest waiting first */
	void *by_file; /* of tsearch(3) */
};

static const char *
byte_order(void)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return first == 1 ? "little" : "big";
}

static size_t
row_bytes(size_t ncolumns)
{
	return offsetof(struct row, values) + ncolumns * sizeof(float);
}

/* ---- writing ---------------------------------------------------------------------------- */

static int
make_folder(const char *folder, const char *below, struct err *err)
{
	char *path = mem_printf("%s%s%s", folder, below[0] ? "/" : "", below);
	int rc = mkdir(path, 0750) == 0 || errno == EEXIST
		     ? 0
		     : err_set_errno(err, errno, "the folder %s cannot be made", path);

	free(path);
	return rc;
}

struct series *
series_open(const char *folder, struct err *err)
{
	struct series *s;
	int i;

	if (make_folder(folder, "", err) < 0)
		return NULL;
	for (i = 0; i < KINDS; i++)
		if (make_folder(folder, kinds[i].name, err) < 0)
			return NULL;
	s = mem_calloc(1, sizeof *s);
	s->folder = mem_strdup(folder);
	return s;
}

static char *
header_of(const struct waiting *w)
{
	char columns[SERIES_COLUMNS_MAX * NAME_SIZE] = "";
	size_t i, used = 0;

	for (i = 0; i < kinds[w->kind].ncolumns; i++)
		used += (size_t)snprintf(
		    columns + used, sizeof columns - used, " %s", kinds[w->kind].columns[i]);
	return mem_printf("flyball-series %d %s %s %s%s\n", SERIES_VERSION, kinds[w->kind].name,
	    w->name, byte_order(), columns);
}

/* One write, so that a chunk is whole rows but for what a crash or a full disk cuts. */
static bool
write_chunk(int fd, const struct waiting *w)
{
	size_t size = row_bytes(kinds[w->kind].ncolumns), head = 0, i;
	char *header = lseek(fd, 0, SEEK_END) == 0 ? header_of(w) : NULL, *bytes;
	ssize_t n;

	if (header != NULL)
		head = strlen(header);
	bytes = mem_calloc(head + w->n * size, 1);
	if (header != NULL)
		memcpy(bytes, header, head);
	for (i = 0; i < w->n; i++)
		memcpy(bytes + head + i * size, &w->rows[i], size);
	n = write(fd, bytes, head + w->n * size);
	free(header);
	free(bytes);
	return n == (ssize_t)(head + w->n * size);
}

/* A row that was cut before would shift all after it: cut back to whole rows first. */
static void
mend(int fd, const struct waiting *w)
{
	char *header = header_of(w);
	off_t head = (off_t)strlen(header), size = lseek(fd, 0, SEEK_END);
	off_t row = (off_t)row_bytes(kinds[w->kind].ncolumns);
	off_t whole = size < head ? 0 : head + (size - head) / row * row;

	if (whole != size && ftruncate(fd, whole) < 0)
		log_throttled("series", "a chunk cannot be mended errno=%d", errno);
	free(header);
}

static void
write_waiting(struct series *s, struct waiting *w)
{
	char path[PATH_BYTES];
	int fd;

	if (w->n == 0)
		return;
	snprintf(path, sizeof path, "%s/%s/%s", s->folder, kinds[w->kind].name, w->file);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
	if (fd >= 0)
		mend(fd, w);
	if (fd < 0 || !write_chunk(fd, w))
		log_throttled(
		    "series", "readings are lost: %s cannot be written errno=%d", path, errno);
	if (fd >= 0)
		close(fd);
	w->n = 0;
}

static int
compare_files(const void *x, const void *y)
{
	const struct waiting *a = x, *b = y;

	return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->file, b->file);
}

static void
write_first(struct series *s)
{
	struct waiting *w = s->first;

	write_waiting(s, w);
	tdelete(w, &s->by_file, compare_files);
	s->first = w->next;
	if (s->first == NULL)
		s->last = NULL;
	free(w);
}

void
series_tick(struct series *s, mono_us now)
{
	while (s != NULL && s->first != NULL && mono_since(s->first->since, now) >= WAIT_US)
		write_first(s);
}

void
series_close(struct series *s)
{
	if (s == NULL)
		return;
	while (s->first != NULL)
		write_first(s);
	free(s->folder);
	free(s);
}

static struct waiting *
waiting_make(struct series *s, const struct waiting *key, const char *name, mono_us now)
{
	struct waiting *w = mem_calloc(1, sizeof *w);

	w->kind = key->kind;
	memcpy(w->file, key->file, sizeof w->file);
	mem_copy_text(w->name, sizeof w->name, name);
	w->since = now;
	*(s->last != NULL ? &s->last->next : &s->first) = w;
	s->last = w;
	if (tsearch(w, &s->by_file, compare_files) == NULL)
		abort();
	return w;
}

static struct row *
next_row(struct series *s, enum kind kind, const char *name, const char *file, mono_us now)
{
	struct waiting key, *w, **found;

	key.kind = kind;
	mem_copy_text(key.file, sizeof key.file, file);
	found = tfind(&key, &s->by_file, compare_files);
	w = found != NULL ? *found : waiting_make(s, &key, name, now);
	if (w->n == ROWS_WAITING)
		write_waiting(s, w);
	return &w->rows[w->n++];
}

void
series_add_host(struct series *s, const char *host, wall_us at, const struct load *load,
    int32_t limit, int32_t running)
{
	char file[NAME_SIZE + 16];
	time_t seconds = (time_t)(at.us / SECOND_US);
	struct row *row;
	struct tm day;
	int i;

	if (s == NULL || gmtime_r(&seconds, &day) == NULL)
		return;
	snprintf(file, sizeof file, "%s-%04u%02u%02u", host, (unsigned)(day.tm_year + 1900) % 10000,
	    (unsigned)(day.tm_mon + 1) % 100, (unsigned)day.tm_mday % 100);
	row = next_row(s, KIND_HOST, host, file, loop_now());
	row->at_us = at.us;
	row->missing = load->missing;
	for (i = 0; i < LOAD_READINGS; i++)
		row->values[i] = load->missing >> i & 1 ? 0 : (float)load->readings[i].value;
	row->values[LOAD_READINGS] = (float)limit;
	row->values[LOAD_READINGS + 1] = (float)running;
}

void
series_add_attempt(struct series *s, wall_us at, const struct attempt_status *a)
{
	const int64_t values[] = { a->limit, a->running, a->limited, a->steps, a->percent,
		a->granted, a->returned, a->drained, a->lost, a->unclaimed, a->log_bytes };
	char name[NAME_SIZE];
	struct row *row;
	size_t i;

	if (s == NULL)
		return;
	snprintf(name, sizeof name, "%llu", (unsigned long long)a->id.n);
	row = next_row(s, KIND_ATTEMPT, name, name, loop_now());
	row->at_us = at.us;
	row->missing = a->percent < 0 ? UINT64_C(1) << 4 : 0;
	for (i = 0; i < sizeof values / sizeof values[0]; i++)
		row->values[i] = (float)values[i];
}

/* ---- reading ---------------------------------------------------------------------------- */

static int
take_header(struct series_reader *r, char *line, const char *path, struct err *err)
{
	char *save, *word = strtok_r(line, " \n", &save);
	const char *version, *kind, *name, *order;

	if (word == NULL || strcmp(word, "flyball-series") != 0)
		return err_set(
		    err, "%s is no series of Flyball's: it does not begin with its name", path);
	version = strtok_r(NULL, " \n", &save);
	kind = strtok_r(NULL, " \n", &save);
	name = strtok_r(NULL, " \n", &save);
	order = strtok_r(NULL, " \n", &save);
	if (order == NULL || strtol(version, NULL, 10) != SERIES_VERSION)
		return err_set(err, "%s is of version %s: this Flyball reads version %d", path,
		    version ? version : "?", SERIES_VERSION);
	if (strcmp(order, byte_order()) != 0)
		return err_set(
		    err, "%s was written on a machine of the other byte order, %s", path, order);
	mem_copy_text(r->kind, sizeof r->kind, kind);
	mem_copy_text(r->name, sizeof r->name, name);
	while ((word = strtok_r(NULL, " \n", &save)) != NULL && r->ncolumns < SERIES_COLUMNS_MAX)
		mem_copy_text(r->columns[r->ncolumns++], NAME_SIZE, word);
	return 0;
}

int
series_reader_open(struct series_reader *ret_reader, const char *path, struct err *err)
{
	struct series_reader r = { .file = fopen(path, "re") };
	char line[SERIES_COLUMNS_MAX * NAME_SIZE + 256];

	if (r.file == NULL)
		return err_set_errno(err, errno, "%s cannot be opened", path);
	if (fgets(line, sizeof line, r.file) == NULL)
		line[0] = '\0';
	if (take_header(&r, line, path, err) < 0) {
		fclose(r.file);
		return -1;
	}
	*ret_reader = r;
	return 0;
}

int
series_reader_next(struct series_reader *r, struct series_row *ret_row)
{
	struct row row;
	size_t i;

	if (fread(&row, row_bytes(r->ncolumns), 1, r->file) != 1)
		return 0;
	ret_row->at.us = row.at_us;
	ret_row->missing = row.missing;
	ret_row->ncolumns = r->ncolumns;
	for (i = 0; i < r->ncolumns; i++)
		ret_row->values[i] = row.values[i];
	return 1;
}

void
series_reader_close(struct series_reader *r)
{
	if (r->file != NULL)
		fclose(r->file);
	r->file = NULL;
}
