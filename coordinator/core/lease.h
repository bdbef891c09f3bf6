/* lease.h - time-bounded right of one host to run its attempts
 *
 * Shape:  every report of a host renews one lease for all its attempts; the fence of each
 *         attempt tells a result that comes too late. A host that is silent for a lease
 *         loses its attempts, unless the coordinator itself has just started.
 * Units:  us, on the coordinator's monotonic clock.
 * Errors: cannot fail.
 * Memory: in struct host.
 * Source: docs/states.md "Host"; fencing tokens: M. Burrows, The Chubby lock service, 2006.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LEASE_H
#define FLYBALL_LEASE_H

#include "proto/units.h"

#define LEASE_US (5 * MINUTE_US)
#define SILENT_US (15 * SECOND_US) /* shown as "not responding" from then on */
#define AWAY_US (5 * SECOND_US) /* longer between two events: we stood still, not our hosts */

#endif
