#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='every way in which a recipe can end has its outcome and its reason'
. "$(dirname "$0")/keeper-lib.sh"

recipe sleeper <<'R'
sleep 60
R
recipe quiet <<'R'
for i in 1 2 3 4 5; do echo $i; sleep 0.4; done
sleep 60
R
# No output, but steps end: that is no stall.
recipe mute <<'R'
printf 'all: 1 2 3 4 5 6 7 8 9\n%%:\n\t@sleep 0.4\n' > mk
MAKEFLAGS="$FLYBALL_GMAKE_FLAGS" exec make -f mk
R
recipe stubborn <<'R'
trap '' TERM
sleep 60
sleep 60
R
recipe polite <<'R'
trap 'echo goodbye; exit 1' TERM
sleep 60 & wait
R
recipe three <<'R'
exit 3
R
recipe segv <<'R'
kill -SEGV $$
R
recipe forbidden <<'R'
exit 0
R
chmod -x "$K/forbidden"

# ends_as OUTCOME RECIPE [option...]: and the reason in "$K/out"
ends_as() {
	want=$1 name=$2
	shift 2
	rm -rf "$K/$name.d" && mkdir "$K/$name.d" &&
	drive "$@" "$K/$name.d" "$K/$name" > "$K/out" &&
	{ test "$(value outcome "$K/out")" = "$want" || { cat "$K/out" >&2; false; }; } &&
	test -z "$(recipe_pids)" && test ! -e "$K/$name.d/work"
}
says() { grep -q "^reason=.*$1" "$K/out"; }

test_expect_success 'timeout' 'ends_as timeout sleeper -t 1 && says "timeout of 1 s"'
test_expect_success 'stall: no output and no step for a second' '
	ends_as stall quiet -s 1 && says "printed nothing" && grep -qx 5 "$K/quiet.d/log"
'
test_expect_success 'steps that end without a word are no stall' 'ends_as ok mute -s 1 -l 0:2'
test_expect_success 'a cancelled recipe may say its last words' '
	ends_as cancelled polite -C 0.5 && says "a test said so" && grep -qx goodbye "$K/polite.d/log"
'
test_expect_success 'one that ignores SIGTERM is killed' 'ends_as cancelled stubborn -C 0.5'
test_expect_success 'an exit code' '
	ends_as failed three && says "exited with 3" && test "$(value exit "$K/out")" = 3
'
test_expect_success 'a signal' '
	ends_as signal segv && says "signal 11" && test "$(value exit "$K/out")" = 139
'
test_expect_success 'a recipe that is missing' '
	ends_as refused nothing && says "$K/nothing cannot be run: No such file"
'
test_expect_success 'a recipe that is not executable' '
	ends_as refused forbidden && says "forbidden cannot be run: Permission denied"
'
test_expect_success 'a workspace that is not new is refused and left alone' '
	mkdir "$K/old" && echo precious > "$K/old/file" &&
	ends_as refused three -w "$K/old" && says "old one is never used" && test -s "$K/old/file"
'
keeper_test_done
