/* The keeper does as little as it can: it relays bytes and counts them, so that it can be trusted to
 * outlive whatever started it. All waiting is in one ppoll; signals are only let in there, and dead
 * children are asked for after each turn, so that no wake-up can be lost.
 *
 * Invariants: the result is written once, after the last process is gone; no client, disk or process
 * can keep the loop from relaying tokens; without any client it goes on at the last limit.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FIRST_SCAN_US = 3000000,
	TICK_US = 100000, /* the 10 Hz of "limited" */
	TURN_READS = 16, /* of output, in one turn of the loop */
	READ_BYTES = 64 * 1024,
	STAT_BYTES = 512
};

static volatile sig_atomic_t told_to_stop;

mono_us
keeper_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (mono_us){ (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000 };
}

/* ---- signals ---- */

static void
on_child(int signum)
{
	(void)signum; /* only to end ppoll */
}

static void
on_stop(int signum)
{
	(void)signum;
	told_to_stop = 1;
}

static void
set_signals(struct keeper *keeper)
{
	struct sigaction child = { .sa_handler = on_child }, stop = { .sa_handler = on_stop };
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &keeper->wait_mask);
	sigdelset(&keeper->wait_mask, SIGCHLD);
	sigdelset(&keeper->wait_mask, SIGTERM);
	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGTERM, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

/* ---- starting ---- */

static int
start(struct keeper *keeper, struct err *err)
{
	const struct order *order = keeper->order;

	if (pool_open(&keeper->pool, order->pool, order->limit, err) != 0)
		return -1;
	if (klog_open(&keeper->log, "log", order->log_cap_bytes, err) != 0)
		return -1;
	if (os_become_reaper(err) != 0 || workspace_make(order, err) != 0)
		return -1;
	keeper->made_work = true;
	return recipe_start(order, &keeper->pool, keeper->folder, keeper->niceness, &keeper->recipe,
	    &keeper->output_fd, err);
}

static void
begin(struct keeper *keeper)
{
	struct err err;
	mono_us now = keeper_now();

	keeper->attempt.status.id = keeper->order->start.id;
	keeper->attempt.status.fence = keeper->order->start.fence;
	keeper->attempt.status.percent = -1;
	keeper->started = keeper->active = keeper->next_tick = keeper->last_scan = now;
	keeper->next_scan = mono_add(now, FIRST_SCAN_US);
	keeper->output_fd = keeper->sweeper_fd = keeper->log.fd = -1;
	keeper_stage_set(keeper, KEEPER_RUNNING, now);
	if (start(keeper, &err) == 0)
		return;
	keeper->recipe = 0;
	keeper->recipe_ended = true;
	keeper->attempt.result.outcome = OUTCOME_REFUSED;
	keeper_reason_add(keeper, "%s", err.text);
}

/* ---- what happens ---- */

void
keeper_take_output(struct keeper *keeper, mono_us now)
{
	static char bytes[READ_BYTES];
	ssize_t n;

	for (int reads = 0; keeper->output_fd >= 0 && reads < TURN_READS; reads++) {
		n = read(keeper->output_fd, bytes, sizeof bytes);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(keeper->output_fd);
			keeper->output_fd = -1;
			return;
		}
		klog_write(&keeper->log, bytes, (size_t)n);
		keeper->active = now;
	}
}

/* All the dead. Without a child left, the tree is empty: orphans are our children. */
static void
reap(struct keeper *keeper, mono_us now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == keeper->recipe) {
			keeper->recipe_ended = true;
			keeper->recipe_status = status;
		} else if (pid == keeper->sweeper) {
			keeper->sweeper = 0;
		} else if (keeper->stage == KEEPER_RUNNING) {
			keeper_scan_hint(keeper, now);
		}
	}
	keeper->tree_empty = pid < 0 && errno == ECHILD;
}

static void
say_stat(struct keeper *keeper, int client, mono_us now)
{
	const struct tokens *t = &keeper->pool.tokens;
	bool running = keeper->stage <= KEEPER_TERMINATING;
	char text[STAT_BYTES];

	snprintf(text, sizeof text,
	    "stat state=running limit=%d running=%d limited=%d ungoverned=%d granted=%" PRId64
	    " returned=%" PRId64 " drained=%" PRId64 " lost=%" PRId64 " unclaimed=%" PRId64
	    " elapsed_us=%" PRId64 " log_bytes=%" PRId64,
	    t->limit, running ? (int)tokens_held(t) + 1 : 0, running && keeper->is_limited,
	    keeper->ungoverned, t->granted, t->returned, t->drained, t->lost, t->unclaimed,
	    mono_since(keeper->started, keeper_clock(keeper, now)), keeper->log.file_bytes);
	door_say(keeper->door, client, text);
}

/* Only when asked, at a phase mark: to look at each process of a large tree costs too much otherwise. */
static void
say_usage(struct keeper *keeper, int client)
{
	char text[STAT_BYTES] = "usage ", *numbers = text + strlen(text);
	struct usage usage;

	keeper_usage_now(&usage);
	usage_print(&usage, numbers, sizeof text - strlen(text));
	door_say(keeper->door, client, text);
}

