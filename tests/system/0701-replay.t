#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='flyball-sim: random days replay to the letter, anything else does not'
: "${FLYBALL_BUILD:?is not set: run make test}"
SHARNESS_TEST_DIRECTORY=$FLYBALL_BUILD/trash
export SHARNESS_TEST_DIRECTORY
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. /usr/share/sharness/sharness.sh

sim=$FLYBALL_BUILD/bin/flyball-sim
day=$FLYBALL_BUILD/tests/unit/core_random

# A recording with a line that says so, of the first random day from seed $1 on that has one.
recording() {
	seed=$1
	while [ "$seed" -lt "$(($1 + 50))" ]; do
		FLYBALL_RECORD=$2 SEED=$seed "$day" > day.out || { cat day.out >&2; return 1; }
		if grep -q "^$3" "$2"; then
			return 0
		fi
		seed=$((seed + 1))
	done
	return 1
}

test_expect_success 'random days, with restarts in them, replay to the letter' '
	for seed in 1 2 3 4 5 6 7 8; do
		FLYBALL_RECORD=day.rec SEED=$seed "$day" > day.out &&
		"$sim" replay day.rec > out && grep -x ".* events, .* effects: replayed to the letter" out ||
		return 1
	done
'
test_expect_success 'one begins with facts of a journal' '
	recording 1 whole.rec "fact grant" && "$sim" replay whole.rec
'
test_expect_success 'cut in the middle of its last line it is good up to there' '
	head -c -7 whole.rec > cut.rec && "$sim" replay cut.rec > out &&
	grep "was cut here" out && grep "to the letter" out
'
test_expect_success 'wherever it is cut' '
	size=$(wc -c < whole.rec) && at=60 &&
	while [ "$at" -lt "$size" ]; do
		head -c "$at" whole.rec > cut.rec && "$sim" replay cut.rec > out || return 1
		at=$((at + size / 23))
	done
'
test_expect_success 'an effect that differs is shown, with its line' '
	awk "/^effect / && ++n == 5 { \$0 = \$0 \"x\" } { print }" whole.rec > changed.rec &&
	line=$(awk "/^effect / && ++n == 5 { print NR }" whole.rec) &&
	test_expect_code 1 "$sim" replay changed.rec 2> err &&
	grep "line $line: " err && grep "^recorded: " err && grep "^now: " err
'
test_expect_success 'an effect that is missing is found' '
	awk "/^effect / && ++n == 5 { next } { print }" whole.rec > changed.rec &&
	test_expect_code 1 "$sim" replay changed.rec 2> err && grep "effects differ" err
'
test_expect_success 'an effect too many is found' '
	awk "{ print } /^effect / && ++n == 5 { print }" whole.rec > changed.rec &&
	test_expect_code 1 "$sim" replay changed.rec 2> err && grep "effects differ" err
'
test_expect_success 'an event that is missing is found' '
	awk "/^event hello / && ++n == 2 { next } { print }" whole.rec > changed.rec &&
	! cmp -s whole.rec changed.rec && test_expect_code 1 "$sim" replay changed.rec
'
test_expect_success 'a fact after an event is refused' '
	(cat whole.rec && grep "^fact" whole.rec | head -n 1) > changed.rec &&
	test_expect_code 1 "$sim" replay changed.rec 2> err && grep "comes after an event" err
'
test_expect_success 'facts that do not fit are refused' '
	awk "/^fact grant/ && ++n == 1 { next } { print }" whole.rec > changed.rec &&
	test_expect_code 1 "$sim" replay changed.rec 2> err && grep "does not fit" err
'
test_expect_success 'what is no recording is refused' '
	test_expect_code 1 "$sim" replay "$sim" 2> err && grep "no recording" err &&
	printf flyball-rec > half && test_expect_code 1 "$sim" replay half 2> err && grep "no recording" err &&
	: > empty && test_expect_code 1 "$sim" replay empty 2> err && grep "empty" err &&
	(cat whole.rec && echo rubbish) > changed.rec && test_expect_code 1 "$sim" replay changed.rec &&
	test_expect_code 1 "$sim" replay missing 2> err && grep "missing: cannot be opened" err
'
test_expect_success 'calls' '
	"$sim" -V | grep "^flyball-sim [0-9]" && "$sim" --help | grep "^usage" &&
	test_expect_code 2 "$sim" 2> err && grep "^usage" err &&
	test_expect_code 2 "$sim" replay 2> err && test_expect_code 2 "$sim" -x 2> err
'
test_done
