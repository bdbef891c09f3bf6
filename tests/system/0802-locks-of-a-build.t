#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="locks of a build: added up while it runs, there after its end and after a restart"
. "$(dirname "$0")/lib.sh"

gnu_tree wait <<MAKE
all: ; @until [ -e $C/go ]; do sleep 0.2; done
MAKE
policy wait <<'P'
branch "wait" { recipe = "gmake" source = "wait" targets = { "all" } limits { retries = 0 } }
P
agent_option='lock_source = "command"
lock_every = 10
lock_command = "cat '"$C"'/table"'
# as a window of 2 s would say it: a longer one would have begun before the build
sed "1s/3857.33/2.00/" "$top/tests/fixtures/lock/netbsd-8.0rc2-j24.lockstat" > "$C/table"

# seen FILE: the fixture's rows and how much of the build was seen
seen() {
	fb locks --build wait/all > "$1" && grep -q "^command .* seen in [1-9]" "$1" &&
	grep -q "sleepq_block+1b5" "$1"
}

test_expect_success 'before a table has come that is said in words' '
	cluster_up a1 && fb run wait && fb locks --build wait/all | grep "no table of locks has come"
'

test_expect_success 'what comes while it runs is its own' '
	wait_for 30 "build_is wait/all running" && wait_for 60 "seen out" &&
	grep "^-- spin" out && grep "TOTAL%  *COUNT  *TIME/ms  LOCK  *CALLER" out
'

test_expect_success 'a window without a reading is counted, with its reason' '
	echo "lockstat: cannot open /dev/lockstat: Device busy" > "$C/table" &&
	wait_for 60 "fb locks --build wait/all | grep -q \"without a reading (the last: .*takes one at a time\""
'

test_expect_success 'it is there after the build, and after a restart' '
	touch "$C/go" && wait_for 60 "build_done wait/all" && seen ended &&
	coordinator_kill && coordinator_start && wait_for 30 "fb status" && seen again && cmp ended again
'

test_expect_success 'what is not there is not found' '
	test_expect_code 3 fb locks nobody && test_expect_code 3 fb locks --build 99 &&
	test_expect_code 2 fb locks && test_expect_code 2 fb locks a1 --build 1
'

test_done
