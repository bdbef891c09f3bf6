/* What the journal and recordings keep must come back to the bit, whatever is in it; and a line that
 * is cut, or changed, is refused with a sentence and never does harm.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/core/event.h"
#include "coordinator/core/fields.h"
#include "proto/base/mem.h"
#include "tests/unit/tap.h"

static uint64_t state;

static uint64_t
next(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* ---- any value of any table ------------------------------------------------------------- */

static void fill(const struct field *table, char *record, int depth);

/* Any bytes but the last, which ends it. */
static void
fill_text(char *to, size_t size)
{
	size_t i, n = next() % 3 ? next() % size : 0;

	memset(to, 0, size);
	for (i = 0; i < n; i++)
		to[i] = (char)(1 + next() % 255);
}

static void
fill_many(const struct field *f, char *record, int depth)
{
	size_t i, n = depth > 2 ? 0 : next() % 4;
	char *list = n > 0 ? mem_calloc(n, f->size) : NULL;

	for (i = 0; i < n; i++)
		if (f->type == FIELD_LIST)
			fill(f->table, list + i * f->size, depth + 1);
		else
			fill_text(list + i * f->size, f->size);
	memcpy(record + f->offset, &list, sizeof list);
	memcpy(record + f->count_offset, &n, sizeof n);
}

static void
fill(const struct field *table, char *record, int depth)
{
	const struct field *f;

	for (f = table; f->name != NULL; f++) {
		uint64_t bits = next() % 4 ? next() >> next() % 64 : 0;

		if (f->type == FIELD_STRUCT)
			fill(f->table, record + f->offset, depth);
		else if (f->type == FIELD_TEXT)
			fill_text(record + f->offset, f->size);
		else if (f->type == FIELD_NAMES || f->type == FIELD_LIST)
			fill_many(f, record, depth);
		else {
			if (f->size == 1)
				bits &= 1;
			memcpy(record + f->offset, &bits, f->size);
		}
	}
}

static bool
same_text(const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		return true;
	printf("# %.300s\n# %.300s\n", a, b);
	return false;
}

/* Written, read and written again it is the same text; copied and the first one freed, too. */
static bool
round_trip(const struct field *table, size_t size)
{
	char *record = mem_calloc(1, size), *again = mem_calloc(1, size);
	struct text a = { 0 }, b = { 0 }, c = { 0 };
	const char *p;
	struct err err;
	bool good;

	fill(table, record, 0);
	codec_encode(&a, table, record);
	p = a.text;
	good = codec_decode(&p, table, again, &err) == 0 && *p == '\0';
	if (!good)
		printf("# %s\n", err.text);
	codec_clear(table, record);
	codec_encode(&b, table, again);
	memcpy(record, again, size);
	codec_own(table, record);
	codec_clear(table, again);
	codec_encode(&c, table, record);
	codec_clear(table, record);
	good = good && same_text(a.text, b.text) && same_text(a.text, c.text);
	free(record);
	free(again);
	free(a.text);
	free(b.text);
	free(c.text);
	return good;
}

static void
test_round_trips(void)
{
	static const struct {
		const char *name;
		const struct field *table;
		size_t size;
	} tables[] = {
		{ "policy", policy_fields, sizeof(struct policy) },
		{ "host_facts", host_facts_fields, sizeof(struct host_facts) },
		{ "load", load_fields, sizeof(struct load) },
		{ "attempt_status", attempt_status_fields, sizeof(struct attempt_status) },
		{ "attempt_result", attempt_result_fields, sizeof(struct attempt_result) },
	};
	size_t i, k;

	for (i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		bool good = true;

		for (k = 0; k < 2000 && good; k++)
			good = round_trip(tables[i].table, tables[i].size);
		ok(good, "any %s comes back to the bit", tables[i].name);
	}
}

static bool
double_comes_back(uint64_t bits)
{
	struct load load = { 0 }, again = { 0 };
	struct text t = { 0 };
	const char *p;
	struct err err;
	bool good;

	memcpy(&load.readings[LOAD_SPIN].value, &bits, sizeof bits);
	codec_encode(&t, load_fields, &load);
	p = t.text;
	good = codec_decode(&p, load_fields, &again, &err) == 0 &&
	       memcmp(&again.readings[LOAD_SPIN].value, &bits, sizeof bits) == 0;
	if (!good)
		printf("# %016llx in %s\n", (unsigned long long)bits, t.text);
	free(t.text);
	return good;
}

