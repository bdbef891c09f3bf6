#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="observe: a build has the limits that it has with the governor off, and what would be done is told"
. "$(dirname "$0")/lib.sh"
. "$top/tests/system/giantlock-lib.sh"

path() { tr -d ' \n' < "$1" | sed -n 's/.*"limit_path":\[\([0-9,]*\)\].*/\1/p'; }
build_with() {
	giantlock_policy "$1" && hup && wait_for 30 "fb policy show giant | grep -q 'governor *= *.*$1'" &&
	fb run giant
}

giantlock 60
giantlock_policy off
test_expect_success 'with the governor off' '
	cluster_up a1 && fb run giant --wait --timeout 300 && fb --json build giant/all > off &&
	test "$(path off)" = 16 && books off
'

giantlock 100000
test_expect_success 'it watches a build collapse, and says what it would set' '
	build_with observe && wait_for 180 "fb explain host a1 | grep -q \"would set [1-7],\"" &&
	fb explain host a1 > why && cat why && grep "would set" why && test "$(host_limit)" = 16
'

test_expect_success 'the limits were those of off' '
	fb --yes cancel giant/all --reason "enough was seen" && wait_for 60 "build_done giant/all" &&
	fb --json build giant/all > observe && test "$(path observe)" = "$(path off)"
'

test_expect_success 'a whole build under it has the same limits as well, and its books close' '
	giantlock 60 && fb run giant --wait --timeout 300 && fb --json build giant/all > observe &&
	test "$(path observe)" = "$(path off)" && books observe
'

test_done
