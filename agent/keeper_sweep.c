/* Removes a workspace. What a build has left may be hostile without meaning to: folders that may not
 * be entered, links to elsewhere, something mounted. So every step is by descriptor and name, links
 * are never followed, folders are made accessible first, and mounts are left alone and told of: a
 * bind mount of / inside a workspace must not be the end of a host.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/keeper_recipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/os.h"

enum { SWEEP_NICENESS = 10 }; /* nobody waits for room that urgently */

struct sweep {
	dev_t device;
	struct err first; /* the first thing that could not be removed */
	int failures;
};

static void
complain(struct sweep *sweep, int errnum, const char *what, const char *name)
{
	if (sweep->failures++ == 0)
		err_set_errno(&sweep->first, errnum, "%s \"%.200s\"", what, name);
}

static int
open_folder(int at, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, flags);
	return fd;
}

static bool
is_elsewhere(const struct sweep *sweep, int fd)
{
	struct stat facts;

	return fstat(fd, &facts) != 0 || facts.st_dev != sweep->device || os_is_mount(fd);
}

static void remove_folder(struct sweep *sweep, int at, const char *name);

static void
remove_entry(struct sweep *sweep, int at, const char *name)
{
	int rc = unlinkat(at, name, 0);

	if (rc != 0 && errno == EACCES && fchmod(at, 0700) == 0)
		rc = unlinkat(at, name, 0);
	if (rc == 0)
		return;
	if (errno == EISDIR || errno == EPERM) /* Linux says the one, POSIX the other */
		remove_folder(sweep, at, name);
	else
		complain(sweep, errno, "cannot remove the file", name);
}

static void
remove_entries(struct sweep *sweep, DIR *folder)
{
	struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_entry(sweep, dirfd(folder), entry->d_name);
	}
}

static void
remove_folder(struct sweep *sweep, int at, const char *name)
{
	int fd = open_folder(at, name);
	DIR *folder;

	if (fd < 0) {
		complain(sweep, errno, "cannot open", name);
		return;
	}
	if (is_elsewhere(sweep, fd)) {
		complain(sweep, EBUSY, "something is mounted on the folder", name);
		close(fd);
		return;
	}
	folder = fdopendir(fd);
	if (folder == NULL) {
		complain(sweep, errno, "cannot read the folder", name);
		close(fd);
		return;
	}
	remove_entries(sweep, folder);
	closedir(folder);
	if (unlinkat(at, name, AT_REMOVEDIR) != 0)
		complain(sweep, errno, "cannot remove the folder", name);
}

/* A deep tree takes a descriptor a level. */
static void
allow_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void __attribute__((noreturn)) sweep_and_exit(const char *path, int words_fd)
{
	struct sweep sweep = { 0 };
	struct stat facts;

	signal(SIGTERM, SIG_DFL);
	setpriority(PRIO_PROCESS, 0, SWEEP_NICENESS);
	allow_descriptors();
	if (lstat(path, &facts) == 0) {
		sweep.device = facts.st_dev;
		remove_folder(&sweep, AT_FDCWD, path);
	}
	if (sweep.failures > 0)
		(void)!write(words_fd, sweep.first.text, strlen(sweep.first.text));
	_exit(sweep.failures > 0);
}

int
sweep_start(const char *path, pid_t *ret_pid, int *ret_words_fd, struct err *err)
{
	int words[2];

	if (pipe2(words, O_CLOEXEC | O_NONBLOCK) != 0)
		return err_set_errno(err, errno, "%s cannot be removed: no pipe", path);
	*ret_pid = fork();
	if (*ret_pid == 0)
		sweep_and_exit(path, words[1]);
	close(words[1]);
	if (*ret_pid < 0) {
		close(words[0]);
		return err_set_errno(err, errno, "%s cannot be removed: no process", path);
	}
	*ret_words_fd = words[0];
	return 0;
}

void
sweep_words(int words_fd, char *buf, size_t size)
{
	ssize_t n = read(words_fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	close(words_fd);
}
