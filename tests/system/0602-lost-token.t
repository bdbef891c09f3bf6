#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='tokens of a killed sub-make are booked as lost and given out anew'
. "$(dirname "$0")/keeper-lib.sh"

recipe gmake <<'R'
mkdir "$K/pids"
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -k -f "$trees/gmake-tree/Makefile" \
	STEP="$step $K/marks 250" TOP=1 SUB=1 DEEP=160 PIDS="$K/pids"
R
# A make in the middle is killed, and the one below it goes on.
recipe middle <<'R'
mkdir "$K/pids2"
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -k -f "$trees/gmake-tree/Makefile" \
	STEP="$step $K/marks2 250" TOP=1 SUB=1 DEEP=320 PIDS="$K/pids2"
R
mkdir "$K/a" "$K/b"

# steps PIDFILE: what the make runs now; all but one of them hold a token
steps() { wc -w < "/proc/$(cat "$1")/task/$(cat "$1")/children"; }

# run_and_kill ATTEMPT RECIPE MARKS PIDFILE STEPS: drives it in the background, kills a make when all is in full
# swing and that make runs so many steps
run_and_kill() {
	drive -l "0:6" -L "$K/limits-$1" "$K/$1" "$K/$2" > "$K/out-$1" &
	driver=$!
	wait_for 10 "test -s $4 && test \$(grep -c b $3) -ge 20" &&
	    wait_for 10 "test \$(steps $4) -ge $5" || return 1
	echo "$(now_ns) 6 10" >> "$K/limits-$1"
	kill -KILL "$(cat "$4")"
}

test_expect_success 'a sub-make that holds tokens is killed' '
	run_and_kill a gmake "$K/marks" "$K/pids/left-deep" 2
'
test_expect_success 'its tokens are booked as lost' '
	wait_for 60 "test \$(value lost $K/out-a) -gt 0"
'
test_expect_success 'the build goes on to its end, which is failed (make -k)' '
	wait "$driver" && test "$(value outcome "$K/out-a")" = failed
'
test_expect_success 'the limit was reached again, and not exceeded once the orphans had ended' '
	"$overlap" "$K/marks" "$K/limits-a" 600 > "$K/judged" || { cat "$K/judged" >&2; false; }
'
test_expect_success 'granted = returned + drained + lost' '
	test "$(value granted "$K/out-a")" -eq $(($(value returned "$K/out-a") +
	    $(value drained "$K/out-a") + $(value lost "$K/out-a")))
'
test_expect_success 'a make above another is killed, and the lower one goes on' '
	run_and_kill b middle "$K/marks2" "$K/pids2/left" 1 && wait "$driver"
'
test_expect_success 'within 10 s no more steps run than the limit allows' '
	killed=$(sed -n "2s/ .*//p" "$K/limits-b") &&
	echo "$((killed + 10000000000)) 6 0" >> "$K/limits-b" &&
	"$overlap" "$K/marks2" "$K/limits-b" 10000 > "$K/judged" || { cat "$K/judged" >&2; false; } &&
	test "$(tail -n 1 "$K/marks2" | cut -d" " -f3)" -gt $((killed + 10000000000))
'
keeper_test_done
