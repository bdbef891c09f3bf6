#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a paused host: no step ends, nothing is lost, and it goes on by itself"
. "$(dirname "$0")/lib.sh"

# Steps that end all the time, three at once, each with children of its own.
gnu_tree steps <<MAKE
all: \$(addprefix s,\$(shell seq 400))
s%: ; @sh -c 'sleep 0.05; echo \$@ >> $C/ran'
MAKE
policy steps <<'P'
branch "steps" {
    recipe = "gmake" source = "steps" targets = { "all" }
    jobs { min = 1 max = 3 start = 3 }
    limits { timeout = "10m" stall = "3s" retries = 0 }
}
P

ran() { wc -l < "$C/ran"; }
# states: of the processes of the build, one letter each ("S", "T" stopped)
states() { for pid in $(build_pids); do sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2> /dev/null; done; }
all_stopped() { states > st && test -s st && ! grep -v "[TZ]" st; }
moves() { n=$(ran) && wait_for 30 "test \$(wc -l < $C/ran) -gt $n"; }

# stands: while three seconds of ticks pass at the coordinator, no step ends
stands() {
	n=$(ran) && up=$(fb --json status | field up_us) &&
	wait_for 30 "test \$(fb --json status | field up_us) -gt $((up + 4000000))" &&
	all_stopped && test "$(ran)" = "$n"
}

test_expect_success 'a build runs' '
	cluster_up a1 && fb run steps && wait_for 30 "build_is steps/all running" &&
	wait_for 30 "test -s $C/ran"
'

test_expect_success 'a pause stops every process of it: no step ends, and no stall is counted' '
	fb pause a1 --reason "noise at night" && wait_for 20 all_stopped && stands &&
	build_is steps/all running && fb hosts | grep "paused by .*noise at night"
'

test_expect_success 'an agent that is killed and comes back finds it paused' '
	agent_kill a1 && agent_start a1 && wait_for 30 "is_up a1" && stands
'

test_expect_success 'nothing new is begun there meanwhile' '
	fb run steps && fb explain build steps/all | grep "paused by" && fb cancel steps/all
'

test_expect_success 'resume lets it go on' '
	fb resume a1 && moves && test "$(states | grep -c T)" = 0
'

test_expect_success 'a pause with a time ends by itself, though the coordinator is away' '
	fb pause a1 --for 3s --reason short && wait_for 20 all_stopped && coordinator_kill &&
	moves && coordinator_start && wait_for 30 "is_up a1"
'

test_expect_success 'the build ends ok: each step once, and the pauses are in its log' '
	wait_for 120 "build_done 1" && test "$(fb --json build 1 | field verdict)" = ok &&
	test "$(ran)" = 400 && test "$(sort -u "$C/ran" | wc -l)" = 400 &&
	fb log 1 | grep "paused by" && fb log 1 | grep "goes on after a pause"
'

test_expect_success 'a paused build can be cancelled' '
	fb run steps && wait_for 30 "build_is steps/all running" &&
	n=$(ran) && wait_for 30 "test \$(wc -l < $C/ran) -gt $n" &&
	fb pause a1 --reason "then not at all" && wait_for 20 all_stopped &&
	fb cancel steps/all && wait_for 30 "build_done steps/all" && test -z "$(build_pids)"
'

test_done
