/* The keeper alone puts tokens into the pool, so that held tokens need not be counted: they are what
 * is in nobody else's hands. Growing is granting, shrinking is not granting again; what lies unclaimed
 * is drained at once when the limit falls. The floor is one step, never none: a build that can run
 * nothing can end nothing.
 *
 * Only a killed client breaks the books. A scan of the processes then tells that less is in use than
 * is held (tokens_lose), or that what was booked as lost is in use after all (tokens_find); and a token
 * booked as lost that comes back shows as fewer than none held, which takes it off the lost ones before
 * anything is granted in its place.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/tokens.h"

#include <assert.h>

#include "proto/limits.h"

enum { LIMITED_WINDOW = 10, LIMITED_MORE_THAN = 8 };

static int64_t
at_most(int64_t n, int64_t most)
{
	return n < most ? n : most;
}

static void
check(const struct tokens *t)
{
	assert(t->limit >= 1 && t->limit <= JOBS_MAX);
	assert(t->granted >= 0 && t->returned >= 0 && t->drained >= 0 && t->lost >= 0);
	assert(t->extra >= 0 && t->unclaimed >= 0 && t->unpaid >= 0);
	assert(tokens_held(t) >= 0);
}

/* Fewer than none held: first the lost ones came back, else someone made tokens up. */
static void
settle(struct tokens *t)
{
	int64_t short_of = -tokens_held(t);

	if (short_of > 0) {
		int64_t back = at_most(short_of, t->lost);

		t->lost -= back;
		t->extra += short_of - back;
	}
	check(t);
}

void
tokens_init(struct tokens *tokens, int limit)
{
	*tokens = (struct tokens){ 0 };
	tokens_limit(tokens, limit);
}

void
tokens_limit(struct tokens *tokens, int limit)
{
	tokens->limit = limit < 1 ? 1 : limit > JOBS_MAX ? JOBS_MAX : limit;
}

void
tokens_unpaid(struct tokens *tokens, int64_t steps)
{
	assert(steps >= 0);
	tokens->unpaid = (int)at_most(steps, JOBS_MAX);
}

void
tokens_stop(struct tokens *tokens)
{
	tokens->stopped = true;
}

void
tokens_granted(struct tokens *tokens, int64_t n)
{
	assert(n >= 0 && !tokens->stopped);
	tokens->granted += n;
	tokens->unclaimed += n;
	check(tokens);
}

void
tokens_drained(struct tokens *tokens, int64_t n)
{
	assert(n >= 0);
	tokens->drained += n;
	tokens->unclaimed -= at_most(n, tokens->unclaimed);
	settle(tokens);
}

void
tokens_returned(struct tokens *tokens, int64_t n)
{
	assert(n >= 0);
	tokens->returned += n;
}

void
tokens_see(struct tokens *tokens, int64_t unclaimed)
{
	assert(unclaimed >= 0);
	tokens->unclaimed = unclaimed;
	settle(tokens);
}

void
tokens_lose(struct tokens *tokens, int64_t n)
{
	assert(n >= 0);
	tokens->lost += at_most(n, tokens_held(tokens));
	check(tokens);
}

void
tokens_find(struct tokens *tokens, int64_t n)
{
	assert(n >= 0);
	tokens->lost -= at_most(n, tokens->lost);
	check(tokens);
}

int64_t
tokens_held(const struct tokens *t)
{
	return t->granted + t->extra - t->returned - t->drained - t->lost - t->unclaimed;
}

int64_t
tokens_due(const struct tokens *tokens)
{
	int64_t wanted = tokens->limit - 1 - tokens->unpaid;
	int64_t due = (wanted > 0 ? wanted : 0) - tokens_held(tokens) - tokens->unclaimed;

	if (tokens->stopped)
		return -tokens->unclaimed;
	return due < -tokens->unclaimed ? -tokens->unclaimed : due;
}

void
tokens_close(struct tokens *tokens)
{
	tokens_stop(tokens);
	tokens_lose(tokens, tokens_held(tokens));
}

bool
limited_sample(struct limited *limited, const struct tokens *tokens)
{
	bool is_short = tokens->unclaimed == 0 && tokens_held(tokens) >= tokens->limit - 1;
	int count = 0;

	limited->samples = (limited->samples << 1 | is_short) & ((1U << LIMITED_WINDOW) - 1);
	for (unsigned bits = limited->samples; bits != 0; bits &= bits - 1)
		count++;
	return count > LIMITED_MORE_THAN;
}
