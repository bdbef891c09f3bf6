/* scan.h - what a list of processes says about a build's tokens
 *
 * Shape:  pure: scan_tree counts one list, suspicion_judge compares counts with the ledger
 *         over several scans, since one list alone is never a proof.
 * Units:  processes, steps, tokens.
 * Errors: cannot fail; what cannot be told is never held against a build.
 * Memory: by value; scan_tree frees what it takes.
 * Source: docs/tokens.md "Scan".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SCAN_H
#define FLYBALL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/os.h"

struct scan {
	int makes; /* living ones, ninja among them */
	int tops; /* makes of the recipe's that have no make above: each has a free step */
	int steps; /* direct children of makes that are no makes and have none below */
	int orphans; /* steps whose make is dead: the keeper's children but the recipe */
	int orphan_makes; /* makes whose parent make is dead: their free step has no token */
	int occupied; /* all that may be holding a token or a free step */
	bool unsure; /* something there holds tokens inside of itself, unseen */
};

/* list: all processes below keeper, of which root is the recipe's. */
void scan_tree(
    const struct os_process *list, size_t count, pid_t keeper, pid_t root, struct scan *ret_scan);

bool scan_is_make(const char *name);

/* A run of scans that all say the same, and the least of what they say. */
struct streak {
	int scans;
	int64_t least;
};

enum { UNPAID_SCANS = 32 };

struct suspicion {
	struct streak missing, found, over, within;
	int64_t unpaid[UNPAID_SCANS]; /* what each of the last scans saw; 0 where there was none */
	unsigned nunpaid;
	bool ungoverned;
};

struct verdict {
	int64_t lose; /* held tokens that nobody uses: book them as lost */
	int64_t find; /* tokens booked as lost that are in use after all */
	int64_t unpaid; /* steps of killed makes that no held token pays for */
	bool ungoverned; /* more steps run than tokens explain */
	int64_t again_us; /* when to scan again: sooner while something is not settled */
};

/* held: the least and the most that the ledger said just before and just after the scan. */
void suspicion_judge(struct suspicion *suspicion, const struct scan *scan, int64_t held_least,
    int64_t held_most, int64_t lost, struct verdict *ret_verdict);

#endif
