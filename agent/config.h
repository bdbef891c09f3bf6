/* config.h - the agent's configuration file
 *
 * Shape:  flyball-agent.conf(5) as a value.
 * Units:  as named.
 * Errors: "FILE:LINE: what is wrong, what was expected".
 * Memory: config_load fills, config_clear frees.
 * Source: docs/man/flyball-agent.conf.5.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_AGENT_CONFIG_H
#define FLYBALL_AGENT_CONFIG_H

#include "agent/sense/gauge.h"
#include "agent/sense/lock.h"
#include "proto/base/err.h"
#include "proto/keys.h"
#include "proto/message.h"

struct config_list {
	size_t n;
	char **list;
};

struct config {
	char *coordinator; /* endpoint */
	char coordinator_key[KEY_TEXT_SIZE]; /* public */
	char *key; /* file of this host's pair */
	char *state, *work;
	char *keeper; /* program */
	struct config_list recipes; /* folders, the first that has a name wins */
	struct config_list source_roots;
	struct config_list labels;
	int32_t slots, threads; /* threads 0: ask the system */
	int64_t disk_floor_bytes, log_cap_bytes;
	int64_t jitter_us;
	char *lock_source; /* "auto", "none", or names with commas between */
	struct lock_settings locks;
	size_t ngauges;
	struct gauge_settings *gauges;
};

/* beside: the folder of the agent's own program, where the keeper is looked for second. */
int config_load(const char *path, const char *beside, struct config *ret_config, struct err *err);
void config_clear(struct config *config);

#endif
