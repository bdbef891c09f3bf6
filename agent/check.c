/* What is missing at start may come later (a mount, a package), so a running agent only
 * warns of it; flyball-agent -n fails.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/log.h"
#include "proto/base/mem.h"

int
check_key_file(const struct config *config)
{
	struct key_pair pair;
	struct err err;

	if (key_pair_load(config->key, &pair, &err) != 0) {
		log_error("%s", err.text);
		return 1;
	}
	key_pair_clear(&pair);
	return 0;
}

static int
check_keeper(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return 0;
	log_warning("keeper is \"%s\", which is no program that can be run: no build can be "
		    "started; name the flyball-keeper that was installed",
	    path);
	return 1;
}

/* Folders are made when they are needed: the nearest one that is there must allow it. */
static int
check_writable(const char *key, const char *path)
{
	char *copy = mem_strdup(path), *slash;
	struct stat st;
	int rc, why;

	while ((rc = stat(copy, &st)) != 0 && errno == ENOENT &&
	       (slash = strrchr(copy, '/')) != NULL && copy[1] != '\0')
		slash[slash == copy] = '\0'; /* what is left of the first is "/" */
	if (rc == 0 && !S_ISDIR(st.st_mode)) {
		rc = -1;
		errno = ENOTDIR;
	}
	if (rc == 0)
		rc = access(copy, W_OK | X_OK);
	why = errno;
	if (rc != 0)
		log_warning("%s is \"%s\", and %s cannot be written to: %s; name a folder that "
			    "the agent may make or write to",
		    key, path, copy, strerror(why));
	free(copy);
	return rc != 0;
}

static int
check_source_roots(const struct config_list *roots)
{
	struct stat st;
	int faults = 0;

	for (size_t i = 0; i < roots->n; i++) {
		if (stat(roots->list[i], &st) == 0 && S_ISDIR(st.st_mode))
			continue;
		log_warning("source_roots has \"%s\", which is no folder here: nothing in it "
			    "can be built; make or mount it, or take it out",
		    roots->list[i]);
		faults++;
	}
	if (roots->n > 0)
		return faults;
	log_warning("source_roots is empty: nothing can be built; name the folders that "
		    "sources lie in");
	return 1;
}

int
check_places(const struct config *config)
{
	return check_keeper(config->keeper) + check_writable("state", config->state) +
	       check_writable("work", config->work) + check_source_roots(&config->source_roots);
}
