/* Every verb: a good request becomes the right event or answer; each kind of bad one is answered
 * with its status and a sentence that names what was wrong.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/control.h"
#include "coordinator/io/locks.h"
#include "tests/unit/io_cluster.h"

enum { ARGS_MAX = 8 };

static struct cluster *cluster;
static char log_folder[64];
static struct locks *locks;
static const char *const recipes[] = { "gmake" };

/* ---- asking ------------------------------------------------------------------------------ */

struct asked {
	enum control_result result;
	struct message_reply reply;
	struct event event;
};

/* args: key, value, ..., NULL; of ASK as well. */
static struct asked
ask(const char *verb, const char *const args[])
{
	struct control_context context = { cluster, moment_s(100), log_folder, recipes, 1, "",
		"0.1", after_s(-3600), locks };
	struct request_arg list[ARGS_MAX];
	struct message_request request = { .id = 42, .args = list };
	struct asked a;

	mem_copy_text(request.verb, sizeof request.verb, verb);
	for (; args[0] != NULL; args += 2)
		list[request.nargs++] = (struct request_arg){ (char *)args[0], (char *)args[1] };
	a.result = control_request(&context, "ann", &request, &a.reply, &a.event);
	assert_int_equal(a.reply.id, 42);
	return a;
}

#define ASK(verb, ...) ask(verb, (const char *const[]){ __VA_ARGS__ })

static void
done(struct asked *a)
{
	free(a->reply.json);
	free(a->reply.bytes);
	event_clear(&a->event);
}

/* The answer's JSON; asserts that there is one. */
static json_t *
answer(struct asked *a)
{
	json_t *json;

	if (a->result != CONTROL_ANSWERED || a->reply.status != REPLY_OK)
		fail_msg("no answer: %s", a->reply.text);
	json = json_loads(a->reply.json, 0, NULL);
	assert_non_null(json);
	done(a);
	return json;
}

