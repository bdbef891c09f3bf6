#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a coordinator killed -9 during builds: they go on, and count once"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<MAKE
all: \$(addprefix s,\$(shell seq 12))
s%: ; @echo \$@ >> $C/ran.\$(ROUND); sleep 0.5
MAKE
policy steps <<'P'
branch "steps" { recipe = "gmake" source = "steps" targets = { "all" } jobs { min = 1 max = 2 start = 2 } }
P

test_expect_success 'a build runs' '
	cluster_up a1 a2 && fb run steps && wait_for 30 "build_is steps/all running" &&
	wait_for 20 "test -s $C/ran."
'

test_expect_success 'the coordinator dies; the build goes on without it' '
	coordinator_kill && n=$(wc -l < "$C/ran.") &&
	wait_for 20 "test \$(wc -l < $C/ran.) -gt $n"
'

test_expect_success 'it starts again, with a new epoch, and knows the build' '
	coordinator_start && wait_for 30 "is_up a1 && is_up a2" &&
	wait_for 60 "build_done steps/all" &&
	grep -c "coordinator up.*epoch=2" "$C/coordinator.log"
'

test_expect_success 'it ran once, its result counts once, its log is whole' '
	test "$(sort -u "$C/ran." | wc -l)" = 12 && test "$(wc -l < "$C/ran.")" = 12 &&
	fb --json build steps/all > b && test "$(grep -c \"outcome\" b)" = 1 &&
	test "$(field verdict < b)" = ok
'

test_expect_success 'killed while the build ends: the result is kept by the agent until it is taken' '
	rm "$C/ran." && fb run steps && wait_for 30 "build_is steps/all running" && coordinator_kill &&
	wait_for 60 "grep -q s12 $C/ran. && test -f $C/a1/state/attempts/2/result -o -f $C/a2/state/attempts/2/result" &&
	coordinator_start && wait_for 60 "build_done steps/all" &&
	test "$(fb --json build steps/all | field verdict)" = ok &&
	wait_for 30 "! ls $C/a1/state/attempts/2 $C/a2/state/attempts/2"
'

test_expect_success 'killed again and again during one round: every build ends ok, once' '
	for i in 1 2 3 4 5 6; do fb run steps || return 1; done &&
	for i in 1 2 3 4 5 6; do
		coordinator_kill; coordinator_start
		wait_for 30 "fb status" || return 1
	done &&
	wait_for 120 "! fb --json builds | grep -q \"\\\"verdict\\\": null\"" &&
	fb --json builds > b && test "$(grep -c "\"verdict\": \"ok\"" b)" = 8
'

test_expect_success 'all that was given out is back: no attempt, no workspace is left on the agents' '
	wait_for 30 "test -z \"\$(ls $C/a1/state/attempts $C/a2/state/attempts | grep -v :)\"" &&
	test -z "$(find "$C/a1/builds" "$C/a2/builds" -name "attempt-*")"
'

test_done
