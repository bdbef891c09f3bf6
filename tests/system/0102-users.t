#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="who may use the operators' socket: those in users, if the group lets them reach it"
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip_all="only root can become other users"
	test_done
fi
coordinator_option='users = { "nobody" } group = "nogroup"'
as() { user=$1; shift; setpriv --reuid "$user" --regid nogroup --clear-groups "$bin/flyball" "$@"; }

test_expect_success 'a user of the list, in the group, is let in and known by name' '
	cluster_up a1 && chmod 755 "$C" &&
	as nobody throttle a1 -j 1 --reason "by nobody" && fb hosts | grep "by nobody: by nobody"
'

test_expect_success 'one that is not in the list is denied in words: exit 4' '
	test_expect_code 4 as daemon --timeout 3 status 2> err && cat err && grep -i "uid\|user" err
'

# wrong LINE WORDS: that line in the configuration is refused, by -n and at the start
wrong() {
	{ grep -vE "^(users|${1%% *}) " "$C/coordinator.conf"; echo "$1"; } > wrong.conf
	test_expect_code 1 $bin/flyball-coordinator -c wrong.conf -n 2> err && cat err && grep "$2" err
}

test_expect_success 'wrong values are refused with what was expected' '
	wrong "group = \"no-such-group\"" "no such group" &&
	wrong "key = \"a.key\"" "absolute path" &&
	wrong "state = \"here\"" "absolute path" &&
	wrong "agents = \"tcp://0.0.0.0:99999\"" "65535"
'

test_done
