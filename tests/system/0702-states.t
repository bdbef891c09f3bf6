#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='docs/states.md: each line of its tables has its test, and each test its line'
: "${FLYBALL_BUILD:?is not set: run make test}"
top=$(cd "$(dirname "$0")/../.." && pwd)
SHARNESS_TEST_DIRECTORY=$FLYBALL_BUILD/trash
export SHARNESS_TEST_DIRECTORY
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. /usr/share/sharness/sharness.sh

sed -n 's/^| \([A-Z][0-9]*\) |.*/\1/p' "$top/docs/states.md" | sort > lines
sed -n 's/^	{ "\([A-Z][0-9]*\)", .*/\1/p' "$top"/tests/unit/core_states_*.c | sort -u > tests

test_expect_success 'the page has lines, each id once' '
	test "$(wc -l < lines)" -gt 40 && test -z "$(uniq -d lines)"
'
test_expect_success 'each line has a test' 'test -z "$(comm -23 lines tests | tee -a /dev/stderr)"'
test_expect_success 'each test has a line' 'test -z "$(comm -13 lines tests | tee -a /dev/stderr)"'
test_done
