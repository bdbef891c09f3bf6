/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/io/reload.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/io/policy_file.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

const char **
reload_known_recipes(const struct cluster *c, size_t *ret_n)
{
	const char **names = NULL;
	size_t i, k, j, n = 0, capacity = 0;

	for (i = 0; i < c->nhosts; i++)
		for (k = 0; k < c->hosts[i]->facts.nrecipes; k++) {
			const char *name = c->hosts[i]->facts.recipes[k];

			for (j = 0; j < n && strcmp(names[j], name) != 0; j++)
				;
			if (j < n)
				continue;
			names = mem_room(names, n, &capacity, sizeof *names);
			names[n++] = name;
		}
	*ret_n = n;
	return names;
}

static bool
has_branch(const struct policy_list *list, const char *branch)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->list[i]->branch, branch) == 0)
			return true;
	return false;
}

/* One at a time: taking a branch out of force moves the others up. */
static bool
take_one_out(struct driver *driver, const struct policy_list *list)
{
	const struct cluster *c = driver_cluster(driver);
	struct event event = { .kind = EVENT_POLICY_GONE };
	size_t i;

	for (i = 0; i < c->nbranches; i++) {
		const char *branch = cluster_find_policy_version(c, c->branches[i])->branch;

		if (has_branch(list, branch))
			continue;
		mem_copy_text(event.branch, sizeof event.branch, branch);
		log_notice("policy out of force: no file has it branch=%s", branch);
		driver_event(driver, &event);
		return true;
	}
	return false;
}

static void
put_in_force(struct driver *driver, const struct policy_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		struct event event = { .kind = EVENT_POLICY, .policy = list->list[i] };

		driver_event(driver, &event);
	}
	while (take_one_out(driver, list))
		;
	log_notice("policies in force branches=%zu", driver_cluster(driver)->nbranches);
}

int
reload_policies(struct driver *driver, const char *folder, struct err *err)
{
	struct policy_list list = { 0 };
	size_t nrecipes;
	const char **recipes = reload_known_recipes(driver_cluster(driver), &nrecipes);
	int rc = policy_load_folder(folder, nrecipes ? recipes : NULL, nrecipes, &list, err);

	if (rc == 0)
		put_in_force(driver, &list);
	policy_list_clear(&list);
	free(recipes);
	return rc;
}
