/* flyball-agent: wires the parts.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/check.h"
#include "agent/driver.h"
#include "agent/os.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

enum { EXIT_USAGE = 2 };

struct options {
	const char *config;
	bool check, debug;
};

struct agent {
	struct config config;
	struct key_pair keys;
	struct recipe_list recipes;
	struct host_facts facts;
	struct spool *spool;
	struct loop *loop;
	struct driver *driver;
};

static void __attribute__((noreturn)) usage(FILE *out, int status)
{
	fputs("usage: flyball-agent [-c FILE] [-d]\n"
	      "       flyball-agent [-c FILE] -n     check the configuration and what it names\n"
	      "       flyball-agent -V               print the version\n",
	    out);
	exit(status);
}

static struct options
take_options(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 } };
	struct options options = { .config = FLYBALL_SYSCONFDIR "/agent.conf" };
	int c;

	while ((c = getopt_long(argc, argv, "c:dhnV", names, NULL)) != -1) {
		switch (c) {
		case 'c':
			options.config = optarg;
			break;
		case 'n':
			options.check = true;
			break;
		case 'd':
			options.debug = true;
			break;
		case 'h':
			usage(stdout, 0);
		case 'V':
			printf("flyball-agent %s\n", FLYBALL_VERSION);
			exit(0);
		default:
			usage(stderr, EXIT_USAGE);
		}
	}
	if (optind < argc)
		usage(stderr, EXIT_USAGE);
	return options;
}

/* The folder of this program, or NULL. */
static char *
own_folder(const char *name)
{
	char *path = realpath(name, NULL);
	char *slash = path != NULL && strchr(name, '/') != NULL ? strrchr(path, '/') : NULL;

	if (slash != NULL) {
		*slash = '\0';
		return path;
	}
	free(path);
	return NULL;
}

/* ---- facts ---- */

static int
gather_facts(struct agent *agent, struct err *err)
{
	struct host_facts *facts = &agent->facts;
	const struct config *config = &agent->config;
	uint64_t random = 0;

	if (os_host_facts(facts, err) != 0)
		return -1;
	mem_copy_text(facts->agent_version, sizeof facts->agent_version, FLYBALL_VERSION);
	while (getrandom(&random, sizeof random, 0) != sizeof random)
		continue;
	snprintf(facts->start_id, sizeof facts->start_id, "%016" PRIx64, random);
	facts->slots = config->slots;
	if (config->threads > 0)
		facts->threads = config->threads;
	facts->labels = mem_calloc(config->labels.n + 1, sizeof *facts->labels);
	facts->nlabels = config->labels.n;
	for (size_t i = 0; i < facts->nlabels; i++)
		mem_copy_text(facts->labels[i], NAME_SIZE, config->labels.list[i]);
	facts->recipes = mem_calloc(agent->recipes.n + 1, sizeof *facts->recipes);
	facts->nrecipes = agent->recipes.n;
	for (size_t i = 0; i < facts->nrecipes; i++)
		mem_copy_text(facts->recipes[i], NAME_SIZE, agent->recipes.list[i].name);
	return 0;
}

/* ---- running ---- */

static void
on_terminate(void *arg)
{
	struct agent *agent = arg;
	size_t n = driver_builds(agent->driver);

	log_notice("ending; %zu build%s go%s on in the care of %s keeper%s builds=%zu", n,
	    n == 1 ? "" : "s", n == 1 ? "es" : "", n == 1 ? "its" : "their", n == 1 ? "" : "s", n);
	loop_stop(agent->loop);
}

static int
run(struct agent *agent, struct err *err)
{
	const struct driver_parts parts = { .loop = agent->loop,
		.config = &agent->config,
		.keys = &agent->keys,
		.recipes = &agent->recipes,
		.spool = agent->spool,
		.facts = &agent->facts };
	struct loop_watch *term, *intr;

	agent->driver = driver_create(&parts, err);
	if (agent->driver == NULL)
		return -1;
	term = loop_signal_add(agent->loop, SIGTERM, on_terminate, agent);
	intr = loop_signal_add(agent->loop, SIGINT, on_terminate, agent);
	loop_run(agent->loop);
	loop_remove(term);
	loop_remove(intr);
	driver_destroy(agent->driver);
	return 0;
}

static int
set_up(struct agent *agent, struct err *err)
{
	char fingerprint[KEY_FINGERPRINT_SIZE];
	struct err note = { "" };

	if (key_pair_load(agent->config.key, &agent->keys, err) != 0)
		return -1;
	agent->spool = spool_open(agent->config.state, err);
	if (agent->spool == NULL || gather_facts(agent, err) != 0)
		return -1;
	agent->loop = loop_create();
	os_keep_responsive(&note);
	if (note.text[0] != '\0')
		log_notice("%s", note.text);
	key_fingerprint(agent->keys.public_key, fingerprint);
	log_notice("agent %s begins coordinator=%s key=%s slots=%d threads=%d recipes=%zu",
	    FLYBALL_VERSION, agent->config.coordinator, fingerprint, (int)agent->facts.slots,
	    (int)agent->facts.threads, agent->recipes.n);
	return 0;
}

static void
tear_down(struct agent *agent)
{
	if (agent->loop != NULL)
		loop_destroy(agent->loop);
	spool_close(agent->spool);
	free(agent->facts.labels);
	free(agent->facts.recipes);
	recipe_list_clear(&agent->recipes);
	key_pair_clear(&agent->keys);
	config_clear(&agent->config);
}

int
main(int argc, char **argv)
{
	struct options options = take_options(argc, argv);
	struct agent agent = { 0 };
	struct err err;
	char *beside = own_folder(argv[0]);
	int rc, faults = 0;

	log_open("flyball-agent", options.debug ? LOG_DEBUG : LOG_NOTICE);
	signal(SIGPIPE, SIG_IGN);
	rc = config_load(options.config, beside, &agent.config, &err);
	free(beside);
	if (rc == 0)
		faults = recipe_list_load(&agent.config.recipes, &agent.recipes) +
			 check_places(&agent.config);
	if (rc == 0 && options.check) {
		faults += check_key_file(&agent.config);
		if (faults == 0)
			printf("%s: ok\n", options.config);
		tear_down(&agent);
		return faults == 0 ? 0 : 1;
	}
	if (rc == 0)
		rc = set_up(&agent, &err);
	if (rc == 0)
		rc = run(&agent, &err);
	if (rc != 0)
		log_error("%s", err.text);
	tear_down(&agent);
	return rc == 0 ? 0 : 1;
}
