/* A bound stands here once and holds for both ends: the sender refuses what the
 * receiver would, where the fault is.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/wire_fields.h"

#include <string.h>

#include "proto/wire.h"
#include "proto/wire_text.h"

enum { LIMIT_MOST = JOBS_MAX * SLOTS_MAX };

_Static_assert((int)FLYBALL__KIND__KIND_REPLY == (int)MESSAGE_REPLY, "kinds are numbered alike");
_Static_assert((int)FLYBALL__OUTCOME__OUTCOME_LOST == (int)OUTCOME_LOST, "outcomes too");

/* PB and OUR are defined before each table. The number's sizes must agree. */
#define AGREE(f) (0 * sizeof(char[sizeof((PB *)0)->f == sizeof((OUR *)0)->f ? 1 : -1]))
#define NUMBER(f, kind, min, max) \
	{ \
#f, kind, offsetof(PB, f) + AGREE(f), offsetof(OUR, f), 0, min, max \
	}
#define BITS(f) NUMBER(f, FIELD_BITS, 0, 0)
#define INT32(f, min, max) NUMBER(f, FIELD_INT32, min, max)
#define COUNT32(f) NUMBER(f, FIELD_INT32, 0, INT32_MAX)
#define COUNT64(f) NUMBER(f, FIELD_INT64, 0, INT64_MAX)
/* What the attempt has used: flat on the wire, a part of our struct. */
#define USED(f) \
	{ \
#f, FIELD_INT64, offsetof(PB, f), offsetof(OUR, usage.f), 0, -1, INT64_MAX \
	}
#define USAGE \
	USED(user_us), USED(sys_us), USED(max_resident_bytes), USED(minor_faults), \
	    USED(major_faults), USED(blocks_in), USED(blocks_out), USED(voluntary_switches), \
	    USED(involuntary_switches)
#define BOOL(f) \
	{ \
#f, FIELD_BOOL, offsetof(PB, f), offsetof(OUR, f), 0, 0, 0 \
	}
#define CHARS(f, kind) \
	{ \
#f, kind, offsetof(PB, f), offsetof(OUR, f), sizeof((OUR *)0)->f, 0, 0 \
	}
#define NAME(f) CHARS(f, FIELD_NAME)
#define NAME_OR_EMPTY(f) CHARS(f, FIELD_NAME_OR_EMPTY)
#define WORD(f) CHARS(f, FIELD_WORD)
#define PATH(f) CHARS(f, FIELD_PATH)
#define TEXT(f) CHARS(f, FIELD_TEXT)
#define SHAPE(words, message, fields) \
	{ \
		words, &flyball__##message##__descriptor, fields, \
		    sizeof(fields) / sizeof(fields)[0] \
	}

#define PB Flyball__PhaseMark
#define OUR struct phase_mark
static const struct field mark_fields[] = { NAME(name), INT32(source, 0, MARK_LOG), COUNT64(at_us),
	COUNT64(log_offset), COUNT64(steps), USAGE };
#undef PB
#undef OUR
const struct shape wire_mark = SHAPE("a phase mark", phase_mark, mark_fields);

#define PB Flyball__AttemptStatus
#define OUR struct attempt_status
static const struct field status_fields[] = { BITS(id), BITS(fence), INT32(state, 0, ATTEMPT_ENDED),
	INT32(limit, 0, LIMIT_MOST), COUNT32(running), BOOL(limited), BOOL(serial),
	BOOL(ungoverned), NAME_OR_EMPTY(phase), COUNT64(steps), INT32(percent, -1, 100),
	COUNT64(granted), COUNT64(returned), COUNT64(drained), COUNT64(lost), COUNT64(unclaimed),
	COUNT64(elapsed_us), COUNT64(log_bytes) };
#undef PB
#undef OUR
const struct shape wire_status = SHAPE("an attempt's status", attempt_status, status_fields);

#define PB Flyball__AttemptResult
#define OUR struct attempt_result
static const struct field result_fields[] = { INT32(outcome, 0, OUTCOME_LOST),
	INT32(exit_code, INT32_MIN, INT32_MAX), TEXT(reason), COUNT64(real_us), USAGE,
	COUNT64(log_dropped_bytes) };
#undef PB
#undef OUR
const struct shape wire_result = SHAPE("an attempt's result", attempt_result, result_fields);

