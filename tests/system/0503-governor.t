#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="what the governor may do where: orders, the most specific one holds, one command reverts the farm"
. "$(dirname "$0")/lib.sh"

gnu_tree slow <<'MAKE'
all: ; @sleep 600
MAKE
policy slow <<P
branch "slow" {
    recipe = "gmake"
    source = "slow"
    targets = { "all" }
    governor = "advise"
    jobs { start = "learn" spin_target = 0.2 }
}
P

# mode_is HOST MODE FROM
mode_is() {
	fb --json host "$1" > h && test "$(field governor < h)" = "$2" && test "$(field governor_from < h)" = "$3"
}

test_expect_success 'a cluster of two comes up' 'cluster_up a1 a2'

test_expect_success 'a policy says the mode, its start and its target' '
	fb drain a2 --reason "one host only" && fb run slow && wait_for 30 "build_is slow/all running" &&
	mode_is a1 advise policy &&
	fb policy show slow > p && grep "start = \"learn\"" p && grep "spin_target = \"0.2\"" p
'

test_expect_success 'without orders flyball governor says so, and shows each host' '
	fb governor > g && grep "^no orders" g && grep "^slow *advise" g && grep "^a1 .*advise *policy" g
'

test_expect_success 'the most specific order holds' '
	fb governor off --reason "all off" && mode_is a1 off farm &&
	fb governor observe --branch slow --reason "this one not" && mode_is a1 observe branch &&
	class=$(field class < h) &&
	fb governor act --class "$class" --reason "these machines" && mode_is a1 act class &&
	fb governor advise --host a1 --reason "but not here" && mode_is a1 advise host &&
	fb governor > g && grep "^host *a1 *advise .*but not here" g && grep "^farm .*all off" g
'

test_expect_success 'an order that is lifted gives way to the next wider one' '
	fb governor policy --host a1 --reason "trial over" && mode_is a1 act class &&
	test_expect_code 6 fb governor policy --host a1 --reason again
'

test_expect_success 'orders survive the coordinator' '
	coordinator_kill && coordinator_start && wait_for 30 "is_up a1" && mode_is a1 act class
'

test_expect_success 'one command reverts the farm' '
	fb governor observe --reason "back to watching" && mode_is a1 observe farm &&
	fb governor > g && test "$(grep -c "back to watching" g)" = 1 && ! grep "all off\|these machines" g
'

test_expect_success 'what is not there is not found, and an order needs a reason' '
	test_expect_code 3 fb governor act --host nobody --reason x &&
	test_expect_code 3 fb governor act --class nothing --reason x &&
	test_expect_code 2 fb governor act &&
	test_expect_code 2 fb governor loud --reason x &&
	test_expect_code 2 fb governor act --host a1 --branch slow --reason x
'

test_expect_success 'a pin sets a limit, above the threads too, and ends by itself' '
	fb pin a1 -j 77 --reason trial && fb explain host a1 | grep "^why .*pinned by" &&
	fb pin a1 -j 78 --for 1s --reason trial &&
	wait_for 30 "fb --json host a1 | grep -q \"\\\"pin\\\": null\"" &&
	! fb explain host a1 | grep "^why .*pinned by"
'

test_done
