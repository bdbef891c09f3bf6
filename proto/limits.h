/* limits.h - every bound on what comes from outside
 *
 * Shape:  constants; the text sizes include the final zero byte.
 * Units:  in the name.
 * Errors: what passes a bound is refused with a sentence that names the bound.
 * Memory: none.
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LIMITS_H
#define FLYBALL_LIMITS_H

enum {
	PROTOCOL_VERSION = 1, /* what we speak */
	PROTOCOL_VERSION_MIN = 1, /* the oldest we still understand */

	AGENT_MESSAGE_BYTES = 256 * 1024,
	OPERATOR_MESSAGE_BYTES = 1024 * 1024,
	DECODE_BUDGET_BYTES = 4 * 1024 * 1024, /* memory one message may take while decoded */
	LOG_CHUNK_BYTES = 64 * 1024,
	LOG_WINDOW_CHUNKS = 8, /* chunks under way and not yet acknowledged */

	NAME_SIZE = 64, /* host, branch, target, recipe, label, phase: [A-Za-z0-9._+-] */
	REVISION_SIZE = 128,
	SOURCE_SIZE = 512, /* a path under a source root */
	TEXT_SIZE = 512, /* a sentence: reason, error */
	LOCK_NAME_SIZE = 96, /* a lock or its caller, as the kernel names them */
	UUID_SIZE = 48, /* boot id, agent-start id */

	LABELS_MAX = 32,
	RECIPES_MAX = 64,
	PHASES_MAX = 64,
	SLOTS_MAX = 64,
	GAUGES_MAX = 32, /* numbers an operator names, a host */
	LOCK_ROWS_MAX = 64, /* the top of a table of locks */
	ATTEMPTS_MAX = 256, /* in one message: running ones and ended ones not yet taken */
	TARGETS_MAX = 128,
	BRANCHES_MAX = 1024,
	HOSTS_MAX = 16384,
	LIMIT_PATH_MAX = 64, /* limit changes kept with an attempt */
	REQUEST_ARGS_MAX = 160, /* TARGETS_MAX and some */
	JOBS_MAX = 480, /* tokens a pipe holds with room to spare */
	OUTGOING_MAX = 1024, /* reliable messages waiting for one peer */
	POLICY_BYTES = 256 * 1024,
};

#define LOG_CAP_BYTES INT64_C(67108864) /* a longer log is cut in the middle and says so */
#define LOG_MOST_BYTES \
	INT64_C(1073741824) /* as an agent may set it; the coordinator takes no more */

#endif
