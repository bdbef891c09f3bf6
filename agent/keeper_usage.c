/* The keeper is the reaper of the whole tree: what it has waited for is the kernel's own sum, what still
 * lives is added to it. The living are counted first: one that ends meanwhile is then counted twice, at
 * worst, for a moment, and whoever compares two readings takes the larger.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper.h"

#include <sys/resource.h>
#include <unistd.h>

static int64_t
time_us(struct timeval t)
{
	return (int64_t)t.tv_sec * SECOND_US + t.tv_usec;
}

/* As a reaper, the keeper has waited for all orphans, so these are the whole tree's once it is empty. */
void
keeper_usage_dead(struct usage *ret_usage)
{
	struct rusage usage;

	*ret_usage = USAGE_UNKNOWN;
	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return;
	*ret_usage = (struct usage){ .user_us = time_us(usage.ru_utime),
		.sys_us = time_us(usage.ru_stime),
		.max_resident_bytes = (int64_t)usage.ru_maxrss * 1024,
		.minor_faults = usage.ru_minflt,
		.major_faults = usage.ru_majflt,
		.blocks_in = usage.ru_inblock,
		.blocks_out = usage.ru_oublock,
		.voluntary_switches = usage.ru_nvcsw,
		.involuntary_switches = usage.ru_nivcsw };
}

void
keeper_usage_now(struct usage *ret_usage)
{
	struct usage living, dead;

	*ret_usage = USAGE_UNKNOWN;
	if (os_tree_usage(getpid(), &living, NULL) != 0)
		return;
	keeper_usage_dead(&dead);
	if (dead.user_us < 0)
		return;
	living.user_us += dead.user_us;
	living.sys_us += dead.sys_us;
	living.minor_faults += dead.minor_faults;
	living.major_faults += dead.major_faults;
	living.blocks_in += dead.blocks_in;
	living.blocks_out += dead.blocks_out;
	if (living.max_resident_bytes < dead.max_resident_bytes)
		living.max_resident_bytes = dead.max_resident_bytes;
	*ret_usage = living;
}
