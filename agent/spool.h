/* spool.h - what an agent keeps on disk: its attempts, the limit, the epoch
 *
 * Shape:  a state folder:
 *           lock           held while an agent lives here; names it
 *           kept           "epoch=N" and "limit=N", the last the coordinator said
 *           attempts/N/    order.h says what is in it, and "phases": the marks seen in the log,
 *                          so that they keep their times when the log is read again
 * Units:  as message.h.
 * Errors: sentences that name the file. A folder that two agents share is refused.
 * Memory: open/close; paths that are given out are fresh memory.
 * Source: docs/man/flyball-agent.8 "FILES".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SPOOL_H
#define FLYBALL_SPOOL_H

#include "proto/base/err.h"
#include "proto/message.h"

struct spool;

/* Makes the folders that are missing, and locks. */
struct spool *spool_open(const char *state, struct err *err);
void spool_close(struct spool *spool);

/* 0 and 0 when nothing was kept. */
int spool_recall(
    const struct spool *spool, uint64_t *ret_epoch, int32_t *ret_limit, struct err *err);
int spool_keep(const struct spool *spool, uint64_t epoch, int32_t limit, struct err *err);

/* The attempts that have a folder, in rising order. */
int spool_list(const struct spool *spool, attempt_id **ret_ids, size_t *ret_n, struct err *err);
char *spool_folder(const struct spool *spool, attempt_id id);

/* A folder for an attempt, on disk when this returns. */
int spool_add(const struct spool *spool, attempt_id id, struct err *err);
/* Removes what is in the folder, one level deep, and the folder; one that is gone is fine. */
int spool_remove(const struct spool *spool, attempt_id id, struct err *err);
/* Keeps an attempt that never began as one that ended, with the reason. */
int spool_add_refused(const struct spool *spool, const struct message_start *start,
    const char *reason, struct err *err);

/* Bytes of the attempt's log; 0 when there is none. */
int64_t spool_log_size(const struct spool *spool, attempt_id id);
/* As many of n bytes from offset on as there are. */
int spool_log_read(const struct spool *spool, attempt_id id, int64_t offset, char *buf, size_t n,
    size_t *ret_n, struct err *err);

int spool_phases_write(const struct spool *spool, attempt_id id, const struct phase_mark *marks,
    size_t n, struct err *err);
/* At most max, up to the first that is malformed; a file that is missing has none. */
size_t spool_phases_read(
    const struct spool *spool, attempt_id id, struct phase_mark *ret_marks, size_t max);

#endif
