#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a keeper outlives whoever started it and takes orders from the next'
. "$(dirname "$0")/keeper-lib.sh"

recipe gmake <<'R'
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -f "$trees/gmake-tree/Makefile" \
	STEP="$step $K/marks 250" TOP=40 SUB=10 DEEP=20
R
# So long that its socket's path does not fit into a socket address.
long=$K/$(printf '%0120d' 0)
mkdir "$long"

test_expect_success 'the first client is killed in the middle of the build' '
	{ drive -l "0:3" -L "$K/limits" "$long" "$K/gmake" > "$K/first" & } && first=$! &&
	wait_for 10 "test \$(grep -c e $K/marks) -ge 6" &&
	kill -KILL "$first" && wait_for 5 "! kill -0 $first"
'
test_expect_success 'the build goes on at the last limit' '
	done=$(grep -c e "$K/marks") && wait_for 5 "test \$(grep -c e $K/marks) -gt $((done + 6))"
'
test_expect_success 'a second keeper is not let into the folder' '
	! "$keeper" "$long" 2> "$K/err" && grep -q "another keeper lives in" "$K/err"
'
test_expect_success 'a new client adopts it and its limits are followed' '
	drive -a -l "0:6 2:2 4:5" -L "$K/limits" "$long" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok && grep -q "limit=6 running=6" "$K/out"
'
test_expect_success 'no step too many ever began' '
	"$overlap" "$K/marks" "$K/limits" > "$K/judged" || { cat "$K/judged" >&2; false; }
'
test_expect_success 'granted = returned + drained' 'balanced "$K/out"'
test_expect_success 'after the end there is nobody to adopt' '
	! drive -a "$long" 2> "$K/err" && grep -q "no keeper lives in" "$K/err"
'
test_expect_success 'an attempt that has its result is not begun again' '
	! "$keeper" "$long" 2> "$K/err" && grep -q "holds a result already" "$K/err"
'
keeper_test_done
