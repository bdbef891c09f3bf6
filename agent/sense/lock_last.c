/* A reading that failed takes nothing away: the one before stays, with its age, until it is too old. Too
 * old is what two windows in a row should have replaced; the governor must not act on it.
 *
 * A source that reads all the time gives a table a second. Its totals go into every report, the rows to
 * the coordinator only now and then: nobody reads a table a second.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_last.h"

#include <string.h>

#include "proto/base/mem.h"

/* Tables come by timers that may be a little early. */
static const int64_t send_us = LOCK_SEND_S * SECOND_US - SECOND_US / 2;

void
lock_last_init(struct lock_last *last, int64_t every_us)
{
	*last = (struct lock_last){ .every_us = every_us };
}

void
lock_last_source(struct lock_last *last, const char *name)
{
	if (last->n < LOCK_LAST_MAX)
		mem_copy_text(last->list[last->n++].name, NAME_SIZE, name);
}

static struct lock_said *
find(struct lock_last *last, const char *name)
{
	for (size_t i = 0; i < last->n; i++)
		if (strcmp(last->list[i].name, name) == 0)
			return &last->list[i];
	return NULL;
}

static void
keep(struct lock_said *said, enum lock_kind kind, mono_us now, const struct lock_table *table)
{
	int64_t ns = kind == LOCK_SPIN ? table->spin_ns : table->sleep_ns;

	said->has[kind] = true;
	said->at[kind] = now;
	said->share[kind] = (struct reading){
		.value = (double)ns / ((double)table->window_us * 1000 * (double)table->cpus),
		.window_us = table->window_us,
		.age_us = table->age_us,
	};
}

bool
lock_last_take(struct lock_last *last, mono_us now, const struct lock_table *table)
{
	struct lock_said *said = find(last, table->source);
	bool missing = table->missing[0] != '\0';

	if (said == NULL)
		return false;
	if (!missing && table->window_us > 0 && table->cpus > 0) {
		if (table->has_spin)
			keep(said, LOCK_SPIN, now, table);
		if (table->has_sleep)
			keep(said, LOCK_SLEEP, now, table);
	}
	if (said->sent && said->sent_missing == missing && mono_since(said->sent_at, now) < send_us)
		return false;
	said->sent = true;
	said->sent_missing = missing;
	said->sent_at = now;
	return true;
}

bool
lock_last_news(struct lock_last *last, const struct lock_table *table)
{
	struct lock_said *said = find(last, table->source);

	if (said == NULL || table->missing[0] == '\0' || strcmp(said->told, table->missing) == 0)
		return false;
	mem_copy_text(said->told, sizeof said->told, table->missing);
	return true;
}

static void
fill(const struct lock_last *last, mono_us now, enum lock_kind kind, enum load_reading reading,
    struct load *load)
{
	load->missing |= UINT64_C(1) << reading;
	for (size_t i = 0; i < last->n; i++) {
		const struct lock_said *said = &last->list[i];
		struct reading share = said->share[kind];

		share.age_us += mono_since(said->at[kind], now);
		if (!said->has[kind] || share.age_us > 2 * last->every_us + share.window_us)
			continue;
		load->readings[reading] = share;
		load->missing &= ~(UINT64_C(1) << reading);
		return;
	}
}

void
lock_last_fill(const struct lock_last *last, mono_us now, struct load *load)
{
	fill(last, now, LOCK_SPIN, LOAD_SPIN, load);
	fill(last, now, LOCK_SLEEP, LOAD_LOCK_SLEEP, load);
}
