/* A source comes from the wire, so it is a name to be looked up under the operator's roots and
 * nothing else: "..", a link that leads out and an absolute path elsewhere are all refused, the
 * latter two by comparing real paths.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/runner_place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sense/load.h"
#include "proto/base/mem.h"
#include "proto/keys.h"

static bool
climbs(const char *path)
{
	for (const char *part = path; part != NULL; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
			return true;
	}
	return false;
}

/* Both are real paths. */
static bool
is_under(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (strcmp(root, "/") == 0)
		return true;
	return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The real path of source, when it is a folder under this root. */
static bool
find_under(const char *root, const char *source, char real[PATH_MAX])
{
	char real_root[PATH_MAX];
	char *path = source[0] == '/' ? mem_strdup(source) : mem_printf("%s/%s", root, source);
	struct stat facts;
	bool good;

	good = realpath(root, real_root) != NULL && realpath(path, real) != NULL &&
	       is_under(real_root, real) && stat(real, &facts) == 0 && S_ISDIR(facts.st_mode);
	free(path);
	return good;
}

static void
name_roots(const struct config_list *roots, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < roots->n && used < size; i++)
		used += (size_t)snprintf(
		    buf + used, size - used, "%s%s", i > 0 ? ", " : "", roots->list[i]);
}

int
place_source(const struct config_list *roots, const char *source, char ret_path[SOURCE_SIZE],
    struct err *err)
{
	char real[PATH_MAX], names[200];

	if (source[0] == '\0' || climbs(source))
		return err_set(err,
		    "the source \"%s\" is refused: a folder's name without \"..\" was "
		    "expected",
		    source);
	for (size_t i = 0; i < roots->n; i++) {
		if (find_under(roots->list[i], source, real) &&
		    mem_copy_text(ret_path, SOURCE_SIZE, real))
			return 0;
	}
	name_roots(roots, names, sizeof names);
	return err_set(err,
	    "the source \"%.200s\" is not a folder under this host's source_roots (%s)", source,
	    names);
}

static int
check_disk(const struct config *config, const struct message_start *start, struct err *err)
{
	int64_t free_bytes = load_disk_free(config->work);

	if (free_bytes < 0)
		return err_set_errno(
		    err, errno, "the free space of %s cannot be told", config->work);
	if (free_bytes - config->disk_floor_bytes >= start->need_disk_bytes)
		return 0;
	return err_set(err,
	    "%s has %" PRId64 " MiB free, and the build needs %" PRId64 " MiB above the "
	    "%" PRId64 " MiB that stay free (disk_floor)",
	    config->work, free_bytes >> 20, start->need_disk_bytes >> 20,
	    config->disk_floor_bytes >> 20);
}

/* The cap of each BSD make of the build, for good; so it must not stand in the way of a limit that
 * grows, and the pool is what governs. */
static int32_t
ceiling_of(const struct message_start *start)
{
	return start->jobs_max > 0 && start->jobs_max < JOBS_MAX ? start->jobs_max : JOBS_MAX;
}

int
place_order(const struct config *config, const struct recipe *recipe,
    const struct message_start *start, int32_t limit, struct order *ret_order, struct err *err)
{
	struct order order = { .start = *start,
		.limit = limit,
		.ceiling = ceiling_of(start),
		.pool = progress_rules_pool(recipe->rules),
		.log_cap_bytes = config->log_cap_bytes };
	int work, out;

	if (access(recipe->program, X_OK) != 0)
		return err_set_errno(err, errno, "the recipe %s cannot be run", recipe->program);
	if (place_source(&config->source_roots, start->source, order.source, err) != 0 ||
	    check_disk(config, start, err) != 0)
		return -1;
	work = snprintf(
	    order.work, sizeof order.work, "%s/attempt-%" PRIu64, config->work, start->id.n);
	out = snprintf(order.out, sizeof order.out, "%s/out/%s/%s", config->work, start->branch,
	    start->target);
	if (work >= (int)sizeof order.work || out >= (int)sizeof order.out ||
	    !mem_copy_text(order.program, sizeof order.program, recipe->program))
		return err_set(err,
		    "a path of attempt %" PRIu64 " is longer than %d bytes: give the "
		    "agent a shorter \"work\"",
		    start->id.n, SOURCE_SIZE - 1);
	*ret_order = order;
	return 0;
}
