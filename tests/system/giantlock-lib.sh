# giantlock-lib.sh - a build under a giant lock, whose agent has the lock's printer as its lock source
#
# Sourced after lib.sh. 16 steps at once spin for most of their time, on any machine: three would fill the lock.
#
#   giantlock STEPS           its source, of so many steps of 10 units
#   giantlock_policy MODE     a branch "giant" with that governor, which begins at 16
#   spin                      the share of CPU time spent spinning, as the host's newest reading has it
#   reading OP NUMBER         true if there is one and it compares so
#   books FILE                true if the tokens of the JSON of a build close
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034

lock=$C/lock
lock_units() { "$FLYBALL_BUILD/tests/workloads/giantlock_stat" "$lock" units; }

agent_option='lock_source = "command"
lock_command = "'"$FLYBALL_BUILD/tests/workloads/giantlock_stat $lock"' lockstat 1"
lock_every = 2
lock_window = 1'

giantlock() {
	mkdir -p "$C/src/giant"
	cat > "$C/src/giant/Makefile" <<-M
	STEP = $FLYBALL_BUILD/tests/workloads/giantlock_step
	STEPS = $1
	SHAPE = 10 400 200 0
	LOCK = $lock
	include $top/tests/workloads/giantlock/Makefile
	M
}

giantlock_policy() {
	policy giant <<-P
	branch "giant" {
	    recipe = "gmake"  source = "giant"  targets = { "all" }  governor = "$1"
	    jobs { min = 1  max = 32  start = 16 }
	    limits { timeout = "15m"  retries = 0 }
	}
	P
}

host_limit() { fb --json host a1 | sed -n 's/^  "limit": \([0-9]*\).*/\1/p'; }
spin() { fb --json host a1 | grep -A 4 '"spin_share"' | field value; }
reading() {
	now=$(spin)
	test -n "$now" && awk "BEGIN { exit !($now $1 $2) }"
}

books() {
	granted=$(field granted < "$1") returned=$(field returned < "$1") drained=$(field drained < "$1")
	echo "granted $granted returned $returned drained $drained lost $(field lost < "$1")"
	test "$granted" -gt 0 && test "$granted" -eq $((returned + drained)) && test "$(field lost < "$1")" = 0
}
