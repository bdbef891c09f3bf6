#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a keeper whose folder is removed ends its build, and itself'
. "$(dirname "$0")/keeper-lib.sh"

mkdir "$K/a"
recipe waits <<'R'
touch "$K/begun"
until test -e "$K/go"; do sleep 0.1; done
R

test_expect_success 'the folder of a running attempt is removed' '
	drive -n -w "$K/work" "$K/a" "$K/waits" && wait_for 20 "test -e $K/begun" && rm -r "$K/a"
'
test_expect_success 'the keeper looks after its build to the end, and does not stay for ever' '
	test -n "$(keeper_pids)" && touch "$K/go" && wait_for 20 "test -z \"\$(keeper_pids)\"" &&
	test -z "$(recipe_pids)" && test ! -e "$K/work"
'
keeper_test_done
