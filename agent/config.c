/* Values are checked while libconfuse parses, since only then the line is known; what other files say
 * (the coordinator's key) is looked at afterwards.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/config_gauge.h"
#include "proto/base/conf.h"
#include "proto/base/endpoint.h"
#include "proto/base/mem.h"
#include "proto/wire.h"

enum {
	THREADS_MAX = 65536,
	JITTER_MAX_S = 3600,
	LOCK_EVERY_MIN_S = 2, /* a command may cost next to nothing */
	LOCK_EVERY_MAX_S = 3600,
	LOCK_WINDOW_MAX_S = 60
};

static cfg_opt_t top_opts[] = { CFG_STR("coordinator", "tcp://127.0.0.1:7700", CFGF_NONE),
	CFG_STR("coordinator_key", FLYBALL_SYSCONFDIR "/coordinator.key.pub", CFGF_NONE),
	CFG_STR("key", FLYBALL_SYSCONFDIR "/agent.key", CFGF_NONE),
	CFG_STR("state", "/var/lib/flyball/agent", CFGF_NONE),
	CFG_STR("work", "/var/tmp/flyball", CFGF_NONE),
	CFG_STR_LIST("recipes", "{\"" FLYBALL_LIBEXECDIR "/recipes\"}", CFGF_NONE),
	CFG_STR_LIST("source_roots", "{\"/build\"}", CFGF_NONE), CFG_INT("slots", 1, CFGF_NONE),
	CFG_INT("threads", 0, CFGF_NONE), CFG_STR_LIST("labels", "{}", CFGF_NONE),
	CFG_STR("disk_floor", "1g", CFGF_NONE), CFG_STR("log_cap", "64m", CFGF_NONE),
	CFG_STR("keeper", "", CFGF_NONE), CFG_INT("jitter", 60, CFGF_NONE),
	CFG_STR("lock_source", "auto", CFGF_NONE), CFG_STR("lock_command", "", CFGF_NONE),
	CFG_INT("lock_every", 30, CFGF_NONE), CFG_INT("lock_window", 2, CFGF_NONE),
	CFG_SEC("gauge", config_gauge_opts, CFGF_MULTI | CFGF_TITLE), CFG_END() };

/* ---- values ---- */

/* "64m", "1g", "0"; -1 for what is no size. "20" is none: it could be meant as 20 of anything. */
static int64_t
size_of(const char *text)
{
	static const char units[] = "kmgt";
	const char *unit;
	int64_t n = 0;

	if (!isdigit((unsigned char)*text))
		return -1;
	for (; isdigit((unsigned char)*text); text++) {
		if (n > INT64_MAX / 16)
			return -1;
		n = n * 10 + (*text - '0');
	}
	if (*text == '\0')
		return n == 0 ? 0 : -1;
	unit = strchr(units, tolower((unsigned char)*text));
	if (unit == NULL || text[1] != '\0')
		return -1;
	for (const char *u = units; u <= unit; u++) {
		if (n > INT64_MAX / 1024)
			return -1;
		n *= 1024;
	}
	return n;
}

static int
check_size(cfg_t *cfg, cfg_opt_t *opt)
{
	if (size_of(cfg_opt_getnstr(opt, 0)) >= 0)
		return 0;
	cfg_error(cfg, "%s is \"%s\": expected a size such as \"64m\": a number and one of k m g t",
	    cfg_opt_name(opt), cfg_opt_getnstr(opt, 0));
	return -1;
}

/* The coordinator takes no more of a log than that. */
static int
check_log_cap(cfg_t *cfg, cfg_opt_t *opt)
{
	if (check_size(cfg, opt) != 0)
		return -1;
	if (size_of(cfg_opt_getnstr(opt, 0)) <= LOG_MOST_BYTES)
		return 0;
	cfg_error(cfg, "%s is \"%s\": expected at most \"%dm\"", cfg_opt_name(opt),
	    cfg_opt_getnstr(opt, 0), (int)(LOG_MOST_BYTES >> 20));
	return -1;
}

static int
check_between(cfg_t *cfg, cfg_opt_t *opt, long least, long most)
{
	long n = cfg_opt_getnint(opt, 0);

	if (n >= least && n <= most)
		return 0;
	cfg_error(cfg, "%s is %ld: expected %ld to %ld", cfg_opt_name(opt), n, least, most);
	return -1;
}

