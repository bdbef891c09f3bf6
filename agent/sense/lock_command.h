/* lock_command.h - the lock sources that are programs
 *
 * Shape:  lockstat of NetBSD, dtrace (lockstat) and lock_prof of FreeBSD, an operator's command,
 *         and lock_stat, a file of Linux.
 * Units:  as lock.h.
 * Errors: as lock.h.
 * Memory: as lock.h.
 * Source: lockstat(8), lockstat(1), LOCK_PROFILING(9), Documentation/locking/lockstat.rst.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_COMMAND_H
#define FLYBALL_LOCK_COMMAND_H

#include "agent/sense/lock.h"

extern const struct lock_source lock_source_lockstat, lock_source_dtrace, lock_source_lock_prof,
    lock_source_command, lock_source_lock_stat;

#endif
