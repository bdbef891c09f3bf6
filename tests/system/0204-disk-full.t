#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a recipe that fills the agent's disk: the build ends with a reason, the next one runs"
. "$(dirname "$0")/lib.sh"

small_disk 24m
ln -s disk "$C/a1"
mkdir -p "$C/recipes" "$C/src/any"
cat > "$C/recipes/fills" <<'R'
#!/bin/sh
echo "filling"; dd if=/dev/zero of=full bs=64k || { echo "disk full"; exit 4; }
R
cat > "$C/recipes/light" <<'R'
#!/bin/sh
echo "a light one"
R
chmod +x "$C"/recipes/*
for r in fills light greedy; do
	policy $r <<-P
	branch "$r" {
	    recipe = "$([ $r = greedy ] && echo light || echo $r)"
	    source = "any"
	    targets = { "t" }
	    needs { disk = "$([ $r = greedy ] && echo 1g || echo 1m)" }
	    limits { retries = 0 }
	}
	P
done
recipes="\"$C/recipes\""
agent_option='disk_floor = "1m"'

test_expect_success 'a cluster with its work on a small disk comes up' 'cluster_up a1'

test_expect_success 'the build that fills it ends as failed, with its log' '
	test_expect_code 1 fb run fills --wait --timeout 60 &&
	fb build fills/t && wait_for 20 "fb log fills/t | grep filling"
'

test_expect_success 'its workspace is gone, and the next build is well' '
	fb run light --wait --timeout 60 && fb log light/t | grep "a light one"
'

test_expect_success 'a build that needs more than there is is not started, and explain says why' '
	fb run greedy && fb explain build greedy/t | grep -iE "needs 1.0 GiB of disk" &&
	test "$(fb --json build greedy/t | field state)" = queued
'

test_done