static int
check_slots(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_between(cfg, opt, 1, SLOTS_MAX);
}

static int
check_threads(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_between(cfg, opt, 0, THREADS_MAX);
}

static int
check_jitter(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_between(cfg, opt, 0, JITTER_MAX_S);
}

static int
check_lock_source(cfg_t *cfg, cfg_opt_t *opt)
{
	struct err err;

	if (locks_names_ok(cfg_opt_getnstr(opt, 0), &err))
		return 0;
	cfg_error(cfg, "lock_source: %s", err.text);
	return -1;
}

static int
check_lock_command(cfg_t *cfg, cfg_opt_t *opt)
{
	if (strlen(cfg_opt_getnstr(opt, 0)) < SOURCE_SIZE)
		return 0;
	cfg_error(
	    cfg, "lock_command is longer than %d bytes: put it into a script", SOURCE_SIZE - 1);
	return -1;
}

static int
check_lock_every(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_between(cfg, opt, LOCK_EVERY_MIN_S, LOCK_EVERY_MAX_S);
}

static int
check_lock_window(cfg_t *cfg, cfg_opt_t *opt)
{
	return check_between(cfg, opt, 1, LOCK_WINDOW_MAX_S);
}

static int
check_endpoint(cfg_t *cfg, cfg_opt_t *opt)
{
	if (endpoint_tcp_ok(cfg_opt_getnstr(opt, 0)))
		return 0;
	cfg_error(cfg,
	    "coordinator is \"%s\": expected an endpoint such as \"tcp://10.0.0.1:7700\", with a "
	    "port from 1 to 65535",
	    cfg_opt_getnstr(opt, 0));
	return -1;
}

static int
check_key(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, 0);

	if (s[0] == '/' || key_text_ok(s))
		return 0;
	cfg_error(cfg,
	    "coordinator_key is \"%s\": expected the 40 characters of the coordinator's "
	    "public key, or the absolute path of its .pub file",
	    s);
	return -1;
}

/* libconfuse calls this for each value of a list as well: the last one is the new one. */
static int
check_path(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);

	if (s[0] == '/' && strlen(s) < SOURCE_SIZE)
		return 0;
	cfg_error(cfg, "%s has \"%s\": expected an absolute path of at most %d bytes",
	    cfg_opt_name(opt), s, SOURCE_SIZE - 1);
	return -1;
}

static int
check_label(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *s = cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);

	if (!wire_name_ok(s)) {
		cfg_error(cfg,
		    "the label \"%s\" is no name: expected 1 to %d of A-Z a-z 0-9 . _ + -", s,
		    NAME_SIZE - 1);
		return -1;
	}
	if (cfg_opt_size(opt) > LABELS_MAX) {
		cfg_error(cfg, "there are more than %d labels", LABELS_MAX);
		return -1;
	}
	return 0;
}

static void
set_checks(void)
{
	static const struct {
		const char *name;
		cfg_validate_callback_t check;
	} checks[] = {
		{ "coordinator", check_endpoint },
		{ "coordinator_key", check_key },
		{ "key", check_path },
		{ "state", check_path },
		{ "work", check_path },
		{ "recipes", check_path },
		{ "source_roots", check_path },
		{ "keeper", check_path },
		{ "slots", check_slots },
		{ "threads", check_threads },
		{ "jitter", check_jitter },
		{ "labels", check_label },
		{ "disk_floor", check_size },
		{ "log_cap", check_log_cap },
		{ "lock_source", check_lock_source },
		{ "lock_command", check_lock_command },
		{ "lock_every", check_lock_every },
		{ "lock_window", check_lock_window },
		{ "gauge", config_gauge_check },
	};

	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
		conf_validate(top_opts, checks[i].name, checks[i].check);
}

/* ---- the file ---- */

static struct config_list
take_list(cfg_t *cfg, const char *name)
{
	struct config_list list = { .n = cfg_size(cfg, name) };

	list.list = mem_calloc(list.n + 1, sizeof *list.list);
	for (size_t i = 0; i < list.n; i++)
		list.list[i] = mem_strdup(cfg_getnstr(cfg, name, (unsigned)i));
	return list;
}

