/* flyball-coordinator: wires the parts.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/agents.h"
#include "coordinator/io/config.h"
#include "coordinator/io/driver.h"
#include "coordinator/io/locks.h"
#include "coordinator/io/operators.h"
#include "coordinator/io/policy_file.h"
#include "coordinator/io/reload.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

enum { EXIT_USAGE = 2 };

struct options {
	const char *config;
	const char *record;
	bool check, print, debug;
};

struct coordinator {
	struct options options;
	struct config config;
	struct key_pair keys;
	char *logs;
	struct loop *loop;
	struct hub *hub;
	struct store *store;
	struct record *record;
	struct series *series;
	struct locks *locks;
	struct driver *driver;
	struct agents *agents;
	struct operators *operators;
};

/* ---- who may connect -------------------------------------------------------------------- */

static const char *
key_name(void *arg, const char *domain, const char *public_key)
{
	const struct coordinator *co = arg;

	return strcmp(domain, "agents") == 0 ? config_find_host(&co->config, public_key)
					     : config_find_operator(&co->config, public_key);
}

static bool
uid_ok(void *arg, const char *domain, unsigned uid)
{
	const struct coordinator *co = arg;
	size_t i;

	if (strcmp(domain, "operators") != 0)
		return false;
	for (i = 0; i < co->config.nusers; i++)
		if (co->config.users[i] == uid)
			return true;
	return uid == 0 || uid == geteuid();
}

/* ---- effects ---------------------------------------------------------------------------- */

static void
on_effect(void *arg, const struct effect *e)
{
	struct coordinator *co = arg;

	if (e->kind == EFFECT_REPLY)
		operators_reply(co->operators, e);
	else if (e->kind == EFFECT_REFUSE)
		log_throttled(e->host, "%s, ignoring", e->text);
	else if (e->kind == EFFECT_WOULD)
		log_notice("the governor would set host=%s limit=%d because=\"%s\"", e->host,
		    e->limit, e->text);
	else
		agents_effect(co->agents, e);
}

static void
on_committed(void *arg)
{
	struct coordinator *co = arg;

	agents_acknowledge(co->agents);
	operators_acknowledge(co->operators);
}

/* ---- signals ---------------------------------------------------------------------------- */

static void
load_policies(struct coordinator *co)
{
	struct err err;

	if (reload_policies(co->driver, co->config.policies, &err) == 0) {
		operators_policy_error(co->operators, "");
		return;
	}
	log_error("%s; the policies in force stay", err.text);
	operators_policy_error(co->operators, err.text);
}

static bool
has_key(const struct known_key *list, size_t n, const struct known_key *key)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i].name, key->name) == 0 && strcmp(list[i].key, key->key) == 0)
			return true;
	return false;
}

/* Who is in `was` and not in force now has no business here any more, connected or not. */
static void
turn_out(struct coordinator *co, const struct config *was)
{
	const struct config *now = &co->config;
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < was->nhosts; i++)
		if (!has_key(now->hosts, now->nhosts, &was->hosts[i]))
			agents_revoke(co->agents, was->hosts[i].name);
	for (i = 0; i < was->noperators; i++)
		if (!has_key(now->operator_keys, now->noperators, &was->operator_keys[i]))
			operators_revoke(co->operators, was->operator_keys[i].name);
	for (i = 0; i < was->nusers; i++) {
		snprintf(name, sizeof name, "uid:%u", (unsigned)was->users[i]);
		if (!uid_ok(co, "operators", was->users[i]))
			operators_revoke(co->operators, name);
	}
}

