#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="an agent killed -9 in the middle of a start: the order is on disk, no keeper runs yet"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<MAKE
all: ; @echo ran >> $C/ran
MAKE
policy steps <<'P'
branch "steps" {
	recipe = "gmake"
	source = "steps"
	targets = { "all" }
	limits { retries = 0 }
}
P

# The first time that the agent starts it, this keeper kills the agent and is none.
cat > "$C/keeper" <<K
#!/bin/sh
if mkdir "$C/first" 2> /dev/null; then kill -KILL \$PPID; exit 1; fi
exec "$bin/flyball-keeper" "\$@"
K
chmod +x "$C/keeper"
keeper=$C/keeper

test_expect_success 'an agent dies while it starts a build' '
	cluster_up a1 && fb run steps && wait_for 30 "test -d $C/first" &&
	agent_kill a1 &&
	test -f "$C/a1/state/attempts/1/order" && test ! -e "$C/ran"
'

test_expect_success 'it is back: the build begins, and is not taken for lost' '
	agent_kill a1; agent_start a1 && wait_for 30 "build_done steps/all" &&
	fb --json build steps/all > b && test "$(field verdict < b)" = ok &&
	test "$(grep -c "\"outcome\"" b)" = 1 && test "$(wc -l < "$C/ran")" = 1
'

test_done
