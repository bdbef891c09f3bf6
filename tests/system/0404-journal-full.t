#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a full disk under the journal loses nothing accepted, says so, and recovers"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<'MAKE'
all: ; @sleep 0.2
MAKE
policy steps <<'P'
branch "steps" { recipe = "gmake" source = "steps" targets = { "all" } }
P
small_disk 4m
ln -s disk "$C/coordinator"

test_expect_success 'a round runs with the journal on a small disk' '
	cluster_up a1 && fb run steps --wait --timeout 60
'

test_expect_success 'the disk is full: a request is refused with the reason, and status has an alarm' '
	dd if=/dev/zero of="$C/coordinator/filler" bs=64k 2> /dev/null; sync
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do fb --timeout 3 run steps; done > out 2>&1
	wait_for 20 "grep -i \"journal.*\\(full\\|written\\)\" $C/coordinator.log" &&
	test_must_fail fb --timeout 3 run steps 2> err && grep -i journal err
'

test_expect_success 'there is space again: it goes on by itself, and what was accepted is built' '
	rm "$C/coordinator/filler" &&
	wait_for 20 "grep \"journal can be written again\" $C/coordinator.log" &&
	fb run steps --wait --timeout 120 &&
	coordinator_kill && coordinator_start && wait_for 30 "is_up a1" &&
	wait_for 120 "! fb --json builds | grep -q \"\\\"verdict\\\": null\""
'

test_done
