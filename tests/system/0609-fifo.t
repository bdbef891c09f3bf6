#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a pool in one named pipe grows at once and shrinks in time'
. "$(dirname "$0")/keeper-lib.sh"

# Its clients use the FIFO through the two descriptors, as they would any pipe.
recipe gmake <<'R'
test -p "$FLYBALL_FIFO" || exit 9
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -f "$trees/gmake-tree/Makefile" \
	STEP="$step $K/marks 250" TOP=60 SUB=20 DEEP=30
R
mkdir "$K/a"

test_expect_success 'it is built under limits 1, 6 and 2' '
	drive -F -l "0:1 1:6 3:2" -L "$K/limits" "$K/a" "$K/gmake" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok
'
test_expect_success 'growth showed within 2 s, and never were there more than 6' '
	sed -i "\$d" "$K/limits" && "$overlap" "$K/marks" "$K/limits" > "$K/judged" ||
	    { cat "$K/judged" >&2; false; }
'
test_expect_success 'the limit of 2 was reached while it ran' '
	grep -q "limit=2 running=2" "$K/out"
'
test_expect_success 'granted = returned + drained, and the FIFO is gone' '
	balanced "$K/out" && test ! -e "$K/a/fifo"
'
keeper_test_done
