/* bpf_map.h - reading the kernel's BPF maps without a library
 *
 * Shape:  bpf(2) calls on descriptors that another process has made.
 * Units:  values as the program in the kernel wrote them; per-CPU values are summed.
 * Errors: -1 with errno set, for the caller knows what it wanted.
 * Memory: none kept.
 * Source: bpf(2), include/uapi/linux/bpf.h.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_BPF_MAP_H
#define FLYBALL_BPF_MAP_H

#include <stdint.h>

/* key NULL: the first. 1: there is none behind it. */
int bpf_map_next(int fd, const void *key, void *ret_key);
int bpf_map_get(int fd, const void *key, void *ret_value);
int bpf_map_put(int fd, const void *key, const void *value);

/* From now until the descriptor is closed the kernel notes how long programs run. */
int bpf_stats_start(void);
/* What the kernel noted of one program. */
int bpf_program_ns(int fd, int64_t *ret_ns);

/* How many values a per-CPU map gives at once: of CPUs that may ever be there. */
int bpf_possible_cpus(void);

#endif
