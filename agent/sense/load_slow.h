/* load_slow.h - readings that cost too much for every second
 *
 * Shape:  read every LOAD_SLOW_S seconds; in between the last ones are given again, with
 *         their age. How the hardware holds the clock (a file or three a CPU), NFS (a text
 *         that grows with the mounts).
 * Units:  as struct load.
 * Errors: none: a reading is there or missing.
 * Memory: create/destroy.
 * Source: Linux Documentation/admin-guide/pm/cpufreq.rst; proc(5) /proc/PID/mountstats.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOAD_SLOW_H
#define FLYBALL_LOAD_SLOW_H

#include "proto/units.h"

enum { LOAD_SLOW_S = 10 };

struct load_slow;

/* root: in front of all paths; "" but for tests. */
struct load_slow *load_slow_create(const char *root);
void load_slow_destroy(struct load_slow *slow);
/* Adds what is known to load; text is room for a file. */
void load_slow_sample(
    struct load_slow *slow, mono_us now, char *text, size_t text_bytes, struct load *load);

/* A whole file as text; NULL when it cannot be read or does not fit. */
const char *load_read_text(const char *path, char *text, size_t text_bytes);

#endif
