#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="operators: ^C says what goes on, policy files that clash, a coordinator that starts"
. "$(dirname "$0")/lib.sh"

gnu_tree slow <<'M'
all: ; @echo begun; sleep 60
M
for b in slow idle; do
	policy $b <<-P
	branch "$b" {
	    recipe = "gmake"
	    source = "slow"
	    targets = { "all" }
	}
	P
done

# interrupted FILE WORD...: flyball with these words ends with 130 on ^C, once FILE has what $when asks for
interrupted() {
	file=$1
	shift
	"$bin/flyball" "$@" > out 2> err &
	pid=$!
	if ! wait_for 20 "grep -q '$when' $file"; then
		kill $pid
		return 1
	fi
	kill -INT $pid
	wait $pid
	test $? = 130
}

test_expect_success 'a verb that comes before the coordinator has its socket waits for it' '
	"$bin/flyball" hosts -w > early 2> early.err &
	early=$!
	cluster_up a1 &&
	wait_for 20 "grep -q ^a1 early"; rc=$?
	kill -INT $early; wait $early
	test $? = 130 && test $rc = 0
'

test_expect_success 'a branch without rounds says how to start one' '
	test_expect_code 3 fb round idle 2> err && grep "flyball run idle starts one" err
'

test_expect_success '^C while a round is waited for: it goes on' '
	when="slow/all on a1: running" && interrupted err run slow --wait && grep "round 1 goes on; flyball round 1" err &&
	build_is slow/all running
'

test_expect_success '^C while a log is followed: its build goes on' '
	when=begun && interrupted out log slow/all -f && grep "build slow/all goes on" err && build_is slow/all running
'

test_expect_success 'a branch in two files is refused by both their names' '
	cp "$C/policies/slow.policy" again.policy &&
	test_expect_code 1 fb policy check "$C/policies/slow.policy" again.policy 2> err &&
	grep "again.policy: branch \"slow\" stands in $C/policies/slow.policy already" err
'

test_expect_success 'a pipe is no policy file, and what is not there is told as such' '
	mkfifo pipe && test_expect_code 1 timeout 10 "$bin/flyball" policy check pipe 2> err && grep "no regular file" err &&
	test_expect_code 3 fb policy check none && test_expect_code 3 fb key show none
'

test_done