static json_int_t
number(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

/* ---- what changes something ---------------------------------------------------------------- */

static void
throttle(void **state)
{
	struct asked a = ASK("throttle", "host", "a1", "limit", "3", "for_us", "7200000000",
	    "reason", "spins", NULL);

	(void)state;
	assert_int_equal(a.result, CONTROL_EVENT);
	assert_int_equal(a.event.kind, EVENT_THROTTLE);
	assert_string_equal(a.event.host, "a1");
	assert_string_equal(a.event.who, "ann");
	assert_string_equal(a.event.text, "spins");
	assert_int_equal(a.event.limit, 3);
	assert_int_equal(a.event.duration_us, 2 * HOUR_US);
	done(&a);
}

static void
holds_and_ends(void **state)
{
	struct asked a = ASK("drain", "host", "a2", "reason", "new disk", NULL);

	(void)state;
	assert_int_equal(a.event.kind, EVENT_DRAIN);
	assert_int_equal(a.event.duration_us, 0);
	done(&a);
	a = ASK("pause", "host", "a2", "for_us", "60000000", "reason", "noise", NULL);
	assert_int_equal(a.event.kind, EVENT_PAUSE);
	assert_int_equal(a.event.duration_us, MINUTE_US);
	done(&a);
	a = ASK("pin", "host", "a2", "limit", "5", "reason", "trial", NULL);
	assert_int_equal(a.event.kind, EVENT_PIN);
	assert_int_equal(a.event.limit, 5);
	done(&a);
	a = ASK("unthrottle", "host", "a2", NULL);
	assert_int_equal(a.event.kind, EVENT_UNTHROTTLE);
	done(&a);
	a = ASK("resume", "host", "a2", NULL);
	assert_int_equal(a.event.kind, EVENT_RESUME);
	assert_string_equal(a.event.host, "a2");
	done(&a);
}

static void
governor_orders(void **state)
{
	struct asked a =
	    ASK("governor-set", "mode", "advise", "branch", "zstd", "reason", "r", NULL);

	(void)state;
	assert_int_equal(a.result, CONTROL_EVENT);
	assert_int_equal(a.event.kind, EVENT_GOVERNOR);
	assert_int_equal(a.event.scope, SCOPE_BRANCH);
	assert_int_equal(a.event.mode, GOVERNOR_ADVISE);
	assert_string_equal(a.event.name, "zstd");
	assert_string_equal(a.event.text, "r");
	done(&a);
	a = ASK("governor-set", "mode", "policy", "reason", "r", NULL);
	assert_int_equal(a.event.kind, EVENT_GOVERNOR_LIFT);
	assert_int_equal(a.event.scope, SCOPE_FARM);
	assert_string_equal(a.event.name, "");
	done(&a);
}

static void
run(void **state)
{
	struct asked a =
	    ASK("run", "branch", "zstd", "target", "prog", "target", "lib", "revision", "v2", NULL);

	(void)state;
	assert_int_equal(a.result, CONTROL_EVENT);
	assert_int_equal(a.event.kind, EVENT_RUN);
	assert_string_equal(a.event.branch, "zstd");
	assert_string_equal(a.event.revision, "v2");
	assert_int_equal(a.event.nnames, 2);
	assert_string_equal(a.event.names[0], "prog");
	assert_string_equal(a.event.names[1], "lib");
	done(&a);
}

static void
cancel_and_retry(void **state)
{
	struct asked a = ASK("cancel", "build", "2", "reason", "wrong branch", NULL);

	(void)state;
	assert_int_equal(a.event.kind, EVENT_CANCEL);
	assert_int_equal(a.event.build.n, 2);
	assert_int_equal(a.event.round.n, 0);
	done(&a);
	a = ASK("cancel", "round", "zstd", NULL);
	assert_int_equal(a.event.round.n, 2);
	assert_string_equal(a.event.text, "no reason given");
	done(&a);
	a = ASK("retry", "build", "zstd/prog", NULL);
	assert_int_equal(a.event.kind, EVENT_RETRY);
	assert_int_equal(a.event.build.n, 2);
	done(&a);
}

/* ---- what only reads ----------------------------------------------------------------------- */

static void
lists(void **state)
{
	struct asked a = ASK("hosts", NULL);
	json_t *json = answer(&a);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(json, "hosts")), 2);
	assert_true(json_is_null(json_object_get(json, "next")));
	json_decref(json);
	a = ASK("hosts", "after", "a1", NULL);
	json = answer(&a);
	assert_int_equal(json_array_size(json_object_get(json, "hosts")), 1);
	json_decref(json);
	a = ASK("rounds", "branch", "zstd", NULL);
	json = answer(&a);
	assert_int_equal(number(json_array_get(json_object_get(json, "rounds"), 0), "round"), 2);
	json_decref(json);
}

/* The newest first, two a page: 3 2, then 1. */
static void
pages(void **state)
{
	struct asked a = ASK("builds", "count", "2", NULL);
	json_t *json = answer(&a), *list = json_object_get(json, "builds");

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(number(json_array_get(list, 0), "build"), 3);
	assert_int_equal(number(json, "next"), 2);
	json_decref(json);
	a = ASK("builds", "count", "2", "before", "2", NULL);
	json = answer(&a);
	list = json_object_get(json, "builds");
	assert_int_equal(json_array_size(list), 1);
	assert_int_equal(number(json_array_get(list, 0), "build"), 1);
	assert_true(json_is_null(json_object_get(json, "next")));
	json_decref(json);
}

