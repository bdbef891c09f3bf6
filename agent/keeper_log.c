/* A log is whole or says where it is not. Each gap is counted when it arises and marked before the
 * next byte that is stored, so that a reader sees the mark at the very place; only what was truly
 * written counts as stored, to the byte.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { CAP_LEAST = 4096, NOTE_BYTES = 1024, MARK_BYTES = 64 };

int
klog_open(struct klog *log, const char *path, int64_t cap_bytes, struct err *err)
{
	int64_t cap = cap_bytes < CAP_LEAST ? CAP_LEAST : cap_bytes;
	int64_t rest = cap - cap / 2;

	*log = (struct klog){ .head_bytes = cap / 2 };
	log->ring_size = rest < KLOG_RING_BYTES ? (size_t)rest : KLOG_RING_BYTES;
	log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (log->fd < 0)
		return err_set_errno(err, errno, "the log file %s cannot be made", path);
	return 0;
}

/* How much of n the file took. */
static size_t
put(struct klog *log, const char *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t put_now = write(log->fd, bytes + done, n - done);

		if (put_now < 0 && errno == EINTR)
			continue;
		if (put_now <= 0) {
			log->disk_errno = put_now < 0 ? errno : ENOSPC;
			break;
		}
		done += (size_t)put_now;
	}
	log->file_bytes += (int64_t)done;
	return done;
}

/* A mark that the disk takes only in part is taken back, to be written whole later. */
static bool
mark_gap(struct klog *log)
{
	char mark[MARK_BYTES];
	int n;
	size_t done;

	if (log->unmarked == 0)
		return true;
	n = snprintf(mark, sizeof mark, "\n[flyball: %" PRId64 " bytes dropped]\n", log->unmarked);
	done = put(log, mark, (size_t)n);
	if (done < (size_t)n) {
		log->file_bytes -= (int64_t)done;
		(void)!ftruncate(log->fd, log->file_bytes);
		return false;
	}
	log->unmarked = 0;
	return true;
}

static void
drop(struct klog *log, int64_t n)
{
	log->dropped += n;
	log->unmarked += n;
}

static void
put_in_ring(struct klog *log, const char *bytes, size_t n)
{
	if (log->ring == NULL)
		log->ring = mem_calloc(log->ring_size, 1);
	while (n > 0) {
		size_t at = (size_t)(log->ring_in % (int64_t)log->ring_size);
		size_t part = n < log->ring_size - at ? n : log->ring_size - at;

		memcpy(log->ring + at, bytes, part);
		log->ring_in += (int64_t)part;
		bytes += part;
		n -= part;
	}
	if (log->ring_in - log->ring_out > (int64_t)log->ring_size) {
		drop(log, log->ring_in - log->ring_out - (int64_t)log->ring_size);
		log->ring_out = log->ring_in - (int64_t)log->ring_size;
	}
}

void
klog_write(struct klog *log, const char *bytes, size_t n)
{
	int64_t room = log->head_bytes - log->file_bytes;
	size_t now = room <= 0 || log->ring_in > 0 ? 0 : n < (size_t)room ? n : (size_t)room;

	if (now > 0) {
		size_t done = mark_gap(log) ? put(log, bytes, now) : 0;

		drop(log, (int64_t)(now - done));
	}
	if (n > now)
		put_in_ring(log, bytes + now, n - now);
}

void
klog_note(struct klog *log, const char *format, ...)
{
	char text[NOTE_BYTES], line[NOTE_BYTES + MARK_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	snprintf(line, sizeof line, "\n[flyball: %s]\n", text);
	klog_write(log, line, strlen(line));
}

bool
klog_finish(struct klog *log)
{
	if (log->fd < 0)
		return true;
	if (!mark_gap(log))
		return false;
	while (log->ring_out < log->ring_in) {
		size_t at = (size_t)(log->ring_out % (int64_t)log->ring_size);
		int64_t left = log->ring_in - log->ring_out;
		size_t part = log->ring_size - at;
		size_t done;

		if ((int64_t)part > left)
			part = (size_t)left;
		done = put(log, log->ring + at, part);
		log->ring_out += (int64_t)done;
		if (done < part)
			return false;
	}
	return fsync(log->fd) == 0;
}

void
klog_close(struct klog *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
	free(log->ring);
	log->ring = NULL;
}
