#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="every program says its version, its usage, and what is wrong with a flag"
. "$(dirname "$0")/lib.sh"

for p in flyball-coordinator flyball-agent flyball-sim; do
	test_expect_success "$p -V prints name and version" "
		$bin/$p -V > out && grep -E '^$p [0-9]' out
	"
	test_expect_success "$p refuses an unknown flag by name, exit 2" "
		test_expect_code 2 $bin/$p --no-such-flag 2> err && grep -- --no-such-flag err
	"
done

test_expect_success 'flyball version, and an unknown verb is refused with the nearest one' '
	fb version | grep -E "^flyball [0-9]" &&
	test_expect_code 2 fb hots 2> err && grep hosts err
'

test_expect_success 'flyball without a coordinator says what it tried, exit 5' '
	test_expect_code 5 fb --timeout 2 status 2> err && grep "operator.sock" err
'

test_expect_success 'a coordinator without a configuration names the file' '
	test_expect_code 1 $bin/flyball-coordinator -c /nonexistent/c.conf 2> err &&
	grep /nonexistent/c.conf err
'

test_expect_success 'an agent without a configuration names the file' '
	test_expect_code 1 $bin/flyball-agent -c /nonexistent/a.conf 2> err &&
	grep /nonexistent/a.conf err
'

test_expect_success 'agent -n names all that is not there, coordinator -n its key' '
	fb key create k > key &&
	printf "%s\n" "coordinator_key = \"$PWD/k.pub\"" "key = \"$PWD/none\"" "keeper = \"$PWD/none\"" \
	    "state = \"$PWD/s\"" "work = \"$PWD/w\"" "source_roots = { \"$PWD/none\" }" > a.conf &&
	test_expect_code 1 $bin/flyball-agent -c a.conf -n 2> err &&
	grep "none: there is no such key file" err && grep "keeper is" err && grep "source_roots has" err &&
	printf "%s\n" "key = \"$PWD/none\"" "policies = \"$PWD\"" > c.conf &&
	test_expect_code 1 $bin/flyball-coordinator -c c.conf -n 2> err && grep "none: there is no such key" err &&
	echo "agents = \"tcp://0.0.0.0:99999\"" >> c.conf &&
	test_expect_code 1 $bin/flyball-coordinator -c c.conf -n 2> err && grep "1 to 65535" err
'

test_done
