/* One host limit, several builds. A token at a time is dealt round, first to those that want more,
 * then to whoever may have more: a limit is at most JOBS_MAX, so this is some hundred steps, and the
 * result is even to one token and depends on nothing but the arguments.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session.h"

/* One token for each that is below its bound; what is left of rest. */
static int32_t
deal(int32_t rest, bool wanted_only, const struct share *shares, size_t n, int32_t *limits)
{
	for (size_t i = 0; i < n && rest > 0; i++) {
		int32_t bound = shares[i].most;

		if (wanted_only && shares[i].want < bound)
			bound = shares[i].want;
		if (limits[i] < bound) {
			limits[i]++;
			rest--;
		}
	}
	return rest;
}

void
session_share(int32_t host_limit, const struct share *shares, size_t n, int32_t *ret_limits)
{
	int32_t rest = host_limit - (int32_t)n;

	for (size_t i = 0; i < n; i++)
		ret_limits[i] = 1;
	for (int wanted_only = 1; wanted_only >= 0; wanted_only--) {
		int32_t before;

		do {
			before = rest;
			rest = deal(rest, wanted_only, shares, n, ret_limits);
		} while (rest > 0 && rest < before);
	}
}
