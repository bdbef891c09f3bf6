/* A log's way to the coordinator. LOG is soft, so a chunk may be lost; the coordinator's LOG_HAVE is
 * the only truth of what is there. At most a window is sent ahead of it, and when it has not moved
 * for some seconds though something is under way, sending begins again where it stands.
 *
 * The end of a log often arrives before the result is in the coordinator's journal, and is then
 * answered without "complete"; so an answer that has all bytes is followed by the end once more, some
 * times a second at most.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/session_held.h"

enum { SILENCE_S = 5, LAST_TRIES = 4 };

static const int64_t window_bytes = (int64_t)LOG_WINDOW_CHUNKS * LOG_CHUNK_BYTES;

void
held_log_begin(struct held *held, mono_us now)
{
	held->log_asked = true;
	held->log_sent = held->log_have;
	held->last_sent = false;
	held->log_moved_at = now;
}

void
held_log_have(struct held *held, mono_us now, int64_t offset)
{
	if (held->log_asked || offset < held->log_have || offset > held->log_sent) {
		held->log_sent = offset;
		held->last_sent = false;
	}
	if (offset != held->log_have || held->log_asked)
		held->log_moved_at = now;
	if (held->last_sent && offset == held->log_sent && held->last_tries < LAST_TRIES) {
		held->last_sent = false;
		held->last_tries++;
	}
	held->log_have = offset;
	held->log_asked = false;
}

void
held_log_tick(struct held *held)
{
	held->last_tries = 0;
}

static bool
has_gone_silent(const struct held *held, mono_us now)
{
	bool waiting = held->log_asked || held->last_sent || held->log_sent > held->log_have;

	return waiting && mono_since(held->log_moved_at, now) >= SILENCE_S * SECOND_US;
}

static void
send_part(struct session *session, struct held *held, int64_t nbytes, bool last)
{
	struct action *action = session_do(session, ACTION_LOG);

	action->id = held->start.id;
	action->fence = held->start.fence;
	action->offset = held->log_sent;
	action->nbytes = nbytes;
	action->last = last;
	held->log_sent += nbytes;
	held->last_sent = last;
}

void
session_log_send(struct session *session, mono_us now, struct held *held)
{
	bool ended = held->status.state == ATTEMPT_ENDED;

	if (!session->welcomed || held->unwanted)
		return;
	if (has_gone_silent(held, now)) {
		held_log_begin(held, now);
		held->log_asked = false;
	}
	if (held->log_asked)
		return;
	if (held->log_sent == held->log_have && !held->last_sent)
		held->log_moved_at = now;
	while (!held->last_sent && held->log_sent < held->log_have + window_bytes) {
		int64_t left = held->status.log_bytes - held->log_sent;
		int64_t nbytes = left > LOG_CHUNK_BYTES ? LOG_CHUNK_BYTES : left > 0 ? left : 0;
		bool last = ended && nbytes == left;

		/* A coordinator that claims more than there is gets an end it can refuse. */
		if (left < 0)
			last = ended;
		if (nbytes == 0 && !last)
			return;
		send_part(session, held, nbytes, last);
	}
}
