/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spawn.h"

#include <signal.h>
#include <unistd.h>

int
spawn_apart(short apart, const char *program, char *const argv[],
    const posix_spawn_file_actions_t *files, pid_t *ret_pid)
{
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(
	    &attr, (short)(apart | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawn(ret_pid, program, files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}
