#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a recursive BSD make build follows its limit, step by step'
. "$(dirname "$0")/keeper-lib.sh"

recipe bmake <<'R'
exec bmake -j $FLYBALL_BMAKE_JOBS -f "$trees/bmake-tree/Makefile" \
	STEP="$step $K/marks 250" TOP=40 SUB=20 DEEP=40
R
recipe broken <<'R'
cat > mk <<'M'
all: a b c
a:
	false
b:
	sleep 0.3
c: b
	sleep 60
M
exec bmake -j $FLYBALL_BMAKE_JOBS -f mk
R
mkdir "$K/a" "$K/b"

test_expect_success 'it is built under limits 1, 6, 2 and 8' '
	drive -l "0:1 1.5:6 4:2 7:8" -L "$K/limits" "$K/a" "$K/bmake" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok
'
test_expect_success 'no step too many ever began, and growth showed within 2 s' '
	"$overlap" "$K/marks" "$K/limits" > "$K/judged" || { cat "$K/judged" >&2; false; } &&
	grep -qx steps=160 "$K/judged"
'
test_expect_success 'granted = returned + drained' 'balanced "$K/out"'
test_expect_success 'no scan took it for ungoverned' '! grep -q ungoverned=1 "$K/out"'
test_expect_success 'a step that fails ends the whole build soon' '
	drive -l "0:4" -t 30 "$K/b" "$K/broken" > "$K/out" &&
	test "$(value outcome "$K/out")" = failed
'
keeper_test_done
