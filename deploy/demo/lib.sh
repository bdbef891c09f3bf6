# lib.sh - what the demos share: sources through a private apt, a small cluster, its end
#
# Sourced with: top (the checkout), name (of the demo), group (of deps.sh), branches, and the
# functions sources and policies; then demo does the rest.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154

B=$top/build/gcc
bin=$B/bin
work=${DEMO_WORK:-$top/demo.work}
source_root=$work/src
C=""
. "$top/deploy/demo/cluster.sh"

say() { printf '%s\n' "== $*"; }
die() { printf '%s\n' "$name: $*" >&2; exit 1; }

# Seconds with tenths since some moment.
clock() { cut -d' ' -f1 /proc/uptime; }
since() { awk -v a="$1" -v b="$(clock)" 'BEGIN { printf "%.1f", b - a }'; }

# ---- sources: apt with its own configuration, lists and cache; the machine's is not touched ----

# Where the package lists say that Debian itself comes from.
# shellcheck disable=SC2016 # apt expands them
listed_mirror() {
	apt-get "$@" indextargets --format '$(SITE) $(RELEASE) $(CREATED_BY)' 2>/dev/null |
	    awk '$3 == "Packages" && $2 ~ /^(bookworm|trixie|stable|oldstable)$/ { print $1; exit }'
}

# The mirror that this machine uses. Lists that it has not fetched yet are fetched into a folder of ours.
mirror() {
	site=$(listed_mirror)
	if [ -z "$site" ]; then
		lists=$work/apt/machine
		mkdir -p "$lists/lists/partial"
		apt-get -q -o Dir::State="$lists" -o Dir::Cache="$lists" -o APT::Sandbox::User= update \
		    > "$lists/update.log" 2>&1 || :
		site=$(listed_mirror -o Dir::State="$lists")
	fi
	echo "$site"
}

# private_apt KIND SUITE...: KIND is deb or deb-src
private_apt() {
	kind=$1; shift
	site=$(mirror)
	[ -n "$site" ] || die "apt's configuration names no Debian mirror of bookworm or trixie: add one"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache/archives/partial" "$work/src"
	: > "$work/apt/sources.list"
	for suite; do
		echo "$kind [signed-by=$keyring] $site $suite main" >> "$work/apt/sources.list"
	done
	cat > "$work/apt/apt.conf" <<-CONF
	Dir::Etc::main "/dev/null";
	Dir::Etc::parts "/dev/null";
	Dir::Etc::sourcelist "$work/apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::State "$work/apt/state";
	Dir::State::status "/var/lib/dpkg/status";
	Dir::Cache "$work/apt/cache";
	Acquire::Languages "none";
	Acquire::Retries "3";
	APT::Sandbox::User "";
	CONF
	apt_get update > "$work/apt/update.log" 2>&1 || {
		tail -n 5 "$work/apt/update.log" >&2
		die "the package lists could not be fetched from this machine's mirror"
	}
}

apt_get() { APT_CONFIG=$work/apt/apt.conf apt-get -q "$@"; }

# ---- the cluster ---------------------------------------------------------------------------

# Ends it, but for one that went well and is to be kept; the logs of one that did not are kept.
at_end() {
	rc=$?
	trap - EXIT INT TERM
	if [ -n "$C" ] && { [ -z "${KEEP:-}" ] || [ "$rc" -ne 0 ]; }; then
		cluster_down
		if [ "$rc" -eq 0 ]; then rm -rf "$C"; else echo "$name: its logs are in $C" >&2; fi
	fi
	exit "$rc"
}
trap at_end EXIT
trap 'exit 130' INT TERM

keep_up() {
	cat <<-TEXT

	The cluster is up. To talk to it:

	  export FLYBALL_SERVER=$FLYBALL_SERVER
	  export PATH=$bin:\$PATH
	  flyball status
	  flyball hosts
	  flyball run $1 --wait
	  flyball throttle a1 -j 1 --reason "a look at it"

	To end it:

	  kill $(cat "$C"/coordinator.pid "$C"/*/agent.pid | tr '\n' ' ')
	  rm -rf $C
	TEXT
}

# Starts a round of each branch and shows how they go; fails when a build did.
rounds() {
	rounds=""
	for branch; do
		number=$(fb --json run "$branch" --reason "$name" | tr -dc 0-9)
		[ -n "$number" ] || die "no round of $branch was started"
		rounds="$rounds $number"
	done
	bad=0
	waits=""
	for number in $rounds; do
		fb round "$number" --wait --timeout 3600 > /dev/null &
		waits="$waits $!"
	done
	for pid in $waits; do
		while kill -0 "$pid" 2>/dev/null; do
			sleep 5
			fb builds --state running | awk 'NR > 1 { printf "  %s/%s on %s: %s, %s steps\n", $2, $3, $6, $7, $9 }'
		done
		wait "$pid" || bad=1
	done
	return $bad
}

# All of it: install, fetch, build, run, show, end.
demo() {
	say "packages that are needed"
	t=$(clock)
	"$top/deploy/deps.sh" "$group"
	install_s=$(since "$t")

	say "sources, through a private apt"
	t=$(clock)
	sources
	download_s=$(since "$t")

	say "building Flyball"
	t=$(clock)
	make -C "$top" --no-print-directory -s -j"$(nproc)" build
	build_s=$(since "$t")

	t=$(clock)
	cluster_make
	policies
	cluster_up a1 a2 a3 || die "the cluster did not come up; its logs are above"
	say "three agents on one machine: they share its $(nproc) CPUs, so none is as fast as a host of its own"
	fb hosts
	say "one round of each branch"
	m=$(clock)
	ok=0
	# shellcheck disable=SC2086 # a list of names
	rounds $branches || ok=1
	makespan=$(since "$m")
	run_s=$(since "$t")
	say "builds"
	fb builds -o wide
	echo
	echo "makespan $makespan s, on CPUs that three agents share"
	echo "$name download_s=$download_s install_s=$install_s build_s=$build_s run_s=$run_s"
	[ "$ok" -eq 0 ] || die "a build did not end well: see above, and \`flyball log\`"
	[ -z "${KEEP:-}" ] || keep_up "${branches##* }"
}
