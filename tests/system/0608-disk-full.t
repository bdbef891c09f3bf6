#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a full disk costs log bytes, which are marked, but no result'
. "$(dirname "$0")/keeper-lib.sh"

mkdir "$K/disk"
if ! mount -t tmpfs -o size=2m tmpfs "$K/disk" 2>/dev/null; then
	skip_all='a small tmpfs cannot be mounted here (needs root)'
	test_done
fi
mkdir "$K/disk/a"
head -c 500000 /dev/zero > "$K/disk/ballast"
recipe flood <<'R'
head -c 5000000 /dev/zero | tr '\0' 'x'
touch "$K/printed"
R

test_expect_success 'the recipe prints more than the disk holds and ends' '
	{ drive -w "$K/work" "$K/disk/a" "$K/flood" > "$K/out" & } && driver=$! &&
	wait_for 20 "test -e $K/printed && test -z \"\$(recipe_pids)\""
'
test_expect_success 'the keeper waits for room for the result' '
	test -n "$(keeper_pids)" && test ! -e "$K/disk/a/result"
'
test_expect_success 'with room again, the result is there, with its reason' '
	rm "$K/disk/ballast" && wait "$driver" && test "$(value outcome "$K/out")" = ok &&
	grep -q "^reason=the log could not be written for a while: No space left" "$K/out"
'
test_expect_success 'what is missing in the log is counted and marked' '
	dropped=$(value dropped "$K/out") && test "$dropped" -gt 3000000 &&
	grep -q "^\[flyball: $dropped bytes dropped\]" "$K/disk/a/log" &&
	stored=$(sed "/flyball/d" "$K/disk/a/log" | tr -dc x | wc -c) && test $((stored + dropped)) = 5000000
'
keeper_test_done
