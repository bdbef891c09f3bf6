#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a log is whole up to its cap, and says what is missing beyond it'
. "$(dirname "$0")/keeper-lib.sh"

recipe small <<'R'
cat "$K/data" >&2
R
recipe large <<'R'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat "$K/data"; done
R
head -c 5000000 /dev/urandom > "$K/data"
mkdir "$K/a" "$K/b"

test_expect_success 'five megabytes of any bytes come through as they are' '
	drive "$K/a" "$K/small" > "$K/out" && cmp "$K/data" "$K/a/log" &&
	test "$(value dropped "$K/out")" = 0 && test "$(value log_bytes "$K/out")" = 5000000
'
test_expect_success 'of a hundred megabytes, the cap keeps the first and the last' '
	drive -c 8000000 "$K/b" "$K/large" > "$K/out" && test "$(value outcome "$K/out")" = ok &&
	cmp -n 4000000 "$K/data" "$K/b/log" &&
	tail -c 500000 "$K/data" > "$K/want" && tail -c 500000 "$K/b/log" > "$K/got" &&
	cmp "$K/want" "$K/got"
'
test_expect_success 'what is stored and what was dropped add up' '
	dropped=$(value dropped "$K/out") &&
	mark=$(printf "\n[flyball: %s bytes dropped]\n" "$dropped" | wc -c) &&
	test $(($(value log_bytes "$K/out") - mark + dropped)) = 100000000 &&
	test "$(stat -c %s "$K/b/log")" = "$(value log_bytes "$K/out")" &&
	grep -aqx "\[flyball: $dropped bytes dropped\]" "$K/b/log"
'
keeper_test_done
