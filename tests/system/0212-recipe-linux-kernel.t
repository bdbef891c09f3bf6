#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="the recipe linux-kernel: out of tree, an image per architecture, clear refusals"
. "$(dirname "$0")/lib.sh"

# The build's own, behind those of its attempts and phases.
last() { grep -oE "\"$1\": ?[0-9]+" "$2" | tail -n 1 | grep -oE "[0-9]+"; }

cp -r "$top/tests/workloads/kernel-standin" "$C/src/linux"
cp -r "$top/tests/workloads/kernel-standin" "$C/src/dirty"
touch "$C/src/dirty/.config"
mkdir "$C/src/empty"
chmod a-w "$C/src/linux"
policy linux <<'P'
branch "linux" {
    recipe = "linux-kernel"
    source = "linux"
    targets = { "x86_64-tinyconfig", "i386-tinyconfig" }
    jobs { min = 1 max = 4 }
}
P
for branch in dirty empty; do
	policy $branch <<-P
	branch "$branch" {
	    recipe = "linux-kernel"
	    source = "$branch"
	    targets = { "x86_64-tinyconfig" }
	    limits { retries = 0 }
	}
	P
done
policy odd <<'P'
branch "odd" {
    recipe = "linux-kernel"
    source = "linux"
    targets = { "tinyconfig" }
    limits { retries = 0 }
}
P

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

test_expect_success 'both targets are built from a read-only source' '
	fb run linux --wait --timeout 90
'

test_expect_success 'image and configuration are in the output folder, each of its own' '
	grep "x86_64 tinyconfig" "$C/a1/builds/out/linux/x86_64-tinyconfig/bzImage" &&
	grep "i386 tinyconfig" "$C/a1/builds/out/linux/i386-tinyconfig/bzImage" &&
	ls "$C/a1/builds/out/linux/i386-tinyconfig/config"
'

test_expect_success 'phases are config, build, output; steps are the lines of kbuild' '
	fb --json build linux/i386-tinyconfig > b &&
	test "$(last steps b)" = 14 && grep "\"config\"" b && grep "\"build\"" b && grep "\"output\"" b
'

test_expect_success 'a source that is not clean is refused in words' '
	test_expect_code 1 fb run dirty --wait --timeout 60 &&
	fb log dirty/x86_64-tinyconfig | grep "is not clean: run make mrproper"
'

test_expect_success 'and one that is no kernel' '
	test_expect_code 1 fb run empty --wait --timeout 60 &&
	fb log empty/x86_64-tinyconfig | grep "is no Linux kernel source"
'

test_expect_success 'and a target that names no architecture' '
	test_expect_code 1 fb run odd --wait --timeout 60 &&
	fb log odd/tinyconfig | grep "is not ARCH-CONFIG"
'

test_done
