#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="bad recipes: the build ends with a reason, its tree is gone, its log whole or marked"
. "$(dirname "$0")/lib.sh"

mkdir -p "$C/recipes" "$C/src/any"
recipe() { { echo '#!/bin/sh'; cat; } > "$C/recipes/$1" && chmod +x "$C/recipes/$1"; }
recipe exit1 <<'R'
echo "about to fail"; exit 1
R
recipe signal <<'R'
echo "about to die"; kill -SEGV $$
R
recipe forks <<R
setsid sh -c 'echo \$\$ > $C/forked.pid; exec sleep 600' &
while [ ! -s $C/forked.pid ]; do sleep 0.1; done
echo "gone away"; exit 0
R
recipe floods <<'R'
echo "first line"
yes "a line of no use at all, again and again and again and again" | head -c 100000000
echo "last line"
R
recipe binary <<'R'
printf 'be\000fore\n\377\376\001\033[31m'; head -c 100000 /dev/urandom; printf '\nafter\n'
R
recipe gone <<'R'
exit 0
R
recipe sleeps <<'R'
echo "and silence"; sleep 600
R
for r in exit1 signal forks floods binary gone sleeps; do
	policy $r <<-P
	branch "$r" {
	    recipe = "$r"
	    source = "any"
	    targets = { "t" }
	    limits { timeout = "2m" stall = "$([ $r = sleeps ] && echo 2s || echo 1m)" retries = 1 }
	}
	P
done
recipes="\"$C/recipes\""

test_expect_success 'a cluster with these recipes comes up' 'cluster_up a1'

test_expect_success 'exit 1: failed, with the code' '
	test_expect_code 1 fb run exit1 --wait --timeout 60 &&
	fb build exit1/t | grep -iE "exit.* 1" && fb log exit1/t | grep "about to fail"
'

test_expect_success 'a signal: named' '
	test_expect_code 1 fb run signal --wait --timeout 60 &&
	fb build signal/t | grep -iE "signal|SEGV|segmentation" && fb log signal/t | grep "about to die"
'

test_expect_success 'what was forked away is killed and named' '
	fb run forks --wait --timeout 60
	pid=$(cat "$C/forked.pid") && test_must_fail kill -0 "$pid" &&
	fb log forks/t | grep -i "left running.*sleep"
'

test_expect_success '100 MB: the log is cut in the middle and says so, its ends are there' '
	fb run floods --wait --timeout 120 &&
	wait_for 60 "fb log floods/t | tail -n 1 | grep \"last line\"" &&
	fb log floods/t > log && head -n 1 log | grep "first line" &&
	grep -aE "^\[flyball: [0-9]+ bytes dropped\]" log &&
	test "$(wc -c < log)" -le 67200000
'

test_expect_success 'binary bytes come through as they were' '
	fb run binary --wait --timeout 60 &&
	wait_for 20 "fb log binary/t | tail -n 1 | grep after" &&
	fb log binary/t > log && test "$(wc -c < log)" -gt 100000 &&
	printf "be\000fore" | cmp -n 7 - log
'

test_expect_success 'no output for the stall time: ended as a stall' '
	test_expect_code 1 fb run sleeps --wait --timeout 60 &&
	fb build sleeps/t | grep -i stall
'

test_expect_success 'a recipe that is no longer there: refused with its name, not tried for ever' '
	rm "$C/recipes/gone" &&
	test_expect_code 1 fb run gone --wait --timeout 60 &&
	fb build gone/t > b && cat b && grep "recipes/gone" b
'

test_expect_success 'a recipe that is not executable: refused the same way' '
	echo "#!/bin/sh" > "$C/recipes/gone" && chmod 644 "$C/recipes/gone" &&
	test_expect_code 1 fb run gone --wait --timeout 60 &&
	fb build gone/t > b && cat b && grep -iE "executable|permission" b
'

test_done
