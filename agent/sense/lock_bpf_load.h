/* lock_bpf_load.h - has the BPF program loaded by a process that exits
 *
 * Shape:  one call, which waits for flyball-lock-bpf: some hundred milliseconds, ten seconds at most.
 * Units:  none.
 * Errors: the sentence of flyball-lock-bpf, or why it could not be run.
 * Memory: the descriptors are the caller's.
 * Source: unix(7) SCM_RIGHTS.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_BPF_LOAD_H
#define FLYBALL_LOCK_BPF_LOAD_H

#include "agent/sense/lock_bpf.h"
#include "proto/base/err.h"

/* helpers: as in struct lock_settings. */
int lock_bpf_load(const char *helpers, int ret_fds[LOCK_BPF_FDS], struct err *err);

#endif
