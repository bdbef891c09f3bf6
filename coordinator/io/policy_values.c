/* One function a section, over whatever of its keys were given; so a target overrides its branch
 * key by key, and a branch the defaults of its file.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/policy_grammar.h"
#include "coordinator/io/policy_reader.h"
#include "coordinator/io/policy_value.h"
#include "proto/base/mem.h"
#include "proto/base/near.h"
#include "proto/wire.h"

enum {
	PRIORITY_MOST = 100,
	RETRIES_MOST = 100,
	SPIN_TARGET_LEAST = 10000, /* millionths */
	SPIN_TARGET_MOST = 900000
};

void
policy_values_init(struct policy_values *values)
{
	*values = (struct policy_values){
		.priority = 50,
		.governor = GOVERNOR_OBSERVE,
		.jobs_min = 1,
		.jobs_max = JOBS_MAX,
		.timeout_us = 24 * HOUR_US,
		.retries = 2,
	};
}

void
needs_copy(struct needs *to, const struct needs *from)
{
	*to = *from;
	to->labels = NULL;
	if (from->nlabels > 0) {
		to->labels = mem_calloc(from->nlabels, sizeof *to->labels);
		memcpy(to->labels, from->labels, from->nlabels * sizeof *to->labels);
	}
}

static int
line_of(const struct policy_reader *r, const char *key)
{
	struct conf_step path[4];
	size_t n = r->depth;

	memcpy(path, r->path, sizeof r->path);
	if (key != NULL)
		path[n++] = (struct conf_step){ key, NULL };
	return n > 0 ? conf_line(r->text, path, n) : 0;
}

bool
policy_stands(const struct policy_reader *r, const char *key)
{
	return line_of(r, key) != 0;
}

