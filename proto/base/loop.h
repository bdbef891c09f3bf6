/* loop.h - the one event loop of a process
 *
 * Shape:  libev underneath; timers, file descriptors, signals, child-free. A
 *         ZeroMQ socket is watched by loop_socket_add, which hides that ZMQ_FD is
 *         edge-triggered: its callback is called as long as there is something
 *         to receive, a bounded number of messages a turn, so that a flood of
 *         one socket cannot starve the others or lose a wake-up.
 * Units:  mono_us; durations in us.
 * Errors: registering cannot fail but by a bug.
 * Memory: watchers belong to the loop until removed; loop_destroy ends all.
 * Source: libev(3) "prepare", "check", "idle"; zmq_getsockopt(3) ZMQ_FD, ZMQ_EVENTS.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOOP_H
#define FLYBALL_LOOP_H

#include <stdbool.h>

#include "proto/units.h"

struct loop;
struct loop_watch; /* any of the watchers below */

typedef void (*loop_f)(void *arg);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

struct loop *loop_create(void);
void loop_destroy(struct loop *loop);
void loop_run(struct loop *loop); /* until loop_stop */
void loop_stop(struct loop *loop);
mono_us loop_now(void); /* CLOCK_MONOTONIC, read anew */
wall_us loop_wall(void);

struct loop_watch *loop_fd_add(struct loop *loop, int fd, int events, loop_f f, void *arg);
struct loop_watch *loop_signal_add(struct loop *loop, int signum, loop_f f, void *arg);
/* First after delay_us, then every period_us (0: once; the watch must still be removed). */
struct loop_watch *loop_timer_add(
    struct loop *loop, int64_t delay_us, int64_t period_us, loop_f f, void *arg);
void loop_timer_reset(struct loop_watch *watch, int64_t delay_us, int64_t period_us);
/* zmq_socket: a void * of ZeroMQ's; f receives one message and returns. */
struct loop_watch *loop_socket_add(struct loop *loop, void *zmq_socket, loop_f f, void *arg);
/* Called at the end of each turn, when all that was ready has been handled, before the
 * loop sleeps: the place of group commit. */
struct loop_watch *loop_turn_add(struct loop *loop, loop_f f, void *arg);
void loop_remove(struct loop_watch *watch); /* NULL is fine */

#endif
