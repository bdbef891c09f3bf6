/* The whole grammar is known from the first release on, so that a file written for a later one is
 * refused by the name of what is missing here, and a typing error is told from it.
 *
 * Keys have no default in these tables: whether one was given is what lets a target override its
 * branch, and a branch the defaults of its file.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/policy_grammar.h"

#include <stddef.h>

#define TEXT(name_) CFG_STR(name_, NULL, CFGF_NODEFAULT)
#define LIST(name_) CFG_STR_LIST(name_, NULL, CFGF_NODEFAULT)
#define BOOL(name_) CFG_BOOL(name_, cfg_false, CFGF_NODEFAULT)
#define SECTION(name_, opts_) CFG_SEC(name_, opts_, CFGF_NODEFAULT)

static cfg_opt_t jobs_opts[] = { TEXT("min"), TEXT("max"), TEXT("start"), TEXT("spin_target"),
	CFG_END() };
static cfg_opt_t needs_opts[] = { TEXT("memory"), TEXT("disk"), TEXT("os"), TEXT("release"),
	LIST("labels"), CFG_END() };
static cfg_opt_t limits_opts[] = { TEXT("timeout"), TEXT("stall"), TEXT("retries"),
	BOOL("second_attempts"), CFG_END() };
static cfg_opt_t cache_opts[] = { TEXT("key"), TEXT("size"), CFG_END() };
static cfg_opt_t caches_opts[] = { SECTION("tools", cache_opts), SECTION("obj", cache_opts),
	SECTION("ccache", cache_opts), CFG_END() };
static cfg_opt_t notify_opts[] = { TEXT("on"), TEXT("exec"), CFG_END() };
static cfg_opt_t target_opts[] = { SECTION("needs", needs_opts), SECTION("limits", limits_opts),
	BOOL("optional"), LIST("after"), CFG_END() };

/* What defaults and a branch have in common. */
#define SHARED \
	TEXT("recipe"), TEXT("schedule"), TEXT("overrun"), TEXT("catch_up"), TEXT("timezone"), \
	    TEXT("mode"), TEXT("clean_every"), TEXT("deadline"), TEXT("priority"), \
	    TEXT("governor"), SECTION("jobs", jobs_opts), SECTION("needs", needs_opts), \
	    SECTION("caches", caches_opts), SECTION("limits", limits_opts), \
	    SECTION("notify", notify_opts)

static cfg_opt_t defaults_opts[] = { SHARED, TEXT("retries"), CFG_END() };
static cfg_opt_t branch_opts[] = { SHARED, TEXT("source"), LIST("targets"),
	CFG_SEC("target", target_opts, CFGF_MULTI | CFGF_TITLE), CFG_END() };

cfg_opt_t policy_opts[] = { TEXT("include"), SECTION("defaults", defaults_opts),
	CFG_SEC("branch", branch_opts, CFGF_MULTI | CFGF_TITLE), CFG_END() };

#define BY_HAND "rounds are started with `flyball run`"
#define CLEAN "every attempt builds in a fresh workspace and keeps no cache"

#define BOTH(key_, instead_) \
	{ "defaults", key_, instead_ }, \
	{ \
		"branch", key_, instead_ \
	}

const struct unacted policy_unacted[] = {
	{ "", "include", "each file stands for itself, with defaults of its own" },
	BOTH("schedule", BY_HAND),
	BOTH("overrun", BY_HAND),
	BOTH("catch_up", BY_HAND),
	BOTH("timezone", BY_HAND),
	BOTH("clean_every", CLEAN),
	BOTH("caches", CLEAN),
	BOTH("deadline", "builds are ordered by priority, then the older round first"),
	BOTH("notify", "results are shown by `flyball rounds` and `flyball build`"),
	{ "target", "after", "targets of a round are built in any order" },
	{ NULL, NULL, NULL },
};
