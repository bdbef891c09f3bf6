#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="hostile peers: garbage and half-open connections harm nobody else"
. "$(dirname "$0")/lib.sh"

gnu_tree steps <<'MAKE'
all: ; @true
MAKE
policy steps <<'P'
branch "steps" { recipe = "gmake" source = "steps" targets = { "all" } }
P

test_expect_success 'a cluster of one comes up' 'cluster_up a1'

# 200 connections of random bytes, one after the other; perl is part of prove's own needs.
test_expect_success 'garbage on the agents'"'"' port: it goes on' '
	perl -MIO::Socket::INET -e '"'"'
		my $seed = $ENV{SEED} // time; srand $seed; print "seed $seed\n";
		for (1 .. 200) {
			my $s = IO::Socket::INET->new("127.0.0.1:$ARGV[0]") or die "connect: $!";
			syswrite $s, join "", map { chr int rand 256 } 1 .. int rand 2000;
		}'"'"' "$(cat "$C/port")" &&
	fb run steps --wait --timeout 60
'

test_expect_success 'half-open connections: it goes on' '
	perl -MIO::Socket::INET -e '"'"'
		my @s = map { IO::Socket::INET->new("127.0.0.1:$ARGV[0]") or die "connect: $!" } 1 .. 100;
		exit system(@ARGV[1 .. $#ARGV]) >> 8'"'"' "$(cat "$C/port")" $bin/flyball run steps --wait --timeout 60
'

test_expect_success 'garbage on the operators'"'"' socket: it goes on' '
	perl -MIO::Socket::UNIX -e '"'"'
		for (1 .. 50) {
			my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "connect: $!";
			syswrite $s, join "", map { chr int rand 256 } 1 .. int rand 2000;
		}'"'"' "$C/operator.sock" &&
	fb status
'

test_expect_success 'an unprivileged user is refused in words, exit 4 or 5' '
	chmod 755 "$C" && chmod 666 "$C/operator.sock" &&
	if id nobody > /dev/null && test "$(id -u)" = 0; then
		setpriv --reuid nobody --clear-groups $bin/flyball --timeout 3 status 2> err; rc=$?
		cat err && test $rc -ge 4
	fi
'

test_done