static void
hear_client(struct keeper *keeper, int client, mono_us now)
{
	struct door_message m;

	if (!door_read(keeper->door, client, &m))
		return;
	if (m.word == DOOR_LIMIT)
		tokens_limit(&keeper->pool.tokens, m.limit);
	else if (m.word == DOOR_CANCEL)
		keeper_end_early(keeper, OUTCOME_CANCELLED, now, "%s", m.reason);
	else if (m.word == DOOR_PAUSE)
		keeper_pause(keeper, now, m.duration_us);
	else if (m.word == DOOR_CONTINUE)
		keeper_continue(keeper, now);
	else if (m.word == DOOR_STAT)
		say_stat(keeper, client, now);
	else if (m.word == DOOR_USAGE)
		say_usage(keeper, client);
}

static void
watch_time(struct keeper *keeper, mono_us now)
{
	const struct message_start *start = &keeper->order->start;
	int64_t quiet_us = mono_since(keeper->active, now);

	if (told_to_stop)
		keeper_end_early(
		    keeper, OUTCOME_CANCELLED, now, "the keeper was told to stop (SIGTERM)");
	if (keeper->paused)
		return;
	if (start->timeout_us > 0 && mono_since(keeper->started, now) >= start->timeout_us)
		keeper_end_early(keeper, OUTCOME_TIMEOUT, now,
		    "it ran longer than its timeout of %" PRId64 " s",
		    start->timeout_us / SECOND_US);
	if (start->stall_us > 0 && quiet_us >= start->stall_us)
		keeper_end_early(keeper, OUTCOME_STALL, now,
		    "it printed nothing and no step ended for %" PRId64 " s", quiet_us / SECOND_US);
}

/* Ticks keep their distance; those that a suspended machine missed are left out. */
static void
tick(struct keeper *keeper, mono_us now)
{
	if (keeper->stage >= KEEPER_SWEEPING || now.us < keeper->next_tick.us)
		return;
	if (!keeper->paused)
		keeper->is_limited = limited_sample(&keeper->limited, &keeper->pool.tokens);
	keeper->next_tick = mono_add(keeper->next_tick, TICK_US);
	if (keeper->next_tick.us < now.us)
		keeper->next_tick = mono_add(now, TICK_US);
}

/* ---- the loop ---- */

enum { SLOT_OUTPUT, SLOT_POOL, SLOT_DOOR, SLOT_CLIENTS, SLOTS = SLOT_CLIENTS + DOOR_CLIENTS };

static void
wait_for_something(struct keeper *keeper, struct pollfd *fds)
{
	int64_t left_us = mono_since(keeper_now(), keeper->next_tick);
	struct timespec timeout;
	int64_t most_us = keeper->stage == KEEPER_EMPTYING ? TICK_US / 2 : SECOND_US;

	if (keeper->stage == KEEPER_SWEEPING || left_us > most_us)
		left_us = most_us;
	if (left_us < 0)
		left_us = 0;
	timeout = (struct timespec){ left_us / SECOND_US, left_us % SECOND_US * 1000 };
	for (int i = 0; i < SLOTS; i++)
		fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	fds[SLOT_OUTPUT].fd = keeper->output_fd;
	fds[SLOT_POOL].fd = keeper->stage < KEEPER_SWEEPING ? pool_watch_fd(&keeper->pool) : -1;
	fds[SLOT_DOOR].fd = keeper->door->listen_fd;
	for (int i = 0; i < DOOR_CLIENTS; i++)
		fds[SLOT_CLIENTS + i].fd = keeper->door->clients[i];
	if (ppoll(fds, SLOTS, &timeout, &keeper->wait_mask) < 0) {
		for (int i = 0; i < SLOTS; i++)
			fds[i].revents = 0;
	}
}

static void
hear_clients(struct keeper *keeper, const struct pollfd *fds, mono_us now)
{
	for (int i = 0; i < DOOR_CLIENTS; i++) {
		if (fds[SLOT_CLIENTS + i].revents != 0)
			hear_client(keeper, i, now);
	}
	if (fds[SLOT_DOOR].revents != 0)
		door_accept(keeper->door);
}

static void
turn(struct keeper *keeper)
{
	struct pollfd fds[SLOTS];
	mono_us now;

	wait_for_something(keeper, fds);
	now = keeper_now();
	reap(keeper, now);
	hear_clients(keeper, fds, now);
	if (fds[SLOT_OUTPUT].revents != 0)
		keeper_take_output(keeper, now);
	if (keeper->stage < KEEPER_SWEEPING && pool_turn(&keeper->pool))
		keeper->active = now;
	tick(keeper, now);
	if (keeper->stage == KEEPER_RUNNING && !keeper->recipe_ended) {
		keeper_pause_turn(keeper, now);
		watch_time(keeper, now);
		if (!keeper->paused)
			keeper_scan(keeper, now);
	}
	keeper_end(keeper, now);
}

void
keeper_run(struct keeper *keeper)
{
	set_signals(keeper);
	begin(keeper);
	while (keeper->stage != KEEPER_DONE)
		turn(keeper);
	pool_close(&keeper->pool);
	klog_close(&keeper->log);
}
