/* A fact's line is "kind (fields)". Its table holds every field of every kind; what a
 * kind does not use is empty and left out.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/fact.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/core/fields.h"
#include "proto/base/mem.h"

static const char *const names[FACT_KINDS] = {
	[FACT_NONE] = "none",
	[FACT_EPOCH] = "epoch",
	[FACT_POLICY] = "policy",
	[FACT_POLICY_GONE] = "policy_gone",
	[FACT_HOST] = "host",
	[FACT_DRAIN] = "drain",
	[FACT_RESUME] = "resume",
	[FACT_THROTTLE] = "throttle",
	[FACT_UNTHROTTLE] = "unthrottle",
	[FACT_ROUND] = "round",
	[FACT_BUILD] = "build",
	[FACT_GRANT] = "grant",
	[FACT_RUNNING] = "running",
	[FACT_CANCEL] = "cancel",
	[FACT_ENDED] = "ended",
	[FACT_DONE] = "done",
	[FACT_RETRY] = "retry",
	[FACT_LIMIT] = "limit",
	[FACT_PIN] = "pin",
	[FACT_UNPIN] = "unpin",
	[FACT_PAUSE] = "pause",
	[FACT_UNPAUSE] = "unpause",
	[FACT_GOVERNOR] = "governor",
	[FACT_GOVERNOR_LIFTED] = "governor_lifted",
	[FACT_LEARNED] = "learned",
};

const char *
fact_kind_name(enum fact_kind kind)
{
	return (unsigned)kind < FACT_KINDS ? names[kind] : "?";
}

bool
fact_soft(enum fact_kind kind)
{
	return kind == FACT_LIMIT || kind == FACT_LEARNED;
}

const char *
verdict_name(enum verdict verdict)
{
	static const char *const verdicts[] = { "none", "ok", "failed", "cancelled" };

	return (unsigned)verdict < sizeof verdicts / sizeof verdicts[0] ? verdicts[verdict] : "?";
}

/* The structs behind pointers are written as lists of none or one, counted beside the fact. */
struct fact_line {
	struct fact fact;
	size_t npolicy, nfacts, nstatus, nresult, nlearned, nevidence;
};

#define INT(name_, member_) FIELD_AT(FIELD_INT, struct fact_line, name_, fact.member_)
#define TEXT(name_) FIELD_AT(FIELD_TEXT, struct fact_line, #name_, fact.name_)
#define ONE(name_, count_, table_) \
	FIELD_MANY(FIELD_LIST, struct fact_line, #name_, fact.name_, count_, table_)

static const struct field fact_fields[] = {
	INT("at", at.us),
	INT("round", round.n),
	INT("build", build.n),
	INT("attempt", attempt.n),
	INT("fence", fence),
	INT("number", number),
	INT("limit", limit),
	INT("duration_us", duration_us),
	INT("verdict", verdict),
	INT("scope", scope),
	INT("mode", mode),
	TEXT(name),
	TEXT(host),
	TEXT(branch),
	TEXT(target),
	TEXT(revision),
	TEXT(who),
	TEXT(text),
	ONE(policy, npolicy, policy_fields),
	ONE(facts, nfacts, host_facts_fields),
	ONE(status, nstatus, attempt_status_fields),
	ONE(result, nresult, attempt_result_fields),
	ONE(learned, nlearned, memory_fields),
	ONE(evidence, nevidence, law_evidence_fields),
	FIELD_END,
};

static struct fact_line
line_of(const struct fact *fact)
{
	return (struct fact_line){ *fact, fact->policy != NULL, fact->facts != NULL,
		fact->status != NULL, fact->result != NULL, fact->learned != NULL,
		fact->evidence != NULL };
}

void
fact_clear(struct fact *fact)
{
	struct fact_line line = line_of(fact);

	codec_clear(fact_fields, &line);
	memset(fact, 0, sizeof *fact);
}

void
fact_encode(const struct fact *fact, struct text *t)
{
	struct fact_line line = line_of(fact);

	text_printf(t, "%s ", fact_kind_name(fact->kind));
	codec_encode(t, fact_fields, &line);
}

static enum fact_kind
find_kind(const char *name, size_t n)
{
	int kind;

	for (kind = FACT_NONE + 1; kind < FACT_KINDS; kind++)
		if (strlen(names[kind]) == n && memcmp(names[kind], name, n) == 0)
			return (enum fact_kind)kind;
	return FACT_NONE;
}

int
fact_decode(const char *text, struct fact *ret_fact, struct err *err)
{
	size_t n = strcspn(text, " ");
	enum fact_kind kind = find_kind(text, n);
	struct fact_line line = { 0 };
	const char *p = text + n + 1;

	if (kind == FACT_NONE || text[n] != ' ')
		return err_set(err, "expected the name of a fact at \"%.40s\"", text);
	if (codec_decode(&p, fact_fields, &line, err) < 0)
		return -1;
	if (*p != '\0' || line.npolicy > 1 || line.nfacts > 1 || line.nstatus > 1 ||
	    line.nresult > 1 || line.nlearned > 1 || line.nevidence > 1) {
		codec_clear(fact_fields, &line);
		return err_set(err, "expected one record and nothing behind it at \"%.40s\"", text);
	}
	line.fact.kind = kind;
	*ret_fact = line.fact;
	return 0;
}
