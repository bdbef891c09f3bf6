/* The clock of a CPU that idles is low and means nothing, so the frequency is the highest of all CPUs as a
 * share of the highest that any can do: a host at work that is held down shows less than 1 there.
 * A kernel that only counts throttlings, without their time, cannot say a share.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load_slow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/sense/load_text.h"
#include "proto/base/mem.h"

enum { CPUS_MAX = 4096, NUMBER_BYTES = 64 };

struct load_slow {
	char *root;
	mono_us at;
	bool sampled;
	struct load_nfs nfs;
	int64_t throttled_ms; /* the most of any CPU; -1 not told */
	struct load last;
};

struct load_slow *
load_slow_create(const char *root)
{
	struct load_slow *slow = mem_calloc(1, sizeof *slow);

	slow->root = mem_strdup(root);
	return slow;
}

void
load_slow_destroy(struct load_slow *slow)
{
	if (slow == NULL)
		return;
	free(slow->root);
	free(slow);
}

const char *
load_read_text(const char *path, char *text, size_t text_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	if (fd < 0)
		return NULL;
	while (n < text_bytes && (got = read(fd, text + n, text_bytes - n)) > 0)
		n += (size_t)got;
	close(fd);
	if (got < 0 || n == text_bytes) /* half a text would be half a sum */
		return NULL;
	text[n] = '\0';
	return text;
}

/* The highest of a file's numbers over all CPUs; -1 when no CPU has it. */
static int64_t
most_of(const struct load_slow *slow, const char *file)
{
	int64_t most = -1;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		char path[SOURCE_SIZE], text[NUMBER_BYTES];
		const char *at;
		uint64_t n;

		snprintf(
		    path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", slow->root, cpu, file);
		at = load_read_text(path, text, sizeof text);
		if (at == NULL) {
			/* A CPU may be off; but where the first has none, none has. */
			snprintf(
			    path, sizeof path, "%s/sys/devices/system/cpu/cpu%d", slow->root, cpu);
			if (cpu == 0 || access(path, F_OK) != 0)
				return most;
		} else if (load_take_number(&at, &n) && n <= INT64_MAX && (int64_t)n > most) {
			most = (int64_t)n;
		}
	}
	return most;
}

static void
sample_clock(struct load_slow *slow, int64_t window_us)
{
	int64_t now = most_of(slow, "cpufreq/scaling_cur_freq");
	int64_t most = most_of(slow, "cpufreq/cpuinfo_max_freq");
	int64_t core = most_of(slow, "thermal_throttle/core_throttle_total_time_ms");
	int64_t package = most_of(slow, "thermal_throttle/package_throttle_total_time_ms");
	int64_t throttled = core > package ? core : package;

	if (now >= 0 && most > 0)
		load_set(&slow->last, LOAD_FREQUENCY, (double)now / (double)most, 0);
	if (window_us > 0 && slow->throttled_ms >= 0 && throttled >= slow->throttled_ms) {
		double share = (double)(throttled - slow->throttled_ms) * 1000 / (double)window_us;

		load_set(&slow->last, LOAD_THROTTLED, share < 1 ? share : 1, window_us);
	}
	slow->throttled_ms = throttled;
}

static void
sample(struct load_slow *slow, mono_us now, char *text, size_t text_bytes)
{
	int64_t window_us = slow->sampled ? mono_since(slow->at, now) : 0;
	struct load_nfs nfs;
	char path[SOURCE_SIZE];

	load_clear(&slow->last);
	snprintf(path, sizeof path, "%s/proc/self/mountstats", slow->root);
	load_mountstats_parse(load_read_text(path, text, text_bytes), &nfs);
	load_nfs_difference(&slow->nfs, &nfs, window_us, &slow->last);
	sample_clock(slow, window_us);
	slow->nfs = nfs;
	slow->at = now;
	slow->sampled = true;
}

void
load_slow_sample(
    struct load_slow *slow, mono_us now, char *text, size_t text_bytes, struct load *load)
{
	if (!slow->sampled || mono_since(slow->at, now) >= LOAD_SLOW_S * SECOND_US)
		sample(slow, now, text, text_bytes);
	for (int i = 0; i < LOAD_READINGS; i++) {
		if (!load_has(&slow->last, (enum load_reading)i))
			continue;
		load->missing &= ~(UINT64_C(1) << i);
		load->readings[i] = slow->last.readings[i];
		load->readings[i].age_us = mono_since(slow->at, now);
	}
}
