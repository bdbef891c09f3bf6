/* load_text.h - readings from the texts that Linux gives
 *
 * Shape:  pure; a counter set holds what only a difference of two makes a reading of.
 * Units:  ticks and pages as the kernel counts them.
 * Errors: what a text does not say, or says malformed, is missing.
 * Memory: by value.
 * Source: proc(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOAD_TEXT_H
#define FLYBALL_LOAD_TEXT_H

#include "proto/message.h"

enum {
	CPU_USER,
	CPU_NICE,
	CPU_SYS,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STEAL,
	CPU_MODES
};

enum { DISKS_MAX = 64, DISK_NAME_SIZE = 32, PRESSURES = 3 };

struct load_disk {
	char name[DISK_NAME_SIZE];
	uint64_t ios, wait_ms, busy_ms;
};

struct load_nfs {
	bool has; /* there is a mount */
	uint64_t calls, sent, execute_ms;
};

struct load_counters {
	bool has_cpu, has_swap, has_switches, has_run_wait;
	bool has_pressure[PRESSURES]; /* CPU, memory, I/O, as the readings stand */
	uint64_t cpu[CPU_MODES];
	uint64_t swap_in_pages, swap_out_pages;
	uint64_t switches;
	uint64_t run_wait_ns;
	uint32_t run_wait_cpus;
	uint64_t pressure_us[PRESSURES];
	size_t ndisks;
	struct load_disk disks[DISKS_MAX];
};

/* All readings missing. */
void load_clear(struct load *load);
void load_set(struct load *load, enum load_reading reading, double value, int64_t window_us);

/* Each takes the whole text of its file, or NULL when it could not be read. */
void load_stat_parse(const char *text, struct load_counters *counters, struct load *load);
void load_average_parse(const char *text, struct load *load);
void load_memory_parse(const char *text, struct load *load);
void load_vmstat_parse(const char *text, struct load_counters *counters);

/* Time that tasks waited for each CPU. */
void load_schedstat_parse(const char *text, struct load_counters *counters);
/* Whole disks: no partitions, and nothing that lies on others or in memory. */
void load_diskstats_parse(const char *text, struct load_counters *counters);
/* The calls of all NFS mounts, summed. */
void load_mountstats_parse(const char *text, struct load_nfs *ret_nfs);
/* reading: LOAD_PRESSURE_CPU and on. */
void load_pressure_parse(
    const char *text, enum load_reading reading, struct load_counters *counters);

void load_detail_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, struct load *load);
void load_nfs_difference(const struct load_nfs *before, const struct load_nfs *after,
    int64_t window_us, struct load *load);

/* For the parsers: what stands behind a word that begins a line, NULL when no line does; and an unsigned
 * number of this line, to move behind it. */
const char *load_find_line(const char *text, const char *word);
bool load_take_number(const char **at, uint64_t *ret_n);

/* Shares and rates between two sets of counters. */
void load_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, int64_t page_bytes, struct load *load);

#endif
