/* What an operator is told of a build and of a limit: sentences that name the reason.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "tests/unit/script.h"

#include "coordinator/core/explain.h"

struct asked {
	const char *what, *script;
	const char *sentence;
	const char *rows; /* "host: reason" of each, apart by "|" */
};

static const struct asked cases[] = {
	{ "no host at all", "run", "waits: no host has ever said HELLO", "" },
	{ "a host that could", "hello a; run",
	    "waits for the next plan: 1 of 1 hosts could take it now",
	    "a: could take it: how long it takes is not known yet" },
	{ "how long it took before", "hello a; run; grant 1 a; ended a 1 ok; run",
	    "waits for the next plan: 1 of 1 hosts could take it now",
	    "a: could take it: about 100 s by the last 1 good ones" },
	{ "busy hosts", "hello a; run 2; run; grant 1 a 2 a; cancel 3; retry 3",
	    "waits for a slot: 1 of 1 hosts would do and are busy",
	    "a: busy: it runs 2 of 2 builds at once" },
	{ "nobody can", "hello a; hello b; drain a; gone b; run",
	    "waits: none of the 2 hosts can take it", "a: drained by ann: noise|b: it is silent" },
	{ "granted", "hello a; hello b; run; grant 1 b",
	    "granted to b, whose agent has not yet said that it runs",
	    "a: could take it: how long it takes is not known yet|b: runs here as attempt 1" },
	{ "running", "hello a; run; grant 1 a; running a 1",
	    "runs on a: of the hosts that could, it was the one to finish first by what was known",
	    "a: runs here as attempt 1" },
	{ "being cancelled", "hello a; run; grant 1 a; running a 1; cancel 1",
	    "is being cancelled on a, by ann: no longer wanted", "a: runs here as attempt 1" },
	{ "done", "hello a; run; grant 1 a; ended a 1 ok", "done: ok",
	    "a: could take it: about 100 s by the last 1 good ones" },
	{ "failed", "hello a; run; grant 1 a; ended a 1 signal", "done: failed, it was signal",
	    "a: could take it: how long it takes is not known yet" },
	{ "refused", "hello a; hello b; run; grant 1 a; ended a 1 refused",
	    "waits for the next plan: 1 of 2 hosts could take it now",
	    "a: it refused: it was refused|b: could take it: how long it takes is not known yet" },
};

static void
test_builds(void)
{
	size_t i, k;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct explain_host_row *rows;
		char sentence[TEXT_SIZE];
		struct text t = { 0 };
		struct world w;
		size_t n;

		world_init(&w, cases[i].what);
		script_play(&w, "policy main 2 1");
		script_play(&w, cases[i].script);
		explain_build(w.c, w.c->builds[w.c->nbuilds - 1], sentence, &rows, &n);
		text_add(&t, "");
		for (k = 0; k < n; k++)
			text_printf(&t, "%s%s: %s", k ? "|" : "", rows[k].host, rows[k].reason);
		if (!ok(strcmp(sentence, cases[i].sentence) == 0 &&
			    strcmp(t.text, cases[i].rows) == 0,
			"%s: %s", cases[i].what, sentence))
			printf("# %s\n# %s\n", sentence, t.text);
		free(t.text);
		free(rows);
		world_clear(&w);
	}
}

static void
test_limits(void)
{
	static const struct {
		const char *script, *sentence;
	} limits[] = {
		{ "hello a", "a limit of 4: one step for each of its threads" },
		{ "hello a; throttle a 3",
		    "a limit of 3: throttled by ann (noise); without that it would be 4" },
		{ "hello a; throttle a 3; unthrottle a",
		    "a limit of 4: one step for each of its threads" },
	};
	size_t i;

	for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct governor_input in;
		char sentence[TEXT_SIZE];
		struct world w;

		world_init(&w, limits[i].script);
		script_play(&w, limits[i].script);
		explain_limit(w.c, w.c->hosts[0], sentence, &in);
		ok(strcmp(sentence, limits[i].sentence) == 0, "%s: %s", limits[i].script, sentence);
		ok(strstr(sentence, w.c->hosts[0]->limit_reason) != NULL &&
			in.limit == w.c->hosts[0]->limit,
		    "it is what was decided, and its inputs");
		world_clear(&w);
	}
}

int
main(void)
{
	test_builds();
	test_limits();
	return tap_done();
}
