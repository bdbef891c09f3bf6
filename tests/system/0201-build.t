#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="the life of a build: ok, failed, cancelled, retried, drained, explained"
. "$(dirname "$0")/lib.sh"

gnu_tree good <<'MAKE'
all: one two
one two: ; @echo building $@; sleep 0.2
MAKE
gnu_tree bad <<'MAKE'
all: ; @echo "fine until here"; exit 3
MAKE
gnu_tree slow <<'MAKE'
all: ; @echo $$PPID > $(PIDS); sleep 600
MAKE
sed -i "s,\$(PIDS),$C/slow.pid," "$C/src/slow/Makefile"
for branch in good bad slow; do
	policy $branch <<-P
	branch "$branch" {
	    recipe = "gmake"
	    source = "$branch"
	    targets = { "all" }
	    jobs { min = 1 max = 4 }
	    limits { timeout = "10m" retries = 0 }
	}
	P
done

test_expect_success 'a cluster of two comes up' 'cluster_up a1 a2'

test_expect_success 'hosts on one machine say that they share its CPUs' '
	fb hosts > out && grep -i "a1.*shares.*a2" out
'

test_expect_success 'a good build ends ok, and its log is whole' '
	fb run good --wait --timeout 60 &&
	fb log good/all > log && grep "building one" log && grep "building two" log &&
	test "$(fb --json builds good | field verdict)" = ok
'

test_expect_success 'real, user, sys and steps are there' '
	fb --json build good/all > b &&
	grep -q "\"real_us\": [1-9]" b && grep -q "\"user_us\": [0-9]" b && grep -q "\"sys_us\": [0-9]" b
'

test_expect_success 'a failing build exits 1 and says which code the recipe had' '
	test_expect_code 1 fb run bad --wait --timeout 60 &&
	fb build bad/all > b && grep -i failed b && grep -E "exit(ed)?.*2" b &&
	fb log bad/all | grep "fine until here"
'

test_expect_success 'retry builds it again' '
	fb retry bad/all && wait_for 30 "build_done bad/all" &&
	test "$(fb --json build bad/all | grep -c \"outcome\")" = 2
'

test_expect_success 'what is done well cannot be retried: exit 6' '
	test_expect_code 6 fb retry good/all
'

test_expect_success 'a running build is cancelled, and its tree is gone' '
	fb run slow && wait_for 30 "test -s $C/slow.pid" &&
	pid=$(cat "$C/slow.pid") && kill -0 "$pid" &&
	fb cancel slow/all --reason "test of cancel" &&
	wait_for 30 "build_done slow/all" &&
	test_must_fail kill -0 "$pid" &&
	fb build slow/all | grep "test of cancel"
'

test_expect_success 'drained hosts take nothing; explain says why; resume lets it go' '
	fb drain a1 --reason "new disk" && fb drain a2 --reason "new fan" &&
	fb run good && fb explain build good/all > why &&
	grep "new disk" why && grep "new fan" why &&
	test "$(fb --json build good/all | field state)" = queued &&
	fb resume a1 && wait_for 30 "build_done good/all" &&
	fb --json build good/all | grep -q "\"host\": \"a1\""
'

test_expect_success 'what is not there is not found: exit 3' '
	test_expect_code 3 fb build 4711 && test_expect_code 3 fb host nobody &&
	test_expect_code 3 fb run nothing && test_expect_code 3 fb run good no-such-target
'

test_expect_success 'throttle needs a reason, explain gives it back' '
	test_expect_code 2 fb throttle a1 -j 1 &&
	fb throttle a1 -j 1 --reason "spins above" && fb explain host a1 > why &&
	grep "spins above" why && test "$(fb --json host a1 | field limit)" = 1 &&
	fb unthrottle a1
'

test_expect_success 'a throttle ends by itself' '
	fb throttle a1 -j 1 --for 1s --reason short &&
	wait_for 10 "fb --json host a1 | grep -q \"\\\"throttle\\\": null\""
'

test_done
