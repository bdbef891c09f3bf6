#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="the recipe netbsd: build.sh hands the pool to every make through its -j"
. "$(dirname "$0")/lib.sh"

# The build's own, behind those of its attempts and phases.
last() { grep -oE "\"$1\": ?[0-9]+" "$2" | tail -n 1 | grep -oE "[0-9]+"; }

step=$FLYBALL_BUILD/tests/workloads/mark_step
overlap=$FLYBALL_BUILD/tests/workloads/overlap
cp -r "$top/tests/workloads/netbsd-standin" "$C/src/src-8"
cat > "$C/src/src-8/step.mk" <<MAKE
FILES = 12
STEP = $step $C/marks 200
GNU_STEP = $step $C/gnu-marks 200
MAKE
chmod -R a-w "$C/src/src-8"
policy netbsd-8 <<'P'
branch "netbsd-8" {
    recipe = "netbsd"
    source = "src-8"
    targets = { "amd64" }
    jobs { min = 1 max = 8 start = 3 }
}
P

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

test_expect_success 'the limit is raised while the release is built' '
	fb run netbsd-8 && wait_for 60 "test \$(grep -c ^b $C/marks) -ge 6" &&
	echo "0 3 0" > limits && fb throttle a1 -j 1 --reason narrow &&
	printf "%s 1 0\n" "$("$overlap" now)" >> limits &&
	n=$(grep -c ^b "$C/marks") && wait_for 60 "test \$(grep -c ^b $C/marks) -ge $((n + 6))" &&
	printf "%s 3 5\n" "$("$overlap" now)" >> limits && fb unthrottle a1 &&
	wait_for 90 "build_done netbsd-8/amd64" &&
	test "$(fb --json build netbsd-8/amd64 | field verdict)" = ok
'

test_expect_success 'every make below build.sh kept to the limit, exactly' '
	test "$(grep -c ^e "$C/marks")" = 48 && cat limits && "$overlap" "$C/marks" limits 1000
'

test_expect_success 'GNU make had a pool of its own, as wide as the limit was at the start' '
	echo "0 3 0" > gnu-limits && "$overlap" "$C/gnu-marks" gnu-limits > seen && cat seen &&
	test "$(grep -c ^e "$C/gnu-marks")" = 8
'

test_expect_success 'that phase says that it cannot be moved' '
	fb --json build netbsd-8/amd64 > b && grep "\"tools.fixed-j\"" b && grep "\"release\"" b &&
	fb log netbsd-8/amd64 | grep "cannot be moved while they build"
'

test_expect_success 'stages are phases; files and folders are steps' '
	grep "\"do-lib\"" b && grep "\"do-bin\"" b && test "$(last steps b)" = 61
'

test_expect_success 'the release is in the output folder, the source is untouched' '
	grep amd64 "$C/a1/builds/out/netbsd-8/amd64/release-of" &&
	! find "$C/src/src-8" -newer "$C/coordinator.conf" -type f | grep .
'

test_done
