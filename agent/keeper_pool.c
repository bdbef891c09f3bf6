/* Of the two pipes, only the read end of the way out is shared with makes in a mode that matters: it
 * must be O_NONBLOCK (BSD make deadlocks else, GNU make 4.3 sets it itself). The write end of the way
 * back stays blocking for them. Every end stays open here for the whole build, since end of file is
 * fatal to BSD make.
 *
 * BSD makes call a build off by returning 'E' or 'I' in place of a token: whoever reads one puts it
 * back, so that all learn of it. The keeper then empties the pool, leaves one stopper in it as long
 * as the build lives, and grants nothing more.
 *
 * A FIFO cannot be watched: what makes take and return is told only by how much lies in it. While
 * more is out than the limit allows, the keeper reads it like any client, and so gets some in time.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/os.h"

enum { OWN_FDS_FROM = 30, CHUNK = 512 };
static const char fifo_name[] = "fifo";

/* Out of the way of the numbers that the recipe's process will get. */
static int
move_up(int *fd)
{
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, OWN_FDS_FROM);

	close(*fd);
	*fd = moved;
	return moved < 0 ? -1 : 0;
}

static int
make_pipe(int *ret_read, int *ret_write)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	*ret_read = fds[0];
	*ret_write = fds[1];
	return move_up(ret_read) == 0 ? move_up(ret_write) : -1;
}

static int
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int
open_pipes(struct pool *pool)
{
	if (make_pipe(&pool->take_fd, &pool->give_fd) != 0 ||
	    make_pipe(&pool->back_fd, &pool->return_fd) != 0)
		return -1;
	if (set_nonblocking(pool->take_fd) != 0 || set_nonblocking(pool->give_fd) != 0)
		return -1;
	return set_nonblocking(pool->back_fd);
}

/* give_fd is opened for both, so that no open waits and no end of file comes. */
static int
open_fifo(struct pool *pool)
{
	if (mkfifo(fifo_name, 0600) != 0 && errno != EEXIST)
		return -1;
	pool->give_fd = open(fifo_name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	pool->take_fd = open(fifo_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pool->return_fd = open(fifo_name, O_WRONLY | O_CLOEXEC);
	if (pool->give_fd < 0 || pool->take_fd < 0 || pool->return_fd < 0)
		return -1;
	if (move_up(&pool->give_fd) != 0 || move_up(&pool->take_fd) != 0)
		return -1;
	return move_up(&pool->return_fd);
}

int
pool_open(struct pool *pool, enum pool_kind kind, int limit, struct err *err)
{
	int rc;

	*pool = (struct pool){
		.kind = kind, .take_fd = -1, .give_fd = -1, .back_fd = -1, .return_fd = -1
	};
	tokens_init(&pool->tokens, limit);
	rc = kind == POOL_FIFO ? open_fifo(pool) : open_pipes(pool);
	if (rc != 0) {
		err_set_errno(err, errno, "the token pool cannot be made");
		pool_close(pool);
	}
	return rc;
}

void
pool_close(struct pool *pool)
{
	int *const fds[] = { &pool->take_fd, &pool->give_fd, &pool->back_fd, &pool->return_fd };

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	if (pool->kind == POOL_FIFO)
		unlink(fifo_name);
}

static bool
is_stopper(char c)
{
	return c == 'E' || c == 'I';
}

/* The first stopper takes the place of a token; later ones may be ours, put back by its reader. */
static void
count_returns(struct pool *pool, const char *bytes, ssize_t n)
{
	int64_t tokens = 0;

	for (ssize_t i = 0; i < n; i++) {
		if (!is_stopper(bytes[i]) || pool->stopper == 0)
			tokens++;
		if (is_stopper(bytes[i]))
			pool->stopper = bytes[i];
	}
	tokens_returned(&pool->tokens, tokens);
}

static bool
take_returns(struct pool *pool)
{
	char bytes[CHUNK];
	bool some = false;
	ssize_t n;

	if (pool->back_fd < 0)
		return false;
	while ((n = read(pool->back_fd, bytes, sizeof bytes)) > 0) {
		count_returns(pool, bytes, n);
		some = true;
	}
	return some;
}

/* Takes up to n tokens out of the pool. A stopper that lay among them goes back. */
static void
drain(struct pool *pool, int64_t n)
{
	char bytes[CHUNK];

	while (n > 0) {
		ssize_t got = read(pool->take_fd, bytes, n < CHUNK ? (size_t)n : sizeof bytes);
		int64_t tokens = 0;

		if (got <= 0)
			return;
		for (ssize_t i = 0; i < got; i++) {
			if (is_stopper(bytes[i]))
				pool->stopper = bytes[i];
			else
				tokens++;
		}
		tokens_drained(&pool->tokens, tokens);
		n -= got;
	}
}

static void
grant(struct pool *pool, int64_t n)
{
	char bytes[CHUNK];
	ssize_t put;

	memset(bytes, '+', sizeof bytes);
	put = write(pool->give_fd, bytes, n < CHUNK ? (size_t)n : sizeof bytes);
	if (put > 0)
		tokens_granted(&pool->tokens, put);
}

/* What still lay in the pool is drained once, then there is one stopper in it at any time. */
static void
hold_back(struct pool *pool)
{
	if (!pool->tokens.stopped) {
		tokens_see(&pool->tokens, os_pipe_bytes(pool->take_fd));
		tokens_stop(&pool->tokens);
		drain(pool, pool->tokens.unclaimed);
	}
	tokens_see(&pool->tokens, 0);
	if (os_pipe_bytes(pool->take_fd) == 0)
		(void)!write(pool->give_fd, &pool->stopper, 1);
}

bool
pool_turn(struct pool *pool)
{
	bool some = take_returns(pool);
	int64_t was = pool->tokens.unclaimed, due;

	if (pool->stopper != 0) {
		hold_back(pool);
		return some;
	}
	tokens_see(&pool->tokens, os_pipe_bytes(pool->take_fd));
	if (pool->kind == POOL_FIFO)
		some = pool->tokens.unclaimed != was;
	due = tokens_due(&pool->tokens);
	if (due > 0)
		grant(pool, due);
	else if (due < 0)
		drain(pool, -due);
	return some;
}

int
pool_watch_fd(const struct pool *pool)
{
	const struct tokens *t = &pool->tokens;

	if (pool->kind != POOL_FIFO)
		return pool->back_fd;
	return tokens_held(t) > t->limit - 1 ? pool->take_fd : -1;
}

void
pool_finish(struct pool *pool)
{
	take_returns(pool);
	tokens_stop(&pool->tokens);
	if (pool->stopper == 0) {
		tokens_see(&pool->tokens, os_pipe_bytes(pool->take_fd));
		drain(pool, pool->tokens.unclaimed);
	}
	tokens_see(&pool->tokens, 0);
	tokens_close(&pool->tokens);
}
