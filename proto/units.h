/* units.h - times, ids and readings: the words that mean the same at both ends
 *
 * Shape:  a struct around one scalar each, so that the compiler refuses a mix; and the plain
 *         values that agents measure and the core judges. Header only, so that the core links alone.
 * Units:  microseconds. mono_us counts from the boot of the machine that read
 *         it and is compared only with readings of that machine; wall_us counts
 *         from 1970 UTC and is only ever shown. Durations are int64_t, named _us.
 *         Sizes are int64_t, named _bytes. Shares are double, 0..1, named _share.
 * Errors: none.
 * Memory: by value.
 * Source: docs/architecture.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_UNITS_H
#define FLYBALL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"

typedef struct {
	int64_t us;
} mono_us;

typedef struct {
	int64_t us;
} wall_us;

/* Ids are given by the coordinator, count up from 1 and are never used again; 0 is "none". */
typedef struct {
	uint64_t n;
} round_id;

typedef struct {
	uint64_t n;
} build_id;

typedef struct {
	uint64_t n;
} attempt_id;

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US (60 * MINUTE_US)

static inline int64_t
mono_since(mono_us from, mono_us to)
{
	return to.us - from.us;
}

static inline mono_us
mono_add(mono_us t, int64_t duration_us)
{
	return (mono_us){ t.us + duration_us };
}

enum attempt_state {
	ATTEMPT_GRANTED, /* decided; the agent has not said that it runs */
	ATTEMPT_RUNNING,
	ATTEMPT_ENDED
};

static inline const char *
attempt_state_name(enum attempt_state state)
{
	static const char *const names[] = { "granted", "running", "ended" };

	return (unsigned)state < sizeof names / sizeof names[0] ? names[state] : "?";
}

/* How an attempt ended. */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_OK,
	OUTCOME_FAILED, /* the recipe exited with another code than 0 */
	OUTCOME_SIGNAL, /* the recipe died by a signal */
	OUTCOME_TIMEOUT,
	OUTCOME_STALL, /* no output and no step ended for too long */
	OUTCOME_CANCELLED,
	OUTCOME_REFUSED, /* the agent could not start it: recipe missing, no space, ... */
	OUTCOME_LOST /* its keeper is gone, or its host did not come back */
};

static inline const char *
outcome_name(enum outcome outcome)
{
	static const char *const names[] = { "none", "ok", "failed", "signal", "timeout", "stall",
		"cancelled", "refused", "lost" };

	return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "?";
}

/* What a tree of processes has used so far; -1: that cannot be told. */
struct usage {
	int64_t user_us, sys_us;
	int64_t max_resident_bytes; /* of its largest process */
	int64_t minor_faults, major_faults;
	int64_t blocks_in, blocks_out; /* of 512 bytes */
	int64_t voluntary_switches, involuntary_switches;
};

#define USAGE_UNKNOWN ((struct usage){ -1, -1, -1, -1, -1, -1, -1, -1, -1 })

/* Where a phase mark came from. */
enum mark_source { MARK_RECIPE, MARK_LOG };

struct phase_mark {
	char name[NAME_SIZE];
	enum mark_source source;
	int64_t at_us; /* since the attempt began */
	int64_t log_offset; /* where in the log */
	int64_t steps; /* steps begun before it */
	struct usage usage; /* of the attempt until then: a phase's own is the difference of two */
};

/* An attempt as its agent sees it now. */
struct attempt_status {
	attempt_id id;
	uint64_t fence;
	enum attempt_state state;
	int32_t limit; /* steps allowed now */
	int32_t running; /* steps running now: tokens held and the free one */
	bool limited; /* tokens.md "Limited" */
	bool serial; /* a make said that it lost the jobserver */
	bool ungoverned; /* a make runs its own -jN */
	char phase[NAME_SIZE];
	int64_t steps; /* seen in the log so far */
	int32_t percent; /* by the history of this branch and target; -1 unknown */
	int64_t granted, returned, drained, lost, unclaimed;
	int64_t elapsed_us;
	int64_t log_bytes; /* what the log has by now */
};

/* What an attempt came to. */
struct attempt_result {
	enum outcome outcome;
	int32_t exit_code; /* of the recipe; 128 + signal for a signal */
	char reason[TEXT_SIZE];
	int64_t real_us;
	struct usage usage;
	int64_t log_dropped_bytes;
	size_t nphases;
	struct phase_mark *phases;
};

