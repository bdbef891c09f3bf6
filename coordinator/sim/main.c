/* flyball-sim - the core without a cluster: replays recordings, builds on model hosts
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/sim/bench.h"
#include "coordinator/sim/replay.h"
#include "coordinator/sim/run.h"

enum { EXIT_OK, EXIT_DIFFERS, EXIT_USAGE };

static int
usage(FILE *to, int status)
{
	fprintf(to,
	    "usage: flyball-sim replay FILE   step a recording again and compare to the letter\n"
	    "       flyball-sim run [-v] [-1] [-j JOBS] [-n BUILDS] [-s SEED] [-r FILE] SCENARIO\n"
	    "                                 build on a model host, under the law or with fixed "
	    "JOBS\n"
	    "       flyball-sim bench [-n SEEDS] [-s SEED] SCENARIO...\n"
	    "                                 the law against fixed limits, a line a scenario\n"
	    "       flyball-sim shapes [-n SHAPES] [-s SEED] TABLE\n"
	    "                                 the same over random locks; their rates into TABLE\n"
	    "       flyball-sim -V            print the version\n"
	    "       flyball-sim -h            print this\n");
	return status;
}

static int
replay_failed(const char *path, const struct replay *replay, const struct err *err)
{
	fprintf(stderr, "flyball-sim: %s: %s\n", path, err->text);
	if (replay->expected != NULL || replay->got != NULL)
		fprintf(stderr, "recorded: %s\nnow:      %s\n",
		    replay->expected ? replay->expected : "nothing more of this event",
		    replay->got ? replay->got : "nothing more of this event");
	return EXIT_DIFFERS;
}

static FILE *
open_file(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (file == NULL)
		fprintf(stderr, "flyball-sim: %s: cannot be opened: %s\n", path, strerror(errno));
	return file;
}

static int
replay(int argc, char **argv)
{
	const char *path = argv[1];
	struct replay replay;
	struct err err;
	FILE *file;
	int rc;

	if (argc != 2)
		return usage(stderr, EXIT_USAGE);
	file = open_file(path, "re");
	if (file == NULL)
		return EXIT_DIFFERS;
	rc = replay_run(&replay, file, &err);
	fclose(file);
	if (rc < 0) {
		rc = replay_failed(path, &replay, &err);
		replay_clear(&replay);
		return rc;
	}
	if (replay.cut)
		printf("line %zu: the recording was cut here, as a crash does; up to there:\n",
		    replay.line);
	printf("%zu events, %zu effects: replayed to the letter\n", replay.events, replay.effects);
	replay_clear(&replay);
	return EXIT_OK;
}

/* ---- builds on model hosts --------------------------------------------------------------- */

/* True and the number, when it is one from 1 to most. */
static bool
number(const char *text, long most, long *ret_n)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 1 || n > most) {
		fprintf(
		    stderr, "flyball-sim: \"%s\": expected a number from 1 to %ld\n", text, most);
		return false;
	}
	*ret_n = n;
	return true;
}

struct run_arguments {
	struct run_options options;
	long builds;
	const char *record;
};

static int
run_arguments(int argc, char **argv, struct run_arguments *a)
{
	long n = 1;
	int c;

	*a = (struct run_arguments){ .options = { .seed = 1 }, .builds = 1 };
	while ((c = getopt(argc, argv, "+v1j:n:s:r:")) != -1) {
		if (strchr("jns", c) != NULL && !number(optarg,
						    c == 'j'   ? JOBS_MAX
						    : c == 'n' ? 1000
							       : INT32_MAX,
						    &n))
			return EXIT_USAGE;
		switch (c) {
		case 'v':
			a->options.show = stdout;
			break;
		case '1':
			a->options.perfect = true;
			break;
		case 'j':
			a->options.fixed = (int)n;
			break;
		case 'n':
			a->builds = n;
			break;
		case 's':
			a->options.seed = (uint64_t)n;
			break;
		case 'r':
			a->record = optarg;
			break;
		default:
			return usage(stderr, EXIT_USAGE);
		}
	}
	return optind + 1 == argc ? EXIT_OK : usage(stderr, EXIT_USAGE);
}