#define PB Flyball__HostFacts
#define OUR struct host_facts
static const struct field host_fields[] = { TEXT(agent_version), WORD(boot_id), WORD(start_id),
	TEXT(os), TEXT(release), TEXT(arch), TEXT(cpu), COUNT32(threads), COUNT64(memory_bytes),
	INT32(slots, 0, SLOTS_MAX) };
#undef PB
#undef OUR
const struct shape wire_host = SHAPE("a host's facts", host_facts, host_fields);

#define PB Flyball__Reading
#define OUR struct reading
static const struct field reading_fields[] = { COUNT64(window_us), COUNT64(age_us) };
#undef PB
#undef OUR
const struct shape wire_reading = SHAPE("a load reading", reading, reading_fields);

#define PB Flyball__Gauge
#define OUR struct gauge
static const struct field gauge_fields[] = { NAME(name), TEXT(missing) };
#undef PB
#undef OUR
const struct shape wire_gauge = SHAPE("a gauge", gauge, gauge_fields);

#define PB Flyball__LockRow
#define OUR struct lock_row
static const struct field lock_row_fields[] = { TEXT(lock), TEXT(caller),
	INT32(kind, 0, LOCK_SLEEP), COUNT64(count), COUNT64(wait_ns) };
#undef PB
#undef OUR
const struct shape wire_lock_row = SHAPE("a row of locks", lock_row, lock_row_fields);

#define PB Flyball__LockTable
#define OUR struct lock_table
static const struct field lock_table_fields[] = { NAME(source), TEXT(missing), TEXT(coverage),
	COUNT64(window_us), COUNT64(age_us), COUNT32(cpus), BOOL(has_spin), BOOL(has_sleep),
	COUNT64(spin_count), COUNT64(spin_ns), COUNT64(sleep_count), COUNT64(sleep_ns),
	NUMBER(cost_cpu_ppm, FIELD_INT64, -1, INT64_MAX),
	NUMBER(cost_steps_ppm, FIELD_INT64, -1, INT64_MAX) };
#undef PB
#undef OUR
const struct shape wire_lock_table = SHAPE("a table of locks", lock_table, lock_table_fields);

#define PB Flyball__Hello
#define OUR struct message_hello
static const struct field hello_fields[] = { NUMBER(version_min, FIELD_INT32, INT32_MIN, INT32_MAX),
	NUMBER(version_max, FIELD_INT32, INT32_MIN, INT32_MAX) };
#undef PB
#undef OUR

#define PB Flyball__Report
#define OUR struct message_report
static const struct field report_fields[] = { WORD(boot_id), WORD(start_id), BITS(at),
	BITS(wall_offset_us), INT32(limit, 0, LIMIT_MOST), INT32(guard, 0, LIMIT_MOST),
	TEXT(guard_reason) };
#undef PB
#undef OUR

#define PB Flyball__Log
#define OUR struct message_log
static const struct field log_fields[] = { BITS(id), BITS(fence), COUNT64(offset), BOOL(last) };
#undef PB
#undef OUR

#define PB Flyball__Locks
#define OUR struct message_locks
static const struct field locks_fields[] = { WORD(start_id) };
#undef PB
#undef OUR

#define PB Flyball__Welcome
#define OUR struct message_welcome
static const struct field welcome_fields[] = { NAME_OR_EMPTY(host), COUNT64(report_busy_us),
	COUNT64(report_idle_us), COUNT64(lease_us) };
#undef PB
#undef OUR

#define PB Flyball__Refused
#define OUR struct message_refused
static const struct field refused_fields[] = { TEXT(reason) };
#undef PB
#undef OUR

#define PB Flyball__Start
#define OUR struct message_start
static const struct field start_fields[] = { BITS(id), BITS(fence), BITS(build), BITS(round),
	NAME(branch), NAME(target), NAME(recipe), WORD(revision), PATH(source), COUNT32(jobs_min),
	COUNT32(jobs_max), INT32(limit, 0, LIMIT_MOST), COUNT64(timeout_us), COUNT64(stall_us),
	COUNT64(need_disk_bytes), COUNT64(need_memory_bytes), COUNT64(expected_steps),
	COUNT64(expected_us) };
#undef PB
#undef OUR

#define PB Flyball__Cancel
#define OUR struct message_cancel
static const struct field cancel_fields[] = { BITS(id), BITS(fence), TEXT(reason) };
#undef PB
#undef OUR

