/* Verbs that only read. Lists come in pages that fit a message: the answer's "next" is
 * what the client asks for to go on, null at the end. A page is cut by its bytes, since
 * one host's labels may take more than another's everything.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/control_ask.h"
#include "coordinator/io/policy_file.h"
#include "coordinator/io/snapshot.h"
#include "proto/wire.h"

enum { PAGE_BYTES = 512 * 1024 };

struct page {
	json_t *list;
	size_t bytes;
};

/* Takes over one; false when the page is full with it. */
static bool
page_add(struct page *page, json_t *one)
{
	page->bytes += json_dumpb(one, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(6)) + 1;
	json_array_append_new(page->list, one);
	return page->bytes < PAGE_BYTES;
}

static enum control_result
page_answer(struct ask *ask, const char *key, struct page *page, json_t *next)
{
	json_t *json = json_object();

	json_object_set_new(json, key, page->list);
	json_object_set_new(json, "next", next);
	return answer_json(ask, json);
}

/* ---- status and hosts -------------------------------------------------------------------- */

enum control_result
show_status(struct ask *ask)
{
	const struct control_context *x = ask->context;
	json_t *json = snapshot_status(ask->c, x->now), *alarm;

	json_object_set_new(json, "version", json_string(x->version));
	json_object_set_new(json, "started", snapshot_time(x->started));
	json_object_set_new(json, "up_us", json_integer(x->now.wall.us - x->started.us));
	if (x->policy_error != NULL && x->policy_error[0] != '\0') {
		alarm = json_pack("{s:s, s:n, s:o}", "kind", "policy", "object", "text",
		    snapshot_text(x->policy_error));
		assert(alarm != NULL);
		json_array_insert_new(json_object_get(json, "alarms"), 0, alarm);
	}
	return answer_json(ask, json);
}

enum control_result
show_hosts(struct ask *ask)
{
	const char *after = arg_get(ask, "after");
	struct page page = { json_array(), 0 };
	const struct cluster *c = ask->c;
	json_t *next = json_null();
	size_t i = 0;

	while (after != NULL && i < c->nhosts && strcmp(c->hosts[i]->name, after) <= 0)
		i++;
	for (; i < c->nhosts; i++)
		if (!page_add(&page, snapshot_host(c, c->hosts[i], ask->context->now)))
			break;
	if (i + 1 < c->nhosts)
		next = json_string(c->hosts[i]->name);
	return page_answer(ask, "hosts", &page, next);
}

enum control_result
show_host(struct ask *ask)
{
	const struct host *h = find_host(ask, arg_get(ask, "host"));

	if (h == NULL)
		return CONTROL_ANSWERED;
	return answer_json(ask, snapshot_host(ask->c, h, ask->context->now));
}

/* ---- rounds and builds, the newest first --------------------------------------------------- */

/* The arguments that page through ids: those below before, at most count. */
static bool
take_window(struct ask *ask, int64_t *ret_before, int64_t *ret_count)
{
	*ret_before = INT64_MAX;
	*ret_count = INT64_MAX;
	return arg_number(ask, "before", 1, INT64_MAX / 1000, ret_before) &&
	       arg_number(ask, "count", 1, INT64_MAX / 1000, ret_count);
}

static bool
take_branch(struct ask *ask, const char **ret_branch)
{
	const char *branch = *ret_branch = arg_get(ask, "branch");
	size_t i;

	if (branch == NULL)
		return true;
	/* One whose policy is gone still has its history. */
	for (i = 0; i < ask->c->nrounds; i++)
		if (strcmp(ask->c->rounds[i]->branch, branch) == 0)
			return true;
	return find_policy(ask, branch) != NULL;
}

enum control_result
show_rounds(struct ask *ask)
{
	struct page page = { NULL, 0 };
	int64_t before, count, last = 0;
	const char *branch;
	size_t i;

	if (!take_window(ask, &before, &count) || !take_branch(ask, &branch))
		return CONTROL_ANSWERED;
	page.list = json_array();
	for (i = ask->c->nrounds; i-- > 0;) {
		const struct round *r = ask->c->rounds[i];

		if ((int64_t)r->id.n >= before ||
		    (branch != NULL && strcmp(r->branch, branch) != 0))
			continue;
		if (count-- == 0)
			break;
		last = (int64_t)r->id.n;
		if (!page_add(&page, snapshot_round_row(ask->c, r, ask->context->now)))
			break;
	}
	return page_answer(ask, "rounds", &page,
	    i < ask->c->nrounds && last > 1 ? json_integer(last) : json_null());
}

enum control_result
show_round(struct ask *ask)
{
	const struct round *r = find_round(ask, arg_get(ask, "round"));

	if (r == NULL)
		return CONTROL_ANSWERED;
	return answer_json(ask, snapshot_round(ask->c, r, ask->context->now));
}

