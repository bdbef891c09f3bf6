/* One prepare and one check watcher serve the whole loop; libev calls the first
 * before it sleeps and the second when it has woken.
 *
 * ZMQ_FD tells of changes only, and any call on the socket, a send too, may
 * swallow the tale. So: before the loop sleeps, and after the turn callbacks
 * (which send), every socket is asked for ZMQ_EVENTS; if one has something to
 * receive, the idle watcher is started, and the loop polls without sleeping.
 * After the poll all sockets are asked again and their messages handed on. What
 * comes in between the two makes the descriptor readable. No wake-up is lost.
 *
 * A watch removed inside a callback is freed at the end of the turn, since the
 * lists are being walked.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/loop.h"

#include <assert.h>
#include <ev.h>
#include <stdlib.h>
#include <time.h>
#include <zmq.h>

#include "proto/base/mem.h"

enum { MESSAGES_A_TURN = 64 }; /* of one socket, before the others have their turn */

enum watch_kind { WATCH_IO, WATCH_SIGNAL, WATCH_TIMER, WATCH_SOCKET, WATCH_TURN, WATCH_DEAD };

struct loop_watch {
	struct loop *loop;
	struct loop_watch *next, *prev;
	enum watch_kind kind;
	loop_f f;
	void *arg;
	void *socket;
	union {
		ev_io io; /* of a socket too */
		ev_signal signal;
		ev_timer timer;
	};
};

struct loop {
	struct ev_loop *ev;
	ev_prepare prepare;
	ev_check check;
	ev_idle idle;
	struct loop_watch *first, *last; /* in the order of adding: turns run in it */
	bool any_dead;
};

mono_us
loop_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (mono_us){ (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000 };
}

wall_us
loop_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (wall_us){ (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000 };
}

