/* What the coordinator was told to be safe here must be: a folder is synced into its parent, a small
 * file is written beside its place, synced and renamed.
 *
 * The lock is a POSIX record lock, not flock(2): it tells the pid of who holds it, and it is not
 * inherited by a forked child that removes a workspace and outlives us.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/order.h"
#include "proto/base/mem.h"
#include "proto/wire.h"

struct spool {
	char *state, *attempts;
	int lock_fd;
};

/* ---- files ---- */

static int
sync_folder(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd);

	if (rc != 0)
		err_set_errno(err, errno, "the folder %s cannot be brought to the disk", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int
write_file(const char *path, const char *text, struct err *err)
{
	char *fresh = mem_printf("%s.new", path);
	FILE *f = fopen(fresh, "we");
	bool good = f != NULL && fputs(text, f) >= 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
	int rc = 0;

	if (f != NULL && fclose(f) != 0)
		good = false;
	if (!good || rename(fresh, path) != 0)
		rc = err_set_errno(err, errno, "%s cannot be written", path);
	free(fresh);
	return rc;
}

/* path, for nobody else to look into, and the folders above it that are missing. */
static int
make_folder(const char *path, struct err *err)
{
	char *copy = mem_strdup(path);
	int rc = 0;

	for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(copy, 0755); /* what is wrong shows below */
		*slash = '/';
	}
	if (mkdir(path, 0750) != 0 && errno != EEXIST)
		rc = err_set_errno(err, errno, "the folder %s cannot be made", path);
	free(copy);
	return rc;
}

/* ---- open and close ---- */

static int
lock(struct spool *spool, struct err *err)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *path = mem_printf("%s/lock", spool->state);
	int rc = 0;

	spool->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (spool->lock_fd < 0) {
		rc = err_set_errno(err, errno, "%s cannot be opened", path);
	} else if (fcntl(spool->lock_fd, F_SETLK, &whole) != 0) {
		whole.l_pid = 0;
		(void)fcntl(spool->lock_fd, F_GETLK, &whole);
		rc = err_set(err,
		    "the state folder %s belongs to a running agent, process %ld: stop that one, "
		    "or "
		    "give this one a \"state\" of its own",
		    spool->state, (long)whole.l_pid);
	} else if (ftruncate(spool->lock_fd, 0) == 0) {
		dprintf(spool->lock_fd, "%ld\n", (long)getpid());
	}
	free(path);
	return rc;
}

struct spool *
spool_open(const char *state, struct err *err)
{
	struct spool *spool = mem_calloc(1, sizeof *spool);

	spool->state = mem_strdup(state);
	spool->attempts = mem_printf("%s/attempts", state);
	spool->lock_fd = -1;
	if (make_folder(spool->attempts, err) == 0 && lock(spool, err) == 0)
		return spool;
	spool_close(spool);
	return NULL;
}

void
spool_close(struct spool *spool)
{
	if (spool == NULL)
		return;
	if (spool->lock_fd >= 0)
		close(spool->lock_fd);
	free(spool->state);
	free(spool->attempts);
	free(spool);
}

/* ---- epoch and limit ---- */

int
spool_recall(const struct spool *spool, uint64_t *ret_epoch, int32_t *ret_limit, struct err *err)
{
	char *path = mem_printf("%s/kept", spool->state);
	FILE *f = fopen(path, "re");
	uint64_t epoch = 0;
	int32_t limit = 0;
	int rc = 0;

	if (f == NULL && errno != ENOENT)
		rc = err_set_errno(err, errno, "%s cannot be read", path);
	else if (f != NULL &&
		 (fscanf(f, "epoch=%" SCNu64 "\nlimit=%" SCNd32, &epoch, &limit) != 2 ||
		     limit < 0 || limit > JOBS_MAX))
		rc = err_set(err,
		    "%s is malformed: \"epoch=N\" and \"limit=N\" were expected; remove it "
		    "if no coordinator older than the last may come back",
		    path);
	if (f != NULL)
		fclose(f);
	free(path);
	if (rc == 0) {
		*ret_epoch = epoch;
		*ret_limit = limit;
	}
	return rc;
}

int
spool_keep(const struct spool *spool, uint64_t epoch, int32_t limit, struct err *err)
{
	char *path = mem_printf("%s/kept", spool->state);
	char *text = mem_printf("epoch=%" PRIu64 "\nlimit=%" PRId32 "\n", epoch, limit);
	int rc = write_file(path, text, err);

	free(path);
	free(text);
	return rc == 0 ? sync_folder(spool->state, err) : -1;
}

/* ---- attempts ---- */

char *
spool_folder(const struct spool *spool, attempt_id id)
{
	return mem_printf("%s/%" PRIu64, spool->attempts, id.n);
}

static int
compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const attempt_id *)a)->n, y = ((const attempt_id *)b)->n;

	return (x > y) - (x < y);
}

/* 0 for a name that is no attempt's. */
static uint64_t
id_of_name(const char *name)
{
	char *end;
	uint64_t n;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	errno = 0;
	n = strtoull(name, &end, 10);
	return errno == 0 && *end == '\0' ? n : 0;
}

