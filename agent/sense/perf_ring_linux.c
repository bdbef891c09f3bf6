/* The kernel writes records behind data_head, we read up to it and say so in data_tail. A record
 * with six frames takes 72 bytes, so that two pages hold what a CPU busy in the kernel gives in a
 * second, and half of them is the sign to drain earlier.
 *
 * Invariant: nothing in the ring is believed beyond its bounds: a record whose size makes no sense
 * ends the draining, and all up to data_head counts as read.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/sense/kallsyms.h"

enum {
	PAGES = 2, /* of records; one more is the kernel's page of positions */
	RECORD_WORDS = 32, /* more than any record that we ask for */
	BURSTS = 10, /* with interrupts, and as many without */
	BURST_NS = 1000000,
	BURST_INTERRUPTS = 20
};

static int
refused(struct err *err, const char *call, int errnum)
{
	int32_t paranoid = sysctl_number("/proc/sys/kernel/perf_event_paranoid");

	switch (errnum) {
	case EACCES:
	case EPERM:
		return err_set_errno(err, errnum,
		    "sampling the kernel was refused at %s (kernel.perf_event_paranoid is %d): run "
		    "the "
		    "agent as root or with CAP_PERFMON, or set the sysctl "
		    "kernel.perf_event_paranoid "
		    "to 0; in a container its seccomp filter must allow perf_event_open",
		    call, (int)paranoid);
	case ENOSYS:
	case ENOENT:
	case EOPNOTSUPP:
		return err_set_errno(err, errnum,
		    "this kernel has no perf events for sampling, or a seccomp filter hides them, "
		    "at "
		    "%s: expected one built with CONFIG_PERF_EVENTS",
		    call);
	default:
		return err_set_errno(err, errnum, "sampling the kernel failed at %s", call);
	}
}

int
perf_ring_open(struct perf_ring *ret_ring, int32_t cpu, struct err *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERF_RING_PERIOD_NS,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.sample_max_stack = PERF_RING_FRAMES,
		.exclude_user = 1,
		.exclude_hv = 1,
		.exclude_idle = 1,
		.exclude_callchain_user = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(PAGES * page / 2),
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *map;

	if (fd < 0 && (errno == ENODEV || errno == EINVAL))
		return 1;
	if (fd < 0)
		return refused(err, "perf_event_open", errno);
	map = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		refused(err, "mmap of a ring (kernel.perf_event_mlock_kb bounds them)", errno);
		close(fd);
		return -1;
	}
	*ret_ring = (struct perf_ring){ fd, map };
	return 0;
}

void
perf_ring_close(struct perf_ring *ring)
{
	munmap(ring->page, (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE));
	close(ring->fd);
}

/* Takes one record of n words; what is no sample tells of samples that are not there. */
static int64_t
take_record(const uint64_t *words, size_t n, perf_ring_f f, void *arg)
{
	struct perf_event_header header;

	memcpy(&header, words, sizeof header);
	if (header.type == PERF_RECORD_LOST && n >= 3)
		return (int64_t)words[2];
	if (header.type == PERF_RECORD_SAMPLE && n >= 2 && words[1] <= n - 2)
		f(arg, words + 2, (size_t)words[1]);
	return 0;
}

int64_t
perf_ring_drain(struct perf_ring *ring, perf_ring_f f, void *arg)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t ring_words = PAGES * page_bytes / sizeof(uint64_t);
	struct perf_event_mmap_page *page = ring->page;
	const uint64_t *data = (const uint64_t *)((char *)ring->page + page_bytes);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail;
	uint64_t record[RECORD_WORDS];
	int64_t lost = 0;

	while (at < head) {
		size_t first = (size_t)(at / sizeof *data), n;
		struct perf_event_header header;

		memcpy(&header, &data[first % ring_words], sizeof header);
		n = header.size / sizeof *data;
		if (n == 0 || n > RECORD_WORDS || header.size > head - at)
			break;
		for (size_t i = 0; i < n; i++)
			record[i] = data[(first + i) % ring_words];
		lost += take_record(record, n, f, arg);
		at += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return lost;
}

/* ---- what it costs ---- */

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* How often the clock can be read in a burst. */
static int64_t
burst(void)
{
	int64_t end = now_ns() + BURST_NS, n = 0;

	while (now_ns() < end)
		n++;
	return n;
}

/* An interrupt takes 3 us where it is cheap and 12 in a guest, whose timer is the host's work. The
 * best of some bursts is one that nothing else disturbed. */
int64_t
perf_ring_interrupt_ns(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = BURST_NS / BURST_INTERRUPTS,
		.disabled = 1,
		.exclude_user = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int64_t best[2] = { 0, 0 };

	if (fd < 0)
		return -1;
	for (int i = 0; i < 2 * BURSTS; i++) {
		int64_t n;

		ioctl(fd, i % 2 == 1 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
		n = burst();
		if (n > best[i % 2])
			best[i % 2] = n;
	}
	close(fd);
	if (best[1] == 0 || best[1] > best[0])
		return -1;
	return (best[0] - best[1]) * (BURST_NS / BURST_INTERRUPTS) / best[0];
}