static void
filters(void **state)
{
	static const struct {
		const char *key, *value;
		size_t n;
	} cases[] = { { "state", "ok", 1 }, { "state", "done", 1 }, { "state", "running", 1 },
		{ "state", "queued", 1 }, { "state", "failed", 0 }, { "round", "1", 2 },
		{ "branch", "zstd", 3 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct asked a = ASK("builds", cases[i].key, cases[i].value, NULL);
		json_t *json = answer(&a);

		assert_int_equal(json_array_size(json_object_get(json, "builds")), cases[i].n);
		json_decref(json);
	}
}

/* Numbers and names find the same; a name the latest. */
static void
objects(void **state)
{
	static const struct {
		const char *verb, *key, *value, *found;
		json_int_t n;
	} cases[] = {
		{ "build", "build", "1", "build", 1 },
		{ "build", "build", "zstd/lib", "build", 3 },
		{ "build", "build", "zstd/prog", "build", 2 },
		{ "round", "round", "1", "round", 1 },
		{ "round", "round", "zstd", "round", 2 },
		{ "explain", "build", "zstd/lib", "build", 3 },
		{ "explain", "host", "a1", "limit", 8 },
		{ "host", "host", "a1", "limit", 8 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct asked a = ASK(cases[i].verb, cases[i].key, cases[i].value, NULL);
		json_t *json = answer(&a);

		assert_int_equal(number(json, cases[i].found), cases[i].n);
		json_decref(json);
	}
}

static void
policies(void **state)
{
	struct asked a = ASK("policy-check", "name", "x.policy", "text",
	    "branch \"b\" { recipe = \"gmake\" source = \"s\" targets = { \"t\", \"u\" } }", NULL);
	json_t *json = answer(&a), *p = json_array_get(json_object_get(json, "policies"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(p, "branch")), "b");
	assert_int_equal(json_array_size(json_object_get(p, "targets")), 2);
	json_decref(json);
	a = ASK("policy-check", "name", "x.policy", "text",
	    "branch \"b\" {\n  recipee = \"gmake\"\n}\n", NULL);
	assert_int_equal(a.reply.status, REPLY_FAILED);
	assert_memory_equal(a.reply.text, "x.policy:2: ", 12);
	done(&a);
	a = ASK("policy-show", "branch", "zstd", NULL);
	json = answer(&a);
	assert_non_null(
	    strstr(json_string_value(json_object_get(json, "text")), "branch \"zstd\" {"));
	json_decref(json);
}

/* Files that are not in force, a silent host, an ungoverned build: each is an alarm. */
static void
alarms(void **state)
{
	struct control_context context = { cluster, moment_s(100), log_folder, recipes, 1,
		"zstd.policy:3: no such key", "0.1", after_s(-3600), locks };
	struct message_request request = { .id = 42, .verb = "status" };
	struct asked a;
	json_t *json, *list;

	(void)state;
	a.result = control_request(&context, "ann", &request, &a.reply, &a.event);
	json = answer(&a);
	list = json_object_get(json, "alarms");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "text")),
	    "zstd.policy:3: no such key");
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(list, 1), "kind")), "silent");
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(list, 2), "kind")), "ungoverned");
	assert_int_equal(number(json, "up_us"), 3700 * SECOND_US);
	json_decref(json);
}

/* ---- locks ------------------------------------------------------------------------------- */

static json_t *
first_source(struct asked *a, json_t **ret_answer)
{
	*ret_answer = answer(a);
	return json_array_get(json_object_get(*ret_answer, "sources"), 0);
}

static void
locks_of_a_host_and_of_a_build(void **state)
{
	struct lock_row row = { "kernel_lock", "vfs+0x1", LOCK_SPIN, 7, 800000000 };
	struct lock_table table = { .source = "lockstat",
		.window_us = 2 * SECOND_US,
		.cpus = 4,
		.has_spin = true,
		.spin_count = 10,
		.spin_ns = 1000000000,
		.cost_cpu_ppm = -1,
		.cost_steps_ppm = -1,
		.nrows = 1,
		.rows = &row };
	struct asked a;
	json_t *json, *source, *one;

	(void)state;
	locks_take(locks, cluster, cluster_find_host(cluster, "a1"), &table, moment_s(95).mono);
	a = ASK("locks", "host", "a1", NULL);
	source = first_source(&a, &json);
	assert_int_equal(number(source, "age_us"), 5 * SECOND_US);
	assert_true(json_is_null(json_object_get(source, "sleep")));
	assert_true(json_is_null(json_object_get(source, "cost_cpu_share")));
	one = json_object_get(source, "spin");
	assert_true(json_real_value(json_object_get(one, "cpu_share")) == 0.125);
	one = json_array_get(json_object_get(source, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "caller")), "vfs+0x1");
	assert_true(json_real_value(json_object_get(one, "total_share")) == 0.8);
	json_decref(json);
	a = ASK("locks", "host", "a2", NULL);
	assert_null(first_source(&a, &json));
	json_decref(json);
	a = ASK("locks", "build", "1", NULL);
	json = answer(&a);
	assert_int_equal(number(json, "build"), 1);
	json_decref(json);
}

/* ---- logs -------------------------------------------------------------------------------- */

