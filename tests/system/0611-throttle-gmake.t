#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a running recursive build of GNU make follows flyball throttle"
. "$(dirname "$0")/lib.sh"

mkdir -p "$C/src/tree"
{
	echo "STEP = $FLYBALL_BUILD/tests/workloads/mark_step $C/marks 300"
	echo "TOP = 30"; echo "SUB = 20"; echo "DEEP = 20"
	cat "$top/tests/workloads/gmake-tree/Makefile"
} > "$C/src/tree/Makefile"
policy tree <<'P'
branch "tree" { recipe = "gmake" source = "tree" targets = { "all" } jobs { min = 1 max = 8 start = 8 } }
P
. "$(dirname "$0")/throttle-lib.sh"

test_done
