#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="an agent killed -9 during builds: they go on, and count once"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<MAKE
all: \$(addprefix s,\$(shell seq 12))
s%: ; @echo \$@ | tee -a $C/ran; sleep 0.5
MAKE
policy steps <<'P'
branch "steps" { recipe = "gmake" source = "steps" targets = { "all" } jobs { min = 1 max = 4 start = 2 } }
P

test_expect_success 'a build runs' '
	cluster_up a1 && fb run steps && wait_for 30 "build_is steps/all running" &&
	wait_for 20 "test -s $C/ran"
'

test_expect_success 'the agent dies; the build goes on without it' '
	agent_kill a1 && n=$(wc -l < "$C/ran") && wait_for 20 "test \$(wc -l < $C/ran) -gt $n"
'

test_expect_success 'it starts again and adopts the build: it ends ok, once, its log without a gap' '
	agent_start a1 && wait_for 60 "build_done steps/all" &&
	fb --json build steps/all > b && test "$(field verdict < b)" = ok &&
	test "$(grep -c \"outcome\" b)" = 1 && test "$(wc -l < "$C/ran")" = 12 &&
	wait_for 20 "test \$(fb log steps/all | grep -c ^s) = 12" &&
	fb log steps/all | grep ^s | sort | uniq -d > twice && test ! -s twice
'

test_expect_success 'limits follow after the adoption' '
	rm "$C/ran" && fb run steps && wait_for 30 "build_is steps/all running" &&
	agent_kill a1 && agent_start a1 && wait_for 30 "is_up a1" &&
	fb throttle a1 -j 1 --reason "after adoption" &&
	wait_for 10 "test \$(fb --json build steps/all | field limit) = 1" &&
	wait_for 60 "build_done steps/all"
'

test_expect_success 'an agent that dies while the build ends finds the result when it is back' '
	fb unthrottle a1 && rm "$C/ran" && fb run steps && wait_for 30 "build_is steps/all running" &&
	agent_kill a1 && wait_for 60 "test -f $C/a1/state/attempts/3/result" &&
	agent_start a1 && wait_for 30 "build_done steps/all" &&
	test "$(fb --json build steps/all | field verdict)" = ok
'

test_expect_success 'a keeper killed -9: its tree is gone, the build is tried again and ends ok' '
	rm "$C/ran" && fb run steps && wait_for 30 "build_is steps/all running" &&
	wait_for 20 "test -s $C/ran" &&
	for pid in $(keeper_pids); do kill -KILL $pid; done &&
	wait_for 90 "build_done steps/all" &&
	fb --json build steps/all > b && test "$(field verdict < b)" = ok &&
	grep -q "\"outcome\": \"lost\"" b
'

test_done
