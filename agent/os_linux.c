/* What only Linux has: /proc, the child subreaper, statx's mount bit, MCL_ONFAULT.
 *
 * A process is read from /proc/PID/stat, whose second word may hold blanks and brackets: it ends at
 * the last bracket. Where the kernel lists children (CONFIG_PROC_CHILDREN), a tree is walked down, so
 * that its cost is that of the tree; else all of /proc is read once and the tree is sought in it.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/mem.h"

enum {
	STAT_BYTES = 512,
	CPUINFO_LINE = 256,
	KILL_PAUSE_US = 20000,
	NICE_BETTER = -5,
	CAP_IPC_LOCK_BIT = 14
};

struct list {
	struct os_process *at;
	size_t n, room;
};

static struct os_process *
list_add(struct list *list)
{
	list->at = mem_room(list->at, list->n, &list->room, sizeof *list->at);
	memset(&list->at[list->n], 0, sizeof *list->at);
	return &list->at[list->n++];
}

/* ---- facts ---- */

/* The rest of the first line that begins with word, behind its colon. */
static bool
find_line(const char *path, const char *word, char *buf, size_t size)
{
	char line[CPUINFO_LINE];
	FILE *f = fopen(path, "re");
	bool found = false;

	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof line, f) != NULL) {
		char *value = strchr(line, ':');

		if (value == NULL || strncmp(line, word, strlen(word)) != 0)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		mem_copy_text(buf, size, value);
		found = true;
	}
	fclose(f);
	return found;
}

static int
read_boot_id(char *buf, size_t size, struct err *err)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return err_set_errno(err, errno, "%s cannot be read; is /proc mounted?", path);
	good = fgets(buf, (int)size, f) != NULL;
	fclose(f);
	if (!good)
		return err_set(err, "%s is empty: this boot cannot be named", path);
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

int
os_host_facts(struct host_facts *ret_facts, struct err *err)
{
	struct utsname names;
	char boot_id[UUID_SIZE], cpu[TEXT_SIZE];

	if (uname(&names) != 0)
		return err_set_errno(err, errno, "uname failed");
	if (read_boot_id(boot_id, sizeof boot_id, err) != 0)
		return -1;
	/* x86 says "model name"; others have a name of the board or nothing. */
	if (!find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu) &&
	    !find_line("/proc/cpuinfo", "Model", cpu, sizeof cpu))
		mem_copy_text(cpu, sizeof cpu, names.machine);
	mem_copy_text(ret_facts->boot_id, sizeof ret_facts->boot_id, boot_id);
	mem_copy_text(ret_facts->os, sizeof ret_facts->os, names.sysname);
	mem_copy_text(ret_facts->release, sizeof ret_facts->release, names.release);
	mem_copy_text(ret_facts->arch, sizeof ret_facts->arch, names.machine);
	mem_copy_text(ret_facts->cpu, sizeof ret_facts->cpu, cpu);
	ret_facts->threads = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	ret_facts->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/* ---- processes ---- */

int
os_become_reaper(struct err *err)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		return err_set_errno(err, errno, "this process cannot become a child subreaper");
	return 0;
}

/* Up to size - 1 bytes of a small file in one read, as /proc wants it; -1 when it is gone. */
static ssize_t
read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

static bool
read_process(pid_t pid, struct os_process *ret_process)
{
	char path[64], buf[STAT_BYTES];
	char *open_bracket, *close_bracket;
	char state;
	int parent, group, session;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (read_small(path, buf, sizeof buf) <= 0)
		return false;
	open_bracket = strchr(buf, '(');
	close_bracket = strrchr(buf, ')');
	if (open_bracket == NULL || close_bracket == NULL ||
	    sscanf(close_bracket + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
		return false;
	*close_bracket = '\0';
	ret_process->pid = pid;
	ret_process->parent = parent;
	ret_process->session = session;
	ret_process->zombie = state == 'Z' || state == 'X';
	mem_copy_text(ret_process->name, sizeof ret_process->name, open_bracket + 1);
	return true;
}

static void
add_process(struct list *list, pid_t pid)
{
	struct os_process *process = list_add(list);

	if (!read_process(pid, process))
		list->n--;
}

static pid_t
pid_of_name(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);

	return pid > 0 && *end == '\0' ? (pid_t)pid : 0;
}

static int
list_all(struct list *list, struct err *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return err_set_errno(err, errno, "/proc cannot be read: processes cannot be seen");
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = pid_of_name(entry->d_name);

		if (pid != 0)
			add_process(list, pid);
	}
	closedir(proc);
	return 0;
}

static bool
has_pid(const struct list *list, pid_t pid)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i].pid == pid)
			return true;
	}
	return false;
}

/* Moves to tree all of list that are below what tree holds already, or below root; in as many
 * sweeps as the tree is deep. */
static void
gather_below(const struct list *list, pid_t root, struct list *tree)
{
	for (size_t was = SIZE_MAX; was != tree->n;) {
		was = tree->n;
		for (size_t i = 0; i < list->n; i++) {
			const struct os_process *p = &list->at[i];

			if ((p->parent == root || has_pid(tree, p->parent)) && p->pid != root &&
			    !has_pid(tree, p->pid))
				*list_add(tree) = *p;
		}
	}
}

