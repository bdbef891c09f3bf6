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

struct load_counters {
	bool has_cpu, has_swap;
	uint64_t cpu[CPU_MODES];
	uint64_t swap_in_pages, swap_out_pages;
};

/* All readings missing. */
void load_clear(struct load *load);
void load_set(struct load *load, enum load_reading reading, double value, int64_t window_us);

/* Each takes the whole text of its file, or NULL when it could not be read. */
void load_stat_parse(const char *text, struct load_counters *counters, struct load *load);
void load_average_parse(const char *text, struct load *load);
void load_memory_parse(const char *text, struct load *load);
void load_vmstat_parse(const char *text, struct load_counters *counters);

/* Shares and rates between two sets of counters. */
void load_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, int64_t page_bytes, struct load *load);

#endif