/* Hosts and operators change at once; endpoints and folders need a restart. */
static void
on_hangup(void *arg)
{
	struct coordinator *co = arg;
	struct config config;
	struct err err;

	if (config_load(co->options.config, &config, &err) < 0) {
		log_error("%s; the configuration in force stays", err.text);
	} else {
		struct config was = co->config;

		co->config.hosts = config.hosts;
		co->config.nhosts = config.nhosts;
		co->config.operator_keys = config.operator_keys;
		co->config.noperators = config.noperators;
		co->config.users = config.users;
		co->config.nusers = config.nusers;
		turn_out(co, &was);
		free(was.hosts);
		free(was.operator_keys);
		free(was.users);
		log_notice("configuration read again hosts=%zu", co->config.nhosts);
	}
	load_policies(co);
}

static void
on_terminate(void *arg)
{
	struct coordinator *co = arg;

	log_notice("stopping; builds go on");
	loop_stop(co->loop);
}

/* ---- start ------------------------------------------------------------------------------ */

static int
make_folder(const char *path, struct err *err)
{
	if (mkdir(path, 0750) == 0 || errno == EEXIST)
		return 0;
	return err_set_errno(err, errno, "the folder %s cannot be made", path);
}

static int
open_state(struct coordinator *co, struct err *err)
{
	char *journal = mem_printf("%s/journal.db", co->config.state);
	char *readings = mem_printf("%s/series", co->config.state);

	co->logs = mem_printf("%s/logs", co->config.state);
	if (make_folder(co->config.state, err) == 0 && make_folder(co->logs, err) == 0)
		co->store = store_open_sqlite(journal, err);
	free(journal);
	if (co->store != NULL)
		co->series = series_open(readings, err);
	free(readings);
	if (co->series == NULL)
		return -1;
	co->locks = locks_open(co->logs);
	if (co->options.record == NULL)
		return 0;
	co->record = record_open(co->options.record, err);
	return co->record != NULL ? 0 : -1;
}

static int
start(struct coordinator *co, struct err *err)
{
	struct driver_callbacks callbacks = { on_effect, on_committed, co };

	if (key_pair_load(co->config.key, &co->keys, err) < 0 || open_state(co, err) < 0)
		return -1;
	co->loop = loop_create();
	co->hub = hub_create(co->loop, key_name, uid_ok, co);
	co->driver = driver_create(co->loop, co->store, co->record, &callbacks);
	if (driver_start(co->driver, err) < 0)
		return -1;
	co->agents =
	    agents_create(co->hub, &co->config, &co->keys, co->logs, co->series, co->locks, err);
	if (co->agents == NULL)
		return -1;
	agents_attach(co->agents, co->driver);
	co->operators = operators_create(co->hub, &co->config, &co->keys, co->logs, co->locks, err);
	if (co->operators == NULL)
		return -1;
	operators_attach(co->operators, co->driver);
	load_policies(co);
	return 0;
}

static void
run(struct coordinator *co)
{
	struct loop_watch *hangup = loop_signal_add(co->loop, SIGHUP, on_hangup, co);
	struct loop_watch *terminate = loop_signal_add(co->loop, SIGTERM, on_terminate, co);
	struct loop_watch *interrupt = loop_signal_add(co->loop, SIGINT, on_terminate, co);
	char fingerprint[KEY_FINGERPRINT_SIZE];

	key_fingerprint(co->keys.public_key, fingerprint);
	log_notice("coordinator up version=%s epoch=%llu agents=%s operators=%s key=%s",
	    FLYBALL_VERSION, (unsigned long long)driver_cluster(co->driver)->epoch,
	    co->config.agents, co->config.operators, fingerprint);
	loop_run(co->loop);
	loop_remove(hangup);
	loop_remove(terminate);
	loop_remove(interrupt);
}

static void
stop(struct coordinator *co)
{
	operators_destroy(co->operators);
	agents_destroy(co->agents);
	driver_destroy(co->driver);
	if (co->hub != NULL)
		hub_destroy(co->hub);
	if (co->loop != NULL)
		loop_destroy(co->loop);
	record_close(co->record);
	series_close(co->series);
	locks_close(co->locks);
	if (co->store != NULL)
		store_close(co->store);
	free(co->logs);
	key_pair_clear(&co->keys);
	config_clear(&co->config);
}

