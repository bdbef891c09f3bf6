/* config.h - the coordinator's own configuration file
 *
 * Shape:  one struct, read at start; hosts and operators again on SIGHUP.
 * Units:  in the names.
 * Errors: "file:line: ..." by proto/base/conf.h.
 * Memory: config_load/config_clear.
 * Source: flyball-coordinator.conf(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONFIG_H
#define FLYBALL_CONFIG_H

#include <sys/types.h>

#include "proto/keys.h"
#include "proto/limits.h"
#include "proto/units.h"

struct known_key {
	char name[NAME_SIZE];
	char key[KEY_TEXT_SIZE];
};

struct config {
	char agents[SOURCE_SIZE]; /* endpoint */
	char operators[SOURCE_SIZE];
	char operators_tcp[SOURCE_SIZE]; /* "" none */
	char key[SOURCE_SIZE]; /* file */
	char state[SOURCE_SIZE]; /* folder */
	char policies[SOURCE_SIZE]; /* folder */
	int64_t report_busy_us, report_idle_us;
	size_t nhosts, hosts_capacity;
	struct known_key *hosts;
	size_t noperators, operators_capacity;
	struct known_key *operator_keys;
	gid_t group; /* of the operators' socket; (gid_t)-1: not set */
	size_t nusers, users_capacity;
	uid_t *users; /* beside root and our own */
};

int config_load(const char *path, struct config *ret_config, struct err *err);
void config_clear(struct config *config);

/* The name of a key in one of the two lists; NULL when it is in none. */
const char *config_find_host(const struct config *config, const char *key);
const char *config_find_operator(const struct config *config, const char *key);

#endif
