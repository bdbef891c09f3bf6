#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a sub-make that forces -jN is shown ungoverned, one without + serial"
. "$(dirname "$0")/lib.sh"

tree="$top/tests/workloads/gmake-tree/Makefile"
gnu_tree forced <<MAKE
all: ; +\$(MAKE) -j8 -f $tree sub NAME=left SUB=20 DEEP=2 STEP="sleep 0.3"
MAKE
gnu_tree serial <<MAKE
all: left top
left: ; make -f $tree sub NAME=left SUB=6 DEEP=2 STEP="sleep 0.2"
top: ; sleep 0.5
MAKE
gnu_tree filters <<MAKE
all: ; +\$(MAKE) MAKEFLAGS="\$(filter --j% -j,\$(MAKEFLAGS))" -f $tree sub NAME=left SUB=20 DEEP=2 STEP="sleep 0.3"
MAKE
for branch in forced serial filters; do
	policy $branch <<-P
	branch "$branch" {
	    recipe = "gmake"
	    source = "$branch"
	    targets = { "all" }
	    jobs { min = 1 max = 4 start = 4 }
	}
	P
done

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

test_expect_success 'a forced -jN is shown as ungoverned while it runs, and after' '
	fb run forced &&
	wait_for 30 "fb builds | grep -i ungoverned" &&
	wait_for 60 "build_done forced/all" &&
	fb build forced/all | grep -i ungoverned
'

test_expect_success 'a sub-make without + is shown as serial' '
	fb run serial && wait_for 60 "build_done serial/all" &&
	fb build serial/all | grep -i serial
'

test_expect_success 'one that hands on the pool by a filter of MAKEFLAGS, as Linux 6.1 does, stays governed' '
	fb run filters && wait_for 60 "build_done filters/all" &&
	fb build filters/all > b && grep "ok" b && ! grep -iE "ungoverned|serial" b &&
	! fb log filters/all | grep -E "warning.*(jobserver|forced)"
'

test_done
