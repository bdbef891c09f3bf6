/* libconfuse gives the structure; every value is judged here and in policy_values.c once all of it
 * is there, since most can only be judged against others, and conf_line knows the line then too.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/policy_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/policy_grammar.h"
#include "coordinator/io/policy_reader.h"
#include "proto/base/mem.h"
#include "proto/base/near.h"
#include "proto/wire.h"
#include "proto/wire_text.h"

#define NAME_EXPECTED "expected a name of 1 to 63 of A-Z a-z 0-9 . _ + -, not beginning with . or -"

_Static_assert(NAME_SIZE == 64, "NAME_EXPECTED says so");

void
policy_list_clear(struct policy_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		policy_destroy(list->list[i]);
	free(list->list);
	*list = (struct policy_list){ 0 };
}

static void
list_add(struct policy_list *list, struct policy *policy)
{
	list->list = mem_room(list->list, list->n, &list->capacity, sizeof(struct policy *));
	list->list[list->n++] = policy;
}

/* ---- targets ---------------------------------------------------------------------------- */

static int
check_targets(const struct policy_reader *r, cfg_t *branch)
{
	unsigned i, k, n = cfg_size(branch, "targets");

	if (n == 0)
		return policy_refuse(r, policy_stands(r, "targets") ? "targets" : NULL,
		    "branch \"%s\" has no targets: write targets = { \"NAME\", ... }",
		    cfg_title(branch));
	if (n > TARGETS_MAX)
		return policy_refuse(
		    r, "targets", "targets holds %u: at most %d are taken", n, TARGETS_MAX);
	for (i = 0; i < n; i++) {
		const char *name = cfg_getnstr(branch, "targets", i);

		if (!wire_name_ok(name))
			return policy_refuse(
			    r, "targets", "target \"%.80s\": " NAME_EXPECTED, name);
		for (k = 0; k < i; k++)
			if (strcmp(cfg_getnstr(branch, "targets", k), name) == 0)
				return policy_refuse(
				    r, "targets", "target \"%s\" stands twice", name);
	}
	return 0;
}

static int
refuse_target(const struct policy_reader *r, const struct policy *policy, const char *name)
{
	const char *names[TARGETS_MAX], *near;
	size_t i;

	for (i = 0; i < policy->ntargets; i++)
		names[i] = policy->targets[i].name;
	near = near_find(name, names, policy->ntargets);
	if (near == NULL)
		return policy_refuse(r, NULL,
		    "target \"%.80s\" is not in targets of branch \"%s\": add it "
		    "there, or remove this section",
		    name, policy->branch);
	return policy_refuse(r, NULL,
	    "target \"%.80s\" is not in targets of branch \"%s\"; did you mean "
	    "\"%s\"?",
	    name, policy->branch, near);
}

/* Each target with what its branch has. */
static void
take_targets(cfg_t *branch, const struct policy_values *v, struct policy *policy)
{
	size_t i;

	policy->ntargets = cfg_size(branch, "targets");
	policy->targets = mem_calloc(policy->ntargets, sizeof *policy->targets);
	for (i = 0; i < policy->ntargets; i++) {
		struct target *t = &policy->targets[i];

		mem_copy_text(t->name, sizeof t->name, cfg_getnstr(branch, "targets", (unsigned)i));
		needs_copy(&t->needs, &v->needs);
		t->timeout_us = v->timeout_us;
		t->stall_us = v->stall_us;
		t->retries = v->retries;
	}
}

static int
override_target(struct policy_reader *r, cfg_t *section, struct policy *policy)
{
	const char *name = cfg_title(section);
	/* The find borrows from a policy that is ours to change. */
	struct target *t = (struct target *)policy_find_target(policy, name);
	struct policy_values v = { 0 };
	int rc;

	if (t == NULL)
		return refuse_target(r, policy, name);
	v.needs = t->needs;
	v.timeout_us = t->timeout_us;
	v.stall_us = t->stall_us;
	v.retries = t->retries;
	rc = policy_values_read(r, section, "target", &v);
	t->needs = v.needs;
	t->timeout_us = v.timeout_us;
	t->stall_us = v.stall_us;
	t->retries = v.retries;
	return rc;
}

