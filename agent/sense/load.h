/* load.h - how busy this machine is
 *
 * Shape:  one sampler; shares and rates speak of the time since its sample before. What
 *         cannot be read is marked missing, never zero. The parsers take text, for tests.
 * Units:  as struct load.
 * Errors: none: a reading is there or missing.
 * Memory: create/destroy.
 * Source: proc(5): /proc/stat, loadavg, meminfo, vmstat; statvfs(3).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOAD_H
#define FLYBALL_LOAD_H

#include "proto/message.h"

struct load_sampler;

/* work: the folder whose free space is told. */
struct load_sampler *load_sampler_create(const char *work);
void load_sampler_destroy(struct load_sampler *sampler);
void load_sample(struct load_sampler *sampler, mono_us now, struct load *ret_load);

/* Bytes that one may still write where path is, or will be made; -1 when that cannot be told. */
int64_t load_disk_free(const char *path);

/* What the system says of a number of its own by name ("vfs.ufs.dirhash_mem"), as text; false when it
 * has none of that name, or says no text or number. */
bool load_oid_text(const char *oid, char *text, size_t text_bytes);

#endif
