/* A table says what the whole host did: of several builds at once each gets all of it, and the sum
 * says how many they were.
 *
 * Sums are written once a minute while tables come, and when the build ends or the coordinator
 * does; a crash loses the last minute of them. A file is written beside and moved into place.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/locks.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/lock_sum.h"
#include "proto/base/log.h"
#include "proto/base/mem.h"

#define WRITE_EVERY_US MINUTE_US

struct of_host {
	char host[NAME_SIZE];
	size_t n;
	struct lock_seen seen[LOCK_SOURCES_MAX];
};

struct of_attempt {
	attempt_id id;
	size_t n;
	struct lock_sum *sums; /* LOCK_SOURCES_MAX of them */
	mono_us written; /* 0: never */
	bool dirty;
};

struct locks {
	char *folder;
	void *hosts, *attempts; /* of tsearch(3) */
	struct of_attempt shown; /* the last one that was read from its file for somebody */
};

static int
compare_hosts(const void *x, const void *y)
{
	const struct of_host *a = x, *b = y;

	return strcmp(a->host, b->host);
}

static int
compare_attempts(const void *x, const void *y)
{
	const struct of_attempt *a = x, *b = y;

	return (a->id.n > b->id.n) - (a->id.n < b->id.n);
}

/* ---- files ------------------------------------------------------------------------------ */

static char *
path_of(const struct locks *locks, attempt_id id, const char *end)
{
	return mem_printf("%s/%llu.locks%s", locks->folder, (unsigned long long)id.n, end);
}

static void
write_file(const struct locks *locks, const struct of_attempt *a)
{
	char *path = path_of(locks, a->id, ""), *part = path_of(locks, a->id, ".part");
	FILE *f = fopen(part, "we");
	struct text t = { 0 };
	bool good = f != NULL;

	lock_sums_print(a->sums, a->n, &t);
	good = good && fputs(t.text, f) >= 0;
	if (f != NULL && fclose(f) != 0)
		good = false;
	if (!good || rename(part, path) < 0)
		log_throttled("locks",
		    "the locks of a build are not kept: %s cannot be written errno=%d", path,
		    errno);
	free(t.text);
	free(path);
	free(part);
}

/* None is no error. */
static int
read_file(const struct locks *locks, struct of_attempt *a, struct err *err)
{
	char *path = path_of(locks, a->id, ""), *text = NULL;
	FILE *f = fopen(path, "re");
	size_t capacity = 0;
	int rc = 0;

	if (f == NULL && errno != ENOENT)
		rc = err_set_errno(err, errno, "%s: cannot be read", path);
	else if (f != NULL && getdelim(&text, &capacity, '\0', f) >= 0 &&
		 lock_sums_parse(text, &a->sums, &a->n, err) < 0)
		rc = err_prefix(err, "%s: is damaged", path);
	if (f != NULL)
		fclose(f);
	free(text);
	free(path);
	return rc;
}

static void
clear_sums(struct of_attempt *a)
{
	while (a->n > 0)
		lock_sum_clear(&a->sums[--a->n]);
	free(a->sums);
	a->sums = NULL;
}

static void
free_attempt(void *node)
{
	clear_sums(node);
	free(node);
}

/* ---- taking ----------------------------------------------------------------------------- */

static void *
find_or_add(void **tree, const void *key, size_t size, int (*compare)(const void *, const void *))
{
	void **node = tsearch(key, tree, compare);
	void *copy;

	if (node == NULL)
		abort();
	if (*node != key)
		return *node;
	copy = mem_calloc(1, size);
	memcpy(copy, key, size);
	*node = copy;
	return copy;
}

static void
keep_last(struct of_host *k, const struct lock_table *table, mono_us now, double busy)
{
	struct lock_seen *seen;
	size_t i = 0;

	while (i < k->n && strcmp(k->seen[i].table.source, table->source) != 0)
		i++;
	if (i == LOCK_SOURCES_MAX)
		return;
	seen = &k->seen[i];
	if (i == k->n)
		k->n++;
	free(seen->table.rows);
	*seen = (struct lock_seen){ *table, now, busy };
	seen->table.rows = NULL;
	if (table->nrows > 0) {
		seen->table.rows = mem_calloc(table->nrows, sizeof *table->rows);
		memcpy(seen->table.rows, table->rows, table->nrows * sizeof *table->rows);
	}
}

static struct of_attempt *
attempt_make(struct locks *locks, attempt_id id)
{
	struct of_attempt key = { .id = id };
	struct of_attempt *a = find_or_add(&locks->attempts, &key, sizeof key, compare_attempts);
	struct err err;

	if (a->sums != NULL)
		return a;
	if (read_file(locks, a, &err) < 0)
		log_throttled("locks", "%s; what it had is given up", err.text);
	if (a->sums == NULL)
		a->sums = mem_calloc(LOCK_SOURCES_MAX, sizeof *a->sums);
	return a;
}

