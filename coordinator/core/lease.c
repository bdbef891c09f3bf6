/* Only silence ends a lease, and only after a whole lease of the coordinator's own
 * uptime: a coordinator that was away cannot know that its hosts were.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/lease.h"

#include "coordinator/core/turn.h"

void
lease_renew(struct turn *t, struct host *h)
{
	h->seen = t->event->at.mono;
	h->lease_until = mono_add(t->event->at.mono, LEASE_US);
	if (h->state != HOST_UP)
		t->changed = true;
	h->state = HOST_UP;
}

/* What a lost host speaks of may live again, so it is not lost. What else it builds its next report
 * tells; until then it gets nothing new. */
void
lease_speak(struct turn *t, struct host *h)
{
	if (h->state != HOST_LOST)
		return;
	h->state = HOST_SILENT;
	h->lease_until = mono_add(t->event->at.mono, LEASE_US);
	t->changed = true;
}

/* What a hung disk or a stop signal took from us is no silence of theirs: their reports wait to be
 * read. The holds of operators go on: they are wanted for a time of day. */
void
lease_pause(struct cluster *c, int64_t away_us)
{
	size_t i;

	c->lease_grace_until = mono_add(c->lease_grace_until, away_us);
	for (i = 0; i < c->nhosts; i++) {
		c->hosts[i]->seen = mono_add(c->hosts[i]->seen, away_us);
		c->hosts[i]->lease_until = mono_add(c->hosts[i]->lease_until, away_us);
	}
}

static void
lease_expire(struct turn *t, struct host *h)
{
	struct attempt *a;
	bool had = false;

	while ((a = host_live_attempt(t->c, h, 0)) != NULL) {
		build_lost(t, a, "its host was silent for 5 minutes");
		had = true;
	}
	if (had || h->state == HOST_SILENT)
		h->state = HOST_LOST;
}

void
lease_tick(struct turn *t)
{
	mono_us now = t->event->at.mono;
	size_t i;

	for (i = 0; i < t->c->nhosts; i++) {
		struct host *h = t->c->hosts[i];

		if (h->state == HOST_UP && mono_since(h->seen, now) > SILENT_US)
			h->state = HOST_SILENT;
		if ((h->state == HOST_SILENT || h->state == HOST_ABSENT) &&
		    mono_since(h->lease_until, now) > 0 &&
		    mono_since(t->c->lease_grace_until, now) > 0)
			lease_expire(t, h);
	}
}
