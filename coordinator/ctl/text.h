/* text.h - lines and words that the parts of output_text share
 *
 * Shape:  "name      value" lines; texts of answers.
 * Units:  none.
 * Errors: "-" for what is not there.
 * Memory: borrowed from the answer.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TEXT_H
#define FLYBALL_TEXT_H

#include "coordinator/ctl/output.h"
#include "coordinator/ctl/table.h"

void text_line(const struct view *view, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "-" when it is null or not there. */
const char *text_of(const json_t *object, const char *key);

#endif
