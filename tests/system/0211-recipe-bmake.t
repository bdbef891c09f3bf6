#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="the recipe bmake: the pool reaches sub-makes, banners are steps, folders are phases"
. "$(dirname "$0")/lib.sh"

# The build's own, behind those of its attempts and phases.
last() { grep -oE "\"$1\": ?[0-9]+" "$2" | tail -n 1 | grep -oE "[0-9]+"; }

step=$FLYBALL_BUILD/tests/workloads/mark_step
overlap=$FLYBALL_BUILD/tests/workloads/overlap
mkdir -p "$C/src/tree"
cat > "$C/src/tree/Makefile" <<MAKE
STEP = $step $C/marks 200
DIRS = libc libm
NUMBERS != seq 8
.if !defined(DIR)
all: \${DIRS}
\${DIRS}:
	@echo "===> lib/\${.TARGET} (all)"
	\${MAKE} -f \${MAKEFILE} DIR=\${.TARGET} all
.PHONY: all \${DIRS}
.else
all: \${NUMBERS:@n@\${DIR}-\$n.o@}
\${NUMBERS:@n@\${DIR}-\$n.o@}:
	@echo "cc -c \${.TARGET}"
	@\${STEP}
.endif
MAKE
policy tree <<'P'
branch "tree" {
    recipe = "bmake"
    source = "tree"
    targets = { "all" }
    jobs { min = 1 max = 3 start = 3 }
}
P

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

test_expect_success 'a recursive build ends well' '
	fb run tree --wait --timeout 60 && test "$(grep -c ^e "$C/marks")" = 16
'

test_expect_success 'its makes shared one pool: three steps at once and never more' '
	echo "0 3 0" > limits && "$overlap" "$C/marks" limits > seen && cat seen &&
	grep -q 3 seen
'

test_expect_success 'banners are steps, folders are phases' '
	fb --json build tree/all > b && test "$(last steps b)" = 18 &&
	grep "\"lib-libc\"\|\"lib-libm\"" b
'

test_expect_success 'an unknown verb is a usage error' '
	test_expect_code 2 "$top/deploy/recipes/bmake" install 2> err && grep "^usage: bmake" err
'

test_done
