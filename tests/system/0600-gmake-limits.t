#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a recursive GNU make build follows its limit, step by step'
. "$(dirname "$0")/keeper-lib.sh"

recipe gmake <<'R'
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -f "$trees/gmake-tree/Makefile" \
	STEP="$step $K/marks 250" TOP=40 SUB=20 DEEP=40
R
mkdir "$K/a"

test_expect_success 'it is built under limits 1, 6, 2 and 8' '
	drive -l "0:1 1.5:6 4:2 7:8" -L "$K/limits" "$K/a" "$K/gmake" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok
'
test_expect_success 'no step too many ever began, and growth showed within 2 s' '
	"$overlap" "$K/marks" "$K/limits" > "$K/judged" || { cat "$K/judged" >&2; false; } &&
	grep -qx steps=160 "$K/judged"
'
test_expect_success 'granted = returned + drained' 'balanced "$K/out"'
test_expect_success 'no scan took it for ungoverned' '! grep -q ungoverned=1 "$K/out"'
test_expect_success 'it was limited at limit 2, and the books said so' '
	grep -q "limit=2 running=2 limited=1" "$K/out"
'
test_expect_success 'the workspace is gone, log, result and out are there' '
	test ! -e "$K/a/work" && test ! -e "$K/a/keeper.sock" &&
	test -s "$K/a/log" && test -s "$K/a/result" && test -d "$K/a/out"
'
keeper_test_done
