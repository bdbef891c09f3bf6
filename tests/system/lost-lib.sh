# lost-lib.sh - a sub-make of a running build is killed -9: its tokens are booked as lost
#
# Sourced by 0614 and 0615 with kind: gmake or bmake. SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154

overlap="$FLYBALL_BUILD/tests/workloads/overlap"
marks=$C/marks limits=$C/limits

mkdir -p "$C/src/tree"
{
	if [ "$kind" = gmake ]; then echo "MAKEFLAGS += -k"; else echo ".MAKEFLAGS: -k"; fi
	sed -E -e "s,^STEP( \??=).*,STEP\1 $FLYBALL_BUILD/tests/workloads/mark_step $marks 250," \
	    -e 's/^(TOP|SUB)( \??=).*/\1\2 1/; s/^DEEP( \??=).*/DEEP\1 160/' \
	    "$top/tests/workloads/$kind-tree/Makefile"
} > "$C/src/tree/Makefile"
policy tree <<P
branch "tree" { recipe = "$kind" source = "tree" targets = { "all" } jobs { min = 1 max = 6 start = 6 } }
P

# BSD make cuts its own arguments at "=". Of this test's own deepest makes, the one with the most steps: it holds tokens for sure.
busiest_make() {
	for pid in $(pgrep -f "deep NAME."); do
		case $(cat "/proc/$pid/comm"):$(readlink "/proc/$pid/cwd") in
		*make:"$C"/*) echo "$(wc -w < "/proc/$pid/task/$pid/children") $pid" ;;
		esac
	done | sort -rn | sed -n '1s/.* //p'
}

test_expect_success 'a recursive build is in full swing, six steps at once' '
	cluster_up a1 && printf "%s 6 2\n" "$("$overlap" now)" > "$limits" && fb run tree &&
	wait_for 30 "test \$(grep -c ^b $marks) -ge 20"
'

test_expect_success 'a sub-make is killed -9: its tokens are booked as lost' '
	printf "%s 6 10\n" "$("$overlap" now)" >> "$limits" &&
	kill -KILL "$(busiest_make)" &&
	wait_for 60 "test \$(fb --json build tree/all | field lost) -gt 0"
'

test_expect_success 'the build goes on (-k) and ends as failed' '
	wait_for 90 "build_done tree/all" && test "$(fb --json build tree/all | field verdict)" = failed
'

test_expect_success 'the overlap was back at the limit, and never above it once the orphans had ended' '
	"$overlap" "$marks" "$limits" 600
'

test_expect_success 'the books: granted = returned + drained + lost' '
	fb --json build tree/all > b &&
	granted=$(field granted < b) returned=$(field returned < b) drained=$(field drained < b) lost=$(field lost < b) &&
	echo "granted $granted returned $returned drained $drained lost $lost" &&
	test "$granted" -eq $((returned + drained + lost)) && test "$lost" -gt 0 &&
	fb build tree/all | grep -i "lost"
'
