# lib.sh - what the demos share: sources through a private apt, a small cluster, its end
#
# Sourced with: top (the checkout), name (of the demo), group (of deps.sh), branches, and the
# functions sources and policies; then demo does the rest.
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154

B=$top/build/gcc
work=${DEMO_WORK:-$top/demo.work}
agents="a1 a2 a3"
run=""
pids=""

say() { printf '%s\n' "== $*"; }
die() { printf '%s\n' "$name: $*" >&2; exit 1; }

# Seconds with tenths since some moment.
clock() { cut -d' ' -f1 /proc/uptime; }
since() { awk -v a="$1" -v b="$(clock)" 'BEGIN { printf "%.1f", b - a }'; }

# ---- sources: apt with its own configuration, lists and cache; the machine's is not touched ----

# The mirror that this machine's apt uses for Debian itself.
mirror() {
	apt-get indextargets --format '$(SITE) $(RELEASE) $(CREATED_BY)' 2>/dev/null |
	    awk '$3 == "Packages" && $2 ~ /^(bookworm|trixie|stable|oldstable)$/ { print $1; exit }'
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

# ---- a cluster on loopback: a coordinator, three agents, keys of their own ----------------------

# A port that nothing listens on, by the kernel's table.
free_port() {
	port=$((20000 + $$ % 20000))
	while awk -v p="$(printf '%04X' $port)" '$2 ~ ":" p "$" { found = 1 } END { exit !found }' /proc/net/tcp; do
		port=$((port + 1))
	done
	echo "$port"
}

cluster_config() {
	run=$(mktemp -d "${TMPDIR:-/tmp}/flyball-$name.XXXXXX")
	mkdir "$run/policies"
	port=$(free_port)
	"$B/bin/flyball" key create "$run/coordinator.key" > /dev/null
	cat > "$run/coordinator.conf" <<-CONF
	agents = "tcp://127.0.0.1:$port"
	operators = "ipc://$run/operator.sock"
	key = "$run/coordinator.key"
	state = "$run/coordinator"
	policies = "$run/policies"
	CONF
	for a in $agents; do
		mkdir "$run/$a"
		"$B/bin/flyball" key create "$run/$a/agent.key" > /dev/null
		echo "host \"$a\" { key = \"$run/$a/agent.key.pub\" }" >> "$run/coordinator.conf"
		cat > "$run/$a/agent.conf" <<-CONF
		coordinator = "tcp://127.0.0.1:$port"
		coordinator_key = "$run/coordinator.key.pub"
		key = "$run/$a/agent.key"
		state = "$run/$a/state"
		work = "$run/$a/work"
		recipes = { "$top/deploy/recipes" }
		source_roots = { "$work/src" }
		keeper = "$B/bin/flyball-keeper"
		slots = 1
		jitter = 1
		CONF
	done
	FLYBALL_SERVER=ipc://$run/operator.sock
	export FLYBALL_SERVER
}

flyball() { "$B/bin/flyball" "$@"; }

cluster_start() {
	"$B/bin/flyball-coordinator" -c "$run/coordinator.conf" 2> "$run/coordinator.log" &
	pids="$pids $!"
	for a in $agents; do
		"$B/bin/flyball-agent" -c "$run/$a/agent.conf" 2> "$run/$a/agent.log" &
		pids="$pids $!"
	done
	tries=0
	until [ "$(flyball hosts 2>/dev/null | grep -c ' up ')" -eq 3 ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 150 ] || { cat "$run/coordinator.log" "$run"/a*/agent.log >&2
			die "the cluster did not come up in 30 s; its logs are above and in $run"; }
		sleep 0.2
	done
}

# Ends what was started, by id, and waits until it is gone; then the keepers' builds too.
cluster_stop() {
	for pid in $pids; do kill "$pid" 2>/dev/null || :; done
	for pid in $pids; do wait "$pid" 2>/dev/null || :; done
	pids=""
	for sock in "$run"/a*/state/attempts/*/keeper.sock; do
		[ -S "$sock" ] || continue
		pid=$(cat "${sock%/keeper.sock}/keeper.pid" 2>/dev/null) && kill "$pid" 2>/dev/null
	done
	return 0
}

at_end() {
	rc=$?
	trap - EXIT INT TERM
	if [ -n "$run" ] && { [ -z "${KEEP:-}" ] || [ "$rc" -ne 0 ]; }; then
		cluster_stop
		if [ "$rc" -eq 0 ]; then rm -rf "$run"; else echo "$name: its logs are in $run" >&2; fi
	fi
	exit "$rc"
}
trap at_end EXIT
trap 'exit 130' INT TERM

keep_up() {
	cat <<-TEXT

	The cluster is up. To talk to it:

	  export FLYBALL_SERVER=$FLYBALL_SERVER
	  export PATH=$B/bin:\$PATH
	  flyball status
	  flyball hosts
	  flyball run $1 --wait
	  flyball throttle a1 -j 1 --reason "a look at it"

	To end it:  kill$pids; rm -rf $run
	TEXT
}

# Starts a round of each branch and shows how they go; fails when a build did.
rounds() {
	rounds=""
	for branch; do
		number=$(flyball --json run "$branch" --reason "$name" | tr -dc 0-9)
		[ -n "$number" ] || die "no round of $branch was started"
		rounds="$rounds $number"
	done
	bad=0
	waits=""
	for number in $rounds; do
		flyball round "$number" --wait --timeout 3600 > /dev/null &
		waits="$waits $!"
	done
	for pid in $waits; do wait "$pid" || bad=1; done
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
	cluster_config
	policies
	"$B/bin/flyball-coordinator" -c "$run/coordinator.conf" -n
	cluster_start
	say "three agents on one machine: they share its $(nproc) CPUs, so none is as fast as a host of its own"
	flyball hosts
	say "one round of each branch"
	m=$(clock)
	ok=0
	# shellcheck disable=SC2086 # a list of names
	rounds $branches || ok=1
	makespan=$(since "$m")
	run_s=$(since "$t")
	say "builds"
	flyball builds -o wide
	echo
	echo "makespan $makespan s, on CPUs that three agents share"
	echo "$name download_s=$download_s install_s=$install_s build_s=$build_s run_s=$run_s"
	[ "$ok" -eq 0 ] || die "a build did not end well: see above, and \`flyball log\`"
	[ -z "${KEEP:-}" ] || keep_up "${branches##* }"
}
