/* hold.h - what an operator holds a host to: drain, throttle, pin, pause
 *
 * Shape:  one table; a hold is set by an event of its own, replaced by a second one, lifted by an
 *         operator or by the clock when its time is over. Each is a fact, and survives restarts.
 * Units:  as event.h.
 * Errors: what makes no sense is refused with a sentence.
 * Memory: none.
 * Source: docs/states.md "Limit and holds".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_HOLD_H
#define FLYBALL_HOLD_H

#include "coordinator/core/cluster.h"

const char *hold_name(enum hold_kind kind); /* "drain" */
const char *hold_word(enum hold_kind kind); /* "drained" */
/* Comes with a limit. */
bool hold_has_limit(enum hold_kind kind);
/* The hold that a fact sets or lifts; HOLDS: it is about none. */
enum hold_kind hold_of_fact(enum fact_kind fact, bool *ret_set);
/* The hold that keeps new builds off a host; NULL: none does. */
const struct order_hold *hold_closes(const struct host *h, enum hold_kind *ret_kind);
/* What is left of it in us; 0: it has no end. */
int64_t hold_left_us(const struct order_hold *hold, mono_us now);

#endif
