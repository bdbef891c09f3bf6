/* "auto" takes the first source of this system that works. On Linux bpf is opened besides: profile sees
 * what spins, and bpf who waits.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sense/lock_command.h"
#include "proto/base/mem.h"
#ifdef __linux__
#include "agent/sense/lock_linux.h"
#endif

const struct lock_source *const lock_sources[] = {
#ifdef __linux__
	&lock_profile, &lock_bpf, &lock_source_lock_stat,
#endif
#ifdef __NetBSD__
	&lock_source_lockstat,
#endif
#ifdef __FreeBSD__
	&lock_source_dtrace, &lock_source_lock_prof,
#endif
	&lock_source_command, NULL
};

/* Those that are known by name on every system, so that a name that is right elsewhere is told from one
 * that is misspelt. */
static const struct lock_source *const everywhere[] = { &lock_source_lockstat, &lock_source_dtrace,
	&lock_source_lock_prof, NULL };

static const char besides[] = "bpf"; /* opened by "auto" whatever else works */

enum { LOCKS_MAX = 8 };

struct locks {
	size_t n;
	struct {
		const struct lock_source *source;
		void *self;
	} open[LOCKS_MAX];
};

/* ---- names ---- */

static const struct lock_source *
find_in(const struct lock_source *const *list, const char *name, size_t n)
{
	for (; *list != NULL; list++)
		if (strncmp((*list)->name, name, n) == 0 && (*list)->name[n] == '\0')
			return *list;
	return NULL;
}

static const struct lock_source *
find(const char *name, size_t n)
{
	const struct lock_source *source = find_in(lock_sources, name, n);

	return source != NULL ? source : find_in(everywhere, name, n);
}

static int
refuse(const char *name, size_t n, struct err *err)
{
	char known[128] = "";

	for (const struct lock_source *const *s = lock_sources; *s != NULL; s++)
		snprintf(known + strlen(known), sizeof known - strlen(known), ", %s", (*s)->name);
	return err_set(err,
	    "there is no lock source \"%.*s\" here: expected auto, none%s, or some of "
	    "them with commas between",
	    n < NAME_SIZE ? (int)n : NAME_SIZE, name, known);
}

bool
locks_names_ok(const char *names, struct err *err)
{
	size_t count = 0;

	if (strcmp(names, "auto") == 0 || strcmp(names, "none") == 0)
		return true;
	for (;; names++) {
		size_t n = strcspn(names, ",");

		if (find(names, n) == NULL || ++count > LOCKS_MAX) {
			(void)refuse(names, n, err);
			return false;
		}
		names += n;
		if (*names == '\0')
			return true;
	}
}

/* ---- opening ---- */

struct opening {
	struct locks *locks;
	struct loop *loop;
	const struct lock_settings *settings;
	lock_reading_f on_reading;
	void *arg;
	struct err *err; /* what could not be opened, sentence by sentence */
};

static bool
open_one(struct opening *o, const struct lock_source *source)
{
	struct locks *locks = o->locks;
	struct err why = { "" };
	size_t used = strlen(o->err->text);
	void *self;

	for (size_t i = 0; i < locks->n; i++)
		if (locks->open[i].source == source)
			return true;
	self = source->open(o->loop, o->settings, o->on_reading, o->arg, &why);
	if (self != NULL) {
		locks->open[locks->n].source = source;
		locks->open[locks->n++].self = self;
		return true;
	}
	snprintf(o->err->text + used, sizeof o->err->text - used, "%s%s: %s", used > 0 ? "; " : "",
	    source->name, why.text);
	return false;
}

static void
open_auto(struct opening *o)
{
	for (const struct lock_source *const *s = lock_sources; *s != NULL; s++)
		if (o->locks->n == 0 || strcmp((*s)->name, besides) == 0)
			(void)open_one(o, *s);
}

static void
open_named(struct opening *o, const char *names)
{
	for (;; names++) {
		size_t n = strcspn(names, ",");

		(void)open_one(o, find(names, n));
		names += n;
		if (*names == '\0')
			return;
	}
}

struct locks *
locks_open(struct loop *loop, const char *names, const struct lock_settings *settings,
    lock_reading_f on_reading, void *arg, struct err *err)
{
	struct opening o = { NULL, loop, settings, on_reading, arg, err };

	err->text[0] = '\0';
	if (!locks_names_ok(names, err) || strcmp(names, "none") == 0)
		return NULL;
	o.locks = mem_calloc(1, sizeof *o.locks);
	if (strcmp(names, "auto") == 0)
		open_auto(&o);
	else
		open_named(&o, names);
	if (o.locks->n > 0)
		return o.locks;
	free(o.locks);
	return NULL;
}

void
locks_close(struct locks *locks)
{
	if (locks == NULL)
		return;
	for (size_t i = 0; i < locks->n; i++)
		locks->open[i].source->close(locks->open[i].self);
	free(locks);
}

const char *
locks_name(const struct locks *locks, size_t i)
{
	return locks != NULL && i < locks->n ? locks->open[i].source->name : NULL;
}

void
locks_steps(struct locks *locks, int64_t steps)
{
	for (size_t i = 0; locks != NULL && i < locks->n; i++)
		if (locks->open[i].source->steps != NULL)
			locks->open[i].source->steps(locks->open[i].self, steps);
}
