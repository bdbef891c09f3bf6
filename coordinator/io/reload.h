/* reload.h - policy files on disk against the policies in force
 *
 * Shape:  all files are read; when all are good, what differs becomes an event, and branches
 *         that no file has any longer are taken out of force. Otherwise nothing changes.
 * Units:  none.
 * Errors: the file, the line and what was expected.
 * Memory: none kept.
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_RELOAD_H
#define FLYBALL_RELOAD_H

#include "coordinator/io/driver.h"

int reload_policies(struct driver *driver, const char *folder, struct err *err);

/* Every recipe that some host offers; borrowed names in a fresh array. None: not known. */
const char **reload_known_recipes(const struct cluster *c, size_t *ret_n);

#endif
