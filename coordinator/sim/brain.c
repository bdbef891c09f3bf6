/* Events as agents and operators cause them, effects as the driver carries them out; what is written
 * down replays with `flyball-sim replay`, since a recording is nothing but that.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/brain.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/plan.h"
#include "proto/base/mem.h"

#define BOOT_US (1000 * SECOND_US)
#define WALL_US INT64_C(1790000000000000) /* some day in 2026 */
#define HOST "model"
#define BRANCH "main"
#define TARGET "all"
#define RECIPE "model"

enum { PLAN_BUDGET = 1000 };

struct brain {
	struct cluster *cluster;
	struct moment now;
	struct effects effects; /* of the last event */
	FILE *record;
	bool started, planning;
	int32_t limit; /* the last one set, 0 none since it was looked at */
	char reason[TEXT_SIZE];
	attempt_id attempt;
	uint64_t fence;
};

static void
write_down(struct brain *b, const char *word, const struct text *line)
{
	fprintf(b->record, "%s %s\n", word, line->text);
}

static void
record(struct brain *b, const struct event *event)
{
	struct text t = { 0 };

	if (b->record == NULL)
		return;
	event_encode(event, &t);
	write_down(b, "event", &t);
	for (size_t i = 0; i < b->effects.n; i++) {
		t.length = 0;
		effect_encode(&b->effects.list[i], &t);
		write_down(b, "effect", &t);
	}
	free(t.text);
}

static void
look(struct brain *b, const struct effect *e, uint64_t *plan)
{
	switch (e->kind) {
	case EFFECT_LIMIT:
		b->limit = e->limit;
		mem_copy_text(b->reason, sizeof b->reason, e->text);
		break;
	case EFFECT_START:
		b->started = true;
		b->attempt = e->attempt;
		b->fence = e->fence;
		break;
	case EFFECT_PLAN:
		b->planning = true;
		*plan = e->version;
		break;
	default:
		break;
	}
}

static void
give(struct brain *b, struct event *event)
{
	uint64_t plan = 0;

	event->at = b->now;
	effects_clear(&b->effects);
	step(b->cluster, event, &b->effects);
	record(b, event);
	for (size_t i = 0; i < b->effects.n; i++)
		look(b, &b->effects.list[i], &plan);
	if (b->planning) {
		struct event answer = { .kind = EVENT_PLAN, .version = plan };

		b->planning = false;
		plan_search(b->cluster, PLAN_BUDGET, &answer.moves, &answer.nmoves);
		give(b, &answer);
		event_clear(&answer);
	}
}

static void
name(char *buf, const char *text)
{
	mem_copy_text(buf, NAME_SIZE, text);
}

static void
give_policy(struct brain *b, int fixed)
{
	struct policy *p = policy_create();
	struct event e = { .kind = EVENT_POLICY, .policy = p };

	name(p->branch, BRANCH);
	name(p->recipe, RECIPE);
	p->governor = fixed > 0 ? GOVERNOR_OFF : GOVERNOR_ACT;
	p->jobs_min = fixed > 0 ? fixed : 1;
	p->jobs_max = fixed > 0 ? fixed : JOBS_MAX;
	p->jobs_start = fixed;
	p->ntargets = 1;
	p->targets = mem_calloc(1, sizeof *p->targets);
	name(p->targets[0].name, TARGET);
	give(b, &e);
	event_clear(&e);
}

static void
give_hello(struct brain *b, const struct scenario *s)
{
	struct host_facts *f = mem_calloc(1, sizeof *f);
	struct event e = { .kind = EVENT_HELLO, .host = HOST, .facts = f };

	name(f->agent_version, "model");
	mem_copy_text(f->boot_id, sizeof f->boot_id, "boot-" HOST);
	mem_copy_text(f->start_id, sizeof f->start_id, "start-" HOST);
	name(f->os, s->host.os);
	name(f->release, "1");
	name(f->arch, "x86_64");
	f->threads = s->host.threads;
	f->memory_bytes = (int64_t)(s->host.memory * 1073741824.0);
	f->slots = 1;
	f->nrecipes = 1;
	f->recipes = mem_calloc(1, NAME_SIZE);
	name(f->recipes[0], RECIPE);
	give(b, &e);
	event_clear(&e);
}

struct brain *
brain_create(const struct scenario *scenario, int fixed, FILE *record_to)
{
	struct brain *b = mem_calloc(1, sizeof *b);
	struct event boot = { .kind = EVENT_BOOT };

	b->cluster = cluster_create();
	b->record = record_to;
	b->now = (struct moment){ { BOOT_US }, { WALL_US } };
	if (record_to != NULL)
		fprintf(record_to, "flyball-recording 1\n");
	give(b, &boot);
	give_policy(b, fixed);
	give_hello(b, scenario);
	return b;
}

void
brain_destroy(struct brain *b)
{
	effects_clear(&b->effects);
	cluster_destroy(b->cluster);
	free(b);
}

void
brain_pass(struct brain *b, int64_t us)
{
	b->now.mono.us += us;
	b->now.wall.us += us;
}

mono_us
brain_now(const struct brain *b)
{
	return b->now.mono;
}

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "flyball-sim: %s: this is a bug\n", what);
	abort();
}

static void
give_attempt(
    struct brain *b, const struct attempt_status *status, const struct attempt_result *result)
{
	struct event e = { .kind = EVENT_ATTEMPT, .host = HOST, .nattempts = 1 };

	e.attempts = mem_calloc(1, sizeof *e.attempts);
	e.attempts[0] = *status;
	if (result != NULL) {
		e.result = mem_calloc(1, sizeof *e.result);
		*e.result = *result;
	}
	give(b, &e);
	event_clear(&e);
}

int32_t
brain_build(struct brain *b, struct attempt_status *ret_status)
{
	struct event e = { .kind = EVENT_RUN, .request = 1, .who = "model", .branch = BRANCH };
	int32_t limit;

	b->started = false;
	b->limit = 0;
	give(b, &e);
	event_clear(&e);
	if (!b->started)
		die("the build was not granted");
	limit = cluster_find_host(b->cluster, HOST)->limit;
	*ret_status = (struct attempt_status){ .id = b->attempt,
		.fence = b->fence,
		.state = ATTEMPT_RUNNING,
		.limit = limit,
		.percent = -1 };
	b->limit = 0;
	give_attempt(b, ret_status, NULL);
	return limit;
}

int32_t
brain_report(struct brain *b, const struct attempt_status *status, int32_t limit,
    const struct load *load, const char **ret_reason)
{
	struct event report = { .kind = EVENT_REPORT, .host = HOST, .limit = limit };
	struct event tick = { .kind = EVENT_TICK };

	b->limit = 0;
	report.load = mem_calloc(1, sizeof *report.load);
	*report.load = *load;
	if (status != NULL) {
		report.nattempts = 1;
		report.attempts = mem_calloc(1, sizeof *report.attempts);
		report.attempts[0] = *status;
	}
	give(b, &report);
	event_clear(&report);
	give(b, &tick);
	*ret_reason = b->reason;
	return b->limit;
}

void
brain_ended(
    struct brain *b, const struct attempt_status *status, const struct attempt_result *result)
{
	give_attempt(b, status, result);
}
