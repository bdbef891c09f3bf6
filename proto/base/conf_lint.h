/* conf_lint.h - the lint as conf.c uses it
 *
 * Shape:  conf_lint of conf.h, which blanks comments in passing.
 * Units:  none.
 * Errors: as conf_lint.
 * Memory: blanked: a copy of text, or NULL; comments in it become spaces, since
 *         libconfuse counts the end of a block comment as a line.
 * Source: libconfuse 3.3, lexer.l.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONF_LINT_H
#define FLYBALL_CONF_LINT_H

#include "proto/base/conf.h"

int conf_lint_blank(
    const char *path, const char *text, const cfg_opt_t *opts, char *blanked, struct err *err);

#endif