static void
test_doubles(void)
{
	static const struct {
		const char *what;
		uint64_t bits;
	} cases[] = {
		{ "0", 0 },
		{ "-0", UINT64_C(0x8000000000000000) },
		{ "1", UINT64_C(0x3ff0000000000000) },
		{ "0.1", UINT64_C(0x3fb999999999999a) },
		{ "the smallest", 1 },
		{ "the smallest that is normal", UINT64_C(0x0010000000000000) },
		{ "the largest", UINT64_C(0x7fefffffffffffff) },
		{ "infinity", UINT64_C(0x7ff0000000000000) },
		{ "-infinity", UINT64_C(0xfff0000000000000) },
		{ "no number", UINT64_C(0x7ff8000000000000) },
		{ "no number, negative", UINT64_C(0xfff8000000000000) },
		{ "no number, with bits of its own", UINT64_C(0x7ff800000000beef) },
		{ "a signalling one", UINT64_C(0x7ff0000000000001) },
	};
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ok(double_comes_back(cases[i].bits), "%s comes back to the bit", cases[i].what);
	for (i = 0; i < 100000 && good; i++)
		good = double_comes_back(next());
	ok(good, "any double comes back to the bit");
}

/* ---- facts and events ------------------------------------------------------------------- */

static char *
some_fact(void)
{
	struct fact f = { .kind = (enum fact_kind)(FACT_NONE + 1 + next() % (FACT_KINDS - 1)) };
	struct text t = { 0 };

	f.at.us = (int64_t)next();
	f.number = next();
	fill_text(f.text, sizeof f.text);
	if (next() % 2)
		fill(policy_fields, (char *)(f.policy = mem_calloc(1, sizeof *f.policy)), 0);
	if (next() % 2)
		fill(
		    attempt_result_fields, (char *)(f.result = mem_calloc(1, sizeof *f.result)), 0);
	if (next() % 2)
		fill(
		    attempt_status_fields, (char *)(f.status = mem_calloc(1, sizeof *f.status)), 0);
	fact_encode(&f, &t);
	fact_clear(&f);
	return t.text;
}

static char *
some_event(void)
{
	struct event e = { .kind = (enum event_kind)(EVENT_NONE + 1 + next() % (EVENT_KINDS - 1)) };
	struct text t = { 0 };

	e.at.mono.us = (int64_t)next();
	e.request = next();
	fill_text(e.host, sizeof e.host);
	if (next() % 2)
		fill(load_fields, (char *)(e.load = mem_calloc(1, sizeof *e.load)), 0);
	if (next() % 2)
		fill(host_facts_fields, (char *)(e.facts = mem_calloc(1, sizeof *e.facts)), 0);
	e.nattempts = next() % 3;
	e.attempts = mem_calloc(e.nattempts, sizeof *e.attempts);
	for (size_t i = 0; i < e.nattempts; i++)
		fill(attempt_status_fields, (char *)&e.attempts[i], 0);
	event_encode(&e, &t);
	event_clear(&e);
	return t.text;
}

static bool
fact_again(const char *line, struct text *t, struct err *err)
{
	struct fact f;

	if (fact_decode(line, &f, err) < 0)
		return false;
	fact_encode(&f, t);
	fact_clear(&f);
	return true;
}

static bool
event_again(const char *line, struct text *t, struct err *err)
{
	struct event e;

	if (event_decode(line, &e, err) < 0)
		return false;
	event_encode(&e, t);
	event_clear(&e);
	return true;
}

struct kind {
	const char *name;
	char *(*some)(void);
	bool (*again)(const char *, struct text *, struct err *);
};

static const struct kind kinds[] = { { "fact", some_fact, fact_again },
	{ "event", some_event, event_again } };

static bool
line_comes_back(const struct kind *k)
{
	char *line = k->some();
	struct text t = { 0 };
	struct err err;
	bool good =
	    k->again(line, &t, &err) && strcmp(line, t.text) == 0 && strchr(line, '\n') == NULL;

	if (!good)
		printf("# %.200s\n", line);
	free(line);
	free(t.text);
	return good;
}

