/* A kept table of symbols takes 10 MB and more; read through, it takes 50 ms of CPU and one buffer.
 * So whoever wants symbols says which, and reads the whole file again.
 *
 * Invariant: a line that does not have the shape "ADDRESS TYPE NAME" is passed over, so that what a
 * later kernel adds does no harm.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLS "/proc/kallsyms"

enum { BUFFER_BYTES = 16 * 1024 };

struct reader {
	kallsyms_f f;
	void *arg;
	bool shown; /* some address was not 0 */
};

static void
take_line(struct reader *reader, char *line)
{
	char *end, *tab;
	uint64_t address = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || end[1] == '\0' || end[2] != ' ' || end[3] == '\0')
		return;
	tab = strchr(end + 3, '\t'); /* behind it is the name of a module */
	if (tab != NULL)
		*tab = '\0';
	reader->shown |= address != 0;
	reader->f(reader->arg, address, end[1], end + 3);
}

/* Takes the whole lines of n bytes and moves the rest to the front; returns how long that is. */
static size_t
take_lines(struct reader *reader, char *buffer, size_t n)
{
	char *line = buffer, *end;

	while ((end = memchr(line, '\n', n - (size_t)(line - buffer))) != NULL) {
		*end = '\0';
		take_line(reader, line);
		line = end + 1;
	}
	n -= (size_t)(line - buffer);
	memmove(buffer, line, n);
	return n < BUFFER_BYTES ? n : 0; /* no symbol is as long as the buffer */
}

int
kallsyms_read(kallsyms_f f, void *arg, struct err *err)
{
	struct reader reader = { .f = f, .arg = arg };
	char buffer[BUFFER_BYTES];
	size_t n = 0;
	ssize_t got;
	int fd = open(SYMBOLS, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno,
		    "the kernel's symbols cannot be read from " SYMBOLS
		    ", which the names of locks come from");
	while ((got = read(fd, buffer + n, BUFFER_BYTES - n)) > 0)
		n = take_lines(&reader, buffer, n + (size_t)got);
	if (got < 0)
		err_set_errno(err, errno, "reading " SYMBOLS " failed");
	close(fd);
	if (got < 0)
		return -1;
	if (!reader.shown)
		return err_set(err,
		    "the kernel hides its addresses in " SYMBOLS
		    " (kernel.kptr_restrict is %d): run the agent as root or with CAP_SYSLOG, "
		    "or set the sysctl kernel.kptr_restrict to 0",
		    (int)sysctl_number("/proc/sys/kernel/kptr_restrict"));
	return 0;
}

int32_t
sysctl_number(const char *path)
{
	char text[32];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return (int32_t)strtol(text, NULL, 10);
}
