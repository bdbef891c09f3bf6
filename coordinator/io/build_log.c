/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/io/build_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/limits.h"

enum { PATH_BYTES = SOURCE_SIZE + 64 };

static void
path_of(const char *folder, attempt_id id, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%llu.log", folder, (unsigned long long)id.n);
}

int64_t
build_log_size(const char *folder, attempt_id id)
{
	char path[PATH_BYTES];
	struct stat st;

	path_of(folder, id, path);
	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* Writes all or, cutting back to what was there before, nothing. */
static int
write_all(int fd, int64_t size, const char *bytes, size_t nbytes)
{
	size_t done = 0;
	int errnum;

	while (done < nbytes) {
		ssize_t n = pwrite(fd, bytes + done, nbytes - done, size + (int64_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errnum = n < 0 ? errno : EIO;
			if (ftruncate(fd, size) < 0)
				errnum = errno;
			errno = errnum;
			return -1;
		}
		done += (size_t)n;
	}
	return 0;
}

int
build_log_append(const char *folder, attempt_id id, int64_t offset, const void *bytes,
    size_t nbytes, int64_t *ret_size, struct err *err)
{
	int64_t size = build_log_size(folder, id), skip = size - offset;
	char path[PATH_BYTES];
	int fd, rc, errnum;

	if (offset < 0 || skip < 0 || skip >= (int64_t)nbytes) {
		*ret_size = size;
		return 0;
	}
	path_of(folder, id, path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
	if (fd < 0)
		return err_set_errno(err, errno, "%s cannot be opened for writing", path);
	rc = write_all(fd, size, (const char *)bytes + skip, nbytes - (size_t)skip);
	errnum = errno;
	close(fd);
	if (rc < 0)
		return err_set_errno(err, errnum, "%s cannot be written", path);
	*ret_size = offset + (int64_t)nbytes;
	return 0;
}

int
build_log_sync(const char *folder, attempt_id id, struct err *err)
{
	char path[PATH_BYTES];
	int fd, rc;

	path_of(folder, id, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : err_set_errno(err, errno, "%s cannot be opened", path);
	rc = fsync(fd);
	close(fd);
	return rc == 0 ? 0 : err_set_errno(err, errno, "%s cannot be brought to the disk", path);
}
