/* keeper_pool.h - the pipes that a build's tokens go through
 *
 * Shape:  POOL_PIPES: tokens go out by one pipe and come back by another; makes get the read end
 *         of the one and the write end of the other. POOL_FIFO: one named pipe both ways.
 * Units:  tokens, a byte each.
 * Errors: only opening can fail.
 * Memory: open/close; the ledger is inside.
 * Source: docs/tokens.md "Two pipes".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_POOL_H
#define FLYBALL_KEEPER_POOL_H

#include "agent/order.h"
#include "agent/tokens.h"

/* The numbers that makes see; low ones are taken by shells and scripts. */
enum { POOL_CHILD_READ = 20, POOL_CHILD_WRITE = 21 };

struct pool {
	enum pool_kind kind;
	struct tokens tokens;
	int take_fd; /* read end of the way out: makes have it, and we drain by it */
	int give_fd; /* write end of the way out, ours alone */
	int back_fd; /* read end of the way back, ours alone; -1 with a FIFO */
	int return_fd; /* write end of the way back: makes have it; held open by us as well */
	char stopper; /* 'E' or 'I' once a BSD make has called the build off, else 0 */
};

/* The FIFO is made as ./fifo. */
int pool_open(struct pool *pool, enum pool_kind kind, int limit, struct err *err);
void pool_close(struct pool *pool);

/* Counts what came back, and grants or drains what is due; true when something came back. */
bool pool_turn(struct pool *pool);

/* The descriptor whose being readable calls for a turn; -1 when there is none now. */
int pool_watch_fd(const struct pool *pool);

/* The last process is gone: empties the pipes and closes the ledger. */
void pool_finish(struct pool *pool);

#endif