/* A state's word: of one that goes on, or a verdict. */
static bool
state_known(const char *word)
{
	int i;

	for (i = 0; i <= BUILD_DONE; i++)
		if (strcmp(word, build_state_name((enum build_state)i)) == 0)
			return true;
	for (i = VERDICT_OK; i <= VERDICT_CANCELLED; i++)
		if (strcmp(word, verdict_name((enum verdict)i)) == 0)
			return true;
	return false;
}

struct wanted {
	const char *branch, *state;
	const struct round *round;
};

static bool
take_wanted(struct ask *ask, struct wanted *w)
{
	const char *round = arg_get(ask, "round");

	w->state = arg_get(ask, "state");
	w->round = NULL;
	if (w->state != NULL && !state_known(w->state)) {
		answer(ask, REPLY_USAGE,
		    "no build has a state \"%.60s\": queued, starting, running, cancelling, "
		    "done, ok, failed or cancelled was expected",
		    w->state);
		return false;
	}
	if (!take_branch(ask, &w->branch))
		return false;
	if (round != NULL)
		w->round = find_round(ask, round);
	return round == NULL || w->round != NULL;
}

static bool
is_wanted(const struct cluster *c, const struct build *b, const struct wanted *w)
{
	if (w->round != NULL && b->round.n != w->round->id.n)
		return false;
	if (w->branch != NULL && strcmp(build_round(c, b)->branch, w->branch) != 0)
		return false;
	return w->state == NULL || strcmp(w->state, build_state_name(build_state_get(c, b))) == 0 ||
	       (b->verdict != VERDICT_NONE && strcmp(w->state, verdict_name(b->verdict)) == 0);
}

enum control_result
show_builds(struct ask *ask)
{
	struct page page = { NULL, 0 };
	int64_t before, count, last = 0;
	struct wanted wanted;
	size_t i;

	if (!take_window(ask, &before, &count) || !take_wanted(ask, &wanted))
		return CONTROL_ANSWERED;
	page.list = json_array();
	for (i = ask->c->nbuilds; i-- > 0;) {
		const struct build *b = ask->c->builds[i];

		if ((int64_t)b->id.n >= before || !is_wanted(ask->c, b, &wanted))
			continue;
		if (count-- == 0)
			break;
		last = (int64_t)b->id.n;
		if (!page_add(&page, snapshot_build_row(ask->c, b, ask->context->now)))
			break;
	}
	return page_answer(ask, "builds", &page,
	    i < ask->c->nbuilds && last > 1 ? json_integer(last) : json_null());
}

enum control_result
show_build(struct ask *ask)
{
	const struct build *b = find_build(ask, arg_get(ask, "build"));

	if (b == NULL)
		return CONTROL_ANSWERED;
	return answer_json(ask, snapshot_build(ask->c, b, ask->context->now));
}

/* ---- why --------------------------------------------------------------------------------- */

enum control_result
show_explain(struct ask *ask)
{
	const char *host = arg_get(ask, "host"), *build = arg_get(ask, "build");
	const struct build *b;
	const struct host *h;

	if ((host == NULL) == (build == NULL))
		return answer(ask, REPLY_USAGE, "one host or one build was expected");
	if (host != NULL) {
		h = find_host(ask, host);
		return h == NULL
			   ? CONTROL_ANSWERED
			   : answer_json(ask, snapshot_explain_host(ask->c, h, ask->context->now));
	}
	b = find_build(ask, build);
	return b == NULL ? CONTROL_ANSWERED : answer_json(ask, snapshot_explain_build(ask->c, b));
}

/* ---- policies ---------------------------------------------------------------------------- */

enum control_result
show_policy(struct ask *ask)
{
	const struct policy *p = find_policy(ask, arg_get(ask, "branch"));
	struct text t = { 0 };
	json_t *json;

	if (p == NULL)
		return CONTROL_ANSWERED;
	json = snapshot_policy(p);
	policy_print(p, &t);
	json_object_set_new(json, "text", snapshot_text(t.text != NULL ? t.text : ""));
	free(t.text);
	return answer_json(ask, json);
}

enum control_result
show_policy_check(struct ask *ask)
{
	const char *name = arg_get(ask, "name"), *text = arg_get(ask, "text");
	struct policy_list list = { 0 };
	json_t *policies;
	struct err err;
	size_t i;

	if (name == NULL || name[0] == '\0' || strlen(name) >= SOURCE_SIZE || text == NULL)
		return answer(ask, REPLY_USAGE,
		    "a file name of at most %d bytes and its text were expected", SOURCE_SIZE - 1);
	if (strlen(text) > POLICY_BYTES)
		return answer(ask, REPLY_FAILED, "%.300s: has %zu bytes, at most %d were expected",
		    name, strlen(text), POLICY_BYTES);
	if (policy_parse(name, text, ask->context->recipes, ask->context->nrecipes, &list, &err) !=
	    0)
		return answer(ask, REPLY_FAILED, "%s", err.text);
	policies = json_array();
	for (i = 0; i < list.n; i++)
		json_array_append_new(policies, snapshot_policy(list.list[i]));
	policy_list_clear(&list);
	return answer_json(ask, json_pack("{s:o}", "policies", policies));
}