int
policy_refuse(const struct policy_reader *r, const char *key, const char *format, ...)
{
	int line = line_of(r, key);
	char sentence[ERR_TEXT_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(sentence, sizeof sentence, format, ap);
	va_end(ap);
	if (line == 0)
		return err_set(r->err, "%s: %s", r->name, sentence);
	return err_set(r->err, "%s:%d: %s", r->name, line, sentence);
}

static int
refuse_not_yet(
    const struct policy_reader *r, const char *key, const char *value, const char *instead)
{
	return policy_refuse(r, key, "%s = %s is not acted on yet: %s", key, value, instead);
}

static int
refuse_unacted(const struct policy_reader *r, cfg_t *section, const char *kind)
{
	const struct unacted *u;

	for (u = policy_unacted; u->section != NULL; u++)
		if (strcmp(u->section, kind) == 0 && cfg_size(section, u->key) > 0)
			return policy_refuse(r, u->key, "%s is not acted on yet: %s; remove the %s",
			    u->key, u->instead,
			    cfg_getopt(section, u->key)->type == CFGT_SEC ? "section" : "line");
	return 0;
}

/* NULL when it was not given. */
static const char *
given(cfg_t *section, const char *key)
{
	return cfg_size(section, key) > 0 ? cfg_getstr(section, key) : NULL;
}

static int
read_number(const struct policy_reader *r, cfg_t *section, const char *key, int64_t least,
    int64_t most, int64_t *ret)
{
	const char *s = given(section, key);
	int64_t n;

	if (s == NULL)
		return 0;
	if (!whole_parse(s, &n) || n < least || n > most)
		return policy_refuse(r, key,
		    "%s is \"%.80s\": expected a whole number from %" PRId64 " to %" PRId64 "%s",
		    key, s, least, most,
		    s[0] == '0' && s[1] != '\0' ? ", without a leading zero" : "");
	*ret = n;
	return 0;
}

static int
read_int32(
    const struct policy_reader *r, cfg_t *section, const char *key, int32_t most, int32_t *ret)
{
	int64_t n = *ret;

	if (read_number(r, section, key, 0, most, &n) != 0)
		return -1;
	*ret = (int32_t)n;
	return 0;
}

static int
read_unit(const struct policy_reader *r, cfg_t *section, const char *key,
    bool (*parse)(const char *, int64_t *), const char *expected, int64_t *ret)
{
	const char *s = given(section, key);

	if (s == NULL || parse(s, ret))
		return 0;
	return policy_refuse(r, key, "%s is \"%.80s\": %s", key, s, expected);
}

/* ---- sections --------------------------------------------------------------------------- */

static bool
is_learn(cfg_t *section, const char *key)
{
	const char *s = given(section, key);

	return s != NULL && strcmp(s, "learn") == 0;
}

static int
read_spin_target(const struct policy_reader *r, cfg_t *jobs, struct policy_values *v)
{
	const char *s = given(jobs, "spin_target");
	int64_t ppm;

	if (s == NULL)
		return 0;
	if (is_learn(jobs, "spin_target"))
		v->spin_target_ppm = 0;
	else if (share_parse(s, &ppm) && ppm >= SPIN_TARGET_LEAST && ppm <= SPIN_TARGET_MOST)
		v->spin_target_ppm = ppm;
	else
		return policy_refuse(r, "spin_target",
		    "spin_target is \"%.80s\": expected \"learn\" or a share from 0.01 to 0.9", s);
	return 0;
}

static int
read_jobs(struct policy_reader *r, cfg_t *jobs, struct policy_values *v)
{
	if (refuse_unacted(r, jobs, "jobs") != 0 ||
	    read_number(r, jobs, "min", 1, JOBS_MAX, &v->jobs_min) != 0 ||
	    read_number(r, jobs, "max", 1, JOBS_MAX, &v->jobs_max) != 0)
		return -1;
	if (is_learn(jobs, "start"))
		v->jobs_start = 0;
	else if (read_number(r, jobs, "start", 1, JOBS_MAX, &v->jobs_start) != 0)
		return -1;
	return read_spin_target(r, jobs, v);
}

static int
read_labels(const struct policy_reader *r, cfg_t *section, struct needs *needs)
{
	unsigned i, k, n = cfg_size(section, "labels");

	if (n > LABELS_MAX)
		return policy_refuse(
		    r, "labels", "labels holds %u: at most %d are taken", n, LABELS_MAX);
	for (i = 0; i < n; i++) {
		const char *label = cfg_getnstr(section, "labels", i);

		if (!wire_name_ok(label))
			return policy_refuse(r, "labels",
			    "label \"%.80s\": expected a name of 1 to %d of "
			    "A-Z a-z 0-9 . _ + -",
			    label, NAME_SIZE - 1);
		for (k = 0; k < i; k++)
			if (strcmp(cfg_getnstr(section, "labels", k), label) == 0)
				return policy_refuse(
				    r, "labels", "label \"%s\" stands twice", label);
	}
	free(needs->labels);
	needs->labels = n == 0 ? NULL : mem_calloc(n, sizeof *needs->labels);
	needs->nlabels = n;
	for (i = 0; i < n; i++)
		mem_copy_text(needs->labels[i], NAME_SIZE, cfg_getnstr(section, "labels", i));
	return 0;
}

static int
read_needs(struct policy_reader *r, cfg_t *section, struct needs *needs)
{
	const char *os = given(section, "os"), *release = given(section, "release");

	if (read_unit(r, section, "memory", size_parse, SIZE_EXPECTED, &needs->memory_bytes) != 0 ||
	    read_unit(r, section, "disk", size_parse, SIZE_EXPECTED, &needs->disk_bytes) != 0)
		return -1;
	if (os != NULL && *os != '\0' && !wire_name_ok(os))
		return policy_refuse(r, "os",
		    "os is \"%.80s\": expected what the hosts' `uname -s` prints, "
		    "such as \"NetBSD\"",
		    os);
	if (os != NULL)
		mem_copy_text(needs->os, sizeof needs->os, os);
	if (release != NULL && !release_parse(release, &needs->release_test, needs->release))
		return policy_refuse(r, "release",
		    "release is \"%.80s\": expected a release such as \"9.3\", "
		    "or one behind >= > <= < or =",
		    release);
	return policy_stands(r, "labels") ? read_labels(r, section, needs) : 0;
}

static int
read_limits(struct policy_reader *r, cfg_t *limits, struct policy_values *v)
{
	if (cfg_size(limits, "second_attempts") > 0 && cfg_getbool(limits, "second_attempts"))
		return refuse_not_yet(r, "second_attempts", "true",
		    "a build has one attempt at a time; remove the line");
	if (read_unit(r, limits, "timeout", duration_parse, DURATION_EXPECTED, &v->timeout_us) !=
		0 ||
	    read_unit(r, limits, "stall", duration_parse, DURATION_EXPECTED, &v->stall_us) != 0)
		return -1;
	return read_int32(r, limits, "retries", RETRIES_MOST, &v->retries);
}

/* ---- single keys ------------------------------------------------------------------------ */

static int
refuse_recipe(const struct policy_reader *r, const char *recipe)
{
	const char *near = near_find(recipe, r->recipes, r->nrecipes);
	struct text known = { 0 };
	size_t i;

	for (i = 0; i < r->nrecipes; i++)
		text_printf(&known, "%s%s", i == 0 ? "" : ", ", r->recipes[i]);
	policy_refuse(r, "recipe", "recipe \"%s\" is not installed on any host; %s%s%sknown: %s",
	    recipe, near == NULL ? "" : "did you mean \"", near == NULL ? "" : near,
	    near == NULL ? "" : "\"? ",
	    r->nrecipes == 0 ? "none, since no host has told of any" : known.text);
	free(known.text);
	return -1;
}

static int
read_recipe(const struct policy_reader *r, cfg_t *section, struct policy_values *v)
{
	const char *recipe = given(section, "recipe");
	size_t i;

	if (recipe == NULL)
		return 0;
	if (!wire_name_ok(recipe))
		return policy_refuse(r, "recipe",
		    "recipe is \"%.80s\": expected a name of 1 to %d of A-Z a-z "
		    "0-9 . _ + -, not a path",
		    recipe, NAME_SIZE - 1);
	mem_copy_text(v->recipe, sizeof v->recipe, recipe);
	if (r->recipes == NULL)
		return 0;
	for (i = 0; i < r->nrecipes; i++)
		if (strcmp(r->recipes[i], recipe) == 0)
			return 0;
	return refuse_recipe(r, recipe);
}

static int
read_mode(const struct policy_reader *r, cfg_t *section)
{
	const char *mode = given(section, "mode");

	if (mode == NULL || strcmp(mode, "clean") == 0)
		return 0;
	if (strcmp(mode, "update") == 0)
		return refuse_not_yet(r, "mode", "\"update\"",
		    "every attempt builds in a fresh workspace; write mode = \"clean\"");
	return policy_refuse(r, "mode", "mode is \"%.80s\": expected \"clean\"", mode);
}

static int
read_governor(const struct policy_reader *r, cfg_t *section, struct policy_values *v)
{
	const char *name = given(section, "governor");
	int mode;

	if (name == NULL)
		return 0;
	for (mode = GOVERNOR_OFF; mode <= GOVERNOR_ACT; mode++)
		if (strcmp(name, governor_mode_name((enum governor_mode)mode)) == 0) {
			v->governor = (enum governor_mode)mode;
			return 0;
		}
	return policy_refuse(r, "governor",
	    "governor is \"%.80s\": expected \"off\", \"observe\", \"advise\" or \"act\"", name);
}

static int
read_single(const struct policy_reader *r, cfg_t *section, struct policy_values *v)
{
	if (read_recipe(r, section, v) != 0 || read_mode(r, section) != 0 ||
	    read_int32(r, section, "priority", PRIORITY_MOST, &v->priority) != 0)
		return -1;
	return read_governor(r, section, v);
}

/* The short form that only defaults have; two that differ would leave an operator guessing. */
static int
read_default_retries(struct policy_reader *r, cfg_t *section, struct policy_values *v)
{
	cfg_t *limits = cfg_getsec(section, "limits");

	if (cfg_size(section, "retries") > 0 && limits != NULL && cfg_size(limits, "retries") > 0)
		return policy_refuse(
		    r, "retries", "retries stands here and in limits: remove one of them");
	return read_int32(r, section, "retries", RETRIES_MOST, &v->retries);
}

static int
read_target(const struct policy_reader *r, cfg_t *section)
{
	if (cfg_size(section, "optional") > 0 && cfg_getbool(section, "optional"))
		return refuse_not_yet(
		    r, "optional", "true", "every target counts for its round; remove the line");
	return 0;
}

int
policy_values_read(
    struct policy_reader *r, cfg_t *section, const char *kind, struct policy_values *v)
{
	bool is_target = strcmp(kind, "target") == 0;
	cfg_t *part;
	int rc = refuse_unacted(r, section, kind);

	if (rc == 0)
		rc = is_target ? read_target(r, section) : read_single(r, section, v);
	if (rc == 0 && strcmp(kind, "defaults") == 0)
		rc = read_default_retries(r, section, v);
	if (rc == 0 && !is_target && (part = cfg_getsec(section, "jobs")) != NULL) {
		r->path[r->depth++] = (struct conf_step){ "jobs", NULL };
		rc = read_jobs(r, part, v);
		r->depth--;
	}
	if (rc == 0 && (part = cfg_getsec(section, "needs")) != NULL) {
		r->path[r->depth++] = (struct conf_step){ "needs", NULL };
		rc = read_needs(r, part, &v->needs);
		r->depth--;
	}
	if (rc == 0 && (part = cfg_getsec(section, "limits")) != NULL) {
		r->path[r->depth++] = (struct conf_step){ "limits", NULL };
		rc = read_limits(r, part, v);
		r->depth--;
	}
	return rc;
}
