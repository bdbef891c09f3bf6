/* spawn.h - starts a program apart from the agent
 *
 * Shape:  in a session or a process group of its own, with nothing on standard input, no signal
 *         blocked and none handled; what becomes of its output the caller says.
 * Units:  none.
 * Errors: errno's value; 0 when it runs.
 * Memory: none.
 * Source: posix_spawn(3).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SPAWN_H
#define FLYBALL_SPAWN_H

#include <spawn.h>
#include <sys/types.h>

/* apart: POSIX_SPAWN_SETSID or POSIX_SPAWN_SETPGROUP. */
int spawn_apart(short apart, const char *program, char *const argv[],
    const posix_spawn_file_actions_t *files, pid_t *ret_pid);

#endif
