/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/conf.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"
#include "proto/wire.h"

const struct recipe *
recipe_find(const struct recipe_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->list[i].name, name) == 0)
			return &list->list[i];
	}
	return NULL;
}

/* True, with *ret_rules NULL, when there is no such file. */
static bool
read_rules(const char *program, struct progress_rules **ret_rules)
{
	char *path = mem_printf("%s.progress", program), *text = NULL;
	struct err err;
	bool good = true;

	*ret_rules = NULL;
	if (access(path, F_OK) == 0) {
		if (conf_read(path, &text, &err) == 0)
			*ret_rules = progress_rules_parse(path, text, &err);
		good = *ret_rules != NULL;
		if (!good)
			log_error("%s; the recipe is not offered", err.text);
	}
	free(text);
	free(path);
	return good;
}

static bool
is_program(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

static bool
is_progress_file(const char *name)
{
	size_t n = strlen(name);

	return n > 9 && strcmp(name + n - 9, ".progress") == 0;
}

/* False, when it has been said why it is not offered. */
static bool
add(struct recipe_list *list, const char *folder, const char *name)
{
	struct recipe recipe = { 0 };

	recipe.program = mem_printf("%s/%s", folder, name);
	if (!is_program(recipe.program)) {
		log_warning("%s is not executable; the recipe is not offered", recipe.program);
	} else if (list->n == RECIPES_MAX) {
		log_warning("%s is one more than %d recipes and is not offered", recipe.program,
		    RECIPES_MAX);
	} else if (read_rules(recipe.program, &recipe.rules)) {
		mem_copy_text(recipe.name, sizeof recipe.name, name);
		list->list = mem_room(list->list, list->n, &list->capacity, sizeof recipe);
		list->list[list->n++] = recipe;
		return true;
	}
	free(recipe.program);
	return false;
}

static int
load_folder(struct recipe_list *list, const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort), faults = 0;

	if (n < 0) {
		log_warning("the recipe folder %s cannot be read: %s", path, strerror(errno));
		return 1;
	}
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (wire_name_ok(name) && !is_progress_file(name) &&
		    recipe_find(list, name) == NULL)
			faults += !add(list, path, name);
		free(names[i]);
	}
	free(names);
	return faults;
}

int
recipe_list_load(const struct config_list *folders, struct recipe_list *ret_list)
{
	int faults = 0;

	*ret_list = (struct recipe_list){ 0 };
	for (size_t i = 0; i < folders->n; i++)
		faults += load_folder(ret_list, folders->list[i]);
	return faults;
}

void
recipe_list_clear(struct recipe_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->list[i].program);
		progress_rules_destroy(list->list[i].rules);
	}
	free(list->list);
	*list = (struct recipe_list){ 0 };
}
