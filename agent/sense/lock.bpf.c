/* lock.bpf.c - runs in the kernel: sums the waits for locks by caller and kind of lock
 *
 * On raw tracepoints, which need neither tracefs nor the kernel's BTF; no structure of the kernel is
 * read, so there is nothing to relocate and one object fits all kernels that have the tracepoints.
 *
 * Invariants: all maps are bounded, and what does not fit is counted, never waited for. An end
 * without a begin is ignored. A mutex that begins twice, for it spun before it slept, has two waits.
 * A wait that is not measured costs a dice throw at its begin and a look-up at its end.
 *
 * SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "agent/sense/lock_bpf.h"

/* The kernel lends stacks and random numbers only to programs that may also be had under the GPL. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct start_key {
	__u64 lock;
	__u32 task;
	__u32 cpu; /* for task 0, which every CPU has */
};

struct start {
	__u64 at_ns;
	__u64 caller;
	__u32 flags;
	__u32 each; /* how many waits this one stands for */
};

/* Set by the loader before the program is loaded: what is no caller. */
const volatile struct lock_bpf_range not_caller[LOCK_BPF_RANGES] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOCK_BPF_STARTS_MAX);
	__type(key, struct start_key);
	__type(value, struct start);
} starts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, LOCK_BPF_SUMS_MAX);
	__type(key, struct lock_bpf_key);
	__type(value, struct lock_bpf_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOCK_BPF_LOST);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_bpf_control);
} control SEC(".maps");

static __always_inline void
count_lost(__u32 reason)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &reason);

	if (n)
		(*n)++;
}

static __always_inline struct start_key
key_of(__u64 lock)
{
	struct start_key key = { .lock = lock, .task = (__u32)bpf_get_current_pid_tgid() };

	if (key.task == 0)
		key.cpu = bpf_get_smp_processor_id();
	return key;
}

static __always_inline int
is_caller(__u64 frame)
{
	for (int i = 0; i < LOCK_BPF_RANGES; i++)
		if (frame >= not_caller[i].begin && frame < not_caller[i].end)
			return 0;
	return 1;
}

/* The first three frames are this program's and the tracepoint's own. */
static __always_inline __u64
caller_of(void *ctx)
{
	__u64 frames[LOCK_BPF_FRAMES] = {};

	bpf_get_stack(ctx, frames, sizeof frames, 3);
	for (int i = 0; i < LOCK_BPF_FRAMES && frames[i] != 0; i++)
		if (is_caller(frames[i]))
			return frames[i];
	return 0;
}

static __always_inline void
end_wait(const struct start *start, __u64 now)
{
	struct lock_bpf_key key = { .caller = start->caller, .flags = start->flags };
	struct lock_bpf_sum *sum = bpf_map_lookup_elem(&sums, &key);
	struct lock_bpf_sum none = {};

	if (!sum) {
		bpf_map_update_elem(&sums, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sums, &key);
	}
	if (!sum) {
		count_lost(LOCK_BPF_LOST_SUM);
		return;
	}
	sum->count += start->each;
	sum->ns += (now - start->at_ns) * start->each;
}

/* How many waits one that is measured stands for; a dice decides which one. */
static __always_inline __u32
each_of(__u32 flags)
{
	__u32 zero = 0;
	struct lock_bpf_control *c = bpf_map_lookup_elem(&control, &zero);
	__u32 each = c && c->each > 1 ? c->each : 1;

	return flags & LOCK_BPF_SPIN ? each * LOCK_BPF_SPIN_EACH : each;
}

/* Arguments: the lock, the flags. */
SEC("raw_tp/contention_begin")
int
on_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct start_key key = key_of(ctx->args[0]);
	struct start *before = bpf_map_lookup_elem(&starts, &key);
	struct start start = { .flags = (__u32)ctx->args[1] & LOCK_BPF_ALL };

	if (before)
		end_wait(before, bpf_ktime_get_ns());
	start.each = each_of(start.flags);
	if (start.each > 1 && bpf_get_prandom_u32() % start.each != 0) {
		if (before)
			bpf_map_delete_elem(&starts, &key);
		return 0;
	}
	start.caller = caller_of(ctx);
	start.at_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&starts, &key, &start, BPF_ANY) != 0)
		count_lost(LOCK_BPF_LOST_START);
	return 0;
}

/* Arguments: the lock, the result. */
SEC("raw_tp/contention_end")
int
on_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct start_key key = key_of(ctx->args[0]);
	struct start *start = bpf_map_lookup_elem(&starts, &key);

	if (!start)
		return 0;
	end_wait(start, bpf_ktime_get_ns());
	bpf_map_delete_elem(&starts, &key);
	return 0;
}
