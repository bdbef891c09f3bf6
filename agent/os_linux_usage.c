/* What living processes have used, and what they have waited for: a process' own figures and those of
 * its dead children stand in its stat, so the sum over the living is all but what the reaper above has
 * itself waited for. Context switches of dead children stand nowhere.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/os.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024, BLOCK_BYTES = 512 };

static bool
read_of(pid_t pid, const char *name, char text[TEXT_BYTES])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, TEXT_BYTES - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static void
add_stat(const char *text, struct usage *usage)
{
	const int64_t tick_us = SECOND_US / sysconf(_SC_CLK_TCK);
	int64_t minor, minor_dead, major, major_dead, user, sys, user_dead, sys_dead, pages;
	const char *behind_name = strrchr(text, ')');

	if (behind_name == NULL ||
	    sscanf(behind_name + 1,
		" %*c %*d %*d %*d %*d %*d %*u %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
		" %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %*d %*d %*d %*d %*u %*u %" SCNd64,
		&minor, &minor_dead, &major, &major_dead, &user, &sys, &user_dead, &sys_dead,
		&pages) != 9)
		return;
	usage->minor_faults += minor + minor_dead;
	usage->major_faults += major + major_dead;
	usage->user_us += (user + user_dead) * tick_us;
	usage->sys_us += (sys + sys_dead) * tick_us;
	if (pages * sysconf(_SC_PAGESIZE) > usage->max_resident_bytes)
		usage->max_resident_bytes = pages * sysconf(_SC_PAGESIZE);
}

static void
add_io(const char *text, struct usage *usage)
{
	const char *in = strstr(text, "\nread_bytes: "), *out = strstr(text, "\nwrite_bytes: ");

	if (in != NULL)
		usage->blocks_in += strtoll(in + strlen("\nread_bytes: "), NULL, 10) / BLOCK_BYTES;
	if (out != NULL)
		usage->blocks_out +=
		    strtoll(out + strlen("\nwrite_bytes: "), NULL, 10) / BLOCK_BYTES;
}

int
os_tree_usage(pid_t root, struct usage *ret_usage, struct err *err)
{
	struct usage usage = { .voluntary_switches = -1, .involuntary_switches = -1 };
	struct os_process *list;
	char text[TEXT_BYTES];
	size_t count;

	if (os_tree_list(root, &list, &count, err) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (read_of(list[i].pid, "stat", text))
			add_stat(text, &usage);
		if (read_of(list[i].pid, "io", text))
			add_io(text, &usage);
	}
	free(list);
	*ret_usage = usage;
	return 0;
}