struct host_facts {
	char agent_version[NAME_SIZE];
	char boot_id[UUID_SIZE]; /* hosts with the same one share a machine */
	char start_id[UUID_SIZE]; /* new with each start of the agent */
	char os[NAME_SIZE], release[NAME_SIZE], arch[NAME_SIZE];
	char cpu[TEXT_SIZE];
	int32_t threads;
	int64_t memory_bytes;
	int32_t slots; /* builds it takes at once */
	size_t nlabels;
	char (*labels)[NAME_SIZE];
	size_t nrecipes;
	char (*recipes)[NAME_SIZE];
};

/* A number with the stretch of time it speaks of and how old it is. */
struct reading {
	double value;
	int64_t window_us; /* 0: a momentary value */
	int64_t age_us;
};

enum load_reading {
	LOAD_USER, /* shares of all CPUs */
	LOAD_SYS,
	LOAD_IDLE,
	LOAD_IOWAIT,
	LOAD_STEAL,
	LOAD_1, /* load averages */
	LOAD_5,
	LOAD_15,
	LOAD_RUNNING, /* tasks */
	LOAD_BLOCKED,
	LOAD_MEMORY_FREE, /* bytes available without swapping */
	LOAD_SWAP_IN, /* bytes a second */
	LOAD_SWAP_OUT,
	LOAD_DISK_FREE, /* bytes in the work folder */
	LOAD_SPIN, /* CPU time spent spinning for locks, as a share of all CPUs' time */
	LOAD_LOCK_SLEEP, /* time that tasks slept for locks, as a share of all CPUs' time: may pass 1 */
	LOAD_RUN_WAIT, /* time that tasks were runnable and waited, likewise */
	LOAD_SWITCHES, /* context switches a second */
	LOAD_THROTTLED, /* share of the window in which the hardware held the clock down */
	LOAD_FREQUENCY, /* of what the CPUs can do, 0..1 */
	LOAD_DISK_BUSY, /* of the busiest disk, 0..1 */
	LOAD_DISK_AWAIT, /* seconds a request waited there */
	LOAD_DIRTY, /* bytes waiting to be written */
	LOAD_NFS_LATENCY, /* seconds a call took, mean over mounts by calls */
	LOAD_NFS_RETRANSMITS, /* a second */
	LOAD_PRESSURE_CPU, /* share of the window in which some task waited (PSI) */
	LOAD_PRESSURE_MEMORY,
	LOAD_PRESSURE_IO,
	LOAD_INSTRUCTIONS, /* that ended in user mode, a second, of all CPUs */
	LOAD_READINGS
};

static inline const char *
load_reading_name(enum load_reading reading)
{
	static const char *const names[] = { "user", "sys", "idle", "iowait", "steal", "load_1",
		"load_5", "load_15", "running", "blocked", "memory_free", "swap_in", "swap_out",
		"disk_free", "spin", "lock_sleep", "run_wait", "switches", "throttled", "frequency",
		"disk_busy", "disk_await", "dirty", "nfs_latency", "nfs_retransmits",
		"pressure_cpu", "pressure_memory", "pressure_io", "instructions" };

	return (unsigned)reading < LOAD_READINGS ? names[reading] : "?";
}

struct load {
	uint64_t missing; /* bit n: reading n is not there */
	struct reading readings[LOAD_READINGS];
};

static inline bool
load_has(const struct load *load, enum load_reading reading)
{
	return !(load->missing >> reading & 1);
}

/* A number that an operator named: a file's field, an OID, a command's output. */
struct gauge {
	char name[NAME_SIZE];
	struct reading reading;
	char missing[TEXT_SIZE]; /* why there is none; "": there is one */
};

enum lock_kind { LOCK_SPIN, LOCK_SLEEP };

static inline const char *
lock_kind_name(enum lock_kind kind)
{
	return kind == LOCK_SPIN ? "spin" : "sleep";
}

/* Time lost at one lock by one caller. A source that cannot tell one of the two names leaves it "". */
struct lock_row {
	char lock[LOCK_NAME_SIZE];
	char caller[LOCK_NAME_SIZE];
	enum lock_kind kind;
	int64_t count;
	int64_t wait_ns;
};

/* What a lock source saw in one window. The totals are of all rows, also of those not kept. */
struct lock_table {
	char source[NAME_SIZE];
	char missing[TEXT_SIZE]; /* why there is no reading; "": there is one */
	char coverage[TEXT_SIZE]; /* what this source cannot see, for people */
	int64_t window_us, age_us;
	int32_t cpus;
	bool has_spin, has_sleep; /* it can tell this kind: else its totals mean nothing */
	int64_t spin_count, spin_ns;
	int64_t sleep_count, sleep_ns;
	int64_t cost_cpu_ppm; /* CPU time it takes, millionths of one CPU; -1 not measured */
	int64_t cost_steps_ppm; /* by how much steps are fewer in its window; -1 not measured */
	size_t nrows;
	struct lock_row *rows; /* the most time first */
};

#endif
