#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="policies: file:line and what was expected; the old one stays in force"
. "$(dirname "$0")/lib.sh"

good() {
	policy b <<-P
	branch "b" {
	    recipe = "gmake"
	    source = "tree"
	    targets = { "all" }
	    limits { timeout = "${1:-30m}" }
	}
	P
}
gnu_tree tree <<'MAKE'
all: ; @true
MAKE
good

test_expect_success 'a good policy is in force' '
	cluster_up a1 && fb policy show b > shown && grep "timeout.*30m" shown
'

test_expect_success 'what policy show prints is a policy that means the same' '
	fb policy check shown && cp shown "$C/policies/b.policy" && hup &&
	wait_for 10 "test \$(grep -c \"policies in force\" $C/coordinator.log) -ge 2" &&
	fb policy show b > again && test_cmp shown again
'

# bad LINE WORDS: the policy on stdin is refused at that line with these words, and stays out of force
bad() {
	cat > "$C/policies/b.policy"
	test_expect_code 1 fb policy check "$C/policies/b.policy" 2> err &&
	grep -E "b.policy:$1: .*$2" err || { cat err; return 1; }
	before=$(grep -c "policies in force stay" "$C/coordinator.log")
	hup && wait_for 10 "test \$(grep -c \"policies in force stay\" $C/coordinator.log) -gt $before" &&
	fb policy show b > now && test_cmp again now &&
	fb status > status && grep -E "b.policy:$1" status
}

test_expect_success 'a typo in a key' '
	bad 3 "sorce" <<-P
	branch "b" {
	    recipe = "gmake"
	    sorce = "tree"
	    targets = { "all" }
	}
	P
'

test_expect_success 'a wrong unit' '
	bad 5 "30 minutes|90m|duration|12h" <<-P
	branch "b" {
	    recipe = "gmake"
	    source = "tree"
	    targets = { "all" }
	    limits { timeout = "30 minutes" }
	}
	P
'

test_expect_success 'a recipe that no host has' '
	bad 2 "gmkae.*gmake" <<-P
	branch "b" {
	    recipe = "gmkae"
	    source = "tree"
	    targets = { "all" }
	}
	P
'

test_expect_success 'a key that is designed and not acted on yet' '
	bad 5 "schedule" <<-P
	branch "b" {
	    recipe = "gmake"
	    source = "tree"
	    targets = { "all" }
	    schedule = "0 2 * * *"
	}
	P
'

test_expect_success 'the same branch in two files: both are named' '
	cp again "$C/policies/b.policy" && cp again "$C/policies/c.policy" && hup &&
	wait_for 10 "grep -E \"c.policy.*b.policy|b.policy.*c.policy\" $C/coordinator.log" &&
	fb policy show b > now && test_cmp again now && rm "$C/policies/c.policy"
'

test_expect_success 'coordinator -n says ok, -nv prints a form that parses back to the same' '
	$bin/flyball-coordinator -c "$C/coordinator.conf" -n | grep ok &&
	$bin/flyball-coordinator -c "$C/coordinator.conf" -nv > first &&
	cp first "$C/policies/b.policy" &&
	$bin/flyball-coordinator -c "$C/coordinator.conf" -nv > second && test_cmp first second
'

test_expect_success 'a running round keeps the policy it began with' '
	gnu_tree tree <<-M &&
	all: ; @sleep 3
	M
	fb run b && good 45m && hup && wait_for 10 "fb policy show b | grep 45m" &&
	wait_for 30 "build_done b/all" && test "$(fb --json build b/all | field verdict)" = ok
'

test_done
