/* keeper_client.h - the agent's end of a keeper: start, adopt, steer, watch
 *
 * Shape:  one struct a keeper; lines of text over a SOCK_SEQPACKET socket in the
 *         attempt's folder. The keeper outlives its clients; a new client adopts it.
 *           agent -> keeper   hello 1 | limit N | cancel REASON | stat |
 *                             pause US (0: without end) | continue
 *           keeper -> agent   hello 1 PID | stat key=value ... | ended
 *         A keeper that hears a version it does not know answers "hello 1" with its
 *         own and goes on: every later version must understand version 1.
 * Units:  as message.h.
 * Errors: a keeper that cannot be reached is an error; one that went away shows as
 *         KEEPER_GONE from keeper_client_read, after which result_read decides.
 * Memory: create/destroy; the fd belongs to the client and is watched by the caller.
 * Source: docs/architecture.md "Keeper".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KEEPER_CLIENT_H
#define FLYBALL_KEEPER_CLIENT_H

#include "agent/order.h"

struct keeper_client;

/* Starts `keeper_program folder` so that it survives us (own session, not our child's fate), waits
 * at most some seconds until it listens, and connects. The order must be in the folder. */
struct keeper_client *keeper_client_start(
    const char *keeper_program, const char *folder, struct err *err);

/* Connects to the living keeper of a folder; NULL with err when none lives there. */
struct keeper_client *keeper_client_adopt(const char *folder, struct err *err);

void keeper_client_destroy(struct keeper_client *client); /* the keeper lives on */

int keeper_client_fd(const struct keeper_client *client);
int keeper_client_limit(struct keeper_client *client, int limit, struct err *err);
int keeper_client_cancel(struct keeper_client *client, const char *reason, struct err *err);
/* Stops the whole build, for_us or (0) until it is told to go on. */
int keeper_client_pause(struct keeper_client *client, int64_t for_us, struct err *err);
int keeper_client_continue(struct keeper_client *client, struct err *err);
/* Asks for a stat; the answer comes through keeper_client_read. */
int keeper_client_ask(struct keeper_client *client, struct err *err);

/* Asks what the tree has used so far; keeper_client_usage has it after KEEPER_USAGE. */
int keeper_client_ask_usage(struct keeper_client *client, struct err *err);
const struct usage *keeper_client_usage(const struct keeper_client *client);

enum keeper_word { KEEPER_NOTHING, KEEPER_STAT, KEEPER_USAGE, KEEPER_ENDED, KEEPER_GONE };

/* Takes one message, never waits. KEEPER_STAT fills in of ret_status: state, limit, running, limited,
 * ungoverned (by process scan), the token counters, elapsed_us, log_bytes. */
enum keeper_word keeper_client_read(
    struct keeper_client *client, struct attempt_status *ret_status);

#endif
