#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="what a build and each of its phases have used"
. "$(dirname "$0")/lib.sh"

# A phase goes on when the agent has seen that it began, however long that takes.
gnu_tree phases <<'MAKE'
all:
	@echo "phase idle" >> $$FLYBALL_MARKS
	@while test ! -e $(GO); do sleep 0.2; done
	@echo "phase burn" >> $$FLYBALL_MARKS
	@while test ! -e $(GO).2; do sleep 0.2; done
	@awk 'BEGIN { while (i++ < 30000000) x += i }'
MAKE
sed -i "s,\$(GO),$C/go," "$C/src/phases/Makefile"
policy phases <<P
branch "phases" {
    recipe = "gmake"  source = "phases"  targets = { "all" }
    limits { timeout = "10m" retries = 0 }
}
P
in_phase() { fb --json build phases/all | field phase | grep -qx "$1"; }
kept_with_usage() { # name: the agent has what the attempt had used when it began
	grep -Eq " $1 [0-9]+ [0-9]+ [0-9]+ " "$C"/a1/state/attempts/*/phases
}
phase_user() { tr -d '\n' < b | grep -oE "\{[^{}]*\"phase\": ?\"$1\"[^{}]*\}" | field user_us; }
total_user() { tr -d '\n' < b | sed 's/"phases": *\[[^]]*\]//g' | field user_us; }

test_expect_success 'a build in two phases runs' '
	cluster_up a1 && fb run phases && wait_for 60 "kept_with_usage idle" &&
	: > "$C/go" && wait_for 60 "kept_with_usage burn" && : > "$C/go.2" &&
	wait_for 60 "build_done phases/all"
'

test_expect_success 'the phase that burns CPU time is told from the one that waits' '
	fb --json build phases/all > b &&
	idle=$(phase_user idle) && burn=$(phase_user burn) && total=$(total_user) &&
	test "$burn" -gt "$idle" && test "$total" -ge "$burn"
'

test_expect_success 'people see a line for each phase, and the sum' '
	fb build phases/all > text && grep -E "^ *PHASE +BEGAN +REAL .*USER +SYS +RESIDENT" text &&
	grep -E "^ *idle " text && grep -E "^ *burn " text && grep -E "^ *total " text
'
test_done