static void
write_log(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", log_folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
log_pieces(void **state)
{
	struct asked a = ASK("log", "build", "1", "offset", "6", NULL);

	(void)state;
	assert_int_equal(a.reply.status, REPLY_OK);
	assert_int_equal(a.reply.offset, 6);
	assert_int_equal(a.reply.nbytes, 5);
	assert_memory_equal(a.reply.bytes, "world", 5);
	assert_true(a.reply.last);
	done(&a);
	a = ASK("log", "build", "1", "offset", "4000", NULL);
	assert_int_equal(a.reply.nbytes, 0);
	done(&a);
}

/* Running, and its file is not there yet: nothing, and that is not all. */
static void
log_not_there(void **state)
{
	struct asked a = ASK("log", "build", "2", NULL);

	(void)state;
	assert_int_equal(a.reply.status, REPLY_OK);
	assert_int_equal(a.reply.nbytes, 0);
	assert_false(a.reply.last);
	done(&a);
	a = ASK("log", "build", "3", NULL);
	assert_int_equal(a.reply.status, REPLY_NOT_FOUND);
	assert_non_null(strstr(a.reply.text, "queued"));
	done(&a);
	a = ASK("log", "build", "3", "follow", "1", NULL);
	assert_int_equal(a.reply.status, REPLY_OK);
	assert_false(a.reply.last);
	done(&a);
}

/* A link in the place of a log is not followed out of the folder. */
static void
log_is_a_link(void **state)
{
	char path[128];
	struct asked a;

	(void)state;
	snprintf(path, sizeof path, "%s/2.log", log_folder);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	a = ASK("log", "build", "2", NULL);
	assert_int_equal(a.reply.status, REPLY_FAILED);
	assert_int_equal(a.reply.nbytes, 0);
	done(&a);
	assert_int_equal(unlink(path), 0);
}

/* ---- bad requests ------------------------------------------------------------------------ */

#define LONG_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct bad {
	const char *verb;
	const char *args[ARGS_MAX + 1];
	enum reply_status status;
	const char *says;
} bad_requests[] = {
	{ "hots", { NULL }, REPLY_USAGE, "near: hosts" },
	{ "", { NULL }, REPLY_USAGE, "no verb" },
	{ "status", { "verbose", "1", NULL }, REPLY_USAGE, "verbose" },
	{ "host", { NULL }, REPLY_USAGE, "no name of a host" },
	{ "host", { "host", "b9", NULL }, REPLY_NOT_FOUND, "known are a1, a2" },
	{ "host", { "host", "../../etc", NULL }, REPLY_USAGE, "no name of a host" },
	{ "host", { "host", "a1", "host", "a2", NULL }, REPLY_USAGE, "twice" },
	{ "host", { "host", LONG_64, NULL }, REPLY_USAGE, "no name" },
	{ "host", { "", "a1", NULL }, REPLY_USAGE, "no argument" },
	{ "throttle", { "host", "a1", "limit", "3", NULL }, REPLY_USAGE, "--reason" },
	{ "throttle", { "host", "a1", "reason", "r", NULL }, REPLY_USAGE, "-j N" },
	{ "throttle", { "host", "a1", "limit", "0", "reason", "r", NULL }, REPLY_USAGE,
	    "1 to 480" },
	{ "throttle", { "host", "a1", "limit", "481", "reason", "r", NULL }, REPLY_USAGE, "481" },
	{ "throttle", { "host", "a1", "limit", "-3", "reason", "r", NULL }, REPLY_USAGE, "-3" },
	{ "throttle", { "host", "a1", "limit", "99999999999999999999", "reason", "r", NULL },
	    REPLY_USAGE, "a number from 1" },
	{ "throttle", { "host", "a1", "limit", " 3", "reason", "r", NULL }, REPLY_USAGE,
	    "a number from 1" },
	{ "throttle", { "host", "a1", "limit", "3", "reason", "two\nlines", NULL }, REPLY_USAGE,
	    "one line" },
	{ "throttle", { "host", "a1", "limit", "3", "reason", "esc \x1b[2J", NULL }, REPLY_USAGE,
	    "one line" },
	{ "throttle", { "host", "a1", "limit", "3", "reason", "\xff", NULL }, REPLY_USAGE,
	    "one line" },
	{ "throttle", { "host", "a1", "limit", "3", "for_us", "5", "reason", "r", NULL },
	    REPLY_USAGE, "for_us" },
	{ "throttle", { "host", "b9", "limit", "3", "reason", "r", NULL }, REPLY_NOT_FOUND, "b9" },
	{ "drain", { "host", "a1", NULL }, REPLY_USAGE, "--reason" },
	{ "locks", { NULL }, REPLY_USAGE, "--build" },
	{ "locks", { "host", "a1", "build", "1", NULL }, REPLY_USAGE, "--build" },
	{ "locks", { "host", "b9", NULL }, REPLY_NOT_FOUND, "known are a1, a2" },
	{ "locks", { "build", "99", NULL }, REPLY_NOT_FOUND, "99" },
	{ "governor-set", { "mode", "act", NULL }, REPLY_USAGE, "--reason" },
	{ "governor-set", { "mode", "loud", "reason", "r", NULL }, REPLY_USAGE, "loud" },
	{ "governor-set", { "reason", "r", NULL }, REPLY_USAGE, "no mode" },
	{ "governor-set", { "mode", "act", "host", "a/b", "reason", "r", NULL }, REPLY_USAGE,
	    "no name of a host" },
	{ "governor-set", { "mode", "act", "host", "a1", "branch", "zstd", "reason", "r", NULL },
	    REPLY_USAGE, "one of" },
	{ "pause", { "host", "a1", NULL }, REPLY_USAGE, "--reason" },
	{ "pin", { "host", "a1", "reason", "r", NULL }, REPLY_USAGE, "-j N" },
	{ "resume", { "host", "b9", NULL }, REPLY_NOT_FOUND, "b9" },
	{ "unthrottle", { "host", "", NULL }, REPLY_USAGE, "no name" },
	{ "run", { NULL }, REPLY_USAGE, "branch" },
	{ "run", { "branch", "gcc", NULL }, REPLY_NOT_FOUND, "known are zstd" },
	{ "run", { "branch", "zstd", "target", "doc", NULL }, REPLY_NOT_FOUND, "\"doc\"" },
	{ "run", { "branch", "zstd", "target", "lib", "target", "lib", NULL }, REPLY_USAGE,
	    "twice" },
	{ "run", { "branch", "zstd", "target", "a;b", NULL }, REPLY_USAGE, "a;b" },
	{ "run", { "branch", "zstd", "revision", "--upload-pack=x", NULL }, REPLY_USAGE,
	    "revision" },
	{ "run", { "branch", "zstd", "revision", "", NULL }, REPLY_USAGE, "revision" },
	{ "build", { "build", "99", NULL }, REPLY_NOT_FOUND, "build 99" },
	{ "build", { "build", "0", NULL }, REPLY_NOT_FOUND, "build 0" },
	{ "build", { "build", "zstd", NULL }, REPLY_USAGE, "BRANCH/TARGET" },
	{ "build", { "build", "zstd/doc", NULL }, REPLY_NOT_FOUND, "zstd/doc" },
	{ "build", { "build", "zstd/../lib", NULL }, REPLY_USAGE, "BRANCH/TARGET" },
	{ "build", { "build", LONG_64 "/lib", NULL }, REPLY_USAGE, "BRANCH/TARGET" },
	{ "build", { "build", "99999999999999999999999", NULL }, REPLY_USAGE, "BRANCH/TARGET" },
	{ "round", { "round", "99", NULL }, REPLY_NOT_FOUND, "round 99" },
	{ "round", { "round", "a b", NULL }, REPLY_USAGE, "number or a branch" },
	{ "builds", { "state", "happy", NULL }, REPLY_USAGE, "happy" },
	{ "builds", { "branch", "gcc", NULL }, REPLY_NOT_FOUND, "gcc" },
	{ "builds", { "round", "9", NULL }, REPLY_NOT_FOUND, "9" },
	{ "builds", { "count", "0", NULL }, REPLY_USAGE, "count" },
	{ "cancel", { NULL }, REPLY_USAGE, "one build or one round" },
	{ "cancel", { "build", "1", "round", "1", NULL }, REPLY_USAGE, "one build or one round" },
	{ "retry", { "build", "99", NULL }, REPLY_NOT_FOUND, "99" },
	{ "explain", { NULL }, REPLY_USAGE, "one host or one build" },
	{ "explain", { "host", "a1", "build", "1", NULL }, REPLY_USAGE, "one host or one build" },
	{ "log", { "build", "1", "attempt", "2", NULL }, REPLY_NOT_FOUND, "no attempt 2" },
	{ "log", { "build", "1", "attempt", "../1", NULL }, REPLY_USAGE, "attempt" },
	{ "log", { "build", "1", "offset", "-1", NULL }, REPLY_USAGE, "offset" },
	{ "policy-show", { "branch", "gcc", NULL }, REPLY_NOT_FOUND, "gcc" },
	{ "policy-check", { "text", "x", NULL }, REPLY_USAGE, "file name" },
	{ "policy-check", { "name", "x", NULL }, REPLY_USAGE, "file name" },
};

