/* conf.h - configuration files through libconfuse, without its traps
 *
 * Shape:  a text is first linted against the option table, then parsed by
 *         libconfuse; a validate callback refuses a value by cfg_error(), and
 *         that sentence ends in err. One error is told, the first.
 * Units:  none.
 * Errors: "FILE:LINE: sentence", or "FILE: sentence" where no line is at fault.
 * Memory: ret_cfg is the caller's: cfg_free.
 * Source: libconfuse 3.3; its traps stand in conf_lint.c.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONF_H
#define FLYBALL_CONF_H

#include <confuse.h>

#include "proto/base/err.h"

enum { CONF_BYTES = 256 * 1024 }; /* a longer file or text is refused */

/* Refuses what libconfuse would take in silence or misread: a key, an untitled section or a
 * title given twice in the same section; += ; an integer with a leading zero; ${...} outside
 * comments and single quotes; a scalar for a list and a list for a scalar; a name that opts
 * does not have (told with the names that it has); strings, comments and braces left open. */
int conf_lint(const char *path, const char *text, const cfg_opt_t *opts, struct err *err);

/* Lints and parses. path is what errors call the text. A validate callback refuses by
 * cfg_error(), which puts path and line in front (for a section: the line of its closing
 * brace); cfg->line is right inside it, cfg->filename is NULL in an untitled section. */
int conf_parse_text(
    const char *path, const char *text, cfg_opt_t *opts, cfg_t **ret_cfg, struct err *err);
int conf_parse_file(const char *path, cfg_opt_t *opts, cfg_t **ret_cfg, struct err *err);

/* The whole file as fresh text (free); refuses what is no regular file, is longer than
 * CONF_BYTES or holds a zero byte. */
int conf_read(const char *path, char **ret_text, struct err *err);

/* Where something stands in a text that was parsed, for what can only be judged later: a step into
 * a section each, the last may be a setting. 0 when it is not there. */
struct conf_step {
	const char *name, *title; /* title: NULL when it has none */
};
int conf_line(const char *text, const struct conf_step *path, size_t n);

/* Before parsing: f is called for each value of the option at name ("key", "section|key",
 * "section" when it closes). Writes to opts, since libconfuse's macros have no room for it. */
void conf_validate(cfg_opt_t *opts, const char *name, cfg_validate_callback_t f);

#endif