static bool
socket_readable(void *socket)
{
	int events = 0;
	size_t size = sizeof events;

	return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

static void
unlink_watch(struct loop_watch *w)
{
	struct loop *loop = w->loop;

	*(w->prev != NULL ? &w->prev->next : &loop->first) = w->next;
	*(w->next != NULL ? &w->next->prev : &loop->last) = w->prev;
	free(w);
}

static void
bury(struct loop *loop)
{
	struct loop_watch *w, *next;

	if (!loop->any_dead)
		return;
	loop->any_dead = false;
	for (w = loop->first; w != NULL; w = next) {
		next = w->next;
		if (w->kind == WATCH_DEAD)
			unlink_watch(w);
	}
}

static void
end_turn(struct loop *loop)
{
	for (struct loop_watch *w = loop->first; w != NULL; w = w->next)
		if (w->kind == WATCH_TURN)
			w->f(w->arg);
}

static void
before_sleep(struct ev_loop *ev, ev_prepare *prepare, int revents)
{
	struct loop *loop = prepare->data;
	bool any = false;

	(void)revents;
	end_turn(loop);
	bury(loop);
	for (struct loop_watch *w = loop->first; w != NULL && !any; w = w->next)
		any = w->kind == WATCH_SOCKET && socket_readable(w->socket);
	if (any)
		ev_idle_start(ev, &loop->idle);
	else
		ev_idle_stop(ev, &loop->idle);
}

static void
after_sleep(struct ev_loop *ev, ev_check *check, int revents)
{
	struct loop *loop = check->data;

	(void)ev;
	(void)revents;
	for (struct loop_watch *w = loop->first; w != NULL; w = w->next)
		for (int n = 0; n < MESSAGES_A_TURN && w->kind == WATCH_SOCKET; n++) {
			if (!socket_readable(w->socket))
				break;
			w->f(w->arg);
		}
}

/* Being active is all it is for. */
static void
on_idle(struct ev_loop *ev, ev_idle *idle, int revents)
{
	(void)ev;
	(void)idle;
	(void)revents;
}

struct loop *
loop_create(void)
{
	struct loop *loop = mem_calloc(1, sizeof *loop);

	loop->ev = ev_loop_new(EVFLAG_NOENV);
	assert(loop->ev != NULL);
	ev_prepare_init(&loop->prepare, before_sleep);
	ev_check_init(&loop->check, after_sleep);
	ev_idle_init(&loop->idle, on_idle);
	loop->prepare.data = loop->check.data = loop;
	ev_prepare_start(loop->ev, &loop->prepare);
	ev_check_start(loop->ev, &loop->check);
	return loop;
}

void
loop_destroy(struct loop *loop)
{
	if (loop == NULL)
		return;
	for (struct loop_watch *w = loop->first; w != NULL; w = w->next)
		loop_remove(w);
	bury(loop);
	ev_prepare_stop(loop->ev, &loop->prepare);
	ev_check_stop(loop->ev, &loop->check);
	ev_idle_stop(loop->ev, &loop->idle);
	ev_loop_destroy(loop->ev);
	free(loop);
}

/* What the last turn did is committed too. */
void
loop_run(struct loop *loop)
{
	ev_run(loop->ev, 0);
	end_turn(loop);
	bury(loop);
}

void
loop_stop(struct loop *loop)
{
	ev_break(loop->ev, EVBREAK_ALL);
}

static struct loop_watch *
add_watch(struct loop *loop, enum watch_kind kind, loop_f f, void *arg)
{
	struct loop_watch *w = mem_calloc(1, sizeof *w);

	w->loop = loop;
	w->kind = kind;
	w->f = f;
	w->arg = arg;
	w->prev = loop->last;
	*(loop->last != NULL ? &loop->last->next : &loop->first) = w;
	loop->last = w;
	return w;
}

static void
on_io(struct ev_loop *ev, ev_io *io, int revents)
{
	struct loop_watch *w = io->data;

	(void)ev;
	(void)revents;
	w->f(w->arg);
}

static void
on_signal(struct ev_loop *ev, ev_signal *signal, int revents)
{
	struct loop_watch *w = signal->data;

	(void)ev;
	(void)revents;
	w->f(w->arg);
}

static void
on_timer(struct ev_loop *ev, ev_timer *timer, int revents)
{
	struct loop_watch *w = timer->data;

	(void)ev;
	(void)revents;
	w->f(w->arg);
}

/* The descriptor wakes the loop; after_sleep does the work. */
static void
on_socket(struct ev_loop *ev, ev_io *io, int revents)
{
	(void)ev;
	(void)io;
	(void)revents;
}

struct loop_watch *
loop_fd_add(struct loop *loop, int fd, int events, loop_f f, void *arg)
{
	struct loop_watch *w = add_watch(loop, WATCH_IO, f, arg);

	ev_io_init(&w->io, on_io, fd,
	    (events & LOOP_READ ? EV_READ : 0) | (events & LOOP_WRITE ? EV_WRITE : 0));
	w->io.data = w;
	ev_io_start(loop->ev, &w->io);
	return w;
}

struct loop_watch *
loop_signal_add(struct loop *loop, int signum, loop_f f, void *arg)
{
	struct loop_watch *w = add_watch(loop, WATCH_SIGNAL, f, arg);

	ev_signal_init(&w->signal, on_signal, signum);
	w->signal.data = w;
	ev_signal_start(loop->ev, &w->signal);
	return w;
}

struct loop_watch *
loop_timer_add(struct loop *loop, int64_t delay_us, int64_t period_us, loop_f f, void *arg)
{
	struct loop_watch *w = add_watch(loop, WATCH_TIMER, f, arg);

	ev_timer_init(&w->timer, on_timer, 0., 0.);
	w->timer.data = w;
	loop_timer_reset(w, delay_us, period_us);
	return w;
}

/* libev counts a delay from when the turn began, which may be long ago. */
void
loop_timer_reset(struct loop_watch *watch, int64_t delay_us, int64_t period_us)
{
	struct ev_loop *ev = watch->loop->ev;

	assert(watch->kind == WATCH_TIMER);
	ev_timer_stop(ev, &watch->timer);
	ev_now_update(ev);
	ev_timer_set(
	    &watch->timer, delay_us > 0 ? (double)delay_us / 1e6 : 0., (double)period_us / 1e6);
	ev_timer_start(ev, &watch->timer);
}

struct loop_watch *
loop_socket_add(struct loop *loop, void *zmq_socket, loop_f f, void *arg)
{
	struct loop_watch *w = add_watch(loop, WATCH_SOCKET, f, arg);
	int fd = -1;
	size_t size = sizeof fd;
	int rc = zmq_getsockopt(zmq_socket, ZMQ_FD, &fd, &size);

	assert(rc == 0);
	(void)rc;
	w->socket = zmq_socket;
	ev_io_init(&w->io, on_socket, fd, EV_READ);
	w->io.data = w;
	ev_io_start(loop->ev, &w->io);
	return w;
}

struct loop_watch *
loop_turn_add(struct loop *loop, loop_f f, void *arg)
{
	return add_watch(loop, WATCH_TURN, f, arg);
}

void
loop_remove(struct loop_watch *watch)
{
	struct ev_loop *ev;

	if (watch == NULL)
		return;
	ev = watch->loop->ev;
	switch (watch->kind) {
	case WATCH_IO:
	case WATCH_SOCKET:
		ev_io_stop(ev, &watch->io);
		break;
	case WATCH_SIGNAL:
		ev_signal_stop(ev, &watch->signal);
		break;
	case WATCH_TIMER:
		ev_timer_stop(ev, &watch->timer);
		break;
	case WATCH_TURN:
	case WATCH_DEAD:
		break;
	}
	watch->kind = WATCH_DEAD;
	watch->loop->any_dead = true;
}
