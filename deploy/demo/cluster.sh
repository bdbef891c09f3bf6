# cluster.sh - a whole cluster on loopback, for the demos, the system tests and the benchmarks
#
# Sourced with top (the checkout) and bin (the programs) set.
#
#   cluster_make               C becomes a new folder; FLYBALL_SERVER is set
#   cluster_up a1 a2           keys, configurations, coordinator, agents; waits until all are up
#   cluster_down               ends all that was started, by id, and what keepers still hold
#   fb ...                     flyball against it
#   wait_for SECONDS 'COND'    polls; fails after that time and says what it waited for
#   coordinator_start, coordinator_kill [SIGNAL], agent_start a1, agent_kill a1 [SIGNAL]
#   policy NAME <<EOF          writes a policy file; hup has the coordinator read them again
#
# May be set before: source_root ($C/src), recipes (a quoted list), coordinator_option and agent_option
# (further lines for the configurations), keeper (the program), FLYBALL_WRAP (a program to run the daemons under).
#
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034,SC2013,SC2119,SC2120

# The operators' socket must have a short path.
cluster_make() {
	C=$(mktemp -d "${TMPDIR:-/tmp}/flyball.XXXXXX")
	mkdir "$C/src" "$C/policies"
	FLYBALL_SERVER="ipc://$C/operator.sock"
	export FLYBALL_SERVER
}

fb() { "$bin/flyball" "$@"; }

wait_for() {
	limit=$(($(date +%s) + $1))
	until eval "$2" > /dev/null 2>&1; do
		if [ "$(date +%s)" -ge "$limit" ]; then
			echo "waited $1 s in vain for: $2" >&2
			tail -n 20 "$C"/coordinator.log "$C"/*/agent.log >&2
			return 1
		fi
		sleep 0.1
	done
}

# A port below the ephemeral ones that nothing listens on, by the kernel's tables.
free_port() {
	port=$((10000 + $$ % 20000))
	while grep -qs "^ *[0-9]*: [0-9A-F]*:$(printf '%04X' $port) " /proc/net/tcp /proc/net/tcp6; do
		port=$((port + 1))
	done
	echo "$port"
}

policy() { cat > "$C/policies/$1.policy"; }
hup() { kill -HUP "$(cat "$C/coordinator.pid")"; }

coordinator_config() {
	[ -f "$C/port" ] || free_port > "$C/port"
	[ -f "$C/coordinator.key" ] || fb key create "$C/coordinator.key" > /dev/null 2>> "$C/keys.log"
	cat > "$C/coordinator.conf" <<-CONF
	agents = "tcp://127.0.0.1:$(cat "$C/port")"
	operators = "ipc://$C/operator.sock"
	key = "$C/coordinator.key"
	state = "$C/coordinator"
	policies = "$C/policies"
	${coordinator_option:-}
	CONF
}

agent_config() {
	mkdir -p "$C/$1"
	[ -f "$C/$1/agent.key" ] || fb key create "$C/$1/agent.key" > /dev/null 2>> "$C/keys.log"
	cat > "$C/$1/agent.conf" <<-CONF
	coordinator = "tcp://127.0.0.1:$(cat "$C/port")"
	coordinator_key = "$C/coordinator.key.pub"
	key = "$C/$1/agent.key"
	state = "$C/$1/state"
	work = "$C/$1/builds"
	recipes = { ${recipes:-"\"$top/deploy/recipes\""} }
	source_roots = { "${source_root:-$C/src}" }
	keeper = "${keeper:-$bin/flyball-keeper}"
	jitter = 1
	${agent_option:-}
	CONF
	grep -q "host \"$1\"" "$C/coordinator.conf" ||
	    echo "host \"$1\" { key = \"$C/$1/agent.key.pub\" }" >> "$C/coordinator.conf"
}

coordinator_start() {
	${FLYBALL_WRAP:-} "$bin/flyball-coordinator" -c "$C/coordinator.conf" "$@" 2>> "$C/coordinator.log" &
	echo $! > "$C/coordinator.pid"
}

agent_start() {
	${FLYBALL_WRAP:-} "$bin/flyball-agent" -c "$C/$1/agent.conf" 2>> "$C/$1/agent.log" &
	echo $! > "$C/$1/agent.pid"
}

end_pid_file() {
	[ -f "$1" ] || return 0
	kill "-$2" "$(cat "$1")" 2>/dev/null
	wait "$(cat "$1")" 2>/dev/null
	rm -f "$1"
}

coordinator_kill() { end_pid_file "$C/coordinator.pid" "${1:-KILL}"; }
agent_kill() { end_pid_file "$C/$1/agent.pid" "${2:-KILL}"; }

is_up() { fb --json host "$1" 2>/dev/null | grep -q '"state": "up"'; }

cluster_up() {
	coordinator_config
	for host; do agent_config "$host"; done
	coordinator_start
	for host; do agent_start "$host"; done
	for host; do wait_for 30 "is_up $host" || return 1; done
}

# Keepers of this cluster: their command line names a folder in it.
keeper_pids() {
	for cmdline in $(grep -lsa "flyball-keepe[r].*$C/" /proc/[0-9]*/cmdline); do
		pid=${cmdline#/proc/}; echo "${pid%/cmdline}"
	done
}

# What builds run still: every process of an attempt has its tag.
build_pids() {
	for order in "$C"/*/state/attempts/*/order; do
		[ -f "$order" ] || continue
		tag=$(sed -n 's/^tag=//p' "$order")
		for environ in $(grep -lsa "FLYBALL_TAG=$tag" /proc/[0-9]*/environ); do
			pid=${environ#/proc/}; echo "${pid%/environ}"
		done
	done
}

# Keepers outlive agents by design; this one's do not outlive it.
cluster_down() {
	[ -d "$C" ] || return 0
	for pid_file in "$C"/*/agent.pid "$C"/coordinator.pid; do end_pid_file "$pid_file" TERM; done
	for pid in $(keeper_pids) $(build_pids); do kill -KILL "$pid" 2>/dev/null; done
	return 0
}

# field KEY: of JSON on standard input, the first value of that key
field() { grep -oE "\"$1\": ?(\"[^\"]*\"|[^],}]*)" | head -n 1 | sed -E 's/^"[^"]*": ?//; s/"//g'; }
