#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a key that is taken out of the configuration is out, connected or not"
. "$(dirname "$0")/lib.sh"

test_expect_success 'two agents are connected' 'cluster_up a1 a2'

test_expect_success 'one is taken out: its connection ends, and it cannot come back' '
	sed -i "/^host \"a1\"/d" "$C/coordinator.conf" && hup && wait_for 10 "! is_up a1" &&
	wait_for 60 "grep -q \"refuses our key\" $C/a1/agent.log" && ! is_up a1
'

test_expect_success 'the other one has noticed nothing' '
	is_up a2 && test "$(grep -c "agent connected host=a2" "$C/coordinator.log")" = 1
'

test_expect_success 'it is put back, and is there again' '
	echo "host \"a1\" { key = \"$C/a1/agent.key.pub\" }" >> "$C/coordinator.conf" && hup &&
	wait_for 60 "is_up a1"
'

test_expect_success 'another key under the same name: the old key is out' '
	fb key create "$C/other.key" > /dev/null &&
	sed -i "/^host \"a1\"/s|key = .*|key = \"$C/other.key.pub\" }|" "$C/coordinator.conf" && hup &&
	wait_for 10 "! is_up a1"
'

test_done
