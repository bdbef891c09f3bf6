#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="lock sources: a table that an operator's command prints is seen, and why there is none"
. "$(dirname "$0")/lib.sh"

agent_option='lock_source = "command"
lock_every = 10
lock_command = "cat '"$C"'/table"'
cp "$top/tests/fixtures/lock/netbsd-8.0rc2-j24.lockstat" "$C/table"
test_expect_success 'the rows are those that the tool printed' '
	cluster_up a1 &&
	wait_for 30 "fb locks a1 | grep -q sleepq_block+1b5" &&
	fb locks a1 | grep -q VOP_LOOKUP+5e &&
	fb --json locks a1 > json && grep -q 838202502 json && grep -q 25353589880000 json
'

test_expect_success 'the share stands among the readings of the host, with its window' '
	wait_for 30 "fb --json host a1 | grep -A 3 spin_share | grep -q window_us.*3857330000"
'

test_expect_success 'the agent says once which sources work' '
	grep "measures locks lock_source=command" "$C/a1/agent.log"
'

test_expect_success 'a tool that is busy takes nothing away, and says why' '
	echo "lockstat: cannot open /dev/lockstat: Device busy" > "$C/table" &&
	wait_for 30 "fb locks a1 | grep -q \"takes one at a time\"" &&
	wait_for 10 "grep -q \"no reading of locks by command: .*takes one at a time\" $C/a1/agent.log"
'

test_expect_success 'without a source there is no reading, and no zero' '
	agent_kill a1 TERM &&
	sed -i "s/^lock_source.*/lock_source = \"none\"/" "$C/a1/agent.conf" &&
	agent_start a1 &&
	wait_for 30 "is_up a1 && fb --json host a1 | grep -q \"spin_share.: null\""
'

test_expect_success 'a name that is no source is refused with those that are' '
	sed "s/^lock_source.*/lock_source = \"lockstad\"/" "$C/a1/agent.conf" > wrong.conf &&
	test_must_fail "$bin/flyball-agent" -n -c wrong.conf 2> err &&
	grep "there is no lock source .lockstad.*command" err
'

test_done