static void
bad(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad_requests / sizeof bad_requests[0]; i++) {
		const struct bad *b = &bad_requests[i];
		struct asked a = ask(b->verb, b->args);

		if (a.result != CONTROL_ANSWERED || a.reply.status != b->status)
			fail_msg("%s, case %zu: status %d (%s)", b->verb, i, (int)a.reply.status,
			    a.reply.text);
		if (strstr(a.reply.text, b->says) == NULL)
			fail_msg("%s, case %zu: \"%s\" does not say \"%s\"", b->verb, i,
			    a.reply.text, b->says);
		assert_int_equal(a.event.kind, EVENT_NONE);
		done(&a);
	}
}

static void
too_long(void **state)
{
	char *text = mem_calloc(POLICY_BYTES + 2, 1);
	struct asked a;

	(void)state;
	memset(text, ' ', POLICY_BYTES + 1);
	a = ASK("policy-check", "name", "big.policy", "text", text, NULL);
	assert_int_equal(a.reply.status, REPLY_FAILED);
	assert_non_null(strstr(a.reply.text, "big.policy"));
	done(&a);
	memset(text, 'r', TEXT_SIZE);
	text[TEXT_SIZE] = '\0';
	a = ASK("drain", "host", "a1", "reason", text, NULL);
	assert_int_equal(a.reply.status, REPLY_USAGE);
	assert_non_null(strstr(a.reply.text, "512 bytes"));
	done(&a);
	free(text);
}

