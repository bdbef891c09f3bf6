/* driver.h - the daemon's way of running the core: journal first, effects after
 *
 * Shape:  events go through step() at once; at the end of the loop's turn all facts of the turn
 *         are committed together, and only then are the effects carried out. While the journal
 *         cannot be written (a full disk) effects wait, nothing is acknowledged, and requests
 *         are refused; it is tried again every second. What waits is bounded: driver_is_full.
 * Units:  as core.
 * Errors: driver_start when the journal is damaged; a failed commit is logged and kept.
 * Memory: driver_create/driver_destroy; the store and the recording stay the caller's.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_DRIVER_H
#define FLYBALL_DRIVER_H

#include "coordinator/core/step.h"
#include "coordinator/io/record.h"
#include "coordinator/io/store.h"
#include "proto/base/loop.h"

struct driver;

struct driver_callbacks {
	void (*effect)(void *arg, const struct effect *effect);
	void (*committed)(void *arg); /* all before is safe: the time to acknowledge */
	void *arg;
};

struct driver *driver_create(struct loop *loop, struct store *store, struct record *record,
    const struct driver_callbacks *callbacks);
void driver_destroy(struct driver *driver);

/* Loads the journal and starts a new epoch. */
int driver_start(struct driver *driver, struct err *err);

/* Gives the event its time and steps. */
void driver_event(struct driver *driver, struct event *event);

const struct cluster *driver_cluster(const struct driver *driver);

/* Why the journal cannot be written now; NULL when it can. */
const char *driver_trouble(const struct driver *driver);
/* Is all that the cluster shows in the journal, but for limits? */
bool driver_settled(const struct driver *driver);
/* So much waits for the journal that no more must be taken in. */
bool driver_is_full(const struct driver *driver);

struct moment driver_now(void);

#endif
