#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="numbers that an operator named, and further readings, from host to operator"
. "$(dirname "$0")/lib.sh"

agent_option="gauge queue { file = \"$C/queue\"  field = 2  every = \"1s\" }
	gauge answer { command = \"echo \$((6 * 7))\"  every = \"1s\" }
	gauge broken { command = \"echo no such device; exit 3\"  every = \"1s\" }"
echo "waiting 17" > "$C/queue"
told() { fb host a1 > out && grep -Eq "$1" out; }

test_expect_success 'a host comes up with gauges' 'cluster_up a1'

test_expect_success 'each is told with its value, or with why there is none' '
	wait_for 60 "told \"^queue +17\"" && wait_for 60 "told \"^answer +42\"" &&
	wait_for 60 "told \"^broken .*exit code 3: no such device\""
'

test_expect_success 'a new value follows, and one that is gone is missing' '
	echo "waiting 18" > "$C/queue" && wait_for 60 "told \"^queue +18\"" &&
	rm "$C/queue" && wait_for 60 "told \"^queue .*No such file\""
'

test_expect_success 'a reading is there with its age, or is not there' '
	fb --json host a1 > host && grep -q "switches_per_s" host && grep -q "age_us" host
'
test_done
