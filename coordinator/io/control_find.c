/* Arguments come from whoever may talk to the operators' socket: each is looked at as
 * text first, and only then as the name of something. What is not found is answered with
 * the names that are there, when they are few.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/control_ask.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/snapshot.h"
#include "proto/base/mem.h"
#include "proto/wire.h"
#include "proto/wire_text.h"

/* What an answer in JSON may take; the rest of a message is its envelope. */
enum { JSON_BYTES = OPERATOR_MESSAGE_BYTES - 4096, KNOWN_MAX = 8 };

enum control_result
answer(struct ask *ask, enum reply_status status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(ask->reply->text, sizeof ask->reply->text, format, ap);
	va_end(ap);
	wire_text_repair(ask->reply->text);
	ask->reply->status = status;
	return CONTROL_ANSWERED;
}

enum control_result
answer_json(struct ask *ask, json_t *json)
{
	char *text = snapshot_dump(json);

	json_decref(json);
	if (strlen(text) > JSON_BYTES) {
		free(text);
		return answer(ask, REPLY_FAILED,
		    "the answer has more than %d bytes and does not fit a message: ask for less, "
		    "one "
		    "branch or one build",
		    JSON_BYTES);
	}
	ask->reply->json = text;
	ask->reply->status = REPLY_OK;
	return CONTROL_ANSWERED;
}

const char *
arg_get(const struct ask *ask, const char *key)
{
	size_t i;

	for (i = 0; i < ask->request->nargs; i++)
		if (strcmp(ask->request->args[i].key, key) == 0)
			return ask->request->args[i].value;
	return NULL;
}

bool
number_parse(const char *text, int64_t *ret_n)
{
	size_t length = strnlen(text, 19);

	if (length == 0 || length == 19 || strspn(text, "0123456789") != length)
		return false;
	*ret_n = strtoll(text, NULL, 10);
	return true;
}

bool
arg_number(struct ask *ask, const char *key, int64_t least, int64_t most, int64_t *ret_n)
{
	const char *text = arg_get(ask, key);
	int64_t n;

	if (text == NULL)
		return true;
	if (number_parse(text, &n) && n >= least && n <= most) {
		*ret_n = n;
		return true;
	}
	answer(ask, REPLY_USAGE, "%s is \"%.60s\": a number from %lld to %lld was expected", key,
	    text, (long long)least, (long long)most);
	return false;
}

/* ---- what is there ---------------------------------------------------------------------- */

/* "; known are a, b, c", or nothing when they are too many to read. */
struct known {
	size_t n;
	char text[KNOWN_MAX * (NAME_SIZE + 2) + 32];
};

static void
known_add(struct known *k, const char *name)
{
	size_t length = strlen(k->text);

	if (k->n++ < KNOWN_MAX)
		snprintf(k->text + length, sizeof k->text - length, "%s%s",
		    k->n == 1 ? "; known are " : ", ", name);
}

static const char *
known_text(const struct known *k)
{
	return k->n <= KNOWN_MAX ? k->text : "";
}

const struct host *
find_host(struct ask *ask, const char *name)
{
	struct known known = { 0 };
	const struct host *h;
	size_t i;

	if (name == NULL || !wire_name_ok(name)) {
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" is no name of a host: letters, digits, . _ + - were expected",
		    name != NULL ? name : "");
		return NULL;
	}
	h = cluster_find_host(ask->c, name);
	if (h != NULL)
		return h;
	for (i = 0; i < ask->c->nhosts; i++)
		known_add(&known, ask->c->hosts[i]->name);
	answer(ask, REPLY_NOT_FOUND, "no host \"%s\" is known%s; flyball hosts lists them", name,
	    known_text(&known));
	return NULL;
}

const struct policy *
find_policy(struct ask *ask, const char *branch)
{
	struct known known = { 0 };
	const struct policy *p;
	size_t i;

	if (branch == NULL || !wire_name_ok(branch)) {
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" is no name of a branch: letters, digits, . _ + - were expected",
		    branch != NULL ? branch : "");
		return NULL;
	}
	p = cluster_find_policy(ask->c, branch);
	if (p != NULL)
		return p;
	for (i = 0; i < ask->c->nbranches; i++)
		known_add(&known, cluster_find_policy_version(ask->c, ask->c->branches[i])->branch);
	answer(ask, REPLY_NOT_FOUND,
	    "no policy for a branch \"%s\" is in force%s; flyball status tells more", branch,
	    known_text(&known));
	return NULL;
}

/* BRANCH/TARGET: the latest one. */
static const struct build *
find_build_named(struct ask *ask, const char *name)
{
	const char *slash = strchr(name, '/');
	char branch[NAME_SIZE];
	size_t i;

	if (slash == NULL || (size_t)(slash - name) >= sizeof branch) {
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" names no build: its number or BRANCH/TARGET was expected", name);
		return NULL;
	}
	memcpy(branch, name, (size_t)(slash - name));
	branch[slash - name] = '\0';
	if (!wire_name_ok(branch) || !wire_name_ok(slash + 1)) {
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" names no build: its number or BRANCH/TARGET was expected", name);
		return NULL;
	}
	for (i = ask->c->nbuilds; i-- > 0;) {
		const struct build *b = ask->c->builds[i];

		if (strcmp(b->target, slash + 1) == 0 &&
		    strcmp(build_round(ask->c, b)->branch, branch) == 0)
			return b;
	}
	answer(ask, REPLY_NOT_FOUND, "there is no build of %s; flyball builds lists them", name);
	return NULL;
}

const struct build *
find_build(struct ask *ask, const char *name)
{
	const struct build *b;
	int64_t n;

	if (name == NULL || !number_parse(name, &n))
		return find_build_named(ask, name != NULL ? name : "");
	b = cluster_find_build(ask->c, (build_id){ (uint64_t)n });
	if (b == NULL)
		answer(ask, REPLY_NOT_FOUND, "there is no build %lld; flyball builds lists them",
		    (long long)n);
	return b;
}

const struct round *
find_round(struct ask *ask, const char *name)
{
	const struct round *r = NULL;
	int64_t n;
	size_t i;

	if (name == NULL || (!number_parse(name, &n) && !wire_name_ok(name))) {
		answer(ask, REPLY_USAGE,
		    "\"%.60s\" names no round: its number or a branch was expected",
		    name != NULL ? name : "");
		return NULL;
	}
	if (number_parse(name, &n))
		r = cluster_find_round(ask->c, (round_id){ (uint64_t)n });
	for (i = ask->c->nrounds; r == NULL && i-- > 0;)
		if (strcmp(ask->c->rounds[i]->branch, name) == 0)
			r = ask->c->rounds[i];
	if (r == NULL && cluster_find_policy(ask->c, name) != NULL)
		answer(ask, REPLY_NOT_FOUND,
		    "no round of %s has begun yet: flyball run %s starts one", name, name);
	else if (r == NULL)
		answer(
		    ask, REPLY_NOT_FOUND, "there is no round %s; flyball rounds lists them", name);
	return r;
}