static void
run_builds(const struct run_arguments *a, const struct scenario *scenario)
{
	struct run_result result;
	struct work work;
	struct run *run;

	work_draw(&work, scenario, a->options.seed);
	run = run_create(&work, &a->options);
	for (long i = 1; i <= a->builds; i++) {
		run_build(run, &result);
		printf("build %ld: %.1f s, %d changes of the limit, %.0f CPU-s of spin, %.0f s of "
		       "swapping\n",
		    i, result.seconds, result.changes, result.spin, result.swapping);
		for (size_t p = 0; p < scenario->nphases; p++)
			printf("    %-16s %8.1f s\n", scenario->phases[p].name, result.phases[p]);
	}
	run_destroy(run);
	work_clear(&work);
}

static int
run(int argc, char **argv)
{
	struct scenario scenario;
	struct run_arguments a;
	struct err err;
	int rc = run_arguments(argc, argv, &a);

	if (rc != EXIT_OK)
		return rc;
	if (scenario_read(argv[optind], &scenario, &err) < 0) {
		fprintf(stderr, "flyball-sim: %s\n", err.text);
		return EXIT_DIFFERS;
	}
	if (a.record != NULL) {
		a.options.record = open_file(a.record, "we");
		if (a.options.record == NULL)
			rc = EXIT_DIFFERS;
	}
	if (rc == EXIT_OK)
		run_builds(&a, &scenario);
	if (a.options.record != NULL && fclose(a.options.record) != 0) {
		fprintf(
		    stderr, "flyball-sim: %s: cannot be written: %s\n", a.record, strerror(errno));
		rc = EXIT_DIFFERS;
	}
	scenario_clear(&scenario);
	return rc;
}

/* ---- figures ----------------------------------------------------------------------------- */

static int
bench_arguments(int argc, char **argv, long *ret_n, struct bench_options *ret_options)
{
	long seed = 1;
	int c;

	while ((c = getopt(argc, argv, "+n:s:")) != -1)
		if (c == '?' ||
		    !number(optarg, c == 'n' ? 1000 : INT32_MAX, c == 'n' ? ret_n : &seed))
			return c == '?' ? usage(stderr, EXIT_USAGE) : EXIT_USAGE;
	*ret_options = (struct bench_options){ (uint64_t)seed, (int)*ret_n };
	return optind < argc ? EXIT_OK : usage(stderr, EXIT_USAGE);
}

static int
bench(int argc, char **argv)
{
	struct bench_options options;
	struct scenario scenario;
	struct err err;
	long seeds = 20;
	int rc = bench_arguments(argc, argv, &seeds, &options);

	for (int i = optind; i < argc && rc == EXIT_OK; i++) {
		if (scenario_read(argv[i], &scenario, &err) < 0) {
			fprintf(stderr, "flyball-sim: %s\n", err.text);
			return EXIT_DIFFERS;
		}
		bench_scenario(&scenario, &options, stdout);
		scenario_clear(&scenario);
	}
	return rc;
}

static int
shapes(int argc, char **argv)
{
	struct bench_options options;
	long n = 30;
	FILE *table;
	int rc = bench_arguments(argc, argv, &n, &options);

	if (rc != EXIT_OK)
		return rc;
	table = open_file(argv[optind], "we");
	if (table == NULL)
		return EXIT_DIFFERS;
	bench_shapes(&options, (int)n, table, stdout);
	if (fclose(table) == 0)
		return EXIT_OK;
	fprintf(stderr, "flyball-sim: %s: cannot be written: %s\n", argv[optind], strerror(errno));
	return EXIT_DIFFERS;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int, char **);
	} commands[] = { { "replay", replay }, { "run", run }, { "bench", bench },
		{ "shapes", shapes } };
	const char *command = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (argc > 2 && strcmp(command, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (argc == 2 && (strcmp(command, "-V") == 0 || strcmp(command, "--version") == 0)) {
		printf("flyball-sim %s\n", FLYBALL_VERSION);
		return EXIT_OK;
	}
	if (argc == 2 && (strcmp(command, "-h") == 0 || strcmp(command, "--help") == 0))
		return usage(stdout, EXIT_OK);
	if (argc > 1)
		fprintf(stderr, "flyball-sim: \"%s\" is no command, or lacks its file\n", command);
	return usage(stderr, EXIT_USAGE);
}
