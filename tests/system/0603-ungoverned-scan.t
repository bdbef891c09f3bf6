#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a sub-make that forces its own -jN is noticed by the process scan'
. "$(dirname "$0")/keeper-lib.sh"

# make's own warning goes nowhere: the keeper does not read the log.
recipe forced <<'R'
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -f "$trees/gmake-tree/Makefile" \
	SUBMAKE='make -j8' STEP="$step $K/marks 1000" TOP=1 SUB=50 DEEP=1 2>/dev/null
R
mkdir "$K/a"

test_expect_success 'it is shown while it runs' '
	drive -l "0:3" "$K/a" "$K/forced" > "$K/out" &&
	test "$(value outcome "$K/out")" = ok && grep -q "^stat.* ungoverned=1" "$K/out"
'
test_expect_success 'the tokens are accounted for all the same' 'balanced "$K/out"'
keeper_test_done
