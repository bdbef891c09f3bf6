/* cluster.h - all that the coordinator knows: hosts, policies, rounds, builds, attempts
 *
 * Shape:  hard state, made by facts alone, and soft state (last seen, load, progress),
 *         made by reports. Ids count from 1 and index their arrays. Hosts are in the
 *         order of their names.
 * Units:  as units.h. Monotonic times are the coordinator's.
 * Errors: find gives NULL; apply refuses what does not fit.
 * Memory: the cluster owns everything in it; pointers are borrowed until the next step().
 * Source: docs/states.md.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CLUSTER_H
#define FLYBALL_CLUSTER_H

#include "coordinator/core/fact.h"
#include "coordinator/core/law.h"
#include "coordinator/core/memory.h"
#include "coordinator/core/policy.h"

struct moment {
	mono_us mono;
	wall_us wall;
};

enum host_state {
	HOST_ABSENT, /* known, not seen since the coordinator started; nothing is held against it */
	HOST_UP,
	HOST_SILENT, /* had a connection, says nothing now: "not responding" */
	HOST_LOST, /* silent for a lease: its attempts are given up */
	HOST_ASLEEP /* said that it goes; not lost */
};

const char *host_state_name(enum host_state state);

/* What an operator may hold a host to (hold.h). */
enum hold_kind { HOLD_DRAIN, HOLD_THROTTLE, HOLD_PIN, HOLD_PAUSE, HOLDS };

/* Something an operator set, that may end by itself. */
struct order_hold {
	bool set;
	int32_t limit; /* of a throttle or pin */
	int64_t duration_us; /* 0: without end */
	wall_us since;
	mono_us until; /* of this run of the coordinator */
	char who[NAME_SIZE];
	char reason[TEXT_SIZE];
};

/* What an operator, or an alarm, says of the governor's mode above the policies (mode.h). */
struct mode_order {
	enum mode_scope scope;
	char name[NAME_SIZE]; /* "" for the farm */
	enum governor_mode mode;
	wall_us since;
	char who[NAME_SIZE];
	char reason[TEXT_SIZE];
};

/* What the law of a host is at work on: it begins anew when this changes. */
struct adapt_key {
	size_t attempts;
	attempt_id first;
	char branch[NAME_SIZE], phase[NAME_SIZE]; /* of the only one */
};

/* A move of a host's limit, with the readings behind it. */
struct limit_change {
	wall_us at;
	int32_t limit;
	enum governor_level level;
	struct law_evidence evidence; /* evidence.was: the limit before */
	char reason[TEXT_SIZE];
};

enum { LIMIT_CHANGES_KEPT = 16 };

struct host {
	/* hard */
	char name[NAME_SIZE];
	struct host_facts facts; /* facts.start_id "" until it was seen */
	struct order_hold holds[HOLDS];
	int32_t limit; /* 0: none set yet */
	enum governor_level limit_level;
	char limit_reason[TEXT_SIZE];
	wall_us limit_since;
	size_t nchanges, changes_capacity;
	struct limit_change *changes; /* the last ones, oldest first */
	size_t nlive, live_capacity;
	attempt_id *live; /* its attempts that have not ended, in the order of their builds */
	/* soft */
	enum host_state state;
	mono_us seen;
	mono_us lease_until; /* its attempts are given up when it is still silent then */
	bool reported; /* load is of this connection */
	struct load load;
	mono_us load_at;
	int32_t limit_reported; /* what the agent says is in force */
	int32_t guard; /* what its guard holds it to; 0: nothing */
	char guard_reason[TEXT_SIZE];
	size_t ngauges;
	struct gauge *gauges; /* of this connection, as load */
	struct law law;
	struct adapt_key adapt_key;
	bool touched; /* is in the cluster's list */
	int32_t
	    would; /* what the law would set, when its mode does not let it; 0: nothing to say */
	wall_us would_since;
	char would_reason[TEXT_SIZE];
	char trouble[TEXT_SIZE]; /* the last thing that went wrong with it */
};

struct limit_mark {
	wall_us at;
	int32_t limit;
};

struct attempt {
	/* hard */
	attempt_id id;
	build_id build;
	char host[NAME_SIZE];
	uint64_t epoch, fence;
	enum attempt_state state;
	wall_us granted_at, ended_at;
	struct attempt_result result; /* when ended */
	struct attempt_status status; /* soft while it runs, hard when ended */
	size_t npath, path_capacity;
	struct limit_mark *path; /* the host's limit over its course, the first at its grant */
	/* soft */
	mono_us status_at;
};

enum build_state { BUILD_QUEUED, BUILD_STARTING, BUILD_RUNNING, BUILD_CANCELLING, BUILD_DONE };

const char *build_state_name(enum build_state state);