/* Cut anywhere it is refused: a line that is not whole is never taken for one that is. */
static bool
cut_is_refused(const struct kind *k)
{
	char *line = k->some();
	size_t n = strlen(line);
	struct text t = { 0 };
	struct err err = { "" };
	bool good;

	line[next() % n] = '\0';
	good = !k->again(line, &t, &err) && err.text[0] != '\0';
	if (!good)
		printf("# %.200s\n", line);
	free(line);
	free(t.text);
	return good;
}

/* Changed anywhere, it is refused or is another whole line; which of the two is not the point. */
static bool
change_does_no_harm(const struct kind *k)
{
	char *line = k->some();
	size_t n = strlen(line), i, changes = 1 + next() % 4;
	struct text t = { 0 }, u = { 0 };
	struct err err = { "" };
	bool good = true;

	for (i = 0; i < changes; i++)
		line[next() % n] = next() % 2 ? (char)(1 + next() % 255) : "()[]= %0-"[next() % 9];
	if (k->again(line, &t, &err))
		good = k->again(t.text, &u, &err) && strcmp(t.text, u.text) == 0;
	else
		good = err.text[0] != '\0';
	free(line);
	free(t.text);
	free(u.text);
	return good;
}

static void
test_lines(void)
{
	size_t i, k;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		bool whole = true, cut = true, changed = true;

		for (k = 0; k < 1000; k++) {
			whole = whole && line_comes_back(&kinds[i]);
			cut = cut && cut_is_refused(&kinds[i]);
			changed = changed && change_does_no_harm(&kinds[i]);
		}
		ok(whole, "any %s comes back to the letter, in one line", kinds[i].name);
		ok(cut, "any %s that is cut is refused", kinds[i].name);
		ok(changed, "any %s that is changed is refused, or is another", kinds[i].name);
	}
}

static void
test_refusals(void)
{
	static const struct {
		const char *what, *line, *words;
	} cases[] = {
		{ "an unknown kind", "melt (at=1)", "expected the name of a fact" },
		{ "no kind", "", "expected the name of a fact" },
		{ "a kind alone", "epoch", "expected the name of a fact" },
		{ "the kind \"none\"", "none ()", "expected the name of a fact" },
		{ "an unknown field", "epoch (at=1 colour=2)",
		    "the name of a field at \"colour=2)\"" },
		{ "a field twice", "epoch (at=1 at=2)", "each field once" },
		{ "a text that is too long",
		    "resume "
		    "(host=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)",
		    "longer than 63 bytes" },
		{ "half a %", "resume (host=%4)", "two hexadecimal digits" },
		{ "a zero byte in a text", "resume (host=%00)", "two hexadecimal digits" },
		{ "a number that is none", "epoch (number=x)", "expected a number" },
		{ "a number that is too large", "epoch (number=99999999999999999999)",
		    "expected a number" },
		{ "a number that is too large for its field", "limit (limit=4294967296)",
		    "a smaller number" },
		{ "two policies", "policy (policy=[(version=1)(version=2)])", "one record" },
		{ "something behind", "epoch (number=1) ", "nothing behind it" },
		{ "an open list", "policy (policy=[(version=1)", "\"]\"" },
	};
	struct err err;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fact f;
		int rc = fact_decode(cases[i].line, &f, &err);

		ok(rc < 0 && strstr(err.text, cases[i].words) != NULL, "%s is refused",
		    cases[i].what);
		if (rc < 0 && strstr(err.text, cases[i].words) == NULL)
			printf("# %s\n", err.text);
	}
}

static void
test_names(void)
{
	bool good = true;
	int i, k;

	for (i = 0; i < FACT_KINDS; i++)
		for (k = 0; k < i; k++)
			good = good && strcmp(fact_kind_name((enum fact_kind)i),
					   fact_kind_name((enum fact_kind)k)) != 0;
	for (i = 0; i < EVENT_KINDS; i++)
		for (k = 0; k < i; k++)
			good = good && strcmp(event_kind_name((enum event_kind)i),
					   event_kind_name((enum event_kind)k)) != 0;
	ok(good, "each kind of fact and event has a name of its own");
	ok(strcmp(fact_kind_name(FACT_KINDS), "?") == 0 &&
		strcmp(event_kind_name(EVENT_KINDS), "?") == 0,
	    "what is no kind is \"?\"");
}

int
main(void)
{
	const char *seed = getenv("SEED");

	state = seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
	printf("# SEED=%llu\n", (unsigned long long)state);
	test_round_trips();
	test_doubles();
	test_lines();
	test_refusals();
	test_names();
	return tap_done();
}
