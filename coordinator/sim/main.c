/* flyball-sim - the core without a coordinator: replays recordings
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/sim/replay.h"

enum { EXIT_OK, EXIT_DIFFERS, EXIT_USAGE };

static int
usage(FILE *to, int status)
{
	fprintf(to,
	    "usage: flyball-sim replay FILE   step a recording again and compare to the letter\n"
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

static int
replay(const char *path)
{
	FILE *file = fopen(path, "re");
	struct replay replay;
	struct err err;
	int rc;

	if (file == NULL) {
		fprintf(stderr, "flyball-sim: %s: cannot be opened: %s\n", path, strerror(errno));
		return EXIT_DIFFERS;
	}
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

int
main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (argc == 3 && strcmp(command, "replay") == 0)
		return replay(argv[2]);
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
