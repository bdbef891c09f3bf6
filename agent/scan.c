/* In the tree of a healthy build every held token has a place: each step uses one, but for the free
 * one of each top make. A make without a child may be reading its makefile or be about to start, and
 * uses the token that its parent's step has; a zombie child's token is not given back before its
 * make has looked. So
 *         held <= occupied - tops
 * holds but for the moment between taking a token and forking, or reaping and giving back. Several
 * scans a second apart must all see less before a token is booked as lost, and the least counts.
 *
 * What errs, errs to the safe side, which is to book nothing: $(shell) children count as steps, a make
 * whose own parent was killed is no top, and where cargo, rustc or gcc's link-time optimiser runs,
 * which hold tokens in threads, nothing is booked at all. What was booked wrongly all the same (make -l
 * keeps tokens for steps that it holds back) shows as more steps than tokens, and is taken back.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/scan.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

enum {
	LOSE_SCANS = 4,
	FIND_SCANS = 3,
	UNGOVERNED_SCANS = 2,
	MAKES_PER_SLACK = 4,

	SETTLED_US = 6000000,
	CONFIRM_US = 1000000,
	/* Only about every other scan sees all that a killed make left, and two that do must fit into 10 s. */
	KILLED_US = 500000
};

struct node {
	struct os_process process;
	struct node *parent; /* NULL: not in the list */
	int children;
	bool is_make, above_make, below_make, below_root;
};

static const char *const make_names[] = { "make", "gmake", "bmake", "nbmake", "ninja", "samu" };
static const char *const unsure_names[] = { "cargo", "rustc", "lto1", "lto-wrapper" };

static bool
is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

bool
scan_is_make(const char *name)
{
	return is_one_of(name, make_names, sizeof make_names / sizeof make_names[0]) ||
	       strncmp(name, "nbmake-", 7) == 0;
}

static int
by_pid(const void *a, const void *b)
{
	pid_t one = ((const struct node *)a)->process.pid;
	pid_t two = ((const struct node *)b)->process.pid;

	return one < two ? -1 : one > two;
}

static struct node *
make_nodes(const struct os_process *list, size_t count)
{
	struct node *nodes = mem_calloc(count, sizeof *nodes);

	for (size_t i = 0; i < count; i++) {
		nodes[i].process = list[i];
		nodes[i].is_make = !list[i].zombie && scan_is_make(list[i].name);
	}
	qsort(nodes, count, sizeof *nodes, by_pid);
	for (size_t i = 0; i < count; i++) {
		struct node key = { .process.pid = nodes[i].process.parent };

		nodes[i].parent = bsearch(&key, nodes, count, sizeof *nodes, by_pid);
		if (nodes[i].parent != NULL)
			nodes[i].parent->children++;
	}
	return nodes;
}

/* The list is no snapshot: parents read at different times could even form a ring, hence the bound. */
static void
look_up(struct node *node, size_t bound, pid_t root)
{
	struct node *up = node->parent;

	node->below_root = node->process.pid == root;
	for (; up != NULL && bound > 0; up = up->parent, bound--) {
		node->below_make = node->below_make || up->is_make;
		node->below_root = node->below_root || up->process.pid == root;
		if (node->is_make)
			up->above_make = true;
	}
}

static void
count_make(const struct node *node, struct scan *scan)
{
	scan->makes++;
	if (!node->below_make && node->below_root)
		scan->tops++;
	if (!node->below_make && !node->below_root)
		scan->orphan_makes++;
	if (node->children == 0)
		scan->occupied++;
}

/* A daemon that left the recipe's session is no step of a killed make. */
static bool
is_orphan(const struct os_process *p, pid_t keeper, pid_t root)
{
	return p->parent == keeper && p->pid != root && (p->session == root || p->session == 0);
}