/* ---- the whole --------------------------------------------------------------------------- */

static int
set_up(void **state)
{
	(void)state;
	cluster = small_cluster();
	snprintf(log_folder, sizeof log_folder, "/tmp/flyball-control.XXXXXX");
	if (mkdtemp(log_folder) == NULL)
		return -1;
	locks = locks_open(log_folder);
	write_log("1.log", "hello world");
	return 0;
}

static int
tear_down(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/1.log", log_folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/2.log", log_folder);
	unlink(path);
	locks_close(locks);
	rmdir(log_folder);
	cluster_destroy(cluster);
	return 0;
}

#define SAYS(sentence, f) \
	{ \
		sentence, f, NULL, NULL, NULL \
	}

int
main(void)
{
	const struct CMUnitTest control[] = {
		SAYS("throttle becomes an event with limit, time, reason and who", throttle),
		SAYS("locks are of a host's last windows or of a whole build",
		    locks_of_a_host_and_of_a_build),
		SAYS("orders about the governor's mode become events", governor_orders),
		SAYS("drain, unthrottle and resume become events", holds_and_ends),
		SAYS("run becomes an event with its targets in order", run),
		SAYS("cancel and retry name a build or a round", cancel_and_retry),
		SAYS("hosts and rounds are listed", lists),
		SAYS("lists come in pages, the newest first", pages),
		SAYS("builds are found by state, round and branch", filters),
		SAYS("objects are found by number and by name, the latest", objects),
		SAYS("policies are checked with file:line and shown", policies),
		SAYS("status tells alarms", alarms),
		SAYS("a log is read from an offset, its end is told", log_pieces),
		SAYS("a log that is not there yet is empty, or not found", log_not_there),
		SAYS("a link in place of a log is not followed", log_is_a_link),
		SAYS("each kind of bad request has its status and sentence", bad),
		SAYS("texts beyond their bound are refused", too_long),
	};

	return cmocka_run_group_tests_name("control", control, set_up, tear_down);
}
