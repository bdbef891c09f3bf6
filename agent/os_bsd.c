/* The same functions for the BSDs, by sysctl. FreeBSD has a process reaper (procctl); NetBSD has
 * none, so there an orphan leaves the keeper's tree and is found by its tag alone, and an attempt is
 * refused rather than run unsupervised. Environments are read by KERN_PROC_ENV (FreeBSD) and
 * KERN_PROC_ARGS (NetBSD).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#if defined(__FreeBSD__) || defined(__NetBSD__)

#include "agent/os.h"

#include <sys/param.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#ifdef __FreeBSD__
#include <sys/procctl.h>
#include <sys/user.h>
#endif

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum { KILL_PAUSE_US = 20000, NICE_BETTER = -5, ENVIRONMENT_BYTES = 256 * 1024 };

#ifdef __FreeBSD__
typedef struct kinfo_proc kernel_process;
#else
typedef struct kinfo_proc2 kernel_process;
#endif

/* ---- facts ---- */

int
os_host_facts(struct host_facts *ret_facts, struct err *err)
{
	struct utsname names;
	struct timeval boot;
	size_t size = sizeof boot;

	if (uname(&names) != 0)
		return err_set_errno(err, errno, "uname failed");
	if (sysctlbyname("kern.boottime", &boot, &size, NULL, 0) != 0)
		return err_set_errno(err, errno, "sysctl kern.boottime failed");
	snprintf(ret_facts->boot_id, sizeof ret_facts->boot_id, "%.20s-%lld", names.nodename,
	    (long long)boot.tv_sec);
	mem_copy_text(ret_facts->os, sizeof ret_facts->os, names.sysname);
	mem_copy_text(ret_facts->release, sizeof ret_facts->release, names.release);
	mem_copy_text(ret_facts->arch, sizeof ret_facts->arch, names.machine);
	size = sizeof ret_facts->cpu;
	if (sysctlbyname("hw.model", ret_facts->cpu, &size, NULL, 0) != 0)
		mem_copy_text(ret_facts->cpu, sizeof ret_facts->cpu, names.machine);
	ret_facts->threads = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	ret_facts->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/* ---- processes ---- */

int
os_become_reaper(struct err *err)
{
#ifdef __FreeBSD__
	if (procctl(P_PID, getpid(), PROC_REAP_ACQUIRE, NULL) != 0)
		return err_set_errno(err, errno, "this process cannot become a reaper");
	return 0;
#else
	return err_set(err,
	    "NetBSD has no process reaper: what a recipe leaves behind could not be "
	    "found, so no build is started");
#endif
}

static void
convert(const kernel_process *from, struct os_process *to)
{
#ifdef __FreeBSD__
	to->pid = from->ki_pid;
	to->parent = from->ki_ppid;
	to->session = from->ki_sid;
	to->zombie = from->ki_stat == SZOMB;
	mem_copy_text(to->name, sizeof to->name, from->ki_comm);
#else
	to->pid = from->p_pid;
	to->parent = from->p_ppid;
	to->session = from->p_sid;
	to->zombie = from->p_realstat == SZOMB;
	mem_copy_text(to->name, sizeof to->name, from->p_comm);
#endif
}

/* Asks for the size first and again with the room: the table may have grown in between. */
static int
list_all(struct os_process **ret_list, size_t *ret_count, struct err *err)
{
#ifdef __FreeBSD__
	int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_PROC };
#else
	int mib[] = { CTL_KERN, KERN_PROC2, KERN_PROC_ALL, 0, sizeof(kernel_process), 4096 };
#endif
	const unsigned depth = sizeof mib / sizeof mib[0];
	kernel_process *table;
	size_t size = 0, count;

	if (sysctl(mib, depth, NULL, &size, NULL, 0) != 0)
		return err_set_errno(err, errno, "the processes cannot be listed");
	size += size / 4;
	table = mem_calloc(1, size);
	if (sysctl(mib, depth, table, &size, NULL, 0) != 0) {
		free(table);
		return err_set_errno(err, errno, "the processes cannot be listed");
	}
	count = size / sizeof *table;
	*ret_list = mem_calloc(count, sizeof **ret_list);
	for (size_t i = 0; i < count; i++)
		convert(&table[i], &(*ret_list)[i]);
	free(table);
	*ret_count = count;
	return 0;
}

