/* The kernel keeps most lock functions in two sections of their own, whose ends are symbols; what
 * is outside of them is named here one by one. A compiler's clone of a function, "f.isra.0" or
 * "f.cold", counts as f.
 *
 * A function ends where the next symbol begins: the file is in the order of addresses there.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_place.h"

#include <stdbool.h>
#include <string.h>

#include "agent/sense/kallsyms.h"

struct known {
	const char *name;
	bool spins;
	const char *end; /* the symbol that ends it; NULL: the next one */
};

static const struct known all_known[] = {
	{ "queued_spin_lock_slowpath", true, NULL },
	{ "native_queued_spin_lock_slowpath", true, NULL },
	{ "__pv_queued_spin_lock_slowpath", true, NULL },
	{ "resilient_queued_spin_lock_slowpath", true, NULL },
	{ "queued_read_lock_slowpath", true, NULL },
	{ "queued_write_lock_slowpath", true, NULL },
	{ "osq_lock", true, NULL },
	{ "mutex_spin_on_owner", true, NULL },
	{ "mutex_optimistic_spin", true, NULL },
	{ "rwsem_spin_on_owner", true, NULL },
	{ "rwsem_optimistic_spin", true, NULL },
	{ "rtmutex_spin_on_owner", true, NULL },
	{ "__sched_text_start", false, "__sched_text_end" },
	{ "__lock_text_start", false, "__lock_text_end" },
	{ "__traceiter_contention_begin", false, NULL },
	{ "__bpf_trace_contention_begin", false, NULL },
	{ "bpf_trace_run2", false, NULL },
	{ "__percpu_down_read", false, NULL },
	{ "percpu_down_write", false, NULL },
	{ "rwsem_wake", false, NULL },
	{ "up_read", false, NULL },
	{ "up_write", false, NULL },
	{ "lockref_get", false, NULL },
	{ "lockref_put_return", false, NULL },
	{ "lockref_put_or_lock", false, NULL },
	{ "lockref_get_not_dead", false, NULL },
};

enum { KNOWN_COUNT = sizeof all_known / sizeof all_known[0] };

struct finder {
	struct lock_places *places;
	size_t nspin;
	const struct known *open[LOCK_PLACES_MAX]; /* what each place is, until its end is known */
};

static const struct known *
find_known(const char *name)
{
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		if (strncmp(all_known[i].name, name, n) == 0 && all_known[i].name[n] == '\0')
			return &all_known[i];
	}
	return NULL;
}

static void
end_places(struct finder *finder, uint64_t address, const char *name)
{
	for (size_t i = 0; i < finder->places->n; i++) {
		const struct known *known = finder->open[i];

		if (known == NULL || address <= finder->places->places[i].begin)
			continue;
		if (known->end == NULL || strcmp(known->end, name) == 0) {
			finder->places->places[i].end = address;
			finder->open[i] = NULL;
		}
	}
}

static void
on_symbol(void *arg, uint64_t address, char type, const char *name)
{
	struct finder *finder = arg;
	struct lock_places *places = finder->places;
	const struct known *known;

	if (strchr("tTwW", type) == NULL)
		return;
	end_places(finder, address, name);
	known = find_known(name);
	if (known == NULL || places->n == LOCK_PLACES_MAX)
		return;
	finder->open[places->n] = known;
	places->places[places->n++] =
	    (struct lock_place){ address, address, known->spins ? known->name : NULL };
	finder->nspin += known->spins;
}

int
lock_places_find(struct lock_places *ret_places, struct err *err)
{
	struct lock_places places = { 0 };
	struct finder finder = { .places = &places };

	if (kallsyms_read(on_symbol, &finder, err) != 0)
		return -1;
	if (finder.nspin == 0)
		return err_set(err,
		    "none of the functions in which this kernel would spin for a lock, such as %s, "
		    "is "
		    "among its symbols: expected a kernel for more than one CPU, built with "
		    "CONFIG_KALLSYMS",
		    all_known[1].name);
	*ret_places = places;
	return 0;
}

const struct lock_place *
lock_places_at(const struct lock_places *places, uint64_t address)
{
	const struct lock_place *found = NULL;

	for (size_t i = 0; i < places->n; i++) {
		const struct lock_place *place = &places->places[i];

		if (address < place->begin || address >= place->end)
			continue;
		if (place->spins != NULL)
			return place;
		found = place;
	}
	return found;
}
