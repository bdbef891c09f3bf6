#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="valgrind finds no error and no definite leak in coordinator, agent and keeper"
. "$(dirname "$0")/../system/lib.sh"

valgrind="valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
FLYBALL_WRAP="$valgrind --error-exitcode=97 --log-file=$C/valgrind.%p"
keeper=$C/keeper
printf '#!/bin/sh\nexec %s --error-exitcode=97 --log-file=%s %s "$@"\n' "$valgrind" "$C/valgrind.%p" \
    "$bin/flyball-keeper" > "$keeper" && chmod +x "$keeper"
gnu_tree good <<'MAKE'
all: $(addprefix s,$(shell seq 6))
s%: ; @echo building $@; sleep 0.2
MAKE
gnu_tree bad <<'MAKE'
all: ; @exit 3
MAKE
for branch in good bad; do
	policy $branch <<-P
	branch "$branch" { recipe = "gmake" source = "$branch" targets = { "all" } jobs { min = 1 max = 4 } }
	P
done

test_expect_success 'a cluster under valgrind comes up and builds' '
	cluster_up a1 && fb run good --wait --timeout 120 &&
	test_expect_code 1 fb run bad --wait --timeout 120
'

test_expect_success 'operators ask for everything' '
	for what in status hosts "host a1" builds "build good/all" rounds "round 1" "log good/all" \
	    "explain host a1" "explain build good/all" "policy show good"; do
		fb --timeout 60 $what > /dev/null || return 1
	done &&
	fb --timeout 60 throttle a1 -j 1 --reason valgrind && fb --timeout 60 unthrottle a1
'

test_expect_success 'an agent that was killed adopts, a coordinator that was killed goes on' '
	fb --timeout 60 run good && agent_kill a1 && agent_start a1 && coordinator_kill && coordinator_start &&
	wait_for 120 "fb --timeout 60 --json build good/all | field verdict | grep ok"
'

test_expect_success 'policies are read again, bad ones too' '
	echo "branch" > "$C/policies/worse.policy" && hup && rm "$C/policies/worse.policy" && hup &&
	wait_for 60 "fb --timeout 60 status"
'

test_expect_success 'all end by themselves, and valgrind has nothing to say' '
	wait_for 60 "test -z \"\$(keeper_pids)\"" &&
	kill -TERM $(cat "$C/a1/agent.pid") && wait $(cat "$C/a1/agent.pid"); test $? -ne 97 &&
	kill -TERM $(cat "$C/coordinator.pid") && wait $(cat "$C/coordinator.pid"); test $? -ne 97 &&
	cat "$C"/valgrind.* > all && cat all && test ! -s all
'

test_done