struct build {
	build_id id;
	round_id round;
	char target[NAME_SIZE];
	bool cancel; /* wanted by cancel_who */
	char cancel_who[NAME_SIZE];
	char cancel_reason[TEXT_SIZE];
	enum verdict verdict; /* VERDICT_NONE: not done */
	char reason[TEXT_SIZE]; /* of the verdict */
	wall_us queued_at, done_at;
	size_t nattempts, attempts_capacity;
	attempt_id *attempts; /* oldest first; at most the last one is live */
	size_t
	    first_attempt; /* index of the first since the last retry: earlier ones do not count */
};

struct round {
	round_id id;
	char branch[NAME_SIZE];
	uint64_t policy; /* version it began with, and keeps */
	char revision[REVISION_SIZE];
	char who[NAME_SIZE];
	char why[TEXT_SIZE];
	wall_us at;
	size_t nbuilds, builds_capacity;
	build_id *builds;
};

/* Where durations are learned from: the good attempts at a branch's target. */
struct lesson {
	char branch[NAME_SIZE];
	char target[NAME_SIZE];
	size_t n, capacity;
	attempt_id *good; /* oldest first */
};

struct cluster {
	uint64_t epoch;
	uint64_t version; /* grows with every event: what a plan was made for */
	size_t nhosts, hosts_capacity;
	struct host **hosts;
	size_t npolicies, policies_capacity;
	struct policy **policies; /* index: version - 1; all that were ever in force */
	size_t nbranches, branches_capacity;
	uint64_t *branches; /* versions now in force, in the order of branch names */
	size_t nrounds, rounds_capacity;
	struct round **rounds;
	size_t nbuilds, builds_capacity;
	struct build **builds;
	size_t nattempts, attempts_capacity;
	struct attempt **attempts;
	size_t nlessons, lessons_capacity;
	struct lesson *lessons; /* in the order of branch and target */
	size_t nmemories, memories_capacity;
	struct memory *memories; /* in the order of class, branch and phase */
	size_t nopen, open_capacity;
	build_id *open; /* builds that are not done, in order of id */
	size_t norders, orders_capacity;
	struct mode_order *orders; /* in the order of scope and name */
	size_t ntouched, touched_capacity;
	struct host **touched; /* what the governor goes by has changed for these */
	struct moment now; /* of the last event */
	mono_us lease_grace_until; /* after a start nobody is lost before */
	bool plan_wanted; /* a plan was asked for and has not come */
	uint64_t plans; /* that came: where the next search begins, when it cannot look at all */
};

struct cluster *cluster_create(void);
void cluster_destroy(struct cluster *c);

/* Changes hard state by one fact; -1 when it does not fit, and nothing is changed. */
int cluster_apply(struct cluster *c, const struct fact *fact, struct err *err);

struct host *cluster_find_host(const struct cluster *c, const char *name);
struct round *cluster_find_round(const struct cluster *c, round_id id);
struct build *cluster_find_build(const struct cluster *c, build_id id);
struct attempt *cluster_find_attempt(const struct cluster *c, attempt_id id);
/* NULL when nothing is known. */
const struct lesson *cluster_find_lesson(
    const struct cluster *c, const char *branch, const char *target);
/* In force now for a branch; NULL when there is none. */
const struct policy *cluster_find_policy(const struct cluster *c, const char *branch);
const struct policy *cluster_find_policy_version(const struct cluster *c, uint64_t version);

/* Of a build: its round, policy and target, and its live attempt (NULL when none is). */
const struct round *build_round(const struct cluster *c, const struct build *b);
const struct policy *build_policy(const struct cluster *c, const struct build *b);
const struct target *build_target(const struct cluster *c, const struct build *b);
struct attempt *build_live_attempt(const struct cluster *c, const struct build *b);
/* Was it taken for lost while nothing else has taken its place? Then it may come back. */
bool attempt_given_up(const struct cluster *c, const struct attempt *a);
enum build_state build_state_get(const struct cluster *c, const struct build *b);

/* Live attempts on a host, each in turn (i from 0), oldest build first; then NULL. */
struct attempt *host_live_attempt(const struct cluster *c, const struct host *h, size_t i);
/* The governor is to look at this host again. */
void host_touch(struct cluster *c, struct host *h);
/* Other hosts with the same boot id run on the same machine: NULL or the first one's name. */
const char *host_shares_machine(const struct cluster *c, const struct host *h);

/* 0 when all that must hold holds; else -1 and which rule is broken, where. For tests, after every step. */
int cluster_check(const struct cluster *c, struct err *err);
/* True when the hard state is the same: a replay must give it. */
bool cluster_hard_equal(
    const struct cluster *a, const struct cluster *b, struct err *ret_difference);

#endif
