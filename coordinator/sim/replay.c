/* The core is the same that the daemon runs, and so is the text its effects are compared as: a line
 * that differs is a decision that differs. A newer core may well decide otherwise; then a replay
 * shows the first place where it does.
 *
 * A recording is written a turn at a time, so a coordinator that was killed leaves one
 * that ends in the middle of a line or of an event's effects: all before that counts.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/step.h"
#include "proto/base/mem.h"

#define HEADER "flyball-recording 1"

struct run {
	struct replay *replay;
	struct cluster *cluster;
	struct effects effects; /* of the last event */
	size_t compared; /* how many of them have been */
};

static int
wrong(const struct run *run, struct err *err, const char *what)
{
	return err_set(err, "line %zu: %s", run->replay->line, what);
}

/* What the recording says against what the core gave; NULL where one of them has nothing. */
static int
differ(struct run *run, const char *expected, const char *got, struct err *err)
{
	run->replay->expected = expected ? mem_strdup(expected) : NULL;
	run->replay->got = got ? mem_strdup(got) : NULL;
	return wrong(run, err, "the effects differ from here on");
}

/* ---- lines ------------------------------------------------------------------------------ */

static int
take_header(struct run *run, const char *text, struct err *err)
{
	if (strcmp(text, HEADER) == 0)
		return 0;
	return wrong(
	    run, err, "expected \"" HEADER "\": this is no recording, or one of another version");
}

static int
take_fact(struct run *run, const char *text, struct err *err)
{
	struct fact fact;
	int rc;

	if (run->replay->events > 0)
		return wrong(run, err, "a fact of the journal comes after an event");
	if (fact_decode(text, &fact, err) < 0)
		return err_prefix(err, "line %zu", run->replay->line);
	rc = cluster_apply(run->cluster, &fact, err);
	fact_clear(&fact);
	run->replay->facts++;
	return rc < 0 ? err_prefix(err, "line %zu", run->replay->line) : 0;
}

/* The next effect that the core gave, as a line; NULL when there is none. */
static char *
next_effect(struct run *run)
{
	struct text t = { 0 };

	if (run->compared == run->effects.n)
		return NULL;
	effect_encode(&run->effects.list[run->compared], &t);
	return t.text;
}

/* An event may follow only when all effects of the one before it have been seen. */
static int
take_event(struct run *run, const char *text, struct err *err)
{
	struct event event;
	char *left = next_effect(run);
	int rc = left == NULL ? 0 : differ(run, NULL, left, err);

	free(left);
	if (rc < 0)
		return rc;
	if (event_decode(text, &event, err) < 0)
		return err_prefix(err, "line %zu", run->replay->line);
	effects_clear(&run->effects);
	step(run->cluster, &event, &run->effects);
	run->compared = 0;
	run->replay->events++;
	event_clear(&event);
	if (cluster_check(run->cluster, err) < 0)
		return err_prefix(
		    err, "line %zu: after this event an invariant is broken", run->replay->line);
	return 0;
}

static int
take_effect(struct run *run, const char *text, struct err *err)
{
	char *got = next_effect(run);
	int rc = got != NULL && strcmp(got, text) == 0 ? 0 : differ(run, text, got, err);

	free(got);
	if (rc == 0) {
		run->compared++;
		run->replay->effects++;
	}
	return rc;
}

static int
take_line(struct run *run, const char *line, struct err *err)
{
	static const struct {
		const char *word;
		int (*take)(struct run *, const char *, struct err *);
	} words[] = { { "fact ", take_fact }, { "event ", take_event },
		{ "effect ", take_effect } };
	size_t i;

	if (run->replay->line == 1)
		return take_header(run, line, err);
	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
			return words[i].take(run, line + strlen(words[i].word), err);
	return wrong(run, err, "expected a fact, an event or an effect");
}

/* ---- the file --------------------------------------------------------------------------- */

static int
take_lines(struct run *run, FILE *file, struct err *err)
{
	size_t size = 0;
	char *line = NULL;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &size, file)) > 0) {
		run->replay->line++;
		run->replay->cut = line[n - 1] != '\n';
		if (run->replay->cut && run->replay->line > 1)
			break;
		if (!run->replay->cut)
			line[--n] = '\0';
		if (run->replay->line > 1 && strlen(line) != (size_t)n)
			rc = wrong(run, err, "a zero byte: the file is damaged");
		else
			rc = take_line(run, line, err);
	}
	free(line);
	if (rc == 0 && ferror(file))
		return err_set_errno(
		    err, errno, "line %zu: the next one cannot be read", run->replay->line);
	return rc;
}

int
replay_run(struct replay *replay, FILE *file, struct err *err)
{
	struct run run = { .replay = replay, .cluster = cluster_create() };
	int rc;

	memset(replay, 0, sizeof *replay);
	rc = take_lines(&run, file, err);
	if (rc == 0 && run.compared < run.effects.n)
		replay->cut = true;
	if (rc == 0 && replay->line == 0)
		rc = err_set(err, "the file is empty: this is no recording");
	effects_clear(&run.effects);
	cluster_destroy(run.cluster);
	return rc;
}

void
replay_clear(struct replay *replay)
{
	free(replay->expected);
	free(replay->got);
	memset(replay, 0, sizeof *replay);
}