static int
override_targets(struct policy_reader *r, cfg_t *branch, struct policy *policy)
{
	unsigned i;

	for (i = 0; i < cfg_size(branch, "target"); i++) {
		cfg_t *section = cfg_getnsec(branch, "target", i);
		int rc;

		r->path[r->depth++] = (struct conf_step){ "target", cfg_title(section) };
		rc = override_target(r, section, policy);
		r->depth--;
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* ---- branches --------------------------------------------------------------------------- */

static int
take_source(const struct policy_reader *r, cfg_t *branch, struct policy *policy)
{
	const char *source = cfg_size(branch, "source") > 0 ? cfg_getstr(branch, "source") : NULL;

	if (source == NULL)
		return policy_refuse(r, NULL,
		    "branch \"%s\" has no source: write source = \"PATH\", as the "
		    "hosts see it",
		    policy->branch);
	if (*source == '\0' || !wire_path_ok(source))
		return policy_refuse(r, "source",
		    "source is \"%.80s\": expected a path in one line, without "
		    "\"..\", not beginning with -",
		    source);
	if (!mem_copy_text(policy->source, sizeof policy->source, source))
		return policy_refuse(
		    r, "source", "source is longer than %d bytes", SOURCE_SIZE - 1);
	return 0;
}

static int
check_jobs(const struct policy_reader *r, const struct policy_values *v)
{
	if (v->jobs_min > v->jobs_max)
		return policy_refuse(r, policy_stands(r, "jobs") ? "jobs" : NULL,
		    "jobs: min is %d and max is %d: expected min up to max", (int)v->jobs_min,
		    (int)v->jobs_max);
	if (v->jobs_start != 0 && (v->jobs_start < v->jobs_min || v->jobs_start > v->jobs_max))
		return policy_refuse(r, policy_stands(r, "jobs") ? "jobs" : NULL,
		    "jobs: start is %d: expected from min, %d, to max, %d", (int)v->jobs_start,
		    (int)v->jobs_min, (int)v->jobs_max);
	return 0;
}

static int
take_branch(
    struct policy_reader *r, cfg_t *branch, const struct policy_values *v, struct policy *policy)
{
	if (v->recipe[0] == '\0')
		return policy_refuse(r, NULL,
		    "branch \"%s\" has no recipe: write recipe = \"NAME\", one that "
		    "is installed on the hosts",
		    policy->branch);
	memcpy(policy->recipe, v->recipe, sizeof policy->recipe);
	if (take_source(r, branch, policy) != 0 || check_jobs(r, v) != 0 ||
	    check_targets(r, branch) != 0)
		return -1;
	policy->priority = v->priority;
	policy->governor = v->governor;
	policy->jobs_min = (int32_t)v->jobs_min;
	policy->jobs_max = (int32_t)v->jobs_max;
	policy->jobs_start = (int32_t)v->jobs_start;
	policy->spin_target_ppm = (int32_t)v->spin_target_ppm;
	take_targets(branch, v, policy);
	return override_targets(r, branch, policy);
}

static int
read_branch(struct policy_reader *r, cfg_t *branch, const struct policy_values *defaults,
    struct policy_list *list)
{
	struct policy *policy = policy_create();
	struct policy_values v = *defaults;
	int rc;

	needs_copy(&v.needs, &defaults->needs);
	list_add(list, policy);
	mem_copy_text(policy->origin, sizeof policy->origin, r->name);
	if (!wire_name_ok(cfg_title(branch)))
		rc = policy_refuse(r, NULL, "branch \"%.80s\": " NAME_EXPECTED, cfg_title(branch));
	else {
		mem_copy_text(policy->branch, sizeof policy->branch, cfg_title(branch));
		rc = policy_values_read(r, branch, "branch", &v);
	}
	if (rc == 0)
		rc = take_branch(r, branch, &v, policy);
	free(v.needs.labels);
	return rc;
}

/* ---- a file ----------------------------------------------------------------------------- */

static int
read_defaults(struct policy_reader *r, cfg_t *cfg, struct policy_values *v)
{
	cfg_t *section = cfg_getsec(cfg, "defaults");
	int rc;

	if (section == NULL)
		return 0;
	r->path[r->depth++] = (struct conf_step){ "defaults", NULL };
	rc = policy_values_read(r, section, "defaults", v);
	r->depth--;
	return rc;
}

static int
read_file(
    struct policy_reader *r, cfg_t *cfg, struct policy_values *defaults, struct policy_list *list)
{
	unsigned i, n = cfg_size(cfg, "branch");
	int rc = 0;

	if (cfg_size(cfg, "include") > 0)
		return policy_values_read(r, cfg, "", defaults);
	if (read_defaults(r, cfg, defaults) != 0)
		return -1;
	if (n == 0)
		return policy_refuse(r, NULL, "holds no branch: write branch \"NAME\" { ... }");
	if (n > BRANCHES_MAX)
		return policy_refuse(
		    r, NULL, "holds %u branches: at most %d are taken", n, BRANCHES_MAX);
	for (i = 0; i < n && rc == 0; i++) {
		cfg_t *branch = cfg_getnsec(cfg, "branch", i);

		r->path[r->depth++] = (struct conf_step){ "branch", cfg_title(branch) };
		rc = read_branch(r, branch, defaults, list);
		r->depth--;
	}
	return rc;
}

/* The file's own bytes stand in some sentences, which go to terminals and over the wire. */
static int
fail(struct err *err)
{
	if (err != NULL)
		wire_text_repair(err->text);
	return -1;
}

int
policy_parse(const char *name, const char *text, const char *const *recipes, size_t nrecipes,
    struct policy_list *ret_list, struct err *err)
{
	struct policy_reader r = {
		.name = name, .text = text, .recipes = recipes, .nrecipes = nrecipes, .err = err
	};
	struct policy_list list = { 0 };
	struct policy_values defaults;
	cfg_t *cfg;
	int rc;

	if (strlen(name) >= SOURCE_SIZE)
		return err_set(
		    err, "%.80s...: the path is longer than %d bytes", name, SOURCE_SIZE - 1);
	if (conf_parse_text(name, text, policy_opts, &cfg, err) != 0)
		return fail(err);
	policy_values_init(&defaults);
	rc = read_file(&r, cfg, &defaults, &list);
	free(defaults.needs.labels);
	cfg_free(cfg);
	if (rc != 0) {
		policy_list_clear(&list);
		return fail(err);
	}
	*ret_list = list;
	return 0;
}

/* ---- a folder --------------------------------------------------------------------------- */

static int
is_policy(const struct dirent *entry)
{
	static const char end[] = ".policy";
	size_t n = strlen(entry->d_name);

	return entry->d_name[0] != '.' && n >= sizeof end &&
	       strcmp(entry->d_name + n - (sizeof end - 1), end) == 0;
}

/* The same order in every locale. */
static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
branch_line(const char *text, const char *branch)
{
	struct conf_step step = { "branch", branch };

	return conf_line(text, &step, 1);
}

/* A branch of the file that is in one read before. known: their lines, in the order of all. */
static int
check_duplicates(const char *path, const char *text, const struct policy_list *all,
    const int *lines, const struct policy_list *file, struct err *err)
{
	size_t i, k;

	for (i = 0; i < file->n; i++)
		for (k = 0; k < all->n; k++)
			if (strcmp(file->list[i]->branch, all->list[k]->branch) == 0)
				return err_set(err,
				    "%s:%d: branch \"%s\" stands twice; it is in %s:%d already",
				    path, branch_line(text, file->list[i]->branch),
				    file->list[i]->branch, all->list[k]->origin, lines[k]);
	if (all->n + file->n > BRANCHES_MAX)
		return err_set(err, "%s: is one file too many: at most %d branches are taken", path,
		    BRANCHES_MAX);
	return 0;
}

/* Of all files so far. */
struct gathered {
	struct policy_list all;
	int lines[BRANCHES_MAX]; /* of each branch, in its file */
};

static int
add_file(const char *path, const char *const *recipes, size_t nrecipes, struct gathered *g,
    struct err *err)
{
	struct policy_list file = { 0 };
	char *text;
	size_t i;
	int rc;

	if (conf_read(path, &text, err) != 0)
		return -1;
	rc = policy_parse(path, text, recipes, nrecipes, &file, err);
	if (rc == 0)
		rc = check_duplicates(path, text, &g->all, g->lines, &file, err);
	for (i = 0; i < file.n && rc == 0; i++) {
		g->lines[g->all.n] = branch_line(text, file.list[i]->branch);
		list_add(&g->all, file.list[i]);
		file.list[i] = NULL;
	}
	policy_list_clear(&file);
	free(text);
	return rc;
}

int
policy_load_folder(const char *folder, const char *const *recipes, size_t nrecipes,
    struct policy_list *ret_list, struct err *err)
{
	struct gathered *g;
	struct dirent **entries;
	int i, rc = 0, n = scandir(folder, &entries, is_policy, by_name);

	if (n < 0)
		return err_set_errno(err, errno, "policy folder %s: cannot be read", folder);
	g = mem_calloc(1, sizeof *g);
	for (i = 0; i < n; i++) {
		char *path = mem_printf("%s/%s", folder, entries[i]->d_name);

		if (rc == 0)
			rc = add_file(path, recipes, nrecipes, g, err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (rc == 0)
		*ret_list = g->all;
	else
		policy_list_clear(&g->all);
	free(g);
	return rc;
}
