/* Counting costs nothing but the reading of it, which asks each busy CPU in turn: some microseconds each.
 * Where more events are wanted than a CPU has counters the kernel shares them out in time, and
 * says for how long this one had its counter: the rest is taken to be alike.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/perf_count.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { CPUS_MAX = 4096 };

struct perf_count {
	uint32_t type;
	uint64_t config;
	long online; /* CPUs; 0: nothing is open */
	int *fds;
	double total;
	bool sampled;
};

/* As the kernel answers to the read_format that is asked for. */
struct count_read {
	uint64_t value, enabled_ns, running_ns;
};

struct perf_count *
perf_count_create(uint32_t type, uint64_t config)
{
	struct perf_count *count = mem_calloc(1, sizeof *count);

	count->type = type;
	count->config = config;
	return count;
}

static void
close_all(struct perf_count *count)
{
	for (long i = 0; i < count->online; i++)
		close(count->fds[i]);
	free(count->fds);
	count->fds = NULL;
	count->online = 0;
	count->sampled = false;
}

void
perf_count_destroy(struct perf_count *count)
{
	if (count == NULL)
		return;
	close_all(count);
	free(count);
}

static bool
open_all(struct perf_count *count, long online)
{
	struct perf_event_attr attr = {
		.type = count->type,
		.size = sizeof attr,
		.config = count->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	count->fds = mem_calloc((size_t)online, sizeof *count->fds);
	/* Those that are off have their numbers too. */
	for (int cpu = 0; cpu < CPUS_MAX && count->online < online; cpu++) {
		int fd =
		    (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			count->fds[count->online++] = fd;
		else if (errno != ENODEV)
			break;
	}
	if (count->online == online)
		return true;
	close_all(count);
	return false;
}

static bool
read_all(const struct perf_count *count, double *ret_total)
{
	*ret_total = 0;
	for (long i = 0; i < count->online; i++) {
		struct count_read got;

		if (read(count->fds[i], &got, sizeof got) != sizeof got || got.running_ns == 0)
			return false;
		*ret_total += (double)got.value * (double)got.enabled_ns / (double)got.running_ns;
	}
	return true;
}

bool
perf_count_sample(struct perf_count *count, double *ret_events)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	bool sampled = count->sampled;
	double total;

	if (online != count->online) {
		close_all(count);
		sampled = false;
		if (online < 1 || !open_all(count, online))
			return false;
	}
	if (!read_all(count, &total)) {
		close_all(count);
		return false;
	}
	*ret_events = total - count->total;
	count->total = total;
	count->sampled = true;
	return sampled && *ret_events >= 0;
}
