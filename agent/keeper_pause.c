/* A pause stops every process of the tree and takes itself back when its time is over, whoever is
 * there to say so: builds must not stand for ever because an agent or a coordinator is away.
 *
 * What is stopped cannot fork, so a list in which all were told to stop before is the whole tree; until
 * then it is listed again. The keeper is not below itself and is never stopped. Its clocks of timeout,
 * stall and duration stand still meanwhile: they are moved on by what the pause took.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { ROUNDS_A_TURN = 16 };

struct told {
	size_t n, room;
	pid_t *pids;
};

static bool
was_told(const struct told *told, pid_t pid)
{
	size_t i;

	for (i = 0; i < told->n; i++)
		if (told->pids[i] == pid)
			return true;
	return false;
}

static void
tell(struct told *told, pid_t pid, int signum)
{
	kill(pid, signum);
	if (told->n == told->room) {
		told->room = told->room > 0 ? 2 * told->room : 64;
		told->pids = mem_grow(told->pids, told->n, told->room, sizeof *told->pids);
	}
	told->pids[told->n++] = pid;
}

/* How many were not told before; -1 when the tree cannot be listed. */
static int
signal_round(struct told *told, int signum)
{
	struct os_process *list;
	size_t count, i;
	struct err err;
	int fresh = 0;

	if (os_tree_list(getpid(), &list, &count, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (i = 0; i < count; i++) {
		if (list[i].zombie || was_told(told, list[i].pid))
			continue;
		tell(told, list[i].pid, signum);
		fresh++;
	}
	free(list);
	return fresh;
}

/* True when two lists agree. */
static bool
signal_tree(int signum)
{
	struct told told = { 0 };
	int rounds = 0, fresh = 1;

	while (fresh > 0 && rounds++ < ROUNDS_A_TURN)
		fresh = signal_round(&told, signum);
	free(told.pids);
	return fresh == 0;
}

void
keeper_pause(struct keeper *keeper, mono_us now, int64_t for_us)
{
	if (keeper->stage != KEEPER_RUNNING)
		return;
	if (!keeper->paused) {
		keeper->paused_since = now;
		klog_note(&keeper->log, "paused by the operator");
	}
	keeper->paused = true;
	keeper->is_limited = false;
	keeper->pause_until = for_us > 0 ? mono_add(now, for_us) : (mono_us){ 0 };
	keeper->pause_whole = signal_tree(SIGSTOP);
}

void
keeper_continue(struct keeper *keeper, mono_us now)
{
	int64_t took_us = mono_since(keeper->paused_since, now);

	if (!keeper->paused)
		return;
	keeper->paused = false;
	keeper->started = mono_add(keeper->started, took_us);
	keeper->active = mono_add(keeper->active, took_us);
	keeper->last_scan = mono_add(keeper->last_scan, took_us);
	keeper->next_scan = mono_add(keeper->next_scan, took_us);
	klog_note(
	    &keeper->log, "goes on after a pause of %lld s", (long long)(took_us / SECOND_US));
	signal_tree(SIGCONT);
}

void
keeper_pause_turn(struct keeper *keeper, mono_us now)
{
	if (!keeper->paused)
		return;
	if (keeper->pause_until.us != 0 && mono_since(keeper->pause_until, now) >= 0)
		keeper_continue(keeper, now);
	else if (!keeper->pause_whole)
		keeper->pause_whole = signal_tree(SIGSTOP);
}

mono_us
keeper_clock(const struct keeper *keeper, mono_us now)
{
	return keeper->paused ? keeper->paused_since : now;
}
