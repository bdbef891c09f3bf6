/* lockstorm FOLDER PROCESSES SECONDS - contention for the lock of one folder
 *
 * PROCESSES processes create, close and unlink files of their own in FOLDER, which makes all of them
 * want the folder's lock for writing. Ends by itself after SECONDS, at most 120, and when the first
 * process is gone; prints "files=N" and leaves FOLDER empty.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, SECONDS_MAX = 120 };

static long
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void __attribute__((noreturn)) storm(const char *folder, long process, long end, long *files)
{
	char path[4096];

	for (long i = 0; (i & 63) != 0 || now() < end; i++) {
		int fd;

		snprintf(path, sizeof path, "%s/storm.%ld.%ld", folder, process, i & 7);
		fd = open(path, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0) {
			fprintf(stderr, "lockstorm: %s: %s\n", path, strerror(errno));
			_exit(1);
		}
		close(fd);
		unlink(path);
		__atomic_fetch_add(files, 1, __ATOMIC_RELAXED);
	}
	_exit(0);
}

int
main(int argc, char **argv)
{
	long processes = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	long seconds = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	int status, failed = 0;
	pid_t parent = getpid();
	long *files;

	if (processes < 1 || processes > PROCESSES_MAX || seconds < 1 || seconds > SECONDS_MAX) {
		fprintf(stderr, "usage: lockstorm FOLDER PROCESSES SECONDS (up to %d and %d)\n",
		    PROCESSES_MAX, SECONDS_MAX);
		return 2;
	}
	files =
	    mmap(NULL, sizeof *files, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (files == MAP_FAILED)
		return 1;
	for (long i = 0; i < processes; i++) {
		if (fork() != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		storm(argv[1], i, now() + seconds, files);
	}
	while (wait(&status) > 0)
		failed |= status;
	printf("files=%ld\n", *files);
	return failed == 0 ? 0 : 1;
}
