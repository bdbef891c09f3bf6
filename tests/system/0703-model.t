#!/bin/sh
# What flyball-sim builds on model hosts, as a user calls it.
#
# SPDX-License-Identifier: BSD-2-Clause
test_description='flyball-sim: builds on model hosts'
: "${FLYBALL_BUILD:?is not set: run make test}"
top=$(cd "$(dirname "$0")/../.." && pwd)
SHARNESS_TEST_DIRECTORY=$FLYBALL_BUILD/trash
export SHARNESS_TEST_DIRECTORY
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. /usr/share/sharness/sharness.sh

sim=$FLYBALL_BUILD/bin/flyball-sim
scenarios=$top/tests/scenarios
seed=${SEED:-$(date +%s)}
echo "# SEED=$seed"

test_expect_success 'every scenario of ours runs under the law' '
	for s in "$scenarios"/*.conf; do
		"$sim" run -s $seed "$s" > out && grep "^build 1: [0-9.]* s, [0-9]* changes" out || return 1
	done
'
test_expect_success 'a fixed limit is never moved' '
	"$sim" run -v -s $seed -j 7 "$scenarios/phases.conf" > out &&
	grep "^build 1: .* 0 changes of the limit" out &&
	grep "phase begins" out > phases && ! grep -v "limit   7 " phases
'
test_expect_success 'the same seed gives the same course, another one another' '
	"$sim" run -v -s $seed "$scenarios/nfs.conf" > one && "$sim" run -v -s $seed "$scenarios/nfs.conf" > two &&
	test_cmp one two && "$sim" run -v -s $((seed + 1)) "$scenarios/nfs.conf" > three && ! cmp -s one three
'
test_expect_success 'what it records replays to the letter' '
	"$sim" run -n 2 -s $seed -r model.rec "$scenarios/healthy.conf" && "$sim" replay model.rec > out &&
	grep "to the letter" out
'
test_expect_success 'figures come as one line a scenario' '
	"$sim" bench -n 1 -s $seed "$scenarios/healthy.conf" > out && [ "$(wc -l < out)" -eq 1 ] &&
	grep "^governor scenario=healthy cold_ratio=[0-9.]* warm_ratio=[0-9.]* oracle_ratio=[0-9.]* .*threads_ratio=[0-9.]* cold_ratio_1hz=[0-9.]* " out
'
test_expect_success 'random locks: their rates at each limit end in a table' '
	"$sim" shapes -n 1 -s $seed table.csv > out && grep "^governor scenario=shapes mean_ratio=[0-9.]* worst_ratio=" out &&
	head -n 1 table.csv | grep "^shape,threads,.*,j,phi,rate$" && tail -n 1 table.csv | grep "^1,[0-9]*,"
'
test_expect_success 'wrong calls and files are told' '
	test_expect_code 1 "$sim" run none.conf 2> err && grep "none.conf: cannot be opened" err &&
	echo "phase \"p\" { locks = 0.1 }" > typo.conf && test_expect_code 1 "$sim" run typo.conf 2> err &&
	grep "typo.conf:1: .*locks" err &&
	test_expect_code 2 "$sim" run -j 0 typo.conf 2> err && grep "expected a number from 1" err &&
	test_expect_code 2 "$sim" run 2> err && grep "^usage" err &&
	test_expect_code 2 "$sim" bench 2> err && grep "^usage" err
'
test_done
