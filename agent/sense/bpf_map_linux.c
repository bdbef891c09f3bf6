/* Five calls, so that the agent need not hold libbpf and libelf in memory for them.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/bpf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int
call(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

static __u64
pointer(const void *p)
{
	return (__u64)(uintptr_t)p;
}

int
bpf_map_next(int fd, const void *key, void *ret_key)
{
	union bpf_attr attr = {
		.map_fd = (__u32)fd, .key = pointer(key), .next_key = pointer(ret_key)
	};

	if (call(BPF_MAP_GET_NEXT_KEY, &attr) == 0)
		return 0;
	return errno == ENOENT ? 1 : -1;
}

int
bpf_map_get(int fd, const void *key, void *ret_value)
{
	union bpf_attr attr = {
		.map_fd = (__u32)fd, .key = pointer(key), .value = pointer(ret_value)
	};

	return call(BPF_MAP_LOOKUP_ELEM, &attr);
}

int
bpf_map_put(int fd, const void *key, const void *value)
{
	union bpf_attr attr = { .map_fd = (__u32)fd, .key = pointer(key), .value = pointer(value) };

	return call(BPF_MAP_UPDATE_ELEM, &attr);
}

int
bpf_stats_start(void)
{
	union bpf_attr attr = { .enable_stats.type = BPF_STATS_RUN_TIME };

	return call(BPF_ENABLE_STATS, &attr);
}

int
bpf_program_ns(int fd, int64_t *ret_ns)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info = { .bpf_fd = (__u32)fd, .info_len = sizeof info, .info = pointer(&info) }
	};

	if (call(BPF_OBJ_GET_INFO_BY_FD, &attr) != 0)
		return -1;
	*ret_ns = (int64_t)info.run_time_ns;
	return 0;
}

/* "0-3" or "0,2-7": the last number counts. */
int
bpf_possible_cpus(void)
{
	char text[256];
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	n = (ssize_t)strcspn(text, "\n");
	while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
		n--;
	return (int)strtol(text + n, NULL, 10) + 1;
}
