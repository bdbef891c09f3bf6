#!/bin/sh
# deps.sh - install the Debian packages that building, testing and the demos need
#
# usage: deploy/deps.sh [build|bpf|test|long|lint|demo|kernel]...   (default: build)
#
# Installs only what is missing, as root or through sudo; without either it
# prints the one line to run and stops. Nothing that is installed is touched.
#
# SPDX-License-Identifier: BSD-2-Clause
set -eu

BUILD="gcc make pkg-config libzmq3-dev libprotobuf-c-dev protobuf-c-compiler
libsodium-dev libev-dev libsqlite3-dev libconfuse-dev libjansson-dev"
# For the lock source "bpf"; without them all else builds.
BPF="clang bpftool libbpf-dev"
TEST="libcmocka-dev sharness perl bmake procps mount"
LONG="valgrind"
LINT="git clang clang-tidy clang-format libclang-rt-14-dev cppcheck mandoc shellcheck codespell"
DEMO="dpkg-dev xz-utils debian-archive-keyring"
KERNEL="flex bison bc libelf-dev cpio kmod"

want=""
[ $# -gt 0 ] || set -- build
for group; do
	case $group in
	build)  want="$want $BUILD" ;;
	bpf)    want="$want $BPF" ;;
	test)   want="$want $BUILD $BPF $TEST" ;;
	long)   want="$want $BUILD $TEST $LONG" ;;
	lint)   want="$want $BUILD $TEST $LINT" ;;
	demo)   want="$want $BUILD $DEMO" ;;
	kernel) want="$want $BUILD $DEMO $KERNEL" ;;
	*) echo "deps.sh: unknown group '$group': expected build, bpf, test, long, lint, demo or kernel" >&2; exit 2 ;;
	esac
done

missing=""
for p in $want; do
	case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || :) in
	"install ok installed") ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086 # a list of names
missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')

as_root=""
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		as_root=sudo
	else
		echo "deps.sh: these Debian packages are missing; as root, run:" >&2
		echo "  apt-get install --no-install-recommends $missing" >&2
		exit 1
	fi
fi

echo "deps.sh: installing: $missing" >&2
export DEBIAN_FRONTEND=noninteractive
install_all() {
	# shellcheck disable=SC2086 # a list of package names
	$as_root apt-get install -y -q --no-install-recommends $missing >&2
}
install_all || { $as_root apt-get update -q >&2 && install_all; } || {
	echo "deps.sh: apt-get could not install: $missing" >&2
	exit 1
}