static void
count_node(const struct node *node, pid_t keeper, pid_t root, struct scan *scan)
{
	const struct os_process *p = &node->process;
	bool is_child = node->parent != NULL && node->parent->is_make;

	if (p->zombie) {
		scan->occupied += is_child;
		return;
	}
	if (is_one_of(p->name, unsure_names, sizeof unsure_names / sizeof unsure_names[0]))
		scan->unsure = true;
	if (node->is_make) {
		count_make(node, scan);
	} else if (!node->above_make && is_child) {
		scan->steps++;
		scan->occupied++;
	} else if (!node->above_make && is_orphan(p, keeper, root)) {
		scan->orphans++;
		scan->occupied++;
	}
}

void
scan_tree(
    const struct os_process *list, size_t count, pid_t keeper, pid_t root, struct scan *ret_scan)
{
	struct node *nodes = make_nodes(list, count);

	*ret_scan = (struct scan){ 0 };
	for (size_t i = 0; i < count; i++)
		look_up(&nodes[i], count, root);
	for (size_t i = 0; i < count; i++)
		count_node(&nodes[i], keeper, root, ret_scan);
	free(nodes);
}

/* ---- judging ---- */

static int64_t
positive(int64_t n)
{
	return n > 0 ? n : 0;
}

static int64_t
least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The least of the last `scans` values when all of them were more than 0; then it begins anew. */
static int64_t
agreed(struct streak *streak, int64_t value, int scans)
{
	int64_t least;

	if (value <= 0) {
		*streak = (struct streak){ 0 };
		return 0;
	}
	streak->least = streak->scans == 0 ? value : least_of(value, streak->least);
	if (++streak->scans < scans)
		return 0;
	least = streak->least;
	*streak = (struct streak){ 0 };
	return least;
}

/* The second most of the last scans. While a step ends and the next one begins a scan sees one fewer,
 * as often as not where steps are short, but hardly ever one more. */
static int64_t
judge_unpaid(struct suspicion *s, int64_t seen, int64_t of_killed)
{
	int64_t most = 0, second = 0;

	if (of_killed == 0)
		memset(s->unpaid, 0, sizeof s->unpaid);
	s->unpaid[s->nunpaid++ % UNPAID_SCANS] = least_of(seen, of_killed);
	for (size_t i = 0; i < UNPAID_SCANS; i++) {
		int64_t n = s->unpaid[i];

		second = n > most ? most : n > second ? n : second;
		most = n > most ? n : most;
	}
	return least_of(second, of_killed);
}

static void
judge_ungoverned(struct suspicion *s, bool is_over)
{
	if (agreed(&s->over, is_over, UNGOVERNED_SCANS))
		s->ungoverned = true;
	if (agreed(&s->within, !is_over, UNGOVERNED_SCANS))
		s->ungoverned = false;
}

void
suspicion_judge(struct suspicion *suspicion, const struct scan *scan, int64_t held_least,
    int64_t held_most, int64_t lost, struct verdict *ret_verdict)
{
	int64_t missing = scan->unsure ? 0 : held_least - positive(scan->occupied - scan->tops);
	int64_t over = positive(scan->steps - scan->tops - held_most);
	int64_t unpaid = positive(scan->steps + scan->orphans - scan->tops - held_most);
	int64_t of_killed = scan->orphans + scan->orphan_makes;
	int64_t slack = 1 + scan->makes / MAKES_PER_SLACK + scan->orphan_makes;
	bool is_over = over - lost > slack;
	struct verdict v = { 0 };

	v.lose = agreed(&suspicion->missing, missing, LOSE_SCANS);
	v.find = agreed(&suspicion->found, least_of(over, lost), FIND_SCANS);
	v.unpaid = judge_unpaid(suspicion, unpaid, of_killed);
	judge_ungoverned(suspicion, is_over);
	v.ungoverned = suspicion->ungoverned;
	v.again_us = SETTLED_US;
	if (missing > 0 || least_of(over, lost) > 0 || is_over != v.ungoverned)
		v.again_us = CONFIRM_US;
	if (of_killed > 0)
		v.again_us = KILLED_US;
	*ret_verdict = v;
}
