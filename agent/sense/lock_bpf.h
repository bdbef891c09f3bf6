/* lock_bpf.h - what the program in the kernel, its loader and the agent share
 *
 * Shape:  the maps' keys and values, and the order of what the loader hands over.
 * Units:  ns of the kernel's monotonic clock; addresses of the running kernel.
 * Errors: the loader says in a sentence what failed.
 * Memory: by value. Also read by the compiler for BPF: nothing of libc here.
 * Source: include/trace/events/lock.h of Linux, contention_begin and contention_end.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOCK_BPF_H
#define FLYBALL_LOCK_BPF_H

#include <linux/types.h>

/* The kernel's LCB_F_*. */
enum {
	LOCK_BPF_SPIN = 1,
	LOCK_BPF_READ = 2,
	LOCK_BPF_WRITE = 4,
	LOCK_BPF_RT = 8,
	LOCK_BPF_PERCPU = 16,
	LOCK_BPF_MUTEX = 32,
	LOCK_BPF_ALL = 63
};

enum {
	LOCK_BPF_SUMS_MAX = 2048, /* pairs of caller and flags */
	LOCK_BPF_STARTS_MAX = 16384, /* tasks that wait at once */
	LOCK_BPF_FRAMES = 6,
	LOCK_BPF_RANGES = 16
};

struct lock_bpf_range {
	__u64 begin, end;
};

struct lock_bpf_key {
	__u64 caller; /* 0: no frame of the stack was a caller's */
	__u64 flags;
};

struct lock_bpf_sum {
	__u64 count, ns;
};

/* What the program could not keep, by reason. */
enum { LOCK_BPF_LOST_START, LOCK_BPF_LOST_SUM, LOCK_BPF_LOST };

/* Most waits that spin are short and many, and would make nearly all the cost. */
enum { LOCK_BPF_SPIN_EACH = 8 };

/* One wait in `each` is measured, of those that spin one in 8 times as many, and counts as so many. */
struct lock_bpf_control {
	__u32 each;
};

/* Descriptors in the order in which the loader hands them over. */
enum lock_bpf_fd {
	LOCK_BPF_FD_SUMS,
	LOCK_BPF_FD_LOST,
	LOCK_BPF_FD_CONTROL,
	LOCK_BPF_FD_BEGIN, /* programs */
	LOCK_BPF_FD_END,
	LOCK_BPF_FD_BEGIN_LINK, /* held, or the programs are no longer run */
	LOCK_BPF_FD_END_LINK,
	LOCK_BPF_FDS
};

/* The one message of the loader; descriptors come with it when text is "". */
struct lock_bpf_hello {
	char text[512];
};

#endif