static void
add_to(struct locks *locks, attempt_id id, const struct lock_table *table, double busy,
    size_t builds, mono_us now)
{
	struct of_attempt *a = attempt_make(locks, id);
	size_t i = 0;

	while (i < a->n && strcmp(a->sums[i].table.source, table->source) != 0)
		i++;
	if (i == LOCK_SOURCES_MAX)
		return;
	if (i == a->n)
		a->n++;
	lock_sum_add(&a->sums[i], table, busy, builds);
	a->dirty = true;
	if (a->written.us != 0 && mono_since(a->written, now) < WRITE_EVERY_US)
		return;
	write_file(locks, a);
	a->written = now;
	a->dirty = false;
}

static double
busy_of(const struct host *h)
{
	if (!h->reported || !load_has(&h->load, LOAD_USER) || !load_has(&h->load, LOAD_SYS))
		return -1;
	return h->load.readings[LOAD_USER].value + h->load.readings[LOAD_SYS].value;
}

/* What a window holds from before the build is not the build's, and cannot be told apart. */
static bool
lies_within(const struct lock_table *table, const struct attempt *a, mono_us now)
{
	int64_t ran_us = a->status.elapsed_us + mono_since(a->status_at, now);

	return table->age_us + table->window_us <= ran_us;
}

void
locks_take(struct locks *locks, const struct cluster *c, const struct host *h,
    const struct lock_table *table, mono_us now)
{
	struct of_host key = { .n = 0 };
	double busy = busy_of(h);
	const struct attempt *a;
	size_t i;

	memcpy(key.host, h->name, sizeof key.host);
	keep_last(find_or_add(&locks->hosts, &key, sizeof key, compare_hosts), table, now, busy);
	for (i = 0; (a = host_live_attempt(c, h, i)) != NULL; i++)
		if (a->state == ATTEMPT_RUNNING && lies_within(table, a, now))
			add_to(locks, a->id, table, busy, h->nlive, now);
}

void
locks_ended(struct locks *locks, attempt_id attempt)
{
	struct of_attempt key = { .id = attempt }, *a;
	void *node = tfind(&key, &locks->attempts, compare_attempts);

	if (node == NULL)
		return;
	a = *(struct of_attempt **)node;
	if (a->dirty)
		write_file(locks, a);
	tdelete(a, &locks->attempts, compare_attempts);
	free_attempt(a);
}

/* ---- showing ---------------------------------------------------------------------------- */

const struct lock_seen *
locks_of_host(const struct locks *locks, const char *host, size_t *ret_n)
{
	struct of_host key = { .n = 0 };
	void *node;

	mem_copy_text(key.host, sizeof key.host, host);
	node = tfind(&key, &locks->hosts, compare_hosts);
	*ret_n = node != NULL ? (*(struct of_host **)node)->n : 0;
	return node != NULL ? (*(struct of_host **)node)->seen : NULL;
}

int
locks_of_attempt(struct locks *locks, attempt_id attempt, const struct lock_sum **ret_list,
    size_t *ret_n, struct err *err)
{
	struct of_attempt key = { .id = attempt }, *a = &locks->shown;
	void *node = tfind(&key, &locks->attempts, compare_attempts);

	if (node != NULL)
		a = *(struct of_attempt **)node;
	else {
		clear_sums(a);
		a->id = attempt;
		if (read_file(locks, a, err) < 0)
			return -1;
	}
	*ret_list = a->sums;
	*ret_n = a->n;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------- */

struct locks *
locks_open(const char *folder)
{
	struct locks *locks = mem_calloc(1, sizeof *locks);

	locks->folder = mem_strdup(folder);
	return locks;
}

static void
free_host(void *node)
{
	struct of_host *k = node;
	size_t i;

	for (i = 0; i < k->n; i++)
		free(k->seen[i].table.rows);
	free(k);
}

static void
write_dirty(const void *node, VISIT which, void *closure)
{
	const struct of_attempt *a = *(struct of_attempt *const *)node;

	if ((which == postorder || which == leaf) && a->dirty)
		write_file(closure, a);
}

void
locks_close(struct locks *locks)
{
	if (locks == NULL)
		return;
	twalk_r(locks->attempts, write_dirty, locks);
	tdestroy(locks->attempts, free_attempt);
	tdestroy(locks->hosts, free_host);
	clear_sums(&locks->shown);
	free(locks->folder);
	free(locks);
}
