/* tokens.h - the ledger of one build's tokens: who has how many, how many to give
 *
 * Shape:  pure: the pool (keeper_pool.h) tells what it wrote and read, the ledger says what
 *         to do next. Always
 *             granted + extra = returned + drained + lost + held + unclaimed
 *         and what is out (held and unclaimed) is brought to limit - 1 - unpaid, since
 *         a make may always run one step without a token.
 * Units:  tokens.
 * Errors: cannot fail; a count that makes no sense becomes extra or takes lost ones back.
 * Memory: by value.
 * Source: docs/tokens.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TOKENS_H
#define FLYBALL_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

struct tokens {
	int limit;
	int unpaid; /* steps that run though no make holds a token for them */
	bool stopped; /* nothing is granted any more */
	int64_t granted; /* put into the pool */
	int64_t returned; /* came back from makes */
	int64_t drained; /* taken back out of the pool before a make had them */
	int64_t lost; /* went down with a killed process */
	int64_t extra; /* came back though nobody had taken them */
	int64_t unclaimed; /* lie in the pool */
};

void tokens_init(struct tokens *tokens, int limit);
void tokens_limit(struct tokens *tokens, int limit); /* brought into 1..JOBS_MAX */
void tokens_unpaid(struct tokens *tokens, int64_t steps);
void tokens_stop(struct tokens *tokens);

/* What happened in the pool. Makes take tokens unseen, so that returned ones are only judged
 * when tokens_see has said what lies there now. */
void tokens_granted(struct tokens *tokens, int64_t n);
void tokens_drained(struct tokens *tokens, int64_t n);
void tokens_returned(struct tokens *tokens, int64_t n);
void tokens_see(struct tokens *tokens, int64_t unclaimed);

/* What a scan found: so many held tokens have no holder; or lost ones are in use after all. */
void tokens_lose(struct tokens *tokens, int64_t n);
void tokens_find(struct tokens *tokens, int64_t n);

int64_t tokens_held(const struct tokens *tokens);

/* More than 0: grant so many. Less: drain so many, all of which lie in the pool. */
int64_t tokens_due(const struct tokens *tokens);

/* The last process is gone: what is held now is lost. */
void tokens_close(struct tokens *tokens);

/* "Limited", docs/tokens.md: the last second's samples of "nothing to take, all held". */
struct limited {
	unsigned samples;
};

/* To be called at a fixed 10 Hz; true when more than 80 % of the last ten samples were short. */
bool limited_sample(struct limited *limited, const struct tokens *tokens);

#endif