/* The installed one, or one beside the agent's program: so that a build folder works as it is. */
static char *
find_keeper(const char *named, const char *beside)
{
	static const char installed[] = FLYBALL_LIBEXECDIR "/flyball-keeper";

	if (named[0] != '\0')
		return mem_strdup(named);
	if (access(installed, X_OK) == 0 || beside == NULL)
		return mem_strdup(installed);
	return mem_printf("%s/flyball-keeper", beside);
}

static int
take_key(const char *path, const char *key, char ret_key[KEY_TEXT_SIZE], struct err *err)
{
	if (key[0] != '/') {
		mem_copy_text(ret_key, KEY_TEXT_SIZE, key);
		return 0;
	}
	return key_public_load(key, ret_key, err) == 0
		   ? 0
		   : err_prefix(err, "%s: coordinator_key", path);
}

/* What only two settings together can get wrong. */
static int
check_locks(const char *path, cfg_t *cfg, struct err *err)
{
	long every = cfg_getint(cfg, "lock_every"), window = cfg_getint(cfg, "lock_window");

	if (window > every / 2)
		return err_set(err,
		    "%s: lock_window is %ld and lock_every is %ld: expected a window "
		    "of at most half the time from one to the next",
		    path, window, every);
	if (strstr(cfg_getstr(cfg, "lock_source"), "command") != NULL &&
	    cfg_getstr(cfg, "lock_command")[0] == '\0')
		return err_set(err,
		    "%s: lock_source names command, and lock_command is not set: name "
		    "the program that prints a table of locks",
		    path);
	return 0;
}

static void
take_locks(cfg_t *cfg, struct config *config)
{
	config->lock_source = mem_strdup(cfg_getstr(cfg, "lock_source"));
	mem_copy_text(
	    config->locks.command, sizeof config->locks.command, cfg_getstr(cfg, "lock_command"));
	config->locks.every_us = cfg_getint(cfg, "lock_every") * SECOND_US;
	config->locks.window_us = cfg_getint(cfg, "lock_window") * SECOND_US;
}

static void
take(cfg_t *cfg, const char *beside, struct config *config)
{
	config->coordinator = mem_strdup(cfg_getstr(cfg, "coordinator"));
	config->key = mem_strdup(cfg_getstr(cfg, "key"));
	config->state = mem_strdup(cfg_getstr(cfg, "state"));
	config->work = mem_strdup(cfg_getstr(cfg, "work"));
	config->keeper = find_keeper(cfg_getstr(cfg, "keeper"), beside);
	config->recipes = take_list(cfg, "recipes");
	config->source_roots = take_list(cfg, "source_roots");
	config->labels = take_list(cfg, "labels");
	config->slots = (int32_t)cfg_getint(cfg, "slots");
	config->threads = (int32_t)cfg_getint(cfg, "threads");
	config->disk_floor_bytes = size_of(cfg_getstr(cfg, "disk_floor"));
	config->log_cap_bytes = size_of(cfg_getstr(cfg, "log_cap"));
	config->jitter_us = cfg_getint(cfg, "jitter") * SECOND_US;
	take_locks(cfg, config);
	config->gauges = config_gauges_take(cfg, &config->ngauges);
}

int
config_load(const char *path, const char *beside, struct config *ret_config, struct err *err)
{
	struct config config = { 0 };
	cfg_t *cfg;
	int rc;

	set_checks();
	if (conf_parse_file(path, top_opts, &cfg, err) != 0)
		return -1;
	rc = check_locks(path, cfg, err);
	if (rc == 0)
		rc =
		    take_key(path, cfg_getstr(cfg, "coordinator_key"), config.coordinator_key, err);
	if (rc == 0) {
		take(cfg, beside, &config);
		*ret_config = config;
	}
	cfg_free(cfg);
	return rc;
}

static void
clear_list(struct config_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->list[i]);
	free(list->list);
}

void
config_clear(struct config *config)
{
	free(config->coordinator);
	free(config->key);
	free(config->state);
	free(config->work);
	free(config->keeper);
	free(config->lock_source);
	free(config->gauges);
	clear_list(&config->recipes);
	clear_list(&config->source_roots);
	clear_list(&config->labels);
	memset(config, 0, sizeof *config);
}