static bool
has_pid(const struct os_process *list, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].pid == pid)
			return true;
	}
	return false;
}

int
os_tree_list(pid_t root, struct os_process **ret_list, size_t *ret_count, struct err *err)
{
	struct os_process *all, *tree;
	size_t nall, n = 0, was;

	if (list_all(&all, &nall, err) != 0)
		return -1;
	tree = mem_calloc(nall, sizeof *tree);
	do {
		was = n;
		for (size_t i = 0; i < nall; i++) {
			if ((all[i].parent == root || has_pid(tree, n, all[i].parent)) &&
			    all[i].pid != root && !has_pid(tree, n, all[i].pid))
				tree[n++] = all[i];
		}
	} while (n != was);
	free(all);
	*ret_list = tree;
	*ret_count = n;
	return 0;
}

/* A process' own rusage is told, what it has waited for is not: the sum would fall as steps end. */
int
os_tree_usage(pid_t root, struct usage *ret_usage, struct err *err)
{
	(void)ret_usage;
	return err_set(
	    err, "this system does not tell what the tree of process %d has used", (int)root);
}

static bool
is_tagged(pid_t pid, const char *entry, char *buf)
{
#ifdef __FreeBSD__
	int mib[] = { CTL_KERN, KERN_PROC, KERN_PROC_ENV, pid };
#else
	int mib[] = { CTL_KERN, KERN_PROC_ARGS, pid, KERN_PROC_ENV };
#endif
	size_t size = ENVIRONMENT_BYTES - 1;

	if (sysctl(mib, 4, buf, &size, NULL, 0) != 0)
		return false;
	buf[size] = '\0';
	for (char *p = buf; p < buf + size; p += strlen(p) + 1) {
		if (strcmp(p, entry) == 0)
			return true;
	}
	return false;
}

int
os_tagged_list(const char *entry, struct os_process **ret_list, size_t *ret_count, struct err *err)
{
	struct os_process *all;
	size_t nall, n = 0;
	char *buf;

	if (list_all(&all, &nall, err) != 0)
		return -1;
	buf = mem_calloc(1, ENVIRONMENT_BYTES);
	for (size_t i = 0; i < nall; i++) {
		if (!all[i].zombie && all[i].pid != getpid() && is_tagged(all[i].pid, entry, buf))
			all[n++] = all[i];
	}
	free(buf);
	*ret_list = all;
	*ret_count = n;
	return 0;
}

/* ---- killing ---- */

static int64_t
clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND_US + t.tv_nsec / 1000;
}

static int
kill_until(pid_t root, const char *entry, int64_t patience_us, struct err *err)
{
	int64_t end = clock_us() + patience_us;

	for (;;) {
		struct os_process *list;
		size_t count, alive = 0;
		int rc = entry != NULL ? os_tagged_list(entry, &list, &count, err)
				       : os_tree_list(root, &list, &count, err);

		if (rc != 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			alive += !list[i].zombie && kill(list[i].pid, SIGKILL) == 0;
		free(list);
		if (alive == 0)
			return 0;
		if (clock_us() >= end)
			return err_set(err, "%zu processes are still there after SIGKILL", alive);
		usleep(KILL_PAUSE_US);
	}
}

int
os_tree_kill(pid_t root, int64_t patience_us, struct err *err)
{
	return kill_until(root, NULL, patience_us, err);
}

int
os_tagged_kill(const char *entry, int64_t patience_us, struct err *err)
{
	return kill_until(0, entry, patience_us, err);
}

/* ---- small things ---- */

bool
os_is_mount(int folder_fd)
{
	(void)folder_fd;
	return false; /* a mount has a device number of its own here, which the caller compares */
}

int
os_pipe_bytes(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
}

void
os_keep_responsive(struct err *ret_note)
{
	bool pinned = geteuid() == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	bool better = setpriority(PRIO_PROCESS, 0, NICE_BETTER) == 0;

	err_set(ret_note, "%s%s%s", pinned ? "" : "memory is not pinned (not root)",
	    pinned || better ? "" : "; ", better ? "" : "the priority is not raised (not root)");
}

#endif
