# keeper-lib.sh - one keeper alone, for a system test of what it does
#
#   . "$(dirname "$0")/keeper-lib.sh"   instead of sharness.sh; test_description set before
#   recipe NAME <<EOF ... EOF           an executable "$K/NAME"; $K and $step are put in
#   drive ...                           keeper_drive (tests/workloads) with our keeper
#   value KEY FILE                      the last KEY=... in what drive printed
#   wait_for SECONDS 'condition'        polls; fails after that time and says what it waited for
#   keeper_test_done                    instead of test_done
#   $K                                  the test's folder; make the attempt's folders in it
#   $step, $overlap, $trees             mark_step, overlap and the folder of the make trees
#
# Keepers and whatever they started are ended, by id, when the test ends, however it ends.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034

: "${FLYBALL_BUILD:?is not set: run make test}"
top=$(cd "$(dirname "$0")/../.." && pwd)
SHARNESS_TEST_DIRECTORY=$FLYBALL_BUILD/trash
export SHARNESS_TEST_DIRECTORY
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. /usr/share/sharness/sharness.sh

K=$(mktemp -d "${TMPDIR:-/tmp}/fbkeeper.XXXXXX")
keeper=$FLYBALL_BUILD/bin/flyball-keeper
workloads=$FLYBALL_BUILD/tests/workloads
step=$workloads/mark_step
overlap=$workloads/overlap
trees=$top/tests/workloads
trap 'keepers_down; die' EXIT
cleanup keepers_down

# ids PATTERN FILE: processes of whose /proc/PID/FILE a line has the pattern
ids() {
	grep -lsa -- "$1" /proc/[0-9]*/"$2" | while read -r found; do
		pid=${found#/proc/}
		pid=${pid%"/$2"}
		[ "$pid" = $$ ] || echo "$pid"
	done
}

keeper_pids() { ids "flyball-keepe[r].*$K/" cmdline; }
recipe_pids() { ids "FLYBALL_MARKS=$K/" environ; }

keepers_down() {
	trap - EXIT
	for pid in $(keeper_pids) $(recipe_pids); do kill -KILL "$pid" 2>/dev/null; done
	grep -q " $K/disk " /proc/mounts && umount -l "$K/disk"
	rm -rf "$K"
	return 0
}

recipe() {
	{ echo "#!/bin/sh"; echo "K='$K' step='$step' trees='$trees'"; cat; } > "$K/$1"
	chmod +x "$K/$1"
}

now_ns() { "$overlap" now; }

drive() { "$workloads/keeper_drive" -k "$keeper" "$@"; }

value() { tr ' ' '\n' < "$2" | sed -n "s/^$1=//p" | tail -n 1; }

wait_for() {
	limit=$(($(date +%s) + $1))
	until eval "$2" > /dev/null 2>&1; do
		if [ "$(date +%s)" -ge "$limit" ]; then
			echo "waited $1 s in vain for: $2" >&2
			return 1
		fi
		sleep 0.1
	done
}

# Instead of test_done: a keeper's own trouble goes to its keeper.err, where nobody else looks.
keeper_test_done() {
	test_expect_success 'no keeper broke an assertion or upset a sanitizer' '
		! grep -aE "Sanitizer|runtime error|Assertion" "$K"/*/keeper.err "$K"/disk/*/keeper.err
	'
	test_done
}

# balanced FILE: granted = returned + drained, none lost
balanced() {
	test "$(value granted "$1")" -eq $(($(value returned "$1") + $(value drained "$1"))) &&
	    test "$(value lost "$1")" -eq 0
}
