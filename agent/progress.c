/* A log is read once, line by line, and must cost next to nothing beside the build that writes it:
 * each rule has a literal that is looked for first (progress_rules.h), and only the first
 * PROGRESS_LINE_BYTES of a line are kept, whatever its length.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/progress.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/progress_rules.h"
#include "proto/base/mem.h"

/* A Bloom filter: of 40,000 different lines less than one in a hundred is taken for another. */
enum { SEEN_BITS = 1 << 19 };

struct progress {
	const struct progress_rules *rules; /* NULL: none, but make's warnings are seen */
	int64_t expected_steps;
	int64_t offset, line_offset;
	int64_t steps;
	int32_t percent; /* by the log's own word; -1 none */
	bool serial, ungoverned;
	char phase[NAME_SIZE];
	size_t nmarks, nrecalled;
	struct phase_mark marks[PHASES_MAX], recalled[PHASES_MAX];
	bool has_usage[PHASES_MAX]; /* it was told, also that it is not known */
	uint8_t seen[SEEN_BITS / 8]; /* lines that counted by a rule of RULE_ONCE */
	size_t nline;
	char line[PROGRESS_LINE_BYTES + 1];
};

struct progress *
progress_create(const struct progress_rules *rules, int64_t expected_steps)
{
	struct progress *progress = mem_calloc(1, sizeof *progress);

	progress->rules = rules;
	progress->expected_steps = expected_steps;
	progress->percent = -1;
	return progress;
}

void
progress_destroy(struct progress *progress)
{
	free(progress);
}

void
progress_recall(struct progress *progress, const struct phase_mark *marks, size_t n)
{
	progress->nrecalled = n < PHASES_MAX ? n : PHASES_MAX;
	if (progress->nrecalled > 0)
		memcpy(progress->recalled, marks, progress->nrecalled * sizeof *marks);
}

/* ---- phases ---- */

/* A name as wire_name_ok wants it: what may not stand there becomes '-', and none at the ends. */
static void
make_name(const char *text, size_t length, char ret_name[NAME_SIZE])
{
	size_t n = 0;

	for (size_t i = 0; i < length && n + 1 < NAME_SIZE; i++) {
		char c = text[i];

		if (!isalnum((unsigned char)c) && strchr("._+-", c) == NULL)
			c = '-';
		if ((c == '-' || c == '.') && (n == 0 || (c == '-' && ret_name[n - 1] == '-')))
			continue;
		ret_name[n++] = c;
	}
	while (n > 0 && ret_name[n - 1] == '-')
		n--;
	ret_name[n] = '\0';
}

static const struct phase_mark *
find_recalled(const struct progress *progress, const struct phase_mark *mark)
{
	for (size_t i = 0; i < progress->nrecalled; i++) {
		const struct phase_mark *old = &progress->recalled[i];

		if (old->source == mark->source && strcmp(old->name, mark->name) == 0 &&
		    (mark->source == MARK_RECIPE || old->log_offset == mark->log_offset))
			return old;
	}
	return NULL;
}

static void
enter_phase(struct progress *progress, const char *text, size_t length, enum mark_source source,
    int64_t at_us)
{
	struct phase_mark mark = { .source = source,
		.log_offset = source == MARK_LOG ? progress->line_offset : progress->offset,
		.steps = progress->steps };
	const struct phase_mark *old;

	make_name(text, length, mark.name);
	if (mark.name[0] == '\0' || strcmp(mark.name, progress->phase) == 0)
		return;
	memcpy(progress->phase, mark.name, sizeof progress->phase);
	old = find_recalled(progress, &mark);
	mark.at_us = old != NULL ? old->at_us : at_us;
	mark.usage = old != NULL ? old->usage : USAGE_UNKNOWN;
	if (progress->nmarks == PHASES_MAX)
		return;
	progress->has_usage[progress->nmarks] = old != NULL && old->usage.user_us >= 0;
	progress->marks[progress->nmarks++] = mark;
}

void
progress_mark(struct progress *progress, const char *line, int64_t at_us)
{
	const char *name = line + 6;

	if (strncmp(line, "phase ", 6) == 0)
		enter_phase(progress, name, strcspn(name, "\r\n"), MARK_RECIPE, at_us);
}

/* ---- make's warnings ---- */

/* "make: warning: ...", "gmake[3]: warning: ...": a line that only quotes one does not count. */
static bool
is_warning_of_make(const char *line)
{
	size_t word = strcspn(line, " ");

	return word >= 5 && line[word - 1] == ':' && strncmp(line + word, " warning: ", 10) == 0 &&
	       memmem(line, word, "make", 4) != NULL;
}

/* "-j forced in submake" stood in all of GNU make's releases; "disabling" in older ones,
 * "resetting jobserver mode" in newer. */
static void
see_warnings(struct progress *progress, const char *line, size_t length)
{
	if (memmem(line, length, "jobserver", 9) == NULL || !is_warning_of_make(line))
		return;
	if (strstr(line, "jobserver unavailable: using -j1") != NULL)
		progress->serial = true;
	else if (strstr(line, "forced in submake") != NULL ||
		 strstr(line, "forced in makefile") != NULL)
		progress->ungoverned = true;
}

/* ---- lines ---- */

