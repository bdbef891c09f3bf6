#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='whatever a recipe leaves running is killed, and nothing else'
. "$(dirname "$0")/keeper-lib.sh"

# Sleeps that no other test, or anybody else, has: their time has this test's own fraction.
ours=$(printf %s "$K" | cksum | cut -d' ' -f1)

recipe leaver <<R
sleep 300.$ours &
setsid sleep 301.$ours &
(setsid sh -c 'sleep 302.$ours & exec sleep 303.$ours' &)
nohup sleep 304.$ours >/dev/null 2>&1 &
env -i /bin/sh -c 'sleep 305.$ours & exec sleep 306.$ours' &
echo done
R
recipe tidy <<'R'
sleep 0.2 &
echo done
R
# A shell in the tree that makes new processes as fast as it can.
recipe forker <<R
(while :; do sleep 307.$ours & sleep 0.01; done) &
sleep 1
R
mkdir "$K/a" "$K/b" "$K/c"
sleep 308.$ours &
canary=$!

test_expect_success 'the build is ok and says what was left running' '
	drive "$K/a" "$K/leaver" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok &&
	grep -q "^reason=[78] processes were left running .*sleep" "$K/out" &&
	grep -q "^\[flyball: [78] processes were left running and were killed: .*sleep" "$K/a/log"
'
test_expect_success 'none of them is left' '
	! ps -eo args | grep "^sleep 30[0-7][.]$ours" && test -z "$(recipe_pids)"
'
test_expect_success 'the canary outside lives' 'kill -0 "$canary"'
test_expect_success 'what ends by itself at once is not complained of' '
	drive "$K/b" "$K/tidy" > "$K/out" && grep -qx "reason=" "$K/out"
'
test_expect_success 'a tree that goes on forking is emptied too' '
	drive "$K/c" "$K/forker" > "$K/out" && test "$(value outcome "$K/out")" = ok &&
	! ps -eo args | grep "^sleep 307[.]$ours"
'
kill "$canary"
keeper_test_done
