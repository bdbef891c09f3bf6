#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="the recipe gmake: a copy of the source, the pool, phases and steps from the log"
. "$(dirname "$0")/lib.sh"

# The build's own, behind those of its attempts and phases.
last() { grep -oE "\"$1\": ?[0-9]+" "$2" | tail -n 1 | grep -oE "[0-9]+"; }

mkdir -p "$C/src/tree/lib" "$C/src/tree/programs"
cat > "$C/src/tree/Makefile" <<'MAKE'
all: lib programs
lib programs: ; +$(MAKE) -C $@
.PHONY: all lib programs
programs: lib
MAKE
for folder in lib programs; do
	cat > "$C/src/tree/$folder/Makefile" <<-'MAKE'
	FILES = a b c d e f
	all: $(addsuffix .o,$(FILES))
	%.o: %.c ; $(CC) -c -o $@ $<
	MAKE
	for f in a b c d e f; do echo "int ${folder}_$f;" > "$C/src/tree/$folder/$f.c"; done
done
chmod -R a-w "$C/src/tree"
gnu_tree broken <<'MAKE'
all: ; false
MAKE
for branch in tree broken; do
	policy $branch <<-P
	branch "$branch" {
	    recipe = "gmake"
	    source = "$branch"
	    targets = { "all" }
	    jobs { min = 1 max = 4 }
	    limits { retries = 0 }
	}
	P
done

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

test_expect_success 'a read-only source is built in a copy' '
	fb run tree --wait --timeout 60 &&
	fb log tree/all > log && grep "cc -c -o f.o f.c" log &&
	! ls "$C"/src/tree/lib/*.o
'

test_expect_success 'its twelve compilations are steps' '
	fb --json build tree/all > b && test "$(last steps b)" = 12
'

test_expect_success 'what the recipe does and what make enters are phases' '
	fb --json build tree/all | grep "\"name\"\|\"phase\"" > phases &&
	grep copy phases && grep build phases && grep "\"lib\"" phases && grep "\"programs\"" phases
'

test_expect_success 'the workspace is gone' '! ls "$C"/a1/builds/attempt-*'

test_expect_success 'a broken Makefile is a failed build, with the code of make' '
	test_expect_code 1 fb run broken --wait --timeout 60 &&
	fb build broken/all | grep -E "exit(ed)?.* 2"
'

test_expect_success 'an unknown verb is a usage error' '
	test_expect_code 2 "$top/deploy/recipes/gmake" install 2> err && grep "^usage: gmake" err
'

test_done
