/* flyball-keeper FOLDER: looks after the one attempt whose order lies in FOLDER.
 *
 * All that can be wrong with the call is found before the fork, so that whoever started us learns of it
 * by the exit status and one sentence; from then on the child answers by its socket alone. A lock on the
 * order keeps a second keeper out of the folder.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/keeper.h"

static int
lock_folder(const char *folder, struct err *err)
{
	int fd = open("order", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "%s/order cannot be read", folder);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return err_set(err, "another keeper lives in %s already", folder);
	}
	return 0; /* fd stays open for as long as we live */
}

static int
check_no_result(const char *folder, struct err *err)
{
	if (access("result", F_OK) == 0)
		return err_set(err, "%s holds a result already: an attempt runs only once", folder);
	return 0;
}

static int
prepare(const char *folder, struct order *order, struct door *door, struct err *err)
{
	if (chdir(folder) != 0)
		return err_set_errno(err, errno, "the folder %s cannot be entered", folder);
	if (lock_folder(folder, err) != 0 || check_no_result(folder, err) != 0)
		return -1;
	if (order_read(".", order, err) != 0)
		return -1;
	return door_open(door, err);
}

/* The recipe gets the priority that we were given, but never a better one than usual: the
 * agent's own may be raised. */
static int
recipe_niceness(void)
{
	int niceness = getpriority(PRIO_PROCESS, 0);

	return niceness < 0 ? 0 : niceness;
}

static int
usage(FILE *f, int rc)
{
	fputs("usage: flyball-keeper FOLDER      (started by flyball-agent)\n", f);
	return rc;
}

/* In the child. A folder that has vanished meanwhile shows as a log that cannot be made. */
static int
keep(const struct order *order, struct door *door, int niceness)
{
	char folder[PATH_MAX];
	struct keeper keeper = { .order = order, .door = door, .niceness = niceness };
	struct err note;

	keeper.folder = getcwd(folder, sizeof folder) != NULL ? folder : ".";
	os_keep_responsive(&note);
	keeper_run(&keeper);
	door_close(door);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct order order;
	struct door door;
	struct err err;
	int niceness;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return usage(stdout, 0);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("flyball-keeper " FLYBALL_VERSION) < 0;
	if (argc != 2 || argv[1][0] == '-')
		return usage(stderr, 2);
	closefrom(STDERR_FILENO + 1);
	if (prepare(argv[1], &order, &door, &err) != 0) {
		fprintf(stderr, "flyball-keeper: %s\n", err.text);
		return 1;
	}
	niceness = recipe_niceness();
	switch (fork()) {
	case -1:
		perror("flyball-keeper: no process can be made");
		return 1;
	case 0:
		return keep(&order, &door, niceness);
	default:
		return 0;
	}
}