#define PB Flyball__Limit
#define OUR struct message_limit
static const struct field limit_fields[] = { INT32(limit, 0, LIMIT_MOST), TEXT(reason),
	BOOL(paused), COUNT64(pause_us) };
#undef PB
#undef OUR

#define PB Flyball__LogHave
#define OUR struct message_log_have
static const struct field log_have_fields[] = { BITS(id), COUNT64(offset), BOOL(complete),
	BOOL(unwanted) };
#undef PB
#undef OUR

#define PB Flyball__Request
#define OUR struct message_request
static const struct field request_fields[] = { BITS(id), NAME(verb) };
#undef PB
#undef OUR

#define PB Flyball__Reply
#define OUR struct message_reply
static const struct field reply_fields[] = { BITS(id), INT32(status, 0, REPLY_UNHEALTHY),
	TEXT(text), COUNT64(offset), BOOL(last) };
#undef PB
#undef OUR

const struct shape wire_bodies[MESSAGE_KINDS] = {
	[MESSAGE_HELLO] = SHAPE("hello", hello, hello_fields),
	[MESSAGE_REPORT] = SHAPE("report", report, report_fields),
	[MESSAGE_ATTEMPT] = { "attempt", &flyball__attempt__descriptor, NULL, 0 },
	[MESSAGE_LOG] = SHAPE("log", log, log_fields),
	[MESSAGE_LOCKS] = SHAPE("locks", locks, locks_fields),
	[MESSAGE_WELCOME] = SHAPE("welcome", welcome, welcome_fields),
	[MESSAGE_REFUSED] = SHAPE("refused", refused, refused_fields),
	[MESSAGE_START] = SHAPE("start", start, start_fields),
	[MESSAGE_CANCEL] = SHAPE("cancel", cancel, cancel_fields),
	[MESSAGE_LIMIT] = SHAPE("limit", limit, limit_fields),
	[MESSAGE_LOG_HAVE] = SHAPE("log-have", log_have, log_have_fields),
	[MESSAGE_REQUEST] = SHAPE("request", request, request_fields),
	[MESSAGE_REPLY] = SHAPE("reply", reply, reply_fields),
};

static int
check_number(const struct shape *shape, const struct field *f, int64_t value, struct err *err)
{
	if (value >= f->min && value <= f->max)
		return 0;
	return err_set(err, "%s: %s is %lld; %lld to %lld was expected", shape->name, f->name,
	    (long long)value, (long long)f->min, (long long)f->max);
}

int
wire_check_chars(
    const char *what, const char *name, enum field_kind kind, const char *s, struct err *err)
{
	switch (kind) {
	case FIELD_NAME_OR_EMPTY:
		if (s[0] == '\0')
			return 0;
		/* fall through */
	case FIELD_NAME:
		if (wire_name_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no name: 1 to %d characters of [A-Za-z0-9._+-], the first no '.' "
		    "or '-', were expected",
		    what, name, NAME_SIZE - 1);
	case FIELD_WORD:
		if (wire_word_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no word: printable ASCII without spaces, the first no '-', was "
		    "expected",
		    what, name);
	case FIELD_PATH:
		if (wire_path_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s is no path: UTF-8 in one line without '..', the first no '-', was "
		    "expected",
		    what, name);
	default:
		if (wire_text_ok(s))
			return 0;
		return err_set(err,
		    "%s: %s holds bytes that are no UTF-8 text, or control characters", what, name);
	}
}

int
wire_check_field(const struct shape *shape, const struct field *f, const char *our, struct err *err)
{
	int32_t i32;
	int64_t i64;

	switch (f->kind) {
	case FIELD_BITS:
	case FIELD_BOOL:
		return 0;
	case FIELD_INT32:
		memcpy(&i32, our, sizeof i32);
		return check_number(shape, f, i32, err);
	case FIELD_INT64:
		memcpy(&i64, our, sizeof i64);
		return check_number(shape, f, i64, err);
	default:
		return wire_check_chars(shape->name, f->name, f->kind, our, err);
	}
}

size_t
wire_number_size(const struct field *f)
{
	return f->kind == FIELD_INT32 ? sizeof(int32_t) : sizeof(int64_t);
}

int
wire_check_count(const char *what, const char *things, size_t n, size_t max, struct err *err)
{
	if (n <= max)
		return 0;
	return err_set(err, "%s: %zu %s; at most %zu were expected", what, n, things, max);
}
