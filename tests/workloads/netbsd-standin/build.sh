#!/bin/sh
# build.sh - stands in for NetBSD's build.sh in tests: the same options, the same words in the log, and
# BSD make below
#
# As the real one: MAKEFLAGS is dropped from the environment; what stands behind -j is expanded
# unquoted; -V becomes the environment of a wrapper around make; tools come first. bmake is not
# bootstrapped but the machine's own.
#
# SPDX-License-Identifier: BSD-2-Clause
set -eu

say() { echo "===> $*"; }
usage() { echo "usage: build.sh [-Uu] -m mach [-a arch] -O obj -T tools -D dest -R release [-j n] [-V v=x] op..." >&2; exit 1; }

unset MAKEFLAGS
command_line="$0 $*"
parallel=
machine='' arch='' tools='' dest='' release='' obj='' update=no unprivileged=no settings=''
while getopts a:D:j:m:O:R:T:UuV: opt; do
	case $opt in
	a) arch=$OPTARG ;;
	D) dest=$OPTARG ;;
	j) parallel="-j $OPTARG" ;;
	m) machine=$OPTARG ;;
	O) obj=$OPTARG ;;
	R) release=$OPTARG ;;
	T) tools=$OPTARG ;;
	U) unprivileged=yes ;;
	u) update=yes ;;
	V) settings="$settings${OPTARG%%=*}='${OPTARG#*=}'; export ${OPTARG%%=*}
" ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ] || [ -z "$machine" ] || [ "$update$unprivileged" != yesyes ]; then usage; fi
for folder in "$tools" "$dest" "$release" "$obj"; do
	case $folder in /*) ;; *) say "ERROR: $folder is no absolute path"; exit 1 ;; esac
done

say "build.sh command:    $command_line"
say "MACHINE:             $machine"
say "MACHINE_ARCH:        ${arch:-$machine}"
mkdir -p "$tools/bin" "$dest" "$release" "$obj"
wrapper=$tools/bin/nbmake-$machine
[ -x "$wrapper" ] || say "Bootstrapping nbmake"
cat > "$wrapper" <<WRAPPER
#!/bin/sh
$settings
MAKEOBJDIR=$obj; RELEASEDIR=$release; MACHINE=$machine; export MAKEOBJDIR RELEASEDIR MACHINE
exec bmake \${1+"\$@"}
WRAPPER
chmod 755 "$wrapper"
say "Updated makewrapper: $wrapper"

for op; do
	case $op in
	tools)
		# shellcheck disable=SC2086 # as the real one
		( "$wrapper" $parallel obj-tools && cd tools && "$wrapper" $parallel build_install )
		say "Tools built to $tools"
		;;
	release)
		# shellcheck disable=SC2086 # as the real one
		"$wrapper" $parallel release
		say "Successful make release"
		;;
	*) say "ERROR: unknown op $op"; exit 1 ;;
	esac
done
