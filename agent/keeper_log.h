/* keeper_log.h - the log file of one build, bounded
 *
 * Shape:  the first half of the cap is written as it comes; of the rest, the last is kept in
 *         memory and appended at the end, behind a line that counts what was dropped between. What
 *         a full disk refuses is counted and marked in the same way, where it is missing.
 * Units:  bytes, stored as they are.
 * Errors: only opening can fail; klog_finish may be called until it succeeds.
 * Memory: open/close; the ring is only taken when it is needed.
 * Source: docs/tokens.md "Log".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_LOG_H
#define FLYBALL_KEEPER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

enum { KLOG_RING_BYTES = 512 * 1024 };

struct klog {
	int fd;
	int64_t head_bytes; /* may go to the file as they come */
	int64_t file_bytes; /* of what came, the file has */
	int64_t dropped; /* in all */
	int64_t unmarked; /* dropped, and the file does not say so yet */
	int disk_errno; /* the last refusal of the disk, or 0 */
	char *ring;
	size_t ring_size;
	int64_t ring_in; /* bytes ever put into the ring */
	int64_t ring_out; /* of these, dropped or appended to the file */
};

int klog_open(struct klog *log, const char *path, int64_t cap_bytes, struct err *err);
void klog_write(struct klog *log, const char *bytes, size_t n);
/* A line of the keeper's own: "[flyball: ...]". */
void klog_note(struct klog *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends the ring; false while the disk does not take it: then to be called again later. */
bool klog_finish(struct klog *log);
void klog_close(struct klog *log);

#endif
