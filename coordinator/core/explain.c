/* The sentences come from the functions that decide, asked again: an explanation that was
 * kept beside a decision would one day tell another story.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

typedef unsigned long long ull;

static void
row(const struct cluster *c, const struct build *b, const struct host *h,
    struct explain_host_row *ret)
{
	const struct attempt *a = build_live_attempt(c, b);
	struct prediction p = predict_build(c, b, h);

	memcpy(ret->host, h->name, sizeof ret->host);
	ret->here = a != NULL && strcmp(a->host, h->name) == 0;
	if (ret->here) {
		ret->filter = FILTER_NONE;
		snprintf(
		    ret->reason, sizeof ret->reason, "runs here as attempt %llu", (ull)a->id.n);
		return;
	}
	ret->filter = plan_filter(c, b, h, ret->reason);
	if (ret->filter != FILTER_NONE)
		return;
	if (p.samples > 0)
		snprintf(ret->reason, sizeof ret->reason,
		    "could take it: about %.0f s by the last %d good ones",
		    (double)p.real_us / SECOND_US, p.samples);
	else
		snprintf(ret->reason, sizeof ret->reason,
		    "could take it: how long it takes is not known yet");
}

/* A build that waits though a host could take it waits for a better one, or for the next plan. */
static void
say_queued(const struct explain_host_row *rows, size_t n, char *ret_sentence)
{
	size_t i, could = 0, busy = 0;

	for (i = 0; i < n; i++) {
		could += rows[i].filter == FILTER_NONE;
		busy += rows[i].filter == FILTER_SLOTS;
	}
	if (n == 0)
		snprintf(ret_sentence, TEXT_SIZE, "waits: no host has ever said HELLO");
	else if (could > 0)
		snprintf(ret_sentence, TEXT_SIZE,
		    "waits for the next plan: %zu of %zu hosts could take it now", could, n);
	else if (busy > 0)
		snprintf(ret_sentence, TEXT_SIZE,
		    "waits for a slot: %zu of %zu hosts would do and are busy", busy, n);
	else
		snprintf(ret_sentence, TEXT_SIZE, "waits: none of the %zu hosts can take it", n);
}

void
explain_build(const struct cluster *c, const struct build *b, char ret_sentence[TEXT_SIZE],
    struct explain_host_row **ret_rows, size_t *ret_nrows)
{
	struct explain_host_row *rows = mem_calloc(c->nhosts, sizeof *rows);
	const struct attempt *a = build_live_attempt(c, b);
	size_t i;

	for (i = 0; i < c->nhosts; i++)
		row(c, b, c->hosts[i], &rows[i]);
	switch (build_state_get(c, b)) {
	case BUILD_QUEUED:
		say_queued(rows, c->nhosts, ret_sentence);
		break;
	case BUILD_DONE:
		snprintf(ret_sentence, TEXT_SIZE, "done: %s%s%.400s", verdict_name(b->verdict),
		    b->reason[0] ? ", " : "", b->reason);
		break;
	case BUILD_CANCELLING:
		snprintf(ret_sentence, TEXT_SIZE, "is being cancelled on %s, by %s: %.300s",
		    a->host, b->cancel_who, b->cancel_reason);
		break;
	case BUILD_STARTING:
		snprintf(ret_sentence, TEXT_SIZE,
		    "granted to %s, whose agent has not yet said that it runs", a->host);
		break;
	case BUILD_RUNNING:
		snprintf(ret_sentence, TEXT_SIZE,
		    "runs on %s: of the hosts that could, it was the one to finish "
		    "first by what was known",
		    a->host);
		break;
	}
	*ret_rows = rows;
	*ret_nrows = c->nhosts;
}

void
explain_limit(const struct cluster *c, const struct host *h, char ret_sentence[TEXT_SIZE],
    struct governor_input *ret_input)
{
	struct governor_decision d;

	governor_input_get(c, h, ret_input);
	governor_decide(ret_input, &d);
	snprintf(ret_sentence, TEXT_SIZE, "a limit of %d: %.480s", d.limit, d.reason);
}
