/* Keys may stand in the file or in a .pub file that it names: the first is easier to
 * copy, the second to keep.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/config.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/conf.h"
#include "proto/base/endpoint.h"
#include "proto/base/mem.h"
#include "proto/wire.h"

static cfg_opt_t peer_opts[] = {
	CFG_STR("key", NULL, CFGF_NODEFAULT),
	CFG_END(),
};

static cfg_opt_t top_opts[] = {
	CFG_STR("agents", "tcp://127.0.0.1:7700", CFGF_NONE),
	CFG_STR("operators", "ipc:///run/flyball/operator.sock", CFGF_NONE),
	CFG_STR("operators_tcp", "", CFGF_NONE),
	CFG_STR("group", "", CFGF_NONE),
	CFG_STR("key", FLYBALL_SYSCONFDIR "/coordinator.key", CFGF_NONE),
	CFG_STR("state", "/var/lib/flyball/coordinator", CFGF_NONE),
	CFG_STR("policies", FLYBALL_SYSCONFDIR "/policies", CFGF_NONE),
	CFG_INT("report_busy", 1, CFGF_NONE),
	CFG_INT("report_idle", 10, CFGF_NONE),
	CFG_STR_LIST("users", "{}", CFGF_NONE),
	CFG_SEC("host", peer_opts, CFGF_MULTI | CFGF_TITLE),
	CFG_SEC("operator", peer_opts, CFGF_MULTI | CFGF_TITLE),
	CFG_END(),
};

static int
check_seconds(cfg_t *cfg, cfg_opt_t *opt)
{
	long n = cfg_opt_getnint(opt, 0);

	if (n >= 1 && n <= 3600)
		return 0;
	cfg_error(cfg, "%s is %ld: expected 1 to 3600 seconds", cfg_opt_name(opt), n);
	return -1;
}

static int
check_tcp(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, 0);

	if (endpoint_tcp_ok(s) || (*s == '\0' && strcmp(cfg_opt_name(opt), "agents") != 0))
		return 0;
	cfg_error(cfg,
	    "%s is \"%s\": expected an endpoint such as \"tcp://0.0.0.0:7700\", with a port from 1 "
	    "to 65535",
	    cfg_opt_name(opt), s);
	return -1;
}

static int
check_ipc(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, 0);

	if (strncmp(s, "ipc:///", 7) == 0)
		return 0;
	cfg_error(cfg,
	    "operators is \"%s\": expected \"ipc://\" and an absolute path; an endpoint on the "
	    "network is operators_tcp",
	    s);
	return -1;
}

static int
check_path(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, 0);

	if (s[0] == '/')
		return 0;
	cfg_error(cfg, "%s is \"%s\": expected an absolute path", cfg_opt_name(opt), s);
	return -1;
}

static int
check_peer(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *peer = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	const char *key = cfg_getstr(peer, "key");

	if (!wire_name_ok(cfg_title(peer))) {
		cfg_error(cfg, "%s \"%s\": expected a name of 1 to %d of A-Z a-z 0-9 . _ + -",
		    cfg_opt_name(opt), cfg_title(peer), NAME_SIZE - 1);
		return -1;
	}
	if (key != NULL && (key_text_ok(key) || key[0] == '/'))
		return 0;
	cfg_error(cfg,
	    "%s \"%s\": expected key = \"40 characters of a public key\", or the absolute path "
	    "of its .pub file",
	    cfg_opt_name(opt), cfg_title(peer));
	return -1;
}

static int
take_key(const char *key, char ret_key[KEY_TEXT_SIZE], struct err *err)
{
	if (key[0] == '/')
		return key_public_load(key, ret_key, err);
	memcpy(ret_key, key, KEY_TEXT_SIZE);
	return 0;
}

static int
take_peers(const char *path, cfg_t *cfg, const char *kind, struct known_key **list, size_t *n,
    size_t *capacity, struct err *err)
{
	unsigned i;
	size_t k;

	for (i = 0; i < cfg_size(cfg, kind); i++) {
		cfg_t *peer = cfg_getnsec(cfg, kind, i);
		struct known_key known = { 0 };

		mem_copy_text(known.name, sizeof known.name, cfg_title(peer));
		if (take_key(cfg_getstr(peer, "key"), known.key, err) < 0)
			return err_prefix(err, "%s: %s \"%s\"", path, kind, known.name);
		for (k = 0; k < *n; k++)
			if (strcmp((*list)[k].key, known.key) == 0)
				return err_set(err,
				    "%s: %s \"%s\" and \"%s\" have the same key: each needs its "
				    "own",
				    path, kind, (*list)[k].name, known.name);
		*list = mem_room(*list, *n, capacity, sizeof known);
		(*list)[(*n)++] = known;
	}
	return 0;
}

static int
take_users(const char *path, cfg_t *cfg, struct config *config, struct err *err)
{
	unsigned i;

	for (i = 0; i < cfg_size(cfg, "users"); i++) {
		const char *name = cfg_getnstr(cfg, "users", i);
		const struct passwd *pw = getpwnam(name);

		if (pw == NULL)
			return err_set(err,
			    "%s: users names \"%s\", and this machine has no such user", path,
			    name);
		config->users =
		    mem_room(config->users, config->nusers, &config->users_capacity, sizeof(uid_t));
		config->users[config->nusers++] = pw->pw_uid;
	}
	return 0;
}

/* The operators' socket belongs to this group; "" leaves the one of our own process. */
static int
take_group(const char *path, cfg_t *cfg, struct config *config, struct err *err)
{
	const char *name = cfg_getstr(cfg, "group");
	const struct group *gr = name[0] != '\0' ? getgrnam(name) : NULL;

	config->group = gr != NULL ? gr->gr_gid : (gid_t)-1;
	if (gr != NULL || name[0] == '\0')
		return 0;
	return err_set(err, "%s: group is \"%s\", and this machine has no such group", path, name);
}

