/* A name on the command line may be anything: a pipe that nobody writes to must not make an
 * operator wait, nor a device fill memory. So it is opened without waiting, and no more is read
 * than a policy file may have.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/policy_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/mem.h"
#include "proto/limits.h"
#include "proto/wire_text.h"

static int
too_long(const char *path, struct err *err)
{
	return err_set(
	    err, "%s has more than %d bytes, which no policy file may have", path, POLICY_BYTES);
}

/* The descriptor, or -1 with the status. */
static int
open_regular(const char *path, enum reply_status *ret_status, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*ret_status = fd < 0 && errno == ENOENT ? REPLY_NOT_FOUND : REPLY_FAILED;
	if (fd < 0)
		return err_set_errno(err, errno, "%s cannot be opened", path);
	if (fstat(fd, &st) != 0)
		err_set_errno(err, errno, "%s cannot be looked at", path);
	else if (!S_ISREG(st.st_mode))
		err_set(err,
		    "%s is no regular file: the name of a policy file was expected, or - for "
		    "standard input",
		    path);
	else if (st.st_size > POLICY_BYTES)
		too_long(path, err);
	else
		return fd;
	close(fd);
	return -1;
}

/* Up to size bytes; fewer at the end alone. */
static ssize_t
read_all(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < size && got != 0) {
		got = read(fd, text + n, size - n);
		if (got < 0 && errno != EINTR)
			return -1;
		n += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)n;
}

/* Which line holds what may not be sent; 0: none does. A line must be changed to be looked at. */
static int
find_bad_line(char *text, size_t n)
{
	char *line, *end;
	int number = 1;

	for (line = text; line < text + n; line = end + 1, number++) {
		bool last, good;

		end = memchr(line, '\n', n - (size_t)(line - text));
		last = end == NULL;
		if (last)
			end = text + n;
		*end = '\0';
		good = strlen(line) == (size_t)(end - line) && wire_text_ok(line);
		if (!last)
			*end = '\n';
		if (!good)
			return number;
	}
	return 0;
}

static int
check_text(const char *path, char *text, size_t n, struct err *err)
{
	int line;

	if (n > POLICY_BYTES)
		return too_long(path, err);
	line = find_bad_line(text, n);
	if (line > 0)
		return err_set(err,
		    "%s:%d: holds a control character or bytes that are no UTF-8; text was "
		    "expected",
		    path, line);
	return 0;
}

enum reply_status
policy_text_read(const char *path, char **ret_text, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	enum reply_status status = REPLY_FAILED;
	int fd = standard ? STDIN_FILENO : open_regular(path, &status, err);
	char *text;
	ssize_t n;

	if (fd < 0)
		return status;
	text = mem_calloc(POLICY_BYTES + 2, 1);
	n = read_all(fd, text, POLICY_BYTES + 1);
	if (n < 0)
		err_set_errno(err, errno, "%s cannot be read", path);
	if (!standard)
		close(fd);
	if (n >= 0 && check_text(path, text, (size_t)n, err) == 0) {
		*ret_text = text;
		return REPLY_OK;
	}
	free(text);
	return REPLY_FAILED;
}
