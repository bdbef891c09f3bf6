#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a recording of a coordinator replays to the letter"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<'MAKE'
all: $(addprefix s,$(shell seq 4))
s%: ; @sleep 0.2
MAKE
policy steps <<'P'
branch "steps" { recipe = "gmake" source = "steps" targets = { "all" } }
P

test_expect_success 'a round is recorded, with an operator in it' '
	coordinator_config && agent_config a1 &&
	coordinator_start --record "$C/first.rec" && agent_start a1 && wait_for 30 "is_up a1" &&
	fb run steps --wait --timeout 60 && fb throttle a1 -j 1 --reason recorded && fb unthrottle a1 &&
	coordinator_kill TERM
'

test_expect_success 'it replays to the letter' '
	$bin/flyball-sim replay "$C/first.rec" > out && cat out && grep "to the letter" out
'

test_expect_success 'so does one that began with a journal and was killed -9' '
	coordinator_start --record "$C/second.rec" && wait_for 30 "is_up a1" &&
	fb run steps --wait --timeout 60 && coordinator_kill &&
	$bin/flyball-sim replay "$C/second.rec" > out && grep "to the letter" out &&
	grep "^fact grant" "$C/second.rec"
'

test_expect_success 'a recording that was changed does not' '
	sed "s/^effect start (host=a1/effect start (host=a2/" "$C/first.rec" > changed.rec &&
	! cmp -s "$C/first.rec" changed.rec &&
	test_expect_code 1 $bin/flyball-sim replay changed.rec
'

test_expect_success 'a recording is never written over' '
	test_must_fail $bin/flyball-coordinator -c "$C/coordinator.conf" --record "$C/first.rec" 2> err &&
	grep first.rec err
'

test_done
