/* A kernel may lack a field, a container may hide a file, a counter may go back when a CPU is
 * unplugged: then there is no reading. CPU time of nice processes is user time; interrupts are sys.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
load_clear(struct load *load)
{
	*load = (struct load){ .missing = (UINT64_C(1) << LOAD_READINGS) - 1 };
}

void
load_set(struct load *load, enum load_reading reading, double value, int64_t window_us)
{
	load->missing &= ~(UINT64_C(1) << reading);
	load->readings[reading] = (struct reading){ .value = value, .window_us = window_us };
}

const char *
load_find_line(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (text != NULL && *text != '\0') {
		if (strncmp(text, word, n) == 0)
			return text + n;
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return NULL;
}

bool
load_take_number(const char **at, uint64_t *ret_n)
{
	const char *s = *at;
	char *end;

	while (*s == ' ' || *s == '\t')
		s++;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*ret_n = strtoull(s, &end, 10);
	*at = end;
	return errno == 0 && strchr(" \t\n", *end) != NULL;
}

static bool
line_number(const char *text, const char *word, uint64_t *ret_n)
{
	const char *at = load_find_line(text, word);

	return at != NULL && load_take_number(&at, ret_n);
}

void
load_stat_parse(const char *text, struct load_counters *counters, struct load *load)
{
	const char *at = load_find_line(text, "cpu ");
	uint64_t n;
	int mode = 0;

	while (at != NULL && mode < CPU_MODES && load_take_number(&at, &counters->cpu[mode]))
		mode++;
	counters->has_cpu = mode == CPU_MODES;
	counters->has_switches = line_number(text, "ctxt ", &counters->switches);
	if (line_number(text, "procs_running ", &n))
		load_set(load, LOAD_RUNNING, (double)n, 0);
	if (line_number(text, "procs_blocked ", &n))
		load_set(load, LOAD_BLOCKED, (double)n, 0);
}

void
load_average_parse(const char *text, struct load *load)
{
	for (int i = 0; text != NULL && i < 3; i++) {
		char *end;
		double value = strtod(text, &end);

		if (end == text || !isfinite(value) || value < 0)
			return;
		load_set(load, (enum load_reading)(LOAD_1 + i), value, 0);
		text = end;
	}
}

void
load_memory_parse(const char *text, struct load *load)
{
	uint64_t kib, written;

	if (line_number(text, "MemAvailable:", &kib) && kib <= INT64_MAX / 1024)
		load_set(load, LOAD_MEMORY_FREE, (double)kib * 1024, 0);
	if (line_number(text, "Dirty:", &kib) && line_number(text, "Writeback:", &written))
		load_set(load, LOAD_DIRTY, ((double)kib + (double)written) * 1024, 0);
}

void
load_vmstat_parse(const char *text, struct load_counters *counters)
{
	counters->has_swap = line_number(text, "pswpin ", &counters->swap_in_pages) &&
			     line_number(text, "pswpout ", &counters->swap_out_pages);
}

static void
cpu_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, struct load *load)
{
	double d[CPU_MODES], sum = 0;

	for (int mode = 0; mode < CPU_MODES; mode++) {
		/* iowait is known to go back a little */
		d[mode] = after->cpu[mode] > before->cpu[mode]
			      ? (double)(after->cpu[mode] - before->cpu[mode])
			      : 0;
		sum += d[mode];
	}
	if (sum <= 0)
		return;
	load_set(load, LOAD_USER, (d[CPU_USER] + d[CPU_NICE]) / sum, window_us);
	load_set(load, LOAD_SYS, (d[CPU_SYS] + d[CPU_IRQ] + d[CPU_SOFTIRQ]) / sum, window_us);
	load_set(load, LOAD_IDLE, d[CPU_IDLE] / sum, window_us);
	load_set(load, LOAD_IOWAIT, d[CPU_IOWAIT] / sum, window_us);
	load_set(load, LOAD_STEAL, d[CPU_STEAL] / sum, window_us);
}

static void
rate(uint64_t before, uint64_t after, int64_t window_us, int64_t page_bytes,
    enum load_reading reading, struct load *load)
{
	if (after >= before)
		load_set(load, reading,
		    (double)(after - before) * (double)page_bytes * (double)SECOND_US /
			(double)window_us,
		    window_us);
}

void
load_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, int64_t page_bytes, struct load *load)
{
	if (window_us <= 0)
		return;
	if (before->has_cpu && after->has_cpu)
		cpu_difference(before, after, window_us, load);
	if (before->has_swap && after->has_swap) {
		rate(before->swap_in_pages, after->swap_in_pages, window_us, page_bytes,
		    LOAD_SWAP_IN, load);
		rate(before->swap_out_pages, after->swap_out_pages, window_us, page_bytes,
		    LOAD_SWAP_OUT, load);
	}
	load_detail_difference(before, after, window_us, load);
}
