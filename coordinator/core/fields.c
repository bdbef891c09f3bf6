/* Names stand in journals and recordings: they are added to, never changed.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/fields.h"

#include "coordinator/core/memory.h"
#include "coordinator/core/policy.h"

#define INT(struct_, member_) FIELD_AT(FIELD_INT, struct struct_, #member_, member_)
#define TEXT(struct_, member_) FIELD_AT(FIELD_TEXT, struct struct_, #member_, member_)
#define USED(struct_, member_) FIELD_AT(FIELD_INT, struct struct_, #member_, usage.member_)
#define USAGE(struct_) \
	USED(struct_, user_us), USED(struct_, sys_us), USED(struct_, max_resident_bytes), \
	    USED(struct_, minor_faults), USED(struct_, major_faults), USED(struct_, blocks_in), \
	    USED(struct_, blocks_out), USED(struct_, voluntary_switches), \
	    USED(struct_, involuntary_switches)

static const struct field needs_fields[] = {
	INT(needs, memory_bytes),
	INT(needs, disk_bytes),
	TEXT(needs, os),
	INT(needs, release_test),
	TEXT(needs, release),
	FIELD_MANY(FIELD_NAMES, struct needs, "labels", labels, nlabels, NULL),
	FIELD_END,
};

static const struct field target_fields[] = {
	TEXT(target, name),
	FIELD_SUB(struct target, "needs", needs, needs_fields),
	INT(target, timeout_us),
	INT(target, stall_us),
	INT(target, retries),
	FIELD_END,
};

const struct field policy_fields[] = {
	INT(policy, version),
	TEXT(policy, branch),
	TEXT(policy, recipe),
	TEXT(policy, source),
	TEXT(policy, origin),
	INT(policy, priority),
	INT(policy, governor),
	INT(policy, jobs_min),
	INT(policy, jobs_max),
	INT(policy, jobs_start),
	INT(policy, spin_target_ppm),
	FIELD_MANY(FIELD_LIST, struct policy, "targets", targets, ntargets, target_fields),
	FIELD_END,
};

const struct field host_facts_fields[] = {
	TEXT(host_facts, agent_version),
	TEXT(host_facts, boot_id),
	TEXT(host_facts, start_id),
	TEXT(host_facts, os),
	TEXT(host_facts, release),
	TEXT(host_facts, arch),
	TEXT(host_facts, cpu),
	INT(host_facts, threads),
	INT(host_facts, memory_bytes),
	INT(host_facts, slots),
	FIELD_MANY(FIELD_NAMES, struct host_facts, "labels", labels, nlabels, NULL),
	FIELD_MANY(FIELD_NAMES, struct host_facts, "recipes", recipes, nrecipes, NULL),
	FIELD_END,
};

static const struct field reading_fields[] = {
	FIELD_AT(FIELD_DOUBLE, struct reading, "value", value),
	INT(reading, window_us),
	INT(reading, age_us),
	FIELD_END,
};

#define READING(name_, index_) FIELD_SUB(struct load, name_, readings[index_], reading_fields)

const struct field load_fields[] = {
	INT(load, missing),
	READING("user", LOAD_USER),
	READING("sys", LOAD_SYS),
	READING("idle", LOAD_IDLE),
	READING("iowait", LOAD_IOWAIT),
	READING("steal", LOAD_STEAL),
	READING("load_1", LOAD_1),
	READING("load_5", LOAD_5),
	READING("load_15", LOAD_15),
	READING("running", LOAD_RUNNING),
	READING("blocked", LOAD_BLOCKED),
	READING("memory_free", LOAD_MEMORY_FREE),
	READING("swap_in", LOAD_SWAP_IN),
	READING("swap_out", LOAD_SWAP_OUT),
	READING("disk_free", LOAD_DISK_FREE),
	READING("spin", LOAD_SPIN),
	READING("lock_sleep", LOAD_LOCK_SLEEP),
	READING("run_wait", LOAD_RUN_WAIT),
	READING("switches", LOAD_SWITCHES),
	READING("throttled", LOAD_THROTTLED),
	READING("frequency", LOAD_FREQUENCY),
	READING("disk_busy", LOAD_DISK_BUSY),
	READING("disk_await", LOAD_DISK_AWAIT),
	READING("dirty", LOAD_DIRTY),
	READING("nfs_latency", LOAD_NFS_LATENCY),
	READING("nfs_retransmits", LOAD_NFS_RETRANSMITS),
	READING("pressure_cpu", LOAD_PRESSURE_CPU),
	READING("pressure_memory", LOAD_PRESSURE_MEMORY),
	READING("pressure_io", LOAD_PRESSURE_IO),
	READING("instructions", LOAD_INSTRUCTIONS),
	FIELD_END,
};

const struct field gauge_fields[] = {
	TEXT(gauge, name),
	FIELD_SUB(struct gauge, "reading", reading, reading_fields),
	TEXT(gauge, missing),
	FIELD_END,
};

const struct field attempt_status_fields[] = {
	FIELD_AT(FIELD_INT, struct attempt_status, "id", id.n),
	INT(attempt_status, fence),
	INT(attempt_status, state),
	INT(attempt_status, limit),
	INT(attempt_status, running),
	INT(attempt_status, limited),
	INT(attempt_status, serial),
	INT(attempt_status, ungoverned),
	TEXT(attempt_status, phase),
	INT(attempt_status, steps),
	INT(attempt_status, percent),
	INT(attempt_status, granted),
	INT(attempt_status, returned),
	INT(attempt_status, drained),
	INT(attempt_status, lost),
	INT(attempt_status, unclaimed),
	INT(attempt_status, elapsed_us),
	INT(attempt_status, log_bytes),
	FIELD_END,
};

static const struct field phase_mark_fields[] = {
	TEXT(phase_mark, name),
	INT(phase_mark, source),
	INT(phase_mark, at_us),
	INT(phase_mark, log_offset),
	INT(phase_mark, steps),
	USAGE(phase_mark),
	FIELD_END,
};

const struct field attempt_result_fields[] = {
	INT(attempt_result, outcome),
	INT(attempt_result, exit_code),
	TEXT(attempt_result, reason),
	INT(attempt_result, real_us),
	USAGE(attempt_result),
	INT(attempt_result, log_dropped_bytes),
	FIELD_MANY(FIELD_LIST, struct attempt_result, "phases", phases, nphases, phase_mark_fields),
	FIELD_END,
};

#define DOUBLE(struct_, member_) FIELD_AT(FIELD_DOUBLE, struct struct_, #member_, member_)

static const struct field law_memory_fields[] = {
	DOUBLE(law_memory, n),
	DOUBLE(law_memory, log_level),
	DOUBLE(law_memory, phi),
	DOUBLE(law_memory, base),
	DOUBLE(law_memory, inflation),
	DOUBLE(law_memory, inflation_var),
	FIELD_END,
};

const struct field memory_fields[] = {
	TEXT(memory, class),
	TEXT(memory, branch),
	TEXT(memory, phase),
	FIELD_SUB(struct memory, "law", law, law_memory_fields),
	FIELD_END,
};

const struct field law_evidence_fields[] = {
	INT(law_evidence, was),
	INT(law_evidence, running),
	INT(law_evidence, limited),
	DOUBLE(law_evidence, user),
	DOUBLE(law_evidence, sys),
	DOUBLE(law_evidence, idle),
	DOUBLE(law_evidence, spin),
	INT(law_evidence, spin_estimated),
	DOUBLE(law_evidence, phi),
	DOUBLE(law_evidence, steps_rate),
	FIELD_END,
};