static void
add_children_of_task(struct list *tree, const char *pid, const char *task)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/children", pid, task);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	while (fscanf(f, "%d", &child) == 1) {
		if (!has_pid(tree, child))
			add_process(tree, child);
	}
	fclose(f);
}

static void
add_children(struct list *tree, pid_t parent)
{
	char pid[32], path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(pid, sizeof pid, "%d", (int)parent);
	snprintf(path, sizeof path, "/proc/%s/task", pid);
	tasks = opendir(path);
	if (tasks == NULL)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		if (pid_of_name(entry->d_name) != 0)
			add_children_of_task(tree, pid, entry->d_name);
	}
	closedir(tasks);
}

static bool
kernel_lists_children(void)
{
	static int known; /* 0 not asked, 1 yes, -1 no */
	char path[64];

	if (known == 0) {
		snprintf(
		    path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
		known = access(path, R_OK) == 0 ? 1 : -1;
	}
	return known == 1;
}

int
os_tree_list(pid_t root, struct os_process **ret_list, size_t *ret_count, struct err *err)
{
	struct list tree = { 0 }, all = { 0 };

	if (kernel_lists_children()) {
		add_children(&tree, root);
		for (size_t i = 0; i < tree.n; i++)
			add_children(&tree, tree.at[i].pid);
	} else {
		if (list_all(&all, err) != 0)
			return -1;
		gather_below(&all, root, &tree);
		free(all.at);
	}
	*ret_list = tree.at;
	*ret_count = tree.n;
	return 0;
}

/* The file is read in pieces, since an environment may be large; an entry ends with a zero byte. */
static bool
is_tagged(pid_t pid, const char *entry)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (!found && getdelim(&line, &room, '\0', f) > 0)
		found = strcmp(line, entry) == 0;
	free(line);
	fclose(f);
	return found;
}

/* With kin: also what is below a tagged process, whatever its own environment says. */
static int
list_tagged(const char *entry, bool kin, struct list *tagged, struct err *err)
{
	struct list all = { 0 };
	size_t n;

	if (list_all(&all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		if (!all.at[i].zombie && all.at[i].pid != getpid() &&
		    is_tagged(all.at[i].pid, entry))
			*list_add(tagged) = all.at[i];
	}
	n = tagged->n;
	for (size_t i = 0; kin && i < n; i++)
		gather_below(&all, tagged->at[i].pid, tagged);
	free(all.at);
	return 0;
}

int
os_tagged_list(const char *entry, struct os_process **ret_list, size_t *ret_count, struct err *err)
{
	struct list tagged = { 0 };

	if (list_tagged(entry, false, &tagged, err) != 0)
		return -1;
	*ret_list = tagged.at;
	*ret_count = tagged.n;
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

static size_t
kill_listed(const struct list *list)
{
	size_t alive = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i].zombie)
			continue;
		kill(list->at[i].pid, SIGKILL);
		alive++;
	}
	return alive;
}

/* One list, one round of SIGKILL; how many were alive, or -1. */
static ssize_t
kill_round(pid_t root, const char *entry, struct list *victims, struct err *err)
{
	victims->n = 0;
	if (entry != NULL) {
		if (list_tagged(entry, true, victims, err) != 0)
			return -1;
	} else {
		free(victims->at);
		*victims = (struct list){ 0 };
		if (os_tree_list(root, &victims->at, &victims->n, err) != 0)
			return -1;
		victims->room = victims->n;
	}
	return (ssize_t)kill_listed(victims);
}

static int
kill_until(pid_t root, const char *entry, int64_t patience_us, struct err *err)
{
	struct list victims = { 0 };
	int64_t end = clock_us() + patience_us;
	ssize_t alive;

	while ((alive = kill_round(root, entry, &victims, err)) > 0 && clock_us() < end)
		usleep(KILL_PAUSE_US);
	if (alive > 0)
		err_set(err, "%zd processes are still there after SIGKILL; the first is %d (%s)",
		    alive, (int)victims.at[0].pid, victims.at[0].name);
	free(victims.at);
	return alive == 0 ? 0 : -1;
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
	struct statx facts;

	if (statx(folder_fd, "", AT_EMPTY_PATH, STATX_TYPE, &facts) != 0)
		return false;
	return (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

int
os_pipe_bytes(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
}

/* With MCL_FUTURE, a process that may lock only so much can allocate only so much: then it must not. */
static bool
may_lock_all(void)
{
	struct rlimit limit;
	char caps[64];

	if (find_line("/proc/self/status", "CapEff", caps, sizeof caps) &&
	    (strtoull(caps, NULL, 16) >> CAP_IPC_LOCK_BIT & 1) != 0)
		return true;
	return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

void
os_keep_responsive(struct err *ret_note)
{
	bool pinned = may_lock_all() && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
	int nice_now = getpriority(PRIO_PROCESS, 0);
	bool better = nice_now <= NICE_BETTER || setpriority(PRIO_PROCESS, 0, NICE_BETTER) == 0;

	err_set(ret_note, "%s%s%s", pinned ? "" : "memory is not pinned (CAP_IPC_LOCK is missing)",
	    pinned || better ? "" : "; ",
	    better ? "" : "the priority is not raised (CAP_SYS_NICE is missing)");
}
