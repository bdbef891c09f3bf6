/* policy.h - what an operator wants of a branch, as a value
 *
 * Shape:  one policy a branch; each target carries its own effective limits and
 *         needs, so that nobody but the parser knows of overrides and defaults.
 * Units:  in the names.
 * Errors: none; io/policy_file.c has checked every value.
 * Memory: policy_create/policy_destroy; targets belong to the policy.
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_H
#define FLYBALL_POLICY_H

#include "proto/limits.h"
#include "proto/units.h"

enum governor_mode { GOVERNOR_OFF, GOVERNOR_OBSERVE, GOVERNOR_ADVISE, GOVERNOR_ACT };

const char *governor_mode_name(enum governor_mode mode);

/* What an operator's order about the mode is for, the widest first (mode.h). */
enum mode_scope { SCOPE_FARM, SCOPE_BRANCH, SCOPE_CLASS, SCOPE_HOST };

const char *mode_scope_name(enum mode_scope scope);

/* How a host's release is compared with the one needed. */
enum release_test { RELEASE_ANY, RELEASE_EQ, RELEASE_GE, RELEASE_GT, RELEASE_LE, RELEASE_LT };

struct needs {
	int64_t memory_bytes, disk_bytes;
	char os[NAME_SIZE]; /* "" any */
	enum release_test release_test;
	char release[NAME_SIZE];
	size_t nlabels;
	char (*labels)[NAME_SIZE]; /* a host must have them all */
};

struct target {
	char name[NAME_SIZE];
	struct needs needs;
	int64_t timeout_us, stall_us; /* 0: none */
	int32_t retries; /* further attempts after a host's fault */
};

struct policy {
	uint64_t version; /* given when it comes into force; counts over all branches */
	char branch[NAME_SIZE];
	char recipe[NAME_SIZE];
	char source[SOURCE_SIZE];
	char origin[SOURCE_SIZE]; /* the file it was read from */
	int32_t priority;
	enum governor_mode governor;
	int32_t jobs_min, jobs_max;
	int32_t jobs_start; /* 0: what was learned, else as many as the host has threads */
	int32_t spin_target_ppm; /* share of busy CPU time, in millionths; 0: learned */
	size_t ntargets;
	struct target *targets;
};

struct policy *policy_create(void);
struct policy *policy_dup(const struct policy *policy);
void policy_destroy(struct policy *policy);

/* Same in all that matters: the version and the origin are not compared. */
bool policy_equal(const struct policy *a, const struct policy *b);
const struct target *policy_find_target(const struct policy *policy, const char *name);

/* True when a host of this release satisfies the test; numbers in it compare as numbers. */
bool release_satisfies(const char *have, enum release_test test, const char *want);
const char *release_test_name(enum release_test test);

#endif