/* The number of a group, 0..INT32_MAX; -1 when there is none. */
static int64_t
group_number(const char *line, const regmatch_t *group)
{
	int64_t n = 0;
	regoff_t at;

	if (group->rm_so < 0)
		return -1;
	for (at = group->rm_so; at < group->rm_eo && isspace((unsigned char)line[at]); at++)
		continue;
	if (at >= group->rm_eo || !isdigit((unsigned char)line[at]))
		return -1;
	for (; at < group->rm_eo && isdigit((unsigned char)line[at]); at++) {
		n = n * 10 + (line[at] - '0');
		if (n > INT32_MAX)
			return INT32_MAX;
	}
	return n;
}

static void
take_percent(struct progress *progress, const char *line, const regmatch_t groups[GROUPS])
{
	int64_t done = group_number(line, &groups[1]), total = group_number(line, &groups[2]);

	if (done < 0 || total == 0)
		return;
	if (total > 0)
		done = done * 100 / total;
	progress->percent = (int32_t)(done < 100 ? done : 100);
}

static void
apply(struct progress *progress, const struct rule *rule, size_t length, int64_t at_us)
{
	const char *line = progress->line;
	regmatch_t groups[GROUPS];

	if (!rule_match(rule, line, length, groups))
		return;
	if (rule->kind == RULE_PERCENT)
		take_percent(progress, line, groups);
	else if (groups[1].rm_so >= 0)
		enter_phase(progress, line + groups[1].rm_so,
		    (size_t)(groups[1].rm_eo - groups[1].rm_so), MARK_LOG, at_us);
}

/* True the first time that this line comes. FNV-1a; its halves are the filter's two hashes. */
static bool
see_first(struct progress *progress, const char *line, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	bool first = false;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)line[i]) * UINT64_C(0x100000001b3);
	for (int half = 0; half < 2; half++, hash >>= 32) {
		uint32_t bit = (uint32_t)hash % SEEN_BITS;

		first = first || !(progress->seen[bit / 8] >> bit % 8 & 1);
		progress->seen[bit / 8] |= (uint8_t)(1 << bit % 8);
	}
	return first;
}

static bool
is_step(struct progress *progress, const struct rule *rule, size_t length)
{
	regmatch_t groups[GROUPS];

	if (!rule_match(rule, progress->line, length, groups))
		return false;
	return rule->kind == RULE_STEP || see_first(progress, progress->line, length);
}

/* A line is one step, however many step rules match. */
static void
end_line(struct progress *progress, int64_t at_us)
{
	const struct progress_rules *rules = progress->rules;
	size_t length = progress->nline;
	bool stepped = false;

	if (length > 0 && progress->line[length - 1] == '\r')
		length--;
	progress->line[length] = '\0';
	see_warnings(progress, progress->line, length);
	for (size_t i = 0; rules != NULL && i < rules->n; i++) {
		const struct rule *rule = &rules->rules[i];

		if (rule->kind == RULE_PHASE || rule->kind == RULE_PERCENT)
			apply(progress, rule, length, at_us);
		else if (!stepped)
			stepped = is_step(progress, rule, length);
	}
	progress->steps += stepped;
	progress->nline = 0;
}

static void
keep_bytes(struct progress *progress, const char *bytes, size_t n)
{
	size_t room = PROGRESS_LINE_BYTES - progress->nline;
	char *at = progress->line + progress->nline, *zero;

	if (n > room)
		n = room;
	memcpy(at, bytes, n);
	progress->nline += n;
	for (; (zero = memchr(at, '\0', n)) != NULL; n -= (size_t)(zero + 1 - at), at = zero + 1)
		*zero = '?';
}

void
progress_feed(struct progress *progress, const char *bytes, size_t n, int64_t at_us)
{
	while (n > 0) {
		const char *newline = memchr(bytes, '\n', n);
		size_t part = newline != NULL ? (size_t)(newline - bytes) : n;

		keep_bytes(progress, bytes, part);
		progress->offset += (int64_t)part;
		if (newline == NULL)
			return;
		progress->offset++;
		end_line(progress, at_us);
		progress->line_offset = progress->offset;
		bytes += part + 1;
		n -= part + 1;
	}
}

/* ---- what has come of it ---- */

int64_t
progress_offset(const struct progress *progress)
{
	return progress->offset;
}

const struct phase_mark *
progress_marks(const struct progress *progress, size_t *ret_n)
{
	*ret_n = progress->nmarks;
	return progress->marks;
}

bool
progress_wants_usage(const struct progress *progress)
{
	for (size_t i = 0; i < progress->nmarks; i++) {
		if (!progress->has_usage[i])
			return true;
	}
	return false;
}

void
progress_usage(struct progress *progress, const struct usage *usage)
{
	for (size_t i = 0; i < progress->nmarks; i++) {
		if (!progress->has_usage[i])
			progress->marks[i].usage = *usage;
		progress->has_usage[i] = true;
	}
}

static int32_t
percent_of(const struct progress *progress)
{
	int64_t percent = progress->percent;

	if (percent < 0 && progress->expected_steps > 0)
		percent = progress->steps > INT32_MAX
			      ? 100
			      : progress->steps * 100 / progress->expected_steps;
	return (int32_t)(percent > 99 ? 99 : percent);
}

void
progress_show(const struct progress *progress, struct attempt_status *status)
{
	memcpy(status->phase, progress->phase, sizeof status->phase);
	status->steps = progress->steps;
	status->serial = progress->serial;
	status->ungoverned = status->ungoverned || progress->ungoverned;
	status->percent = percent_of(progress);
}
