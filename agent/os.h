/* os.h - everything that one operating system does differently from another
 *
 * Shape:  os_linux.c and os_bsd.c give the same functions; no other file of the agent
 *         names pidfd, epoll, signalfd, cgroups, /proc or sysctl (sense/ has its own split).
 * Units:  as units.h; pids are pid_t.
 * Errors: -1 with err, or "cannot tell here" as its own return value; never a guess.
 * Memory: arrays are the caller's to free.
 * Source: proc(5), prctl(2) PR_SET_CHILD_SUBREAPER; procctl(2) PROC_REAP_ACQUIRE.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_OS_H
#define FLYBALL_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/message.h"

/* os, release, arch, cpu, threads, memory_bytes and boot_id of this machine. */
int os_host_facts(struct host_facts *ret_facts, struct err *err);

/* From now on every orphan below this process becomes its child. */
int os_become_reaper(struct err *err);

struct os_process {
	pid_t pid, parent;
	pid_t session; /* 0: unknown */
	bool zombie;
	char name[32]; /* the executable's own name, cut at 15 characters on Linux */
};

/* All processes below root (without it), as the kernel lists them, in no order; one that ends or is
 * born meanwhile may be missing. */
int os_tree_list(pid_t root, struct os_process **ret_list, size_t *ret_count, struct err *err);

/* What all that live below root have used, with what they have waited for; context switches are not
 * told (-1). -1 where the system does not tell. */
int os_tree_usage(pid_t root, struct usage *ret_usage, struct err *err);

/* All processes with this entry ("NAME=value") in their initial environment. The way to find
 * the tree of a keeper that was killed. -1 where the system does not tell. */
int os_tagged_list(
    const char *entry, struct os_process **ret_list, size_t *ret_count, struct err *err);

/* SIGKILL to the tagged or listed, again and again until none is left or patience_us have passed; 0 when
 * none is left. */
int os_tree_kill(pid_t root, int64_t patience_us, struct err *err);
int os_tagged_kill(const char *entry, int64_t patience_us, struct err *err);

/* True when something is mounted on this folder: whoever removes a tree must stop here. */
bool os_is_mount(int folder_fd);

/* Bytes that lie unread in a pipe. */
int os_pipe_bytes(int fd);

/* Pins what is touched into memory, so that a starved host does not page the agent out; and asks for
 * a little more CPU than the builds get. What was not granted is said in words and is no error. */
void os_keep_responsive(struct err *ret_note);

#endif