static int
take_text(const char *path, cfg_t *cfg, const char *name, char *buf, size_t size, struct err *err)
{
	if (mem_copy_text(buf, size, cfg_getstr(cfg, name)))
		return 0;
	return err_set(err, "%s: %s is longer than %zu bytes", path, name, size - 1);
}

static int
take(const char *path, cfg_t *cfg, struct config *config, struct err *err)
{
	if (take_text(path, cfg, "agents", config->agents, sizeof config->agents, err) < 0 ||
	    take_text(path, cfg, "operators", config->operators, sizeof config->operators, err) <
		0 ||
	    take_text(path, cfg, "operators_tcp", config->operators_tcp,
		sizeof config->operators_tcp, err) < 0 ||
	    take_text(path, cfg, "key", config->key, sizeof config->key, err) < 0 ||
	    take_text(path, cfg, "state", config->state, sizeof config->state, err) < 0 ||
	    take_text(path, cfg, "policies", config->policies, sizeof config->policies, err) < 0)
		return -1;
	config->report_busy_us = cfg_getint(cfg, "report_busy") * SECOND_US;
	config->report_idle_us = cfg_getint(cfg, "report_idle") * SECOND_US;
	if (take_peers(path, cfg, "host", &config->hosts, &config->nhosts, &config->hosts_capacity,
		err) < 0 ||
	    take_peers(path, cfg, "operator", &config->operator_keys, &config->noperators,
		&config->operators_capacity, err) < 0)
		return -1;
	if (take_group(path, cfg, config, err) < 0)
		return -1;
	return take_users(path, cfg, config, err);
}

int
config_load(const char *path, struct config *ret_config, struct err *err)
{
	struct config config = { 0 };
	cfg_t *cfg;
	int rc;

	conf_validate(top_opts, "agents", check_tcp);
	conf_validate(top_opts, "operators_tcp", check_tcp);
	conf_validate(top_opts, "operators", check_ipc);
	conf_validate(top_opts, "key", check_path);
	conf_validate(top_opts, "state", check_path);
	conf_validate(top_opts, "policies", check_path);
	conf_validate(top_opts, "report_busy", check_seconds);
	conf_validate(top_opts, "report_idle", check_seconds);
	conf_validate(top_opts, "host", check_peer);
	conf_validate(top_opts, "operator", check_peer);
	if (conf_parse_file(path, top_opts, &cfg, err) < 0)
		return -1;
	rc = take(path, cfg, &config, err);
	cfg_free(cfg);
	if (rc < 0)
		config_clear(&config);
	else
		*ret_config = config;
	return rc;
}

void
config_clear(struct config *config)
{
	free(config->hosts);
	free(config->operator_keys);
	free(config->users);
	memset(config, 0, sizeof *config);
}

static const char *
find(const struct known_key *list, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i].key, key) == 0)
			return list[i].name;
	return NULL;
}

const char *
config_find_host(const struct config *config, const char *key)
{
	return find(config->hosts, config->nhosts, key);
}

const char *
config_find_operator(const struct config *config, const char *key)
{
	return find(config->operator_keys, config->noperators, key);
}
