/* A build's folder is made when it is needed: until then the space is that of the folder above.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "proto/base/mem.h"

int64_t
load_disk_free(const char *path)
{
	char *copy = mem_strdup(path), *slash;
	struct statvfs facts;
	int rc;

	for (;;) {
		rc = statvfs(copy, &facts);
		slash = strrchr(copy, '/');
		if (rc == 0 || errno != ENOENT || slash == NULL || strcmp(copy, "/") == 0)
			break;
		slash[slash == copy] = '\0'; /* the folder above; "/" stays */
	}
	free(copy);
	return rc == 0 ? (int64_t)(facts.f_bavail * facts.f_frsize) : -1;
}
