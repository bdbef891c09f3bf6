#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a closed loop: a build that collapses at 16 is brought to where it does not, and replays to the letter"
. "$(dirname "$0")/lib.sh"
. "$top/tests/system/giantlock-lib.sh"

giantlock 8000
giantlock_policy act

test_expect_success 'a cluster of one comes up, and is recorded' '
	coordinator_config && agent_config a1 &&
	coordinator_start --record "$C/loop.rec" && agent_start a1 && wait_for 30 "is_up a1"
'

test_expect_success 'the build begins at 16' '
	fb run giant && wait_for 30 "test \$(lock_units) -gt 0" &&
	wait_for 30 "fb --json build giant/all | tr -d \" \\n\" | grep -q limit_path.:.16"
'

test_expect_success 'the limit comes down' 'wait_for 120 "test \$(host_limit) -lt 8"'

test_expect_success 'and it is explained by the law, with the waste it saw' '
	fb explain host a1 > why && cat why && ! grep -E "^rule +(start|operator|bounds)" why &&
	grep -E "^law +wants" why && grep -E "waste ~?[0-9.]+ % of busy time" why
'

test_expect_success 'the spinning comes down with it' 'wait_for 120 "reading \"<\" 0.4"'

test_expect_success 'the build ends well, and below 16' '
	wait_for 600 "build_done giant/all" && fb --json build giant/all > b && test "$(field verdict < b)" = ok &&
	test "$(field limit < b)" -lt 8
'

test_expect_success 'the books close: granted = returned + drained' 'books b'

test_expect_success 'a second build begins where the first one was brought to' '
	sed -i "s/ *start = 16//" "$C/policies/giant.policy" && giantlock 300 && hup &&
	wait_for 30 "! fb policy show giant | grep -q \"start *= *16\"" &&
	fb run giant --wait --timeout 300 && fb --json build giant/all > b &&
	tr -d " \n" < b | sed -n "s/.*\"limit_path\":\[\([0-9]*\).*/\1/p" > first && cat first &&
	test "$(cat first)" -lt 8 && books b
'

test_expect_success 'the recording yields the same limits, to the letter' '
	coordinator_kill TERM && "$bin/flyball-sim" replay "$C/loop.rec" > out && cat out &&
	grep -x ".* events, .* effects: replayed to the letter" out &&
	sed -n "s/^effect limit .*[( ]limit=\([0-9]*\).*/\1/p" "$C/loop.rec" | uniq > limits && cat limits &&
	grep -qx 16 limits && test "$(sort -u limits | wc -l)" -gt 2
'

test_expect_success 'a limit that was changed in it is found' '
	sed "s/^\(effect limit .*[( ]limit=\)16/\117/" "$C/loop.rec" > changed.rec &&
	! cmp -s changed.rec "$C/loop.rec" && test_expect_code 1 "$bin/flyball-sim" replay changed.rec
'

test_done