int
spool_list(const struct spool *spool, attempt_id **ret_ids, size_t *ret_n, struct err *err)
{
	DIR *folder = opendir(spool->attempts);
	struct dirent *entry;
	attempt_id *ids = mem_calloc(1, sizeof *ids);
	size_t n = 0, capacity = 1;

	if (folder == NULL) {
		free(ids);
		return err_set_errno(err, errno, "the folder %s cannot be read", spool->attempts);
	}
	while ((entry = readdir(folder)) != NULL) {
		uint64_t id = id_of_name(entry->d_name);

		if (id == 0)
			continue;
		ids = mem_room(ids, n, &capacity, sizeof *ids);
		ids[n++].n = id;
	}
	closedir(folder);
	qsort(ids, n, sizeof *ids, compare_ids);
	*ret_ids = ids;
	*ret_n = n;
	return 0;
}

int
spool_add(const struct spool *spool, attempt_id id, struct err *err)
{
	char *path = spool_folder(spool, id);
	int rc = make_folder(path, err);

	free(path);
	return rc == 0 ? sync_folder(spool->attempts, err) : -1;
}

static int
remove_entries(const char *path, struct err *err)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int rc = 0;

	if (folder == NULL)
		return errno == ENOENT ? 0 : err_set_errno(err, errno, "%s cannot be read", path);
	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT)
			rc = err_set_errno(
			    err, errno, "%s/%s cannot be removed", path, entry->d_name);
	}
	closedir(folder);
	return rc;
}

int
spool_remove(const struct spool *spool, attempt_id id, struct err *err)
{
	char *path = spool_folder(spool, id);
	int rc = remove_entries(path, err);

	if (rc == 0 && rmdir(path) != 0 && errno != ENOENT)
		rc = err_set_errno(err, errno, "the folder %s cannot be removed", path);
	free(path);
	return rc;
}

int
spool_add_refused(const struct spool *spool, const struct message_start *start, const char *reason,
    struct err *err)
{
	struct message_attempt attempt = { .status = { .id = start->id,
					       .fence = start->fence,
					       .state = ATTEMPT_ENDED,
					       .percent = -1 },
		.result.outcome = OUTCOME_REFUSED };
	char *path;
	int rc;

	if (spool_add(spool, start->id, err) != 0)
		return -1;
	mem_copy_text(attempt.result.reason, sizeof attempt.result.reason, reason);
	path = spool_folder(spool, start->id);
	rc = result_write(path, &attempt, err);
	free(path);
	return rc;
}

/* ---- logs ---- */

int64_t
spool_log_size(const struct spool *spool, attempt_id id)
{
	char *path = mem_printf("%s/%" PRIu64 "/log", spool->attempts, id.n);
	struct stat facts;
	int rc = stat(path, &facts);

	free(path);
	return rc == 0 ? facts.st_size : 0;
}

int
spool_log_read(const struct spool *spool, attempt_id id, int64_t offset, char *buf, size_t n,
    size_t *ret_n, struct err *err)
{
	char *path = mem_printf("%s/%" PRIu64 "/log", spool->attempts, id.n);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t got = 0;

	while (fd >= 0 && done < n &&
	       (got = pread(fd, buf + done, n - done, offset + (off_t)done)) > 0)
		done += (size_t)got;
	if ((fd < 0 && errno != ENOENT) || got < 0)
		err_set_errno(err, errno, "%s cannot be read", path);
	else
		*ret_n = done;
	free(path);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	close(fd);
	return got < 0 ? -1 : 0;
}

/* ---- phases ---- */

static void
write_mark(FILE *f, const struct phase_mark *mark)
{
	char usage[USAGE_TEXT_SIZE];

	usage_print(&mark->usage, usage, sizeof usage);
	fprintf(f, "%d %" PRId64 " %" PRId64 " %" PRId64 " %s %s\n", (int)mark->source, mark->at_us,
	    mark->log_offset, mark->steps, mark->name, usage);
}

int
spool_phases_write(const struct spool *spool, attempt_id id, const struct phase_mark *marks,
    size_t n, struct err *err)
{
	char *path = mem_printf("%s/%" PRIu64 "/phases", spool->attempts, id.n);
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int rc = -1;

	for (size_t i = 0; f != NULL && i < n; i++)
		write_mark(f, &marks[i]);
	if (f != NULL && fclose(f) == 0)
		rc = write_file(path, text, err);
	else
		err_set_errno(err, errno, "%s cannot be written", path);
	free(text);
	free(path);
	return rc;
}

static bool
read_mark(FILE *f, struct phase_mark *ret_mark)
{
	char name[NAME_SIZE], usage[USAGE_TEXT_SIZE];
	int source;

	_Static_assert(NAME_SIZE == 64, "the width in the format below");
	*ret_mark = (struct phase_mark){ .usage = USAGE_UNKNOWN };
	if (fscanf(f, "%d %" SCNd64 " %" SCNd64 " %" SCNd64 " %63s", &source, &ret_mark->at_us,
		&ret_mark->log_offset, &ret_mark->steps, name) != 5)
		return false;
	if (fgets(usage, sizeof usage, f) != NULL)
		usage_parse(usage, &ret_mark->usage); /* not there in an older agent's file */
	ret_mark->source = source == MARK_RECIPE ? MARK_RECIPE : MARK_LOG;
	mem_copy_text(ret_mark->name, sizeof ret_mark->name, name);
	return wire_name_ok(name);
}

size_t
spool_phases_read(
    const struct spool *spool, attempt_id id, struct phase_mark *ret_marks, size_t max)
{
	char *path = mem_printf("%s/%" PRIu64 "/phases", spool->attempts, id.n);
	FILE *f = fopen(path, "re");
	size_t n = 0;

	free(path);
	if (f == NULL)
		return 0;
	while (n < max && read_mark(f, &ret_marks[n]))
		n++;
	fclose(f);
	return n;
}
