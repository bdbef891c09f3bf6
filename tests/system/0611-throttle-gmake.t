#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a running recursive build of GNU make follows flyball throttle"
. "$(dirname "$0")/lib.sh"

mkdir -p "$C/src/tree"
sed -E -e "s,^STEP( \??=).*,STEP\1 $FLYBALL_BUILD/tests/workloads/mark_step $C/marks 300," \
    -e 's/^TOP( \??=).*/TOP\1 30/; s/^(SUB|DEEP)( \??=).*/\1\2 20/' \
    "$top/tests/workloads/gmake-tree/Makefile" > "$C/src/tree/Makefile"
policy tree <<'P'
branch "tree" { recipe = "gmake" source = "tree" targets = { "all" } jobs { min = 1 max = 8 start = 8 } }
P
. "$top/tests/system/throttle-lib.sh"

test_done
