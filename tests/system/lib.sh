# lib.sh - sharness and a real cluster on loopback, for a system test
#
#   test_description=...; . "$(dirname "$0")/lib.sh"
#
# $C is the cluster's folder, $C/src the source root; cluster.sh says what else there is. All that was
# started is ended, by id, when the test ends, however it ends. FLYBALL_KEEP=1 keeps the folder.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034

: "${FLYBALL_BUILD:?is not set: run make test}"
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$FLYBALL_BUILD/bin
SHARNESS_TEST_DIRECTORY=$FLYBALL_BUILD/trash
export SHARNESS_TEST_DIRECTORY
mkdir -p "$SHARNESS_TEST_DIRECTORY"
. /usr/share/sharness/sharness.sh
. "$top/deploy/demo/cluster.sh"

cluster_make
cluster_end() {
	cluster_down
	mountpoint -q "$C/disk" && umount "$C/disk"
	[ -n "${FLYBALL_KEEP:-}" ] || rm -rf "$C"
}
trap 'cluster_end; die' EXIT
cleanup cluster_end

build_is() { fb --json build "$1" | field state | grep -qx "$2"; }
build_done() { build_is "$1" "done"; }

# gnu_tree NAME: a source with a Makefile from standard input
gnu_tree() { mkdir -p "$C/src/$1" && cat > "$C/src/$1/Makefile"; }

# small_disk SIZE: a tmpfs at $C/disk, unmounted at the end; else the whole test is skipped
small_disk() {
	mkdir "$C/disk"
	mount -t tmpfs -o "size=$1" flyball-test "$C/disk" 2> /dev/null && return
	skip_all="a tmpfs cannot be mounted here"
	test_done
}
