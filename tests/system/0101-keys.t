#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="keys: both sides say in words when one is wrong"
. "$(dirname "$0")/lib.sh"

test_expect_success 'a cluster of one comes up' '
	cluster_up a1
'

test_expect_success 'a key is never written over' '
	test_must_fail fb key create "$C/a1/agent.key" 2> err && grep agent.key err
'

test_expect_success 'an agent whose key is not listed is refused, and both sides say so' '
	agent_config a2 &&
	fb key create "$C/other.key" &&
	sed "s,^key = .*,key = \"$C/other.key\"," "$C/a2/agent.conf" > agent.conf &&
	cp agent.conf "$C/a2/agent.conf" &&
	fingerprint=$(fb key show "$C/other.key" | grep -oE "[0-9a-f]{4}(-[0-9a-f]{4}){3}") &&
	agent_start a2 &&
	wait_for 15 "grep -i \"key $fingerprint.*not in the allow-list\" $C/coordinator.log" &&
	wait_for 15 "grep -iE \"key|refused\" $C/a2/agent.log" &&
	agent_kill a2
'

test_expect_success 'the one that is listed goes on undisturbed' '
	is_up a1
'

test_expect_success 'an agent that expects another coordinator says that its key does not fit' '
	fb key create "$C/wrong.key" &&
	mkdir -p "$C/a3" && agent_config a3 && hup &&
	sed "s,^coordinator_key = .*,coordinator_key = \"$C/wrong.key.pub\"," "$C/a3/agent.conf" > agent.conf &&
	cp agent.conf "$C/a3/agent.conf" &&
	agent_start a3 &&
	wait_for 30 "grep -iE \"coordinator_key|server.s key|its key\" $C/a3/agent.log" &&
	wait_for 15 "grep -i \"expects another server key\" $C/coordinator.log" &&
	agent_kill a3
'

test_expect_success 'a secret key that others may read is refused with what to do' '
	chmod 644 "$C/other.key" &&
	test_must_fail $bin/flyball-agent -c "$C/a2/agent.conf" 2> err &&
	grep "chmod 600" err
'

test_done
