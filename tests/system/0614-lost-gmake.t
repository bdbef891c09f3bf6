#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="a sub-make of GNU make killed -9: its tokens are lost, said so, and replaced"
. "$(dirname "$0")/lib.sh"

kind=gmake
. "$top/tests/system/lost-lib.sh"

test_done
