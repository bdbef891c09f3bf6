# throttle-lib.sh - the limits 1 -> 6 -> 2 -> 8 by `flyball throttle` and `unthrottle`
#
# Sourced by 061x with kind: gmake or bmake. SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154

mark="$FLYBALL_BUILD/tests/workloads/mark_step"
overlap="$FLYBALL_BUILD/tests/workloads/overlap"
marks=$C/marks limits=$C/limits

# The first limit holds before the first step: the host is throttled before the round.
now_limit() { printf "%s %s %s\n" "$("$overlap" now)" "$1" "$2" >> "$limits"; }

test_expect_success 'a cluster of one comes up, throttled to 1' '
	cluster_up a1 && fb throttle a1 -j 1 --reason "start narrow"
'

test_expect_success 'a recursive build runs under limits of 1, 6, 2 and 8' '
	now_limit 1 2 && fb run tree && wait_for 30 "test \$(grep -c ^b $marks) -ge 4" &&
	now_limit 6 2 && fb throttle a1 -j 6 --reason six &&
	wait_for 30 "test \$(grep -c ^b $marks) -ge 40" &&
	now_limit 2 0 && fb throttle a1 -j 2 --reason two &&
	n=$(grep -c ^b $marks) && wait_for 30 "test \$(grep -c ^b $marks) -ge $((n + 10))" &&
	now_limit 8 2 && fb unthrottle a1 &&
	wait_for 90 "build_done tree/all"
'

test_expect_success 'the exact overlap followed: never above once earlier steps had ended, grown within 2 s' '
	cat "$limits" && "$overlap" "$marks" "$limits" 500
'

test_expect_success 'the books close: granted = returned + drained' '
	fb --json build tree/all > b && test "$(field verdict < b)" = ok &&
	granted=$(field granted < b) && returned=$(field returned < b) && drained=$(field drained < b) &&
	lost=$(field lost < b) &&
	echo "granted $granted returned $returned drained $drained lost $lost" &&
	test "$granted" -gt 0 && test "$granted" -eq $((returned + drained)) && test "$lost" -eq 0
'

test_expect_success 'the path of the limit is shown' '
	fb build tree/all | grep -E "1 ?(>|→|->) ?6 ?(>|→|->) ?2 ?(>|→|->) ?8"
'
