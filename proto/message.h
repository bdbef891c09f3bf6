/* message.h - what coordinator, agents and operators say to each other
 *
 * Shape:  an envelope and one body, chosen by kind; wire.c turns it to bytes and back.
 * Units:  as units.h; a field that ends in _missing, or a bit in a mask of what is
 *         missing, says that a reading is not there. Missing is never zero.
 * Errors: none here; wire.c refuses what breaks a bound of limits.h.
 * Memory: arrays and bytes inside a decoded message belong to it: message_clear.
 *         In a message to be sent they are borrowed from the sender.
 * Source: docs/protocol.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_MESSAGE_H
#define FLYBALL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"
#include "proto/units.h"

enum message_kind {
	MESSAGE_NONE,
	/* either way */
	MESSAGE_ACK, /* no body: the envelope's ack is all */
	/* agent to coordinator */
	MESSAGE_HELLO,
	MESSAGE_REPORT, /* soft: may be lost */
	MESSAGE_ATTEMPT, /* an attempt began, or ended: sent again until acknowledged */
	MESSAGE_LOG, /* soft: log_have asks again from where the coordinator is */
	MESSAGE_LOCKS, /* soft */
	/* coordinator to agent */
	MESSAGE_WELCOME,
	MESSAGE_REFUSED, /* with why; the connection is of no use */
	MESSAGE_START,
	MESSAGE_CANCEL,
	MESSAGE_LIMIT,
	MESSAGE_LOG_HAVE, /* soft */
	/* operators */
	MESSAGE_REQUEST,
	MESSAGE_REPLY,
	MESSAGE_KINDS
};

const char *message_kind_name(enum message_kind kind);

struct envelope {
	uint32_t version;
	enum message_kind kind;
	uint64_t epoch; /* coordinator start count; agents refuse less than they have seen */
	uint64_t seq; /* 0: not acknowledged; else counts from 1 in this connection */
	uint64_t ack; /* all of the other side's up to here are taken care of */
};

struct message_hello {
	uint32_t version_min, version_max;
	struct host_facts host;
	size_t
	    nattempts; /* all that it holds, also those that ended and are not yet acknowledged */
	struct attempt_status *attempts;
};

struct message_welcome {
	char host[NAME_SIZE]; /* what the coordinator calls the key */
	int64_t report_busy_us, report_idle_us;
	int64_t lease_us;
};

struct message_report {
	char boot_id[UUID_SIZE], start_id[UUID_SIZE];
	mono_us at; /* the agent's clock */
	int64_t wall_offset_us; /* its wall clock less its monotonic one */
	int32_t limit; /* of the host, in force */
	int32_t guard; /* the limit the agent's own guard holds it to; 0: none */
	char guard_reason[TEXT_SIZE];
	struct load load;
	size_t ngauges;
	struct gauge *gauges;
	size_t nattempts;
	struct attempt_status *attempts;
};

struct message_attempt {
	struct attempt_status status;
	struct attempt_result result; /* when status.state is ATTEMPT_ENDED */
};

struct message_log {
	attempt_id id;
	uint64_t fence;
	int64_t offset;
	bool last; /* the log ends behind these bytes */
	size_t nbytes;
	uint8_t *bytes;
};

struct message_locks {
	char start_id[UUID_SIZE];
	struct lock_table table;
};

struct message_log_have {
	attempt_id id;
	int64_t offset; /* all before it is stored */
	bool complete; /* and that is all */
	bool unwanted; /* the coordinator does not know this attempt: drop it */
};

struct message_start {
	attempt_id id;
	uint64_t fence;
	build_id build;
	round_id round;
	char branch[NAME_SIZE], target[NAME_SIZE], recipe[NAME_SIZE];
	char revision[REVISION_SIZE];
	char source[SOURCE_SIZE];
	int32_t jobs_min, jobs_max; /* the branch's bounds on this build's limit */
	int32_t limit; /* of the host, from now on */
	int64_t timeout_us, stall_us; /* 0: none */
	int64_t need_disk_bytes, need_memory_bytes;
	int64_t expected_steps; /* by history; 0 unknown */
	int64_t expected_us;
};

struct message_cancel {
	attempt_id id;
	uint64_t fence;
	char reason[TEXT_SIZE];
};

struct message_limit {
	int32_t limit; /* of the host: steps at once, all its builds together */
	char reason[TEXT_SIZE];
	bool paused; /* and its builds stand still */
	int64_t pause_us; /* what is left of that: then they go on by themselves; 0: without end */
};

struct message_refused {
	char reason[TEXT_SIZE];
};

struct request_arg {
	char *key;
	char *value;
};

struct message_request {
	uint64_t id;
	char verb[NAME_SIZE];
	size_t nargs;
	struct request_arg *args;
};

/* flyball(1)'s exit codes, on the wire as they are. */
enum reply_status {
	REPLY_OK = 0,
	REPLY_FAILED = 1,
	REPLY_USAGE = 2,
	REPLY_NOT_FOUND = 3,
	REPLY_DENIED = 4,
	REPLY_UNREACHABLE = 5,
	REPLY_CONFLICT = 6,
	REPLY_TIMED_OUT = 7,
	REPLY_UNHEALTHY = 8
};

struct message_reply {
	uint64_t id;
	enum reply_status status;
	char text[TEXT_SIZE]; /* for people, on standard error */
	char *json; /* the answer; NULL when there is none */
	int64_t offset; /* log: where bytes begin */
	bool last; /* log: nothing will follow */
	size_t nbytes;
	uint8_t *bytes;
};

struct message {
	struct envelope envelope;
	union {
		struct message_hello hello;
		struct message_report report;
		struct message_attempt attempt;
		struct message_log log;
		struct message_welcome welcome;
		struct message_refused refused;
		struct message_start start;
		struct message_cancel cancel;
		struct message_limit limit;
		struct message_log_have log_have;
		struct message_locks locks;
		struct message_request request;
		struct message_reply reply;
	};
};

/* Frees what a decoded message holds and zeroes it. */
void message_clear(struct message *m);

#endif