/* ---- command line ----------------------------------------------------------------------- */

static int
check(const struct coordinator *co)
{
	struct policy_list list = { 0 };
	struct text text = { 0 };
	struct key_pair keys = { 0 };
	struct err err;
	size_t i;

	if (!co->options.print && key_pair_load(co->config.key, &keys, &err) < 0) {
		fprintf(stderr, "flyball-coordinator: %s\n", err.text);
		return EXIT_FAILURE;
	}
	key_pair_clear(&keys);
	if (policy_load_folder(co->config.policies, NULL, 0, &list, &err) < 0) {
		fprintf(stderr, "flyball-coordinator: %s\n", err.text);
		return EXIT_FAILURE;
	}
	for (i = 0; co->options.print && i < list.n; i++)
		policy_print(list.list[i], &text);
	if (co->options.print)
		fputs(text.text != NULL ? text.text : "", stdout);
	else
		printf("%s: ok, %zu hosts; %s: ok, %zu branches\n", co->options.config,
		    co->config.nhosts, co->config.policies, list.n);
	free(text.text);
	policy_list_clear(&list);
	return EXIT_SUCCESS;
}

static int
usage(FILE *out)
{
	fputs(
	    "usage: flyball-coordinator [-c FILE] [-d] [--record FILE]\n"
	    "       flyball-coordinator [-c FILE] -n     check the configuration and the policies\n"
	    "       flyball-coordinator [-c FILE] -nv    and print the policies as they are "
	    "understood\n"
	    "       flyball-coordinator -V               print the version\n",
	    out);
	return out == stderr ? EXIT_USAGE : EXIT_SUCCESS;
}

/* -1 to go on, else the exit code. */
static int
parse(int argc, char **argv, struct options *ret)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *arg = argv[i];

		if (strcmp(arg, "-h") == 0 || strcmp(arg, "--help") == 0)
			return usage(stdout);
		if (strcmp(arg, "-V") == 0 || strcmp(arg, "--version") == 0) {
			puts("flyball-coordinator " FLYBALL_VERSION);
			return EXIT_SUCCESS;
		}
		if (strcmp(arg, "-c") == 0 && i + 1 < argc)
			ret->config = argv[++i];
		else if (strcmp(arg, "--record") == 0 && i + 1 < argc)
			ret->record = argv[++i];
		else if (strcmp(arg, "-d") == 0)
			ret->debug = true;
		else if (strcmp(arg, "-n") == 0)
			ret->check = true;
		else if (strcmp(arg, "-v") == 0)
			ret->print = true;
		else if (strcmp(arg, "-nv") == 0 || strcmp(arg, "-vn") == 0)
			ret->check = ret->print = true;
		else {
			fprintf(stderr,
			    "flyball-coordinator: \"%s\" is no option, or lacks its value\n", arg);
			return usage(stderr);
		}
	}
	return -1;
}

int
main(int argc, char **argv)
{
	struct coordinator co = { .options.config = FLYBALL_SYSCONFDIR "/coordinator.conf" };
	int rc = parse(argc, argv, &co.options);
	struct err err;

	if (rc >= 0)
		return rc;
	if (co.options.print && !co.options.check)
		return usage(stderr);
	log_open("flyball-coordinator", co.options.debug ? LOG_DEBUG : LOG_NOTICE);
	signal(SIGPIPE, SIG_IGN);
	if (config_load(co.options.config, &co.config, &err) < 0) {
		fprintf(stderr, "flyball-coordinator: %s\n", err.text);
		return EXIT_FAILURE;
	}
	if (co.options.check)
		rc = check(&co);
	else if (start(&co, &err) == 0) {
		run(&co);
		rc = EXIT_SUCCESS;
	} else {
		fprintf(stderr, "flyball-coordinator: %s\n", err.text);
		rc = EXIT_FAILURE;
	}
	stop(&co);
	return rc;
}
