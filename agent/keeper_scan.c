/* A scan costs about 10 us a process, so it is made every 6 s, and sooner only while something has to be
 * confirmed or when the keeper has just reaped an orphan. The ledger is brought up to date before and
 * after the list is read, and the smaller or larger count of held tokens is used, whichever accuses less.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SCAN_EVERY_US = 6000000, HINT_DELAY_US = 200000, HINT_SPACING_US = 2000000 };

static mono_us
later(mono_us a, mono_us b)
{
	return a.us > b.us ? a : b;
}

void
keeper_scan_hint(struct keeper *keeper, mono_us now)
{
	mono_us soon =
	    later(mono_add(now, HINT_DELAY_US), mono_add(keeper->last_scan, HINT_SPACING_US));

	if (soon.us < keeper->next_scan.us)
		keeper->next_scan = soon;
}

static void
carry_out(struct keeper *keeper, const struct verdict *verdict)
{
	struct tokens *tokens = &keeper->pool.tokens;

	if (verdict->lose > 0)
		fprintf(stderr, "tokens lost with a killed process, given out anew count=%d\n",
		    (int)verdict->lose);
	if (verdict->find > 0)
		fprintf(stderr, "tokens booked as lost are in use after all count=%d\n",
		    (int)verdict->find);
	if (verdict->ungoverned != keeper->ungoverned)
		fprintf(stderr, "more steps run than there are tokens for: %s\n",
		    verdict->ungoverned ? "yes, a make runs its own -jN" : "no longer");
	keeper->ungoverned = verdict->ungoverned;
	tokens_lose(tokens, verdict->lose);
	tokens_find(tokens, verdict->find);
	tokens_unpaid(tokens, verdict->unpaid);
	pool_turn(&keeper->pool);
}

static void
judge(struct keeper *keeper, const struct os_process *list, size_t count, int64_t before)
{
	struct tokens *tokens = &keeper->pool.tokens;
	struct verdict verdict;
	struct scan scan;
	int64_t after;

	pool_turn(&keeper->pool);
	after = tokens_held(tokens);
	scan_tree(list, count, getpid(), keeper->recipe, &scan);
	suspicion_judge(&keeper->suspicion, &scan, before < after ? before : after,
	    before < after ? after : before, tokens->lost, &verdict);
	keeper->next_scan = mono_add(keeper->last_scan, verdict.again_us);
	carry_out(keeper, &verdict);
}

void
keeper_scan(struct keeper *keeper, mono_us now)
{
	struct os_process *list;
	size_t count;
	int64_t before;

	if (now.us < keeper->next_scan.us)
		return;
	keeper->last_scan = now;
	keeper->next_scan = mono_add(now, SCAN_EVERY_US);
	if (keeper->pool.tokens.stopped)
		return;
	pool_turn(&keeper->pool);
	before = tokens_held(&keeper->pool.tokens);
	if (os_tree_list(getpid(), &list, &count, NULL) != 0)
		return;
	judge(keeper, list, count, before);
	free(list);
}
