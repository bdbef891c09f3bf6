#!/bin/sh
# layers.sh - who may include and call what (docs/architecture.md), as TAP
#
# usage: tests/layers.sh               the rules over the tree, then the rules over violations of them
#        tests/layers.sh --self-test   the latter alone: one made-up violation for each rule, which must be found
#
# A violation is printed as file:line. FLYBALL_BUILD names the build folder; without it what the core's
# objects link with is not looked at.
#
# SPDX-License-Identifier: BSD-2-Clause
set -u
LC_ALL=C
export LC_ALL
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
count=0
failed=0

# ---- the rules --------------------------------------------------------------------------------

# "name  sentence", in the order they are printed. Each has its test in violations().
rules() {
	cat <<'R'
core      core includes core, proto/{units,limits}.h and proto/base/{err,mem}.h
io        coordinator/io and coordinator/main.c include io, core and proto
sim       coordinator/sim includes sim, core, proto/base and the agent's guard, which is pure
ctl       coordinator/ctl includes ctl and proto
web       coordinator/web includes web and proto
agent     agent includes agent and proto
proto     proto includes proto
base      proto/base includes proto/base and proto/{units,limits}.h
protobuf  only proto/wire* include what protobuf made
zeromq    only proto's channel, hub, peer, connect and monitor, and base/loop.c, include zmq.h
sqlite    only coordinator/io/store_s* include sqlite3.h or call SQLite
jansson   only coordinator/ctl and coordinator/io/{snapshot,control}* include jansson.h or call it
confuse   only proto/base/conf*, coordinator/io's policy_*, both config* and sim/scenario include confuse.h or call it
system    pidfd, epoll, signalfd, cgroup and /proc are in agent/os_linux* and agent/sense/*_linux.c only
headers   core includes of libc only what neither reads, writes nor tells the time
calls     core calls nothing that reads, writes, allocates, tells the time or throws dice
R
}

# Violations of all rules below folder $1: "rule file:line: text". Comments do not count.
violations() {
	# shellcheck disable=SC2016 # awk's own
	(cd "$1" && find proto coordinator agent -name '*.[ch]' 2>/dev/null | sort | xargs -r awk '
	function strip(s,    out, p) {
		out = ""
		while (s != "") {
			if (comment) {
				p = index(s, "*/")
				if (p == 0)
					return out
				s = substr(s, p + 2)
				comment = 0
				continue
			}
			if (!match(s, /["\047]|\/\*|\/\//))
				return out s
			out = out substr(s, 1, RSTART - 1)
			s = substr(s, RSTART)
			if (substr(s, 1, 2) == "//")
				return out
			if (substr(s, 1, 2) == "/*") {
				comment = 1
				s = substr(s, 3)
			} else if (match(s, /^"([^"\\]|\\.)*"/) || match(s, /^\047([^\047\\]|\\.)*\047/)) {
				out = out substr(s, 1, RLENGTH)
				s = substr(s, RLENGTH + 1)
			} else {
				out = out substr(s, 1, 1)
				s = substr(s, 2)
			}
		}
		return out
	}
	function broken(rule) {
		printf "%s %s:%d: %s\n", rule, FILENAME, FNR, $0
	}
	function layer_of(f) {
		if (f ~ /^coordinator\/main\.c$/)
			return "io"
		if (f ~ /^coordinator\//) {
			sub(/^coordinator\//, "", f)
			sub(/\/.*/, "", f)
			return f
		}
		if (f ~ /^proto\/base\//)
			return "base"
		sub(/\/.*/, "", f)
		return f
	}
	BEGIN {
		may["core"] = "^(coordinator/core/|proto/(units|limits)\\.h$|proto/base/(err|mem)\\.h$)"
		may["io"] = "^(coordinator/(io|core)/|proto/)"
		may["sim"] = "^(coordinator/(sim|core)/|proto/(base/|(units|limits)\\.h$)|agent/guard\\.h$)"
		may["ctl"] = "^(coordinator/ctl/|proto/)"
		may["web"] = "^(coordinator/web/|proto/)"
		may["agent"] = "^(agent/|proto/)"
		may["proto"] = "^proto/"
		may["base"] = "^proto/(base/|(units|limits)\\.h$)"
		libc = "^(assert|ctype|errno|float|inttypes|limits|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|strings)\\.h$"
		owner["zmq.h"] = "zeromq"
		owner["sqlite3.h"] = "sqlite"
		owner["jansson.h"] = "jansson"
		owner["confuse.h"] = "confuse"
		home["zeromq"] = "^proto/((channel|hub|peer|connect|monitor)[a-z_]*\\.[ch]|base/loop\\.c)$"
		home["sqlite"] = "^coordinator/io/store_s[a-z_]*\\.[ch]$"
		home["jansson"] = "^coordinator/(ctl/|io/(snapshot|control)[a-z_]*\\.[ch]$)"
		home["confuse"] = "^(proto/base/conf[a-z_]*|coordinator/io/(policy_[a-z_]*|config)|coordinator/sim/scenario|agent/config[a-z_]*)\\.[ch]$"
		home["system"] = "^agent/(os_linux[a-z_]*\\.[ch]|sense/[a-z_]*_linux\\.c)$"
		calls = "(f|d|v|vf|vd)?printf|f?puts|f?putc|putchar|fopen|fdopen|fread|fwrite|fgets|getline|f?scanf|perror"
		calls = calls "|open|openat|creat|read|write|close|unlink|rename|mkdir|stat|ioctl|socket|system|popen|fork|exec[lvpe]+"
		calls = calls "|time|clock|clock_gettime|gettimeofday|localtime|gmtime|mktime|strftime|sleep|usleep|nanosleep"
		calls = calls "|rand|random|srand|srandom|drand48|getrandom|arc4random|getenv|setenv|setlocale"
		calls = calls "|malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|vasprintf|alloca|exit|_exit"
		calls = "(^|[^A-Za-z0-9_])(" calls ")[ \t]*\\("
	}
	FNR == 1 {
		comment = 0
		layer = layer_of(FILENAME)
	}
	{
		line = strip($0)
		if (line ~ /^[ \t]*#[ \t]*include/) {
			inc = line
			sub(/^[^<"]*[<"]/, "", inc)
			sub(/[>"].*/, "", inc)
			if (line ~ /"/ && (layer in may) && inc !~ may[layer])
				broken(layer)
			if (line ~ /</ && layer == "core" && inc !~ libc)
				broken("headers")
			if (inc ~ /\.pb-c\.h$/ && FILENAME !~ /^proto\/wire[a-z_]*\.[ch]$/)
				broken("protobuf")
			if ((inc in owner) && FILENAME !~ home[owner[inc]])
				broken(owner[inc])
			next
		}
		if (line ~ /(^|[^A-Za-z0-9_])sqlite3_[a-z]/ && FILENAME !~ home["sqlite"])
			broken("sqlite")
		if (line ~ /(^|[^A-Za-z0-9_])json_[a-z_]+[ \t]*\(/ && FILENAME !~ home["jansson"])
			broken("jansson")
		if (line ~ /(^|[^A-Za-z0-9_])cfg_[a-z_]+[ \t]*\(/ && FILENAME !~ home["confuse"])
			broken("confuse")
		if (line ~ /pidfd|epoll|signalfd|cgroup|\/proc\// && FILENAME !~ home["system"])
			broken("system")
		# The core may say one thing, when a fact of its own does not fit it, and end.
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
		if (layer == "core" && line ~ calls && \
		    !(FILENAME ~ /\/step\.c$/ && line ~ /^[ \t]*fprintf\(stderr, /))
			broken("calls")
	}')
}

# ---- over the tree ----------------------------------------------------------------------------

say() { # good|bad, sentence
	count=$((count + 1))
	if [ "$1" = good ]; then
		printf 'ok %d - %s\n' "$count" "$2"
	else
		printf 'not ok %d - %s\n' "$count" "$2"
		failed=$((failed + 1))
	fi
}

over_tree() {
	violations "$top" > "$work/found"
	rules > "$work/rules"
	while read -r rule sentence; do
		if grep "^$rule " "$work/found" > "$work/these"; then
			say bad "$sentence"
			sed 's/^[a-z]* /# /' "$work/these"
		else
			say good "$sentence"
		fi
	done < "$work/rules"
}

# What the core's objects want of libc and libm, and no more of any other.
LIBC="__ctype_b_loc __errno_location abort bcmp calloc fprintf fputs free fwrite memchr memcmp memcpy memmove
memset qsort realloc snprintf stderr strcasecmp strncasecmp strchr strrchr strcmp strcspn strdup strerror strlen
strncmp strnlen strspn strstr strtod strtol strtoll strtoul strtoull vsnprintf __assert_fail __stack_chk_fail
__printf_chk __fprintf_chk __snprintf_chk __vsnprintf_chk __memcpy_chk __isoc99_sscanf
ceil exp exp2 expm1 fabs floor fmax fmin isnan log log2 lround pow round sqrt trunc"

links() { # object files...
	nm -P -A "$@" > "$work/nm" || return 1
	awk '$3 != "U" { print $2 }' "$work/nm" | sort -u > "$work/defined"
	# shellcheck disable=SC2086 # a list of names
	printf '%s\n' $LIBC | sort -u > "$work/libc"
	awk '$3 == "U" { o = $1; sub(/:$/, "", o); print $2, o }' "$work/nm" | grep -v '^__[aut]*san\|^__ubsan' |
		sort -u | join -v 1 - "$work/defined" | join -v 1 - "$work/libc" > "$work/foreign"
	[ ! -s "$work/foreign" ]
}

over_objects() {
	sentence="core's objects need libc and libm alone"
	if [ -z "${FLYBALL_BUILD-}" ] || [ ! -e "$FLYBALL_BUILD/coordinator/core/step.o" ]; then
		say good "$sentence # SKIP nothing is built"
		return
	fi
	(cd "$top" && ls coordinator/core/*.c proto/base/err.c proto/base/mem.c) |
		sed "s|^|$FLYBALL_BUILD/|; s|c\$|o|" > "$work/objects"
	if xargs ls < "$work/objects" > /dev/null 2>&1; then :; else
		say good "$sentence # SKIP not all is built"
		return
	fi
	# shellcheck disable=SC2046 # a list of names
	if links $(cat "$work/objects"); then
		say good "$sentence"
	else
		say bad "$sentence"
		awk '{ print "# " $2 ": needs " $1 }' "$work/foreign"
	fi
}

# ---- over violations --------------------------------------------------------------------------

# rule|file|a line that breaks it; then lines that break nothing, as rule "none".
cases() {
	cat <<'C'
core|coordinator/core/plan.c|#include "coordinator/io/store.h"
core|coordinator/core/plan.h|#include "proto/message.h"
core|coordinator/core/plan.c|#include "proto/base/log.h"
io|coordinator/io/driver.c|#include "agent/os.h"
io|coordinator/main.c|#include "coordinator/ctl/output.h"
sim|coordinator/sim/replay.c|#include "coordinator/io/store.h"
sim|coordinator/sim/replay.c|#include "proto/wire.h"
sim|coordinator/sim/run.c|#include "agent/session.h"
ctl|coordinator/ctl/main.c|#include "coordinator/core/cluster.h"
web|coordinator/web/page.c|#include "coordinator/io/snapshot.h"
agent|agent/session.c|#include "coordinator/core/event.h"
proto|proto/channel.c|#include "agent/os.h"
base|proto/base/log.c|#include "proto/message.h"
protobuf|proto/channel.c|#include "proto/flyball.pb-c.h"
zeromq|agent/session.c|#include <zmq.h>
zeromq|proto/base/conf.c|#include <zmq.h>
sqlite|coordinator/io/driver.c|#include <sqlite3.h>
sqlite|coordinator/io/driver.c|	rc = sqlite3_step(s);
jansson|coordinator/io/driver.c|#include <jansson.h>
jansson|agent/main.c|	json_decref(j);
confuse|agent/session.c|#include <confuse.h>
confuse|coordinator/io/driver.c|	cfg_free(c);
system|agent/session.c|	fd = open("/proc/self/stat", O_RDONLY);
system|agent/keeper.c|	fd = pidfd_open(pid, 0);
system|agent/keeper.c|	epoll_wait(fd, e, 1, 0);
system|coordinator/io/driver.c|	path = "/sys/fs/cgroup";
system|agent/sense/load.c|	fd = signalfd(-1, &set, 0);
headers|coordinator/core/plan.c|#include <time.h>
headers|coordinator/core/plan.c|#include <unistd.h>
headers|coordinator/core/plan.h|#include <sys/types.h>
calls|coordinator/core/plan.c|	printf("x");
calls|coordinator/core/plan.c|	fprintf(stderr, "x");
calls|coordinator/core/step.c|	fprintf(out, "x");
calls|coordinator/core/plan.c|	f = fopen(path, "r");
calls|coordinator/core/plan.c|	now = time(NULL);
calls|coordinator/core/plan.c|	clock_gettime(CLOCK_MONOTONIC, &t);
calls|coordinator/core/plan.c|	n = rand();
calls|coordinator/core/plan.c|	p = malloc (8);
calls|coordinator/core/plan.c|	p = getenv("HOME");
none|coordinator/core/plan.c|#include "proto/base/err.h"
none|coordinator/core/plan.c|#include <math.h>
none|coordinator/core/plan.c|	snprintf(buf, sizeof buf, "printf(");
none|coordinator/core/plan.c|	/* printf("x") would be wrong, as #include <time.h> */
none|coordinator/core/plan.c|	run_time(x); p = mem_calloc(1, 2); free(p); // rand()
none|coordinator/core/step.c|		fprintf(stderr, "flyball: %s\n", err.text);
none|coordinator/io/driver.c|#include "coordinator/core/step.h"
none|coordinator/io/snapshot_build.c|#include <jansson.h>
none|coordinator/io/store_sqlite.c|	sqlite3_close(db); /* json_decref(x) */
none|coordinator/io/policy_grammar.c|#include <confuse.h>
none|agent/config.c|	cfg_free(c);
none|coordinator/sim/main.c|#include "proto/base/err.h"
none|coordinator/sim/run.c|#include "agent/guard.h"
none|agent/os_linux.c|	fd = open("/proc/self/stat", O_RDONLY);
none|agent/os.h|/* pidfd and epoll stay below */
none|proto/wire_decode.c|#include "proto/flyball.pb-c.h"
none|proto/hub.c|#include <zmq.h>
none|proto/base/loop.c|#include <zmq.h>
C
}

self_test() {
	cases > "$work/cases"
	while IFS='|' read -r rule file line; do
		rm -rf "$work/tree"
		mkdir -p "$work/tree/${file%/*}"
		printf '/* one\n * two */\n%s\n' "$line" > "$work/tree/$file"
		violations "$work/tree" > "$work/found"
		expect="$rule $file:3: $line"
		[ "$rule" = none ] && expect=""
		if [ "$(cat "$work/found")" = "$expect" ]; then
			say good "self-test: $rule: $file: ${line#	}"
		else
			say bad "self-test: $rule: $file: ${line#	}"
			sed 's/^/# found: /' "$work/found"
		fi
	done < "$work/cases"
	rules | while read -r rule sentence; do
		grep -q "^$rule|" "$work/cases" || echo "$rule"
	done > "$work/untested"
	if [ -s "$work/untested" ]; then
		say bad "self-test: each rule has a violation: $(tr '\n' ' ' < "$work/untested")"
	else
		say good "self-test: each rule has a violation"
	fi
	self_test_links
}

self_test_links() {
	sentence="self-test: an object of core that needs more is found"
	if ! command -v "${CC:-cc}" > /dev/null; then
		say good "$sentence # SKIP no compiler"
		return
	fi
	printf 'int f(void);\nint zmq_poll(void);\nint f(void)\n{\n\treturn zmq_poll();\n}\n' > "$work/bad.c"
	"${CC:-cc}" -c -o "$work/bad.o" "$work/bad.c"
	if links "$work/bad.o"; then
		say bad "$sentence"
	else
		say good "$sentence"
	fi
}

case ${1-} in
"")
	over_tree
	over_objects
	self_test ;;
--self-test)
	self_test ;;
*)
	echo "usage: tests/layers.sh [--self-test]" >&2
	exit 2 ;;
esac
echo "1..$count"
[ "$failed" -eq 0 ]
