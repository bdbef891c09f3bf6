/* /proc/lock_stat counts from when it was cleared, so a reading is the difference of two. It is there in
 * kernels with CONFIG_LOCK_STAT, which are slow in any case, and counts while kernel.lock_stat is 1. The
 * file is some hundred KiB that the kernel prints class by class: cat reads it, not the agent's loop.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <unistd.h>

#include "agent/sense/lock_command.h"
#include "agent/sense/lock_tool.h"

static const char path[] = "/proc/lock_stat";

static const struct lock_tool tool = {
	.source = &lock_source_lock_stat,
	.program = "cat",
	.home = "coreutils",
	.script = "exec cat /proc/lock_stat",
	.goes_on = true,
};

static void *
open_lock_stat(struct loop *loop, const struct lock_settings *settings, lock_reading_f on_reading,
    void *arg, struct err *err)
{
	if (access(path, R_OK) == 0)
		return lock_tool_open(&tool, loop, settings, on_reading, arg, err);
	err_set_errno(err, errno,
	    "%s cannot be read: it needs a kernel with CONFIG_LOCK_STAT, and root", path);
	return NULL;
}

const struct lock_source lock_source_lock_stat = {
	.name = "lock_stat",
	.coverage = "Spinning and sleeping are not told apart: all is counted as sleep.",
	.open = open_lock_stat,
	.close = lock_tool_close,
	.steps = lock_tool_steps,
};
