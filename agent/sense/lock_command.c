/* The lock tools that are programs of other systems, as rows.
 *
 * lockstat (NetBSD) takes one user at a time. Killed, it may leave the kernel's tracing enabled: then the
 * device can be opened, but enabling fails, and only -d helps; when somebody else uses it already the open
 * fails, and nothing is cleared. With -l it is told apart by lock alone, which needs the fewest of the
 * kernel's buffers: on a full buffer it has no data at all.
 *
 * dtrace (FreeBSD's lockstat): its probes send every acquire down the slow path, so windows are short.
 *
 * lock_prof (FreeBSD with LOCK_PROFILING): to read it stops all CPUs for a moment, hence at most once a
 * minute; to have it on costs a fifth of the system time, hence on in the window alone. Statistics that
 * somebody else has enabled are left alone.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/lock_command.h"

#include "agent/sense/lock_tool.h"

static const struct lock_tool lockstat = {
	.source = &lock_source_lockstat,
	.program = "lockstat",
	.home = "NetBSD",
	.root = true,
	.script = "exec lockstat -T kernel_lock -l sleep \"$1\"",
	.mend_when = "cannot enable tracing",
	.mend = "lockstat -d > /dev/null 2>&1",
};

static const struct lock_tool dtrace = {
	.source = &lock_source_dtrace,
	.program = "lockstat",
	.home = "FreeBSD",
	.root = true,
	.script = "exec lockstat -P sleep \"$1\"",
};

static const struct lock_tool lock_prof = {
	.source = &lock_source_lock_prof,
	.program = "sysctl",
	.home = "FreeBSD",
	.root = true,
	.script = "on=$(sysctl -n debug.lock.prof.enable) || exit 1\n"
		  "[ \"$on\" = 0 ] || { echo 'debug.lock.prof.enable is 1'; exit 1; }\n"
		  "trap 'sysctl debug.lock.prof.enable=0 > /dev/null' EXIT\n"
		  "trap 'exit 1' HUP INT TERM\n"
		  "sysctl debug.lock.prof.reset=1 debug.lock.prof.enable=1 > /dev/null || exit 1\n"
		  "sleep \"$1\"\n"
		  "sysctl -n debug.lock.prof.stats",
	.every_min_us = MINUTE_US,
};

static const struct lock_tool command = {
	.source = &lock_source_command,
};

#define SOURCE(tool, what_it_cannot_see) \
	static void *open_##tool(struct loop *loop, const struct lock_settings *settings, \
	    lock_reading_f on_reading, void *arg, struct err *err) \
	{ \
		return lock_tool_open(&(tool), loop, settings, on_reading, arg, err); \
	} \
	const struct lock_source lock_source_##tool = { \
		.name = #tool, \
		.coverage = (what_it_cannot_see), \
		.open = open_##tool, \
		.close = lock_tool_close, \
		.steps = lock_tool_steps, \
	}

SOURCE(lockstat, "The kernel lock alone is measured, and not who waits for it.");
SOURCE(dtrace, "While it measures, every lock takes its slow path.");
SOURCE(lock_prof, "What adaptive locks spin is not told from what they sleep.");
SOURCE(command, "What it cannot see is for who wrote lock_command to say.");
