/* fact.h - what was decided: the journal's entries, and the only way hard state changes
 *
 * Shape:  step() emits facts and applies them at once; a restart applies the journal's
 *         to an empty cluster and has the same hard state. Applying never decides.
 * Units:  wall_us for people; durations in us. No monotonic time: it dies with a boot.
 * Errors: a fact that does not fit the state (a damaged journal) is refused with a sentence.
 * Memory: fact_clear frees lists and texts.
 * Source: docs/states.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_FACT_H
#define FLYBALL_FACT_H

#include "coordinator/core/codec.h"
#include "coordinator/core/memory.h"
#include "coordinator/core/policy.h"

/* Append only: the names stand in journals. */
enum fact_kind {
	FACT_NONE,
	FACT_EPOCH, /* the coordinator started: number */
	FACT_POLICY, /* came into force: policy, its version in number */
	FACT_POLICY_GONE, /* branch: no further rounds */
	FACT_HOST, /* was seen, or what it is has changed: host, facts */
	FACT_DRAIN, /* host, text reason, who, duration_us */
	FACT_RESUME, /* host, who */
	FACT_THROTTLE, /* host, limit, text reason, who, duration_us */
	FACT_UNTHROTTLE, /* host, who, text */
	FACT_ROUND, /* round, branch, number = policy version, revision, who, text why */
	FACT_BUILD, /* build, round, target */
	FACT_GRANT, /* attempt, build, host, number = epoch, fence */
	FACT_RUNNING, /* attempt */
	FACT_CANCEL, /* build, who, text reason: wanted; its attempts are told */
	FACT_ENDED, /* attempt, status, result */
	FACT_DONE, /* build, verdict, text */
	FACT_RETRY, /* build, who: done no longer */
	FACT_LIMIT, /* host, limit, number = level, text reason; soft */
	FACT_PIN, /* as FACT_THROTTLE: the limit is exactly this */
	FACT_UNPIN, /* host, who, text */
	FACT_PAUSE, /* as FACT_DRAIN: and what runs there stands still */
	FACT_UNPAUSE, /* host, who, text */
	FACT_GOVERNOR, /* scope, name, mode, who, text reason: a farm's ends all others */
	FACT_GOVERNOR_LIFTED, /* scope, name, who, text: a farm's, all of them */
	FACT_LEARNED, /* learned; soft */
	FACT_KINDS
};

const char *fact_kind_name(enum fact_kind kind);
/* Soft facts may be committed up to a second later and be lost with it. */
bool fact_soft(enum fact_kind kind);

enum verdict { VERDICT_NONE, VERDICT_OK, VERDICT_FAILED, VERDICT_CANCELLED };

const char *verdict_name(enum verdict verdict);

struct fact {
	enum fact_kind kind;
	wall_us at;
	round_id round;
	build_id build;
	attempt_id attempt;
	uint64_t fence;
	uint64_t number;
	int32_t limit;
	int64_t duration_us; /* 0: without end */
	enum verdict verdict;
	enum mode_scope scope;
	enum governor_mode mode;
	char name[NAME_SIZE]; /* of what the scope says */
	char host[NAME_SIZE];
	char branch[NAME_SIZE];
	char target[NAME_SIZE];
	char revision[REVISION_SIZE];
	char who[NAME_SIZE];
	char text[TEXT_SIZE];
	struct policy *policy; /* FACT_POLICY */
	struct host_facts *facts; /* FACT_HOST */
	struct attempt_status *status; /* FACT_ENDED */
	struct attempt_result *result; /* FACT_ENDED */
	struct memory *learned; /* FACT_LEARNED */
	struct law_evidence *evidence; /* FACT_LIMIT */
};

void fact_clear(struct fact *fact);
/* The line that the journal and recordings keep. */
void fact_encode(const struct fact *fact, struct text *t);
int fact_decode(const char *line, struct fact *ret_fact, struct err *err);

#endif
