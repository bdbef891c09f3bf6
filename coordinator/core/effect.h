/* effect.h - everything that the core wants done
 *
 * Shape:  a list, in order; the driver commits the facts in it and then does the rest.
 *         What is said to an agent is named by ids: the driver reads the cluster for it.
 * Units:  as units.h.
 * Errors: none.
 * Memory: effects_clear; the list owns its facts.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_EFFECT_H
#define FLYBALL_EFFECT_H

#include "coordinator/core/event.h"

enum effect_kind {
	EFFECT_NONE,
	EFFECT_FACT, /* journal it */
	EFFECT_WELCOME, /* host: answer its HELLO */
	EFFECT_START, /* host, attempt */
	EFFECT_CANCEL, /* host, attempt, fence, text */
	EFFECT_DROP, /* host, attempt: its result and log are not wanted here */
	EFFECT_KEPT, /* host, attempt: its result is in the journal; go on with its log */
	EFFECT_LIMIT, /* host, limit, text, paused and for how long in duration_us */
	EFFECT_REPLY, /* request, status, text, round */
	EFFECT_REFUSE, /* host or request nothing waits for; text: an event that made no sense */
	EFFECT_PLAN, /* version: a plan is wanted */
	EFFECT_WOULD, /* host, limit, text: what the law would set if its mode let it; for the log */
	EFFECT_KINDS
};

const char *effect_kind_name(enum effect_kind kind);

/* As flyball(1) exits. */
enum answer {
	ANSWER_OK = 0,
	ANSWER_FAILED = 1,
	ANSWER_USAGE = 2,
	ANSWER_NOT_FOUND = 3,
	ANSWER_DENIED = 4,
	ANSWER_CONFLICT = 6
};

struct effect {
	enum effect_kind kind;
	char host[NAME_SIZE];
	attempt_id attempt;
	uint64_t fence;
	int32_t limit;
	bool paused;
	int64_t duration_us; /* 0: without end */
	uint64_t request;
	enum answer answer;
	round_id round;
	uint64_t version;
	char text[TEXT_SIZE];
	struct fact *fact;
};

struct effects {
	size_t n, capacity;
	struct effect *list;
};

/* A new effect at the end, zeroed but for its kind; borrowed until the next one is added. */
struct effect *effects_add(struct effects *e, enum effect_kind kind);
void effects_clear(struct effects *e);
void effect_encode(const struct effect *effect, struct text *t);

#endif
