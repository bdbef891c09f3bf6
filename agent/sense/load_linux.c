/* Files are opened anew for each sample: /proc gives a fresh text only to a read from its start, and
 * some opens a second cost less than the care for descriptors that went stale.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sense/load_slow.h"
#include "agent/sense/load_text.h"
#include "agent/sense/perf_count.h"
#include "proto/base/mem.h"

/* /proc/stat has a line a CPU; what we read of it stands before and behind them. */
enum { FILE_BYTES = 256 * 1024 };

struct load_sampler {
	char *work;
	mono_us at;
	bool sampled;
	struct load_counters before;
	struct load_slow *slow;
	struct perf_count *instructions;
	char text[FILE_BYTES];
};

struct load_sampler *
load_sampler_create(const char *work)
{
	struct load_sampler *sampler = mem_calloc(1, sizeof *sampler);

	sampler->work = mem_strdup(work);
	sampler->slow = load_slow_create("");
	sampler->instructions = perf_count_create(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	return sampler;
}

void
load_sampler_destroy(struct load_sampler *sampler)
{
	if (sampler == NULL)
		return;
	load_slow_destroy(sampler->slow);
	perf_count_destroy(sampler->instructions);
	free(sampler->work);
	free(sampler);
}

/* A file of /proc, by its name there. */
static const char *
read_text(struct load_sampler *sampler, const char *name)
{
	char path[SOURCE_SIZE];

	snprintf(path, sizeof path, "/proc/%s", name);
	return load_read_text(path, sampler->text, sizeof sampler->text);
}

/* sysctl(8)'s names: a dot for each slash; in a part that has a dot itself, a slash. */
bool
load_oid_text(const char *oid, char *text, size_t text_bytes)
{
	char path[SOURCE_SIZE];
	int n = snprintf(path, sizeof path, "/proc/sys/%s", oid);

	if (n < 0 || (size_t)n >= sizeof path || strstr(oid, "//") != NULL)
		return false;
	for (char *s = path + strlen("/proc/sys/"); *s != '\0'; s++) {
		if (*s == '.' || *s == '/')
			*s = *s == '.' ? '/' : '.';
	}
	return load_read_text(path, text, text_bytes) != NULL;
}

static const char *const pressure_files[PRESSURES] = { "pressure/cpu", "pressure/memory",
	"pressure/io" };

static void
sample_instructions(struct load_sampler *sampler, int64_t window_us, struct load *load)
{
	double n;

	if (perf_count_sample(sampler->instructions, &n) && sampler->sampled && window_us > 0)
		load_set(load, LOAD_INSTRUCTIONS, n * 1e6 / (double)window_us, window_us);
}

void
load_sample(struct load_sampler *sampler, mono_us now, struct load *ret_load)
{
	struct load_counters after = { 0 };
	int64_t free_bytes = load_disk_free(sampler->work);

	load_clear(ret_load);
	load_stat_parse(read_text(sampler, "stat"), &after, ret_load);
	load_average_parse(read_text(sampler, "loadavg"), ret_load);
	load_memory_parse(read_text(sampler, "meminfo"), ret_load);
	load_vmstat_parse(read_text(sampler, "vmstat"), &after);
	load_schedstat_parse(read_text(sampler, "schedstat"), &after);
	load_diskstats_parse(read_text(sampler, "diskstats"), &after);
	for (size_t i = 0; i < PRESSURES; i++)
		load_pressure_parse(read_text(sampler, pressure_files[i]),
		    (enum load_reading)(LOAD_PRESSURE_CPU + i), &after);
	if (free_bytes >= 0)
		load_set(ret_load, LOAD_DISK_FREE, (double)free_bytes, 0);
	if (sampler->sampled)
		load_difference(&sampler->before, &after, mono_since(sampler->at, now),
		    sysconf(_SC_PAGESIZE), ret_load);
	sample_instructions(sampler, mono_since(sampler->at, now), ret_load);
	load_slow_sample(sampler->slow, now, sampler->text, sizeof sampler->text, ret_load);
	sampler->before = after;
	sampler->at = now;
	sampler->sampled = true;
}
